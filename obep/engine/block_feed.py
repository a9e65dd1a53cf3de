"""Feed the leaves of a pattern with the records of a block, each alone in its instant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from operator import lt

from obep.abstraction.decided_occurrences import DecidedHit, RowsOf, Terms, decided_occurrence
from obep.abstraction.item_blocks import DecidedBlock
from obep.engine.bulk import all_of
from obep.model import Term
from obep.operators.candidates import NOTHING, Enter, Rows, Take
from obep.operators.tree import Leaf
from obep.plan.nodes import ReadAny

Feed = Callable[[int, Terms], None]
"""Takes a record: its instant and its terms."""
MOST = 1 << 14
"""Hits whose feeds are remembered."""


class BlockFeed:
    """The leaves of a plan in which an occurrence that is alone in its instant can be fed at once."""

    def __init__(self, leaves: Iterable[Leaf]) -> None:
        self._leaves: dict[Term, list[Leaf]] = {}
        for leaf in leaves:
            for event in leaf.node.events:
                self._leaves.setdefault(event, []).append(leaf)
        self.takes: dict[Term, Take] = {
            event: all_of([leaf.take for leaf in some]) for event, some in self._leaves.items()
        }
        """Where the occurrences of each event go."""
        self._feeds: dict[DecidedHit, Feed | None] = {}

    def of(self, block: DecidedBlock) -> list[Feed | None]:
        """The feed of each record of a block: None where no event reads it, `several` for several."""
        feeds = self._feeds
        if len(feeds) > MOST:
            feeds.clear()
        known: dict[int, Feed | None] = {}
        for decision in {id(one): one for one in block.decisions}.values():
            assert decision is not None
            wanted = [hit for hit in decision.hits if hit.event in self._leaves]
            for hit in wanted:
                if hit not in feeds:
                    feeds[hit] = self._feed(hit, block)
            known[id(decision)] = feeds[wanted[0]] if len(wanted) == 1 else several if wanted else None
        return [known[number] for number in map(id, block.decisions)]

    def _feed(self, hit: DecidedHit, block: DecidedBlock) -> Feed | None:
        leaves = self._leaves.get(hit.event, [])
        if hit.plain is None or any(leaf.node.held or isinstance(leaf.node, ReadAny) for leaf in leaves):
            take, occurrence = self.takes.get(hit.event), block.occurrence
            return None if take is None else lambda at, terms: take(occurrence(hit, at, terms))
        ways = [(leaf.enter, _nothing if leaf.node.free else hit.rows_of(leaf.node.ask)) for leaf in leaves]
        there = [(enter, rows_of) for enter, rows_of in ways if rows_of is not None]
        if len(there) == 1:
            return _one_way(hit, *there[0])
        return _ways(hit, there) if there else None


def _nothing(terms: Terms) -> tuple[Rows, Terms]:
    return NOTHING, terms


def _one_way(hit: DecidedHit, enter: Enter, rows_of: RowsOf) -> Feed:
    make = decided_occurrence

    def feed(at: int, terms: Terms) -> None:
        rows, terms = rows_of(terms)
        enter(make(hit, at, terms), rows)

    return feed


def _ways(hit: DecidedHit, ways: list[tuple[Enter, RowsOf]]) -> Feed:
    def feed(at: int, terms: Terms) -> None:
        one = decided_occurrence(hit, at, terms)
        for enter, rows_of in ways:
            rows, one.terms = rows_of(one.terms)
            enter(one, rows)

    return feed


def several(at: int, terms: Terms) -> None:
    """Stands for a record with several occurrences, which cannot be fed one by one."""
    raise AssertionError("its instant must be closed")


def not_alone(times: list[int], feeds: list[Feed | None], now: int | None) -> list[int]:
    """The places of records that share their instant with another occurrence, and of the last one.

    `now` is the instant that is open. The last one stays open.
    """
    last, first = len(times) - 1, now is None or times[0] <= now
    if several not in feeds and all(map(lt, times, islice(times, 1, None))):
        return [0, last] if first and last else [last]
    return [
        place
        for place, (at, feed) in enumerate(zip(times, feeds, strict=True))
        if place == last
        or feed is several
        or times[place + 1] == at
        or (times[place - 1] == at if place else first)
    ]
