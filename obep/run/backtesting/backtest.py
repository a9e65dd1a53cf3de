"""Run a query, or two versions of one, over a history, and count what it would have found.

Comes in: queries and batches of items. Goes out: a `Backtest`, which other programs can read. The engines are
those of a live run, so the counts are those of its output; only counts and the top of each list are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from obep.engine.engine import Engine
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.query import Query
from obep.engine.time_letters import LATE
from obep.formats.tables.mapped_records import Mapped
from obep.formats.tables.record_blocks import RecordBlock
from obep.model import DeadLetter, Item, Occurrence, Term
from obep.run.backtesting.differences import Difference, Differences
from obep.run.backtesting.tallies import Lasted, Tallies, shown_day

TOP = 10
MOST_DIFFERENCES = 200
NEAR = 3_600_000_000
"""Two of one event and key within an hour are one that has moved."""
Batch = Sequence[Item | DeadLetter | Mapped]
Prepares = Callable[[Query], Callable[[], PreparedItems | None]]


class KeyCount(msgspec.Struct, frozen=True):
    """The number of results of one key."""

    key: dict[str, Term]
    count: int


class Fired(msgspec.Struct, frozen=True):
    """The results of one event, state, alert or query."""

    kind: str
    name: Term
    count: int
    before: int | None
    """The number of results of the other version; None if there is none."""
    days: dict[str, int]
    keys: tuple[KeyCount, ...]
    """The noisiest first."""
    more_keys: int
    """Keys that are left out."""
    longest: tuple[Lasted, ...]


class Backtest(msgspec.Struct, frozen=True):
    """The results of a query in a history; `fired` has the most frequent first."""

    items: int
    late: int
    refused: int
    first: int | None
    last: int | None
    fired: tuple[Fired, ...]
    compared: bool
    differences: tuple[Difference, ...] = ()
    counts: dict[str, int] = {}
    """The number of differences of each kind."""
    left_out: int = 0
    """Differences that are counted, but not in the list."""
    style: str = "iso"


class _Version:
    """One version of the query over the history."""

    def __init__(self, query: Query, top: int, prepares: Prepares, settings: dict[str, Any]) -> None:
        self.tallies = Tallies(query, top)
        self.query = query
        self._streams = frozenset(query.linked.streams)
        self.late = self.refused = self.items = 0
        self.engine: Engine = query.engine(
            remember=0,
            observer=self.tallies,
            on_dead_letter=self._bury,
            prepares=prepares(query),
            **settings,
        )

    def _bury(self, letter: DeadLetter) -> None:
        if letter.code == LATE:
            self.late += 1
        else:
            self.refused += 1

    def push(self, batch: Batch) -> list[Occurrence]:
        items: Sequence[Item | Mapped] = []
        if not isinstance(batch, RecordBlock):
            items = [one for one in batch if not isinstance(one, DeadLetter) and self._reads(one.stream)]
        elif self._reads(batch.stream):
            items = batch
        self.items += len(items)
        self.refused += len(batch) - len(items)
        return self._count(self.engine.push_items(items)) if items else []

    def _reads(self, stream: str) -> bool:
        return not self._streams or stream in self._streams

    def close(self) -> list[Occurrence]:
        found = self._count(self.engine.close())
        states = {
            state: [(tuple(one.parameters.items()), one.since) for one in self.engine.states(state)]
            for state in self.query.linked.states
        }
        self.tallies.end(self.engine.clock.watermark or 0, states)
        return found

    def _count(self, found: list[Occurrence]) -> list[Occurrence]:
        self.tallies.found(found)
        return found


def backtest(
    query: Query,
    batches: Iterable[Batch],
    *,
    against: Query | None = None,
    top: int = TOP,
    most_differences: int = MOST_DIFFERENCES,
    near: int = NEAR,
    on_batch: Callable[[int, int, int | None], None] = lambda items, found, watermark: None,
    style: Callable[[], str | None] = lambda: None,
    prepares: Prepares = lambda query: lambda: None,
    **settings: Any,
) -> Backtest:
    """What a query finds in a history, and how it differs from what `against` finds; one pass for both.

    `settings` are those of `Engine` (`lateness`, `idle`, `max_keys`), `prepares` is that of each version.
    `on_batch` is called with the number of items and of reports so far, and the watermark.
    """
    new = _Version(query, top, prepares, settings)
    old = None if against is None else _Version(against, top, prepares, settings)
    differences = Differences(near, most_differences)
    first: int | None = None
    last: int | None = None
    found = 0

    def compare(hits: list[Occurrence], others: list[Occurrence]) -> None:
        if old is None:
            return
        written = style()
        for hit in (*hits, *others):
            hit.style = written or ""
        for hit in hits:
            differences.add("new", hit, new.tallies.key_of(hit))
        for hit in others:
            differences.add("gone", hit, old.tallies.key_of(hit))

    for batch in batches:
        instants = _instants(batch)
        if instants:
            first = min(instants) if first is None else min(first, *instants)
            last = max(instants) if last is None else max(last, *instants)
        hits = new.push(batch)
        found += len(hits)
        compare(hits, [] if old is None else old.push(batch))
        watermark = new.engine.clock.watermark
        if old is not None and watermark is not None:
            differences.forget(min(watermark, old.engine.clock.watermark or watermark))
        on_batch(new.items, found, watermark)
    compare(new.close(), [] if old is None else old.close())
    differences.end()
    return Backtest(
        new.items,
        new.late,
        new.refused,
        first,
        last,
        _fired(new, old, top),
        old is not None,
        tuple(sorted(differences.found, key=lambda one: (one.start, one.end, one.name))),
        dict(differences.counts),
        differences.left_out,
        style() or "iso",
    )


def _instants(batch: Batch) -> list[int]:
    if isinstance(batch, RecordBlock):
        return batch.times
    return [one.at for one in batch if not isinstance(one, DeadLetter)]


def _fired(new: _Version, old: _Version | None, top: int) -> tuple[Fired, ...]:
    """The noisiest first; what only the other version finds comes with a count of 0."""
    before = {} if old is None else old.tallies.all
    found = []
    for place in dict.fromkeys((*new.tallies.all, *before)):
        tally, other = new.tallies.all.get(place), before.get(place)
        then = None if old is None else other.count if other is not None else 0
        if tally is None:
            found.append(Fired(*place, 0, then, {}, (), 0, ()))
            continue
        noisiest = tally.keys.most_common(top)
        found.append(
            Fired(
                *place,
                tally.count,
                then,
                {shown_day(day): count for day, count in sorted(tally.days.items())},
                tuple(KeyCount(dict(key), count) for key, count in noisiest),
                len(tally.keys) - len(noisiest) + (tally.other_keys > 0),
                tally.longest(),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.count, -(one.before or 0), one.name, one.kind)))
