"""What the items of a window say together (SPEC §7): explanations that may span items.

In: the items of a window, as they come and go. Out: the occurrences whose explanations use something of an
item that has just come, or a `DeadLetter` where all of it together contradicts T and K. A triple that was
seen at several instants is as many assertions (SPEC D1): each choice of one sighting for each triple of a
minimal set is a minimal set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from obep.abstraction.guard_graphs import ClosedGraph, OccurrenceGraphs
from obep.abstraction.windows.window_union import Union, Way
from obep.formats.input_limits import Refused
from obep.model import Assertion, DeadLetter, EagerOccurrence, Item, Occurrence, Term, Triple

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher

Held = tuple[int, Item]
"""An item in a window, after its expiration."""
Sightings = dict[Triple, dict[int, int]]
"""For each triple the instants at which it was seen, each with the expiration of that sighting."""


class Together:
    """The items of one window."""

    def __init__(self, matcher: Matcher, name: str, goals: Iterable[Term]) -> None:
        """`goals` are the classes that are looked for."""
        self._matcher, self._name, self._goals = matcher, name, frozenset(goals)
        self._union = Union(matcher)
        self._known: Sightings = {}

    def admit(self, item: Item) -> Item | DeadLetter:
        """An item as the window takes it, in single triples, or why it does not."""
        return self._matcher.statements.admit(item)

    def keep(self, items: Iterable[Held]) -> None:
        """These have been looked at; what comes may join with them."""
        held = list(items)
        fresh = _sightings(held)
        for triple, seen in fresh.items():
            self._known.setdefault(triple, {}).update(seen)
        self._union.add({triple: max(seen.values()) for triple, seen in fresh.items()}, len(held))

    def forget(self, items: Iterable[Held], measure: int) -> None:
        """These have left, now that the window's measure has come to here."""
        gone = []
        for triple, seen in _sightings(items).items():
            known = self._known[triple]
            for at in seen:
                known.pop(at, None)
            if not known:
                del self._known[triple]
                gone.append(triple)
        self._union.drop(gone, measure)

    def find(self, items: Sequence[Held], now: int) -> list[Occurrence] | DeadLetter:
        """The occurrences that use something of these items, which have not been kept yet."""
        fresh = _sightings(items)
        answer = self._union.find(fresh)
        stream = items[0][1].stream
        if answer.clash is not None:
            words = self._matcher.contradictions.contradiction(answer.clash)
            reason = f"the items in the window <{self._name}> together contradict the ontology: {words}"
            return DeadLetter(stream, now, "OBEP621", reason)
        if answer.refused is not None:
            code, reason = answer.refused
            return DeadLetter(stream, now, code, f"in the window <{self._name}>: {reason}")
        self._matcher.capped += answer.capped
        try:
            return self._solved(self._occurrences(answer.ways, fresh, now), fresh)
        except Refused as refused:
            return DeadLetter(stream, now, refused.code, f"in the window <{self._name}>: {refused.reason}")

    def _solved(self, found: list[Occurrence], fresh: Sightings) -> list[Occurrence]:
        """Solve the asks of guards for occurrences; the whole union counts as their item."""
        bundle, facts = self._matcher.bundle, self._matcher.facts
        whole = cache(lambda: ClosedGraph(bundle, [*(self._known | fresh)], with_k=True, facts=facts))
        for one in found:
            self._matcher.solve(one, OccurrenceGraphs(bundle, one, whole=whole, facts=facts))
        return found

    def _occurrences(self, ways: Iterable[Way], fresh: Sightings, now: int) -> list[Occurrence]:
        groups: dict[tuple[Term, Term], list[Way]] = {}
        for way in ways:
            if way.event in self._goals:
                groups.setdefault((way.event, way.individual), []).append(way)
        found: list[Occurrence] = []
        for _, some in sorted(groups.items()):
            every = (
                _occurrence(way, explanation, now)
                for way in sorted(some, key=lambda way: (len(way.window) + len(way.static), way))
                for explanation in self._timed(way, fresh)
            )
            found += islice(every, self._matcher.max_explanations)
            self._matcher.capped += next(every, None) is not None
        return found

    def _timed(self, way: Way, fresh: Mapping[Triple, Mapping[int, int]]) -> Iterator[list[Assertion]]:
        """A minimal set of triples as sets of assertions that use a fresh one, the latest first."""
        static: list[Assertion] = [(triple, None) for triple in way.static]
        old = [sorted(self._known.get(triple, ()), reverse=True) for triple in way.window]
        new = [sorted(fresh.get(triple, ()), reverse=True) for triple in way.window]
        for instants in _choices(old, new):
            yield [*zip(way.window, instants, strict=True), *static]


def _sightings(items: Iterable[Held]) -> Sightings:
    found: Sightings = {}
    for expires, item in items:
        for triple in item.triples:
            found.setdefault(triple, {})[item.at] = expires
    return found


def _choices(old: Sequence[Sequence[int]], new: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All ways to take one instant for each place, at least one of them new.

    >>> list(_choices([[1], [1]], [[2], []]))
    [(2, 1)]
    """
    if not any(new):
        return
    for instant in new[0]:
        for rest in _any([[*n, *o] for n, o in zip(new[1:], old[1:], strict=True)]):
            yield (instant, *rest)
    for instant in old[0]:
        for rest in _choices(old[1:], new[1:]):
            yield (instant, *rest)


def _any(places: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All ways to take one of each, made one at a time."""
    if not places:
        yield ()
        return
    for instant in places[0]:
        for rest in _any(places[1:]):
            yield (instant, *rest)


def _occurrence(way: Way, explanation: list[Assertion], now: int) -> Occurrence:
    instants = [at for _, at in explanation if at is not None]
    start, end = min(instants), max(instants)
    because = tuple(sorted(explanation))
    return EagerOccurrence(way.event, way.individual, because, start, end, now, start, bounded=way.bounded)
