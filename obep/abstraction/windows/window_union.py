"""The union of a window's items: which sets of its triples explain something, by a triple that is new.

If the rules decide everything, what the items entail is kept, each fact with its expiration, and new triples
are closed beside it as an item is beside K. The whole union is examined again if a reasoner may be needed, if
an item asserts an event's class, if literals count by their values, or if keeping an item takes too many
steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from obep.abstraction.answer_templates import named
from obep.abstraction.explanation_search import Explanation
from obep.abstraction.explanations import Explained, Explainer, add_minimal
from obep.abstraction.open_questions import run_within
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.backwards import Fact
from obep.ontology.closure.expiring_closure import Lasting
from obep.ontology.closure.facts import Node
from obep.ontology.closure.overlay import Overlay
from obep.ontology.closure.runnable import assert_triples
from obep.ontology.closure.saturate import Closure
from obep.ontology.closure.work_budget import MAX_WORK, OverBudget, Work

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher


class Way(NamedTuple):
    """A minimal set of triples that explains an event's class for an individual."""

    event: Term
    individual: Term
    window: tuple[Triple, ...]
    static: tuple[Triple, ...]
    bounded: bool = False


class Answer(NamedTuple):
    """All ways, or a smallest set that contradicts T and K."""

    ways: Sequence[Way]
    clash: tuple[Triple, ...] | None = None
    capped: int = 0
    refused: tuple[str, str] | None = None
    """A code and a reason."""


class Union:
    """The triples of a window that have been looked at."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        bundle = matcher.bundle
        self._events = bundle.definitions.bodies
        self.operations = 0
        """The number of facts that were examined; tests compare it with the window's size."""
        self._known: dict[Triple, None] = {}
        self._asserting: set[Triple] = set()
        """Triples that assert a class that is an event."""
        self._lasting: Lasting | None = None
        program, store = bundle.lower.program, bundle.lower.store
        self._max_work = bundle.max_work or MAX_WORK
        if bundle.exact_for_most and not program.by_value:
            self._lasting = Lasting(program, store)
            self._behind = Overlay(self._lasting)
            self._explainer = Explainer(program, self._behind)

    def add(self, triples: Mapping[Triple, int], items: int = 1) -> None:
        """Triples with their expirations; they have come in so many items."""
        self._known.update(dict.fromkeys(triples))
        self._asserting.update(triple for triple in triples if self._asserts(triple))
        if self._lasting is not None:
            lasting = self._lasting
            lasting.limit = lasting.operations + lasting.steps + self._max_work * items
            try:
                lasting.add(triples.items())
            except OverBudget:  # what it holds is not whole any more
                self._lasting = None

    def drop(self, triples: Iterable[Triple], measure: int) -> None:
        """These have gone, as has all that expires by now."""
        for triple in triples:
            del self._known[triple]
            self._asserting.discard(triple)
        if self._lasting is not None:
            self._lasting.drop(measure)

    @property
    def triples(self) -> Iterable[Triple]:
        return self._known

    def _asserts(self, triple: Triple) -> bool:
        return triple[1] == RDF_TYPE and triple[2] in self._events

    def find(self, fresh: Mapping[Triple, object]) -> Answer:
        """Find explanations that use at least one of these triples."""
        if self._lasting is not None and not (self._asserting or any(map(self._asserts, fresh))):
            answer = self._beside(sorted(fresh))
            if answer is not None:
                return answer
        return self._whole(fresh)

    def _whole(self, fresh: Mapping[Triple, object]) -> Answer:
        template, shape = self._matcher.evaluate_union(sorted(self._known.keys() | fresh), fresh)
        triples = shape.triples
        if template.refused is not None:
            return Answer((), refused=template.refused)
        if template.clash is not None:
            return Answer((), (*(triples[n] for n in template.clash), *template.static_clash))
        names = list(shape.names)
        ways = [
            Way(
                hit.event,
                named(hit.individual, names) or "",
                tuple(triples[n] for n in hit.triples),
                tuple(triple for triple, _ in hit.static),
                hit.bounded,
            )
            for hit in template.hits
        ]
        return Answer(ways, None, template.capped)

    def _beside(self, fresh: list[Triple]) -> Answer | None:
        """Find them from cached facts and the new triples; None if there are too many ways."""
        explainer, store = self._explainer, self._behind
        explainer.forget()
        closure = assert_triples(explainer.program, store, fresh)
        work = Work(self._max_work)
        try:
            run_within(closure, work)
            return self._ways_of(closure, fresh, work)
        except OverBudget:  # of the whole of it the same is said, whatever came when
            return None
        finally:
            self.operations += closure.operations

    def _ways_of(self, closure: Closure, fresh: list[Triple], work: Work) -> Answer | None:
        paid: set[Fact] = set()

        def explained(node: Node) -> Explained:
            found = self._explainer.explain(node, paid)
            work.spend(found.steps)
            return found

        if closure.clashes:
            clashes = self._as_triples([explained(node) for _, _, node in closure.clashes], fresh)
            smallest = min(clashes, key=_smallest) if clashes else None
            return None if smallest is None else Answer((), tuple(smallest))
        ways: list[Way] = []
        goals = self._matcher.bundle.goal_numbers
        new = set(fresh)
        for c, x, node in closure.hits:
            if x in closure.program.witnesses:
                continue
            sets = self._as_triples([explained(node)], fresh)
            if sets is None:
                return None
            for one in sets:
                if not new.isdisjoint(one):
                    window = tuple(sorted(t for t in one if t in new or t in self._known))
                    static = tuple(sorted(one.difference(window)))
                    ways.append(Way(goals[c], closure.term(x), window, static))
        return Answer(ways)

    def _as_triples(
        self, explained: Iterable[Explained], fresh: Sequence[Triple]
    ) -> list[frozenset[Triple]] | None:
        """Sets of triples: one that several say is one. `None` if not all of them are there, or minimal."""
        found: list[frozenset[Triple]] = []
        for sets, cut, _ in explained:
            if cut:
                return None
            for one in sets:
                add_minimal(found, self._named(one, fresh))
        return found

    def _named(self, one: Explanation, fresh: Sequence[Triple]) -> frozenset[Triple]:
        return frozenset(fresh[n] if n >= 0 else self._behind.triples[-1 - n] for n in one)


def _smallest(one: frozenset[Triple]) -> tuple[int, list[Triple]]:
    return len(one), sorted(one)
