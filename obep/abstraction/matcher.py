"""Items to logical occurrences: which events happened, to whom, and because of what.

In: items, and occurrences of composite or guarded events as items of the next stratum. Out: `Matched`, or a
`DeadLetter` for what contradicts T and K. A matcher keeps nothing between items but what it remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from obep.abstraction.bounds import Bounds
from obep.abstraction.explain import Explainer, Explanation
from obep.abstraction.graphs import OccurrenceGraphs
from obep.errors import Diagnostic, ObepError
from obep.guards.asks import Ask
from obep.model import RDF_TYPE, DeadLetter, Item, Occurrence, Term, Triple
from obep.ontology.compile import Bundle
from obep.ontology.gap import Gap
from obep.ontology.hermit_gap import HermitGap
from obep.ontology.reading import assert_triples
from obep.ontology.saturate import Closure, Node
from obep.ontology.words import name, show_triple

MAX_EXPLANATIONS = 32


class Matched(NamedTuple):
    """An item with the occurrences in it, each with its solutions by the number of the ask."""

    item: Item
    occurrences: tuple[Occurrence, ...]
    bounded: bool = False
    """Whether a reasoner was needed and missing: there may be more."""


class Found(NamedTuple):
    """One explanation of an event's class for an individual."""

    event: Term
    individual: Term
    because: tuple[Triple, ...]
    bounded: bool


class Matcher:
    """Finds the occurrences of all events of a bundle."""

    def __init__(
        self,
        bundle: Bundle,
        asks: tuple[Ask, ...] = (),
        *,
        gap: Gap | None = None,
        max_explanations: int = MAX_EXPLANATIONS,
        require_complete: bool = False,
    ) -> None:
        """`gap` decides what the rules cannot; by default HermiT, if the bundle may start Java."""
        self.bundle = bundle
        self.unknown = 0
        """Triples of items whose class or property T does not know."""
        self.capped = 0
        """How often an event had more explanations than are kept (SPEC D4)."""
        if require_complete and gap is None and not bundle.java:
            _complete(bundle)
        self._max_explanations = max_explanations
        self._reading = bundle.lower
        self._explainer = Explainer(self._reading.program, self._reading.store)
        if gap is None and bundle.java:
            gap = HermitGap(bundle.definitions.axioms, bundle.cache_dir)
        self.bounds = Bounds(bundle, gap, max_explanations)
        names = self._reading.program.names
        self._goals = {names.concept(goal): goal for goal in bundle.definitions.goals}
        self._streams = bundle.definitions.streams
        self._asks: dict[Term, list[Ask]] = {}
        for ask in asks:
            self._asks.setdefault(ask.event, []).append(ask)

    def match(self, item: Item) -> Matched | DeadLetter:
        """The occurrences of all events in an item, or why it takes part in nothing."""
        found = self._evaluate(item.triples, frozenset(range(len(item.triples))))
        if isinstance(found, frozenset):
            return self._dead(item, found)
        at, mine = item.at, set(item.triples)
        occurrences = []
        for event, individual, because, bounded in found[0]:
            if self._streams.get(event, item.stream) == item.stream:
                explanation = tuple([(triple, at if triple in mine else None) for triple in because])
                occurrence = Occurrence(event, individual, explanation, at, at, at, at, bounded=bounded)
                occurrences.append(occurrence)
        self._solve(occurrences, item.triples)
        return Matched(item, tuple(occurrences), found[1])

    def match_derived(self, occurrence: Occurrence) -> Matched | DeadLetter:
        """What follows from an occurrence of a composite or guarded event, as an item of the next stratum."""
        head: Triple = (occurrence.individual, RDF_TYPE, occurrence.event)
        news = dict.fromkeys((head, *occurrence.constructed), occurrence.detected)
        when = {**{t: at for t, at in occurrence.explanation if at is not None}, **news}
        triples = tuple(when)
        item = Item("", occurrence.detected, triples)
        found = self._evaluate(triples, frozenset(n for n, t in enumerate(triples) if t in news))
        if isinstance(found, frozenset):
            return self._dead(item, found)
        occurrences = [
            Occurrence(
                event, individual, tuple([(triple, when.get(triple)) for triple in because]),
                occurrence.start, occurrence.end, occurrence.detected, occurrence.since, bounded=bounded,
            )
            for event, individual, because, bounded in found[0]
            if (event, individual) != (occurrence.event, occurrence.individual)
        ]  # fmt: skip
        self._solve([occurrence, *occurrences], triples)
        return Matched(item, tuple(occurrences), found[1])

    # --- reasoning

    def _evaluate(
        self, triples: Sequence[Triple], news: frozenset[int]
    ) -> tuple[list[Found], bool] | frozenset[Triple]:
        """All explanations that use something new, and whether there may be more; or a minimal clash."""
        bodies = self.bundle.definitions.bodies
        asserted = any(p == RDF_TYPE and o in bodies for _, p, o in triples)
        program = self.bundle.lower_asserted if asserted else self._reading.program
        closure, unknown = assert_triples(program, self._reading.store, triples)
        self.unknown += unknown
        closure.run()
        if closure.clashes:
            return self._clash(closure, triples)
        found = self._lower(closure, triples, news)
        still = self.bounds.decide(triples, news, closure, self._explainer, asserted=asserted)
        if still is None:
            return found, False
        if still.answer is None:
            goals = still.goals
            return [one._replace(bounded=(one[0], one[1]) in goals) for one in found], True
        if still.answer.clash is not None:
            return still.answer.clash
        self.capped += still.answer.capped
        found = [one for one in found if (one.event, one.individual) not in still.goals]
        for (event, individual), sets in still.answer.explanations.items():
            found += [Found(event, individual, tuple(sorted(one)), False) for one in sets]
        return sorted(found), False

    def _lower(self, closure: Closure, triples: Sequence[Triple], news: frozenset[int]) -> list[Found]:
        """What surely follows."""
        found = []
        goals, witnesses = self._goals, closure.program.witnesses
        for x, types in closure.types.items():
            for c in types.keys() & goals.keys():
                if x not in witnesses:
                    individual = closure.term(x)
                    for one in self._explained(types[c], news):
                        because = tuple(sorted([self._triple(n, triples) for n in one]))
                        found.append(Found(goals[c], individual, because, False))
        found.sort()
        return found

    def _explained(self, node: Node, news: frozenset[int]) -> list[Explanation]:
        sets = [one for one in self._explainer.explain(node) if not news.isdisjoint(one)]
        if len(sets) > self._max_explanations:
            self.capped += 1
            sets = sorted(sets, key=lambda one: (len(one), sorted(one)))[: self._max_explanations]
        return sets

    def _triple(self, number: int, triples: Sequence[Triple]) -> Triple:
        return self._reading.store.triples[-1 - number] if number < 0 else triples[number]

    def _clash(self, closure: Closure, triples: Sequence[Triple]) -> frozenset[Triple]:
        """A minimal set that contradicts T."""
        sets = [one for _, node in closure.clashes for one in self._explainer.explain(node)]
        smallest = min(sets, key=lambda one: (len(one), sorted(one)))
        return frozenset(self._triple(n, triples) for n in smallest)

    @staticmethod
    def _dead(item: Item, clash: frozenset[Triple]) -> DeadLetter:
        """The dead letter of an item that contradicts T and K, with a minimal reason (SPEC D3)."""
        words = ", ".join(sorted(map(show_triple, clash)))
        raw = " ".join(f"{s} {p} {o} ." for s, p, o in item.triples)
        return DeadLetter(item.stream, item.at, "OBEP620", f"contradicts the ontology: {words}", raw)

    # --- guards

    def _solve(self, occurrences: Sequence[Occurrence], triples: Sequence[Triple]) -> None:
        """The solutions of the guard blocks that may read these occurrences."""
        for occurrence in occurrences:
            for ask in self._asks.get(occurrence.event, ()):
                graphs = OccurrenceGraphs(self.bundle, occurrence, triples)
                solutions = ask.solve(occurrence, graphs)
                if solutions:
                    occurrence.solutions[ask.number] = solutions


def _complete(bundle: Bundle) -> None:
    """Refuses events that need the reasoner where complete answers are required and there is none."""
    needy = {event: words for event, words in bundle.status.items() if words != "exact"}
    if needy:
        raise ObepError(
            *(
                Diagnostic(
                    "OBEP346",
                    f"{name(event)} {words}",
                    reason="Complete answers are required, and there is no Java.",
                    remedy="install a Java (for example: pip install obep[java]), or run without "
                    "--require-complete",
                )
                for event, words in needy.items()
            )
        )
