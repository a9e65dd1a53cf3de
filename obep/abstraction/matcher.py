"""Items to logical occurrences: which events happened, to whom, and because of what.

In: items, and occurrences of composite or guarded events as items of the next stratum. Out: `Matched`, or a
`DeadLetter` for what contradicts T and K. A matcher keeps nothing between items but what it remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from obep.abstraction.explain import Explainer, Explanation
from obep.abstraction.graphs import OccurrenceGraphs
from obep.guards.asks import Ask
from obep.model import RDF_TYPE, Assertion, DeadLetter, Item, Occurrence, Term, Triple
from obep.ontology.compile import Bundle
from obep.ontology.reading import assert_triples
from obep.ontology.saturate import Closure, Node
from obep.ontology.words import show_triple

MAX_EXPLANATIONS = 32


class Matched(NamedTuple):
    """An item with the occurrences in it, each with its solutions by the number of the ask."""

    item: Item
    occurrences: tuple[Occurrence, ...]


class Matcher:
    """Finds the occurrences of all events of a bundle."""

    def __init__(
        self, bundle: Bundle, asks: tuple[Ask, ...] = (), *, max_explanations: int = MAX_EXPLANATIONS
    ) -> None:
        self.bundle = bundle
        self.unknown = 0
        """Triples of items whose class or property T does not know."""
        self.capped = 0
        """How often an event had more explanations than are kept (SPEC D4)."""
        self._max_explanations = max_explanations
        self._reading = bundle.lower
        self._explainer = Explainer(self._reading.program, self._reading.store)
        names = self._reading.program.names
        self._goals = {names.concept(goal): goal for goal in bundle.definitions.goals}
        self._streams = bundle.definitions.streams
        self._asks: dict[Term, list[Ask]] = {}
        for ask in asks:
            self._asks.setdefault(ask.event, []).append(ask)

    def match(self, item: Item) -> Matched | DeadLetter:
        """The occurrences of all events in an item, or why it takes part in nothing."""
        closure = self._close(item.triples)
        if closure.clashes:
            return self._clash(closure, item)
        at = item.at
        occurrences = []
        for event, individual, because in self._found(
            closure, item.stream, frozenset(range(len(item.triples)))
        ):
            explanation = tuple(sorted(self._assertion(n, item.triples, at) for n in because))
            occurrence = Occurrence(event, individual, explanation, at, at, at, at)
            occurrences.append(occurrence)
        self._solve(occurrences, item.triples)
        return Matched(item, tuple(occurrences))

    def match_derived(self, occurrence: Occurrence) -> Matched | DeadLetter:
        """What follows from an occurrence of a composite or guarded event, as an item of the next stratum."""
        head: Triple = (occurrence.individual, RDF_TYPE, occurrence.event)
        when: dict[Triple, int | None] = dict(occurrence.explanation)
        news = dict.fromkeys((head, *occurrence.constructed), occurrence.detected)
        when = {**{t: at for t, at in when.items() if at is not None}, **news}
        triples = tuple(when)
        item = Item("", occurrence.detected, triples)
        closure = self._close(triples)
        if closure.clashes:
            return self._clash(closure, item)
        new = frozenset(n for n, triple in enumerate(triples) if triple in news)
        found = []
        for event, individual, because in self._found(closure, None, new):
            if (event, individual) == (occurrence.event, occurrence.individual):
                continue
            explanation = tuple(
                sorted(self._assertion(n, triples, when[triples[n]] if n >= 0 else None) for n in because)
            )
            found.append(
                Occurrence(
                    event, individual, explanation,
                    occurrence.start, occurrence.end, occurrence.detected, occurrence.since,
                )
            )  # fmt: skip
        self._solve([occurrence, *found], triples)
        return Matched(item, tuple(found))

    def _close(self, triples: Sequence[Triple]) -> Closure:
        program = self._reading.program
        if any(p == RDF_TYPE and o in self.bundle.definitions.bodies for _, p, o in triples):
            program = self.bundle.lower_asserted
        closure, unknown = assert_triples(program, self._reading.store, triples)
        self.unknown += unknown
        closure.run()
        return closure

    def _found(
        self, closure: Closure, stream: str | None, new: frozenset[int]
    ) -> list[tuple[Term, Term, Explanation]]:
        """(event, individual, explanation) for all that uses something new."""
        found = []
        goals, witnesses = self._goals, closure.program.witnesses
        for x, types in closure.types.items():
            for c in types.keys() & goals.keys():
                event = goals[c]
                if x in witnesses or (stream is not None and self._streams.get(event, stream) != stream):
                    continue
                individual = closure.term(x)
                found += [(event, individual, because) for because in self._explained(types[c], new)]
        found.sort(key=lambda one: (one[0], one[1], sorted(one[2])))
        return found

    def _explained(self, node: Node, new: frozenset[int]) -> list[Explanation]:
        sets = [one for one in self._explainer.explain(node) if not new.isdisjoint(one)]
        if len(sets) > self._max_explanations:
            self.capped += 1
            sets = sorted(sets, key=lambda one: (len(one), sorted(one)))[: self._max_explanations]
        return sets

    def _assertion(self, number: int, triples: Sequence[Triple], at: int | None) -> Assertion:
        if number < 0:
            return (self._reading.store.triples[-1 - number], None)
        return (triples[number], at)

    def _clash(self, closure: Closure, item: Item) -> DeadLetter:
        """The dead letter of an item that contradicts T and K, with a minimal reason (SPEC D3)."""
        sets = [one for _, node in closure.clashes for one in self._explainer.explain(node)]
        smallest = min(sets, key=lambda one: (len(one), sorted(one)))
        words = ", ".join(sorted(show_triple(self._assertion(n, item.triples, None)[0]) for n in smallest))
        raw = " ".join(f"{s} {p} {o} ." for s, p, o in item.triples)
        return DeadLetter(item.stream, item.at, "OBEP620", f"contradicts the ontology: {words}", raw)

    def _solve(self, occurrences: Sequence[Occurrence], triples: Sequence[Triple]) -> None:
        """The solutions of the guard blocks that may read these occurrences."""
        for occurrence in occurrences:
            for ask in self._asks.get(occurrence.event, ()):
                graphs = OccurrenceGraphs(self.bundle, occurrence, triples)
                solutions = ask.solve(occurrence, graphs)
                if solutions:
                    occurrence.solutions[ask.number] = solutions
