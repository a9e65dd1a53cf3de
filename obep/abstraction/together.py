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

from obep.abstraction.graphs import ClosedGraph, OccurrenceGraphs
from obep.abstraction.templates import Hit, named
from obep.model import Assertion, DeadLetter, Item, Occurrence, Term, Triple
from obep.ontology.words import show_triple

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher

Sightings = dict[Triple, dict[int, int]]
"""For each triple the instants at which it was seen, each with the measure at which that sighting expires."""


Held = tuple[int, Item]
"""An item in a window, after its expiration."""


class Together:
    """The items of one window."""

    def __init__(self, matcher: Matcher, name: str, goals: Iterable[Term]) -> None:
        """`goals` are the classes that are looked for."""
        self._matcher, self._name, self._goals = matcher, name, frozenset(goals)
        self._known: Sightings = {}

    def keep(self, items: Iterable[Held]) -> None:
        """These have been looked at; what comes may join with them."""
        _see(self._known, items)

    def forget(self, measure: int) -> None:
        """The window's measure has come to here: what has expired is gone."""
        for triple, seen in [*self._known.items()]:
            for at in [at for at, expires in seen.items() if expires <= measure]:
                del seen[at]
            if not seen:
                del self._known[triple]

    def find(self, items: Sequence[Held], now: int) -> list[Occurrence] | DeadLetter:
        """The occurrences that use something of these items, which have not been kept yet."""
        fresh: Sightings = {}
        _see(fresh, items)
        matcher = self._matcher
        union = sorted(self._known.keys() | fresh.keys())
        template, shape = matcher.evaluate_union(union, fresh.keys())
        if template.clash is not None:
            clash = [*(shape.triples[n] for n in template.clash), *template.static_clash]
            words = ", ".join(sorted(map(show_triple, clash)))
            reason = f"the items in the window <{self._name}> together contradict the ontology: {words}"
            return DeadLetter(items[0][1].stream, now, "OBEP621", reason)
        found: list[Occurrence] = []
        names = list(shape.names)
        groups: dict[tuple[Term, Term], list[Hit]] = {}
        for hit in template.hits:
            if hit.event in self._goals:
                groups.setdefault((hit.event, named(hit.individual, names) or ""), []).append(hit)
        matcher.capped += template.capped
        whole = cache(lambda: ClosedGraph(matcher.bundle, shape.triples, with_k=True))
        for (event, individual), hits in sorted(groups.items()):
            ways = (
                (explanation, hit.bounded)
                for hit in sorted(hits, key=lambda hit: (len(hit.triples) + len(hit.static), hit.triples))
                for explanation in self._timed(hit, shape.triples, fresh)
            )
            for explanation, bounded in islice(ways, matcher.max_explanations):
                one = _occurrence(event, individual, explanation, now, bounded)
                matcher.solve(one, OccurrenceGraphs(matcher.bundle, one, whole=whole))
                found.append(one)
            matcher.capped += next(ways, None) is not None
        return found

    def _timed(
        self, hit: Hit, triples: Sequence[Triple], fresh: Mapping[Triple, Mapping[int, int]]
    ) -> Iterator[list[Assertion]]:
        """A minimal set of triples as sets of assertions that use a fresh one, the latest first."""
        chosen = [triples[n] for n in hit.triples]
        old = [sorted(self._known.get(triple, ()), reverse=True) for triple in chosen]
        new = [sorted(fresh.get(triple, ()), reverse=True) for triple in chosen]
        for instants in _choices(old, new):
            yield [*zip(chosen, instants, strict=True), *hit.static]


def _see(sightings: Sightings, items: Iterable[Held]) -> None:
    for expires, item in items:
        for triple in item.triples:
            sightings.setdefault(triple, {})[item.at] = expires


def _choices(old: Sequence[Sequence[int]], new: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All ways to take one instant for each place, at least one of them new.

    >>> list(_choices([[1], [1]], [[2], []]))
    [(2, 1)]
    """
    if not any(new):
        return
    first, *_ = new
    for instant in first:
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


def _occurrence(
    event: Term, individual: Term, explanation: list[Assertion], now: int, bounded: bool
) -> Occurrence:
    instants = [at for _, at in explanation if at is not None]
    start, end = min(instants), max(instants)
    return Occurrence(
        event, individual, tuple(sorted(explanation)), start, end, now, start, bounded=bounded
    )  # fmt: skip
