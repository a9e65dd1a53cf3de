"""Count results of each event, state, alert and query: by day, by key, and the longest episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from heapq import heappush, heappushpop

import msgspec

from obep.engine.observer import Taken
from obep.engine.query import Query
from obep.formats.tables.mapped_records import Mapped
from obep.model import Alert, Answer, Item, Occurrence, Term, local_name
from obep.why_not.state_history import Spell

Key = tuple[tuple[str, Term], ...]
"""The values of parameters, by name."""
MOST_KEYS = 100_000
"""The keys of one event that are counted one by one."""
_EPOCH = date(1970, 1, 1)
_DAY = 86_400_000_000


class Lasted(msgspec.Struct, frozen=True):
    """One episode; without an end it lasts beyond the history."""

    key: dict[str, Term]
    begun: int
    ended: int | None
    seconds: float


class Tally:
    """One event, state, alert or query."""

    def __init__(self, kind: str, name: Term, top: int) -> None:
        self.kind, self.name = kind, name
        self.count = 0
        self.days: Counter[int] = Counter()
        """By the number of days since 1970."""
        self.keys: Counter[Key] = Counter()
        self.other_keys = 0
        """The number of results of keys that are not counted separately."""
        self._top = top
        self._longest: list[tuple[int, int, Key, int | None]] = []

    def add(self, at: int, key: Key) -> None:
        """It was found once more."""
        self.count += 1
        self.days[at // _DAY] += 1
        if key in self.keys or len(self.keys) < MOST_KEYS:
            self.keys[key] += 1
        else:
            self.other_keys += 1

    def lasted(self, key: Key, begun: int, ended: int | None, now: int) -> None:
        """An episode is over, or the history is."""
        entry = ((now if ended is None else ended) - begun, -begun, key, ended)
        if len(self._longest) < self._top:
            heappush(self._longest, entry)
        else:
            heappushpop(self._longest, entry)

    def longest(self) -> tuple[Lasted, ...]:
        """The longest episodes first."""
        return tuple(
            Lasted(dict(key), -begun, ended, length / 1e6)
            for length, begun, key, ended in sorted(self._longest, key=lambda one: (-one[0], -one[1], one[2]))
        )


class Tallies:
    """The results of one version of the query; observes its engine for the episodes of states."""

    follows, sated = False, True

    def __init__(self, query: Query, top: int) -> None:
        self._query, self._top = query, top
        self._parameters = {
            iri: tuple(one.name for one in getattr(definition, "parameters", ()))
            for iri, definition in (*query.linked.events.items(), *query.linked.states.items())
        }
        self.all: dict[tuple[str, Term], Tally] = {}
        for iri in query.linked.states:
            self._of("state", iri)
        for iri in query.plan.alerting:
            self._of("alert", iri)
        for iri in query.plan.returned:
            self._of("query" if iri in query.linked.queries else "event", iri)

    def found(self, hits: Iterable[Occurrence]) -> None:
        """Count what the engine reports; an alert when it fires."""
        for hit in hits:
            kind = kind_of(hit)
            if not (isinstance(hit, Alert) and hit.status == "resolved"):
                self._of(kind, hit.event).add(hit.detected, self.key_of(hit))

    def key_of(self, hit: Occurrence) -> Key:
        """Whom it is about: the values of its parameters, or its individual."""
        if isinstance(hit, Alert):
            return tuple(hit.labels.items())
        if isinstance(hit, Answer):
            return ()
        names = self._parameters.get(hit.event)
        if names and hit.bindings:
            row = hit.bindings[0]
            if named := tuple([(name, row[name]) for name in names if name in row]):
                return named
        return () if hit.parts else (("this", hit.individual),)

    def end(self, now: int, holding: Mapping[Term, Iterable[tuple[Key, int]]]) -> None:
        """The history is over: these episodes are still open."""
        for state, episodes in holding.items():
            tally = self._of("state", state)
            for key, begun in episodes:
                tally.add(begun, key)
                tally.lasted(key, begun, None, now)

    def _of(self, kind: str, name: Term) -> Tally:
        found = self.all.get((kind, name))
        if found is None:
            found = self.all[kind, name] = Tally(kind, name, self._top)
        return found

    # --- what an engine calls

    def taken(self, items: Taken) -> Taken:
        """Nothing is counted of items."""
        return items

    def processed(self, item: Item | Mapped) -> None:
        """Nothing is counted of items."""

    def occurred(self, occurrence: Occurrence) -> None:
        """Only what is reported counts."""

    def held(self, state: Term, spell: Spell) -> None:
        """An episode of a state is over."""
        if state in self._query.linked.states:
            key = tuple(zip(self._parameters[state], spell.key, strict=True))
            tally = self._of("state", state)
            tally.add(spell.begun, key)
            tally.lasted(key, spell.begun, spell.ended, spell.ended or spell.begun)

    def reported(self, found: Sequence[Occurrence]) -> None:
        """Reports are counted by the caller."""

    def restarted(self) -> None:
        """A backtest does not go on from a snapshot."""


def kind_of(hit: Occurrence) -> str:
    """The kind of a report."""
    return "alert" if isinstance(hit, Alert) else "query" if isinstance(hit, Answer) else "event"


def shown_day(day: int) -> str:
    """A day in UTC, of its number."""
    return (_EPOCH + timedelta(days=day)).isoformat()


def shown_key(key: Mapping[str, Term]) -> str:
    """A key for people."""
    return ", ".join(f"{name} = {local_name(value)}" for name, value in key.items())
