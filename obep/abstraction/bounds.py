"""What the rules leave open about an item, and who closes it.

The lower reading finds what surely follows, the upper one what perhaps follows. Where both have the same
minimal sets for a goal, these are the explanations: whatever lies between two equal bounds equals them.
Everything else is asked of a `Gap`, about the item and its component of K.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from obep.abstraction.explain import Explainer, Explanation
from obep.errors import ObepError
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.compile import Bundle
from obep.ontology.gap import Answer, Gap, Goal, Question
from obep.ontology.locality import Components, looking_only
from obep.ontology.program import BOTTOM
from obep.ontology.reading import assert_triples
from obep.ontology.saturate import Closure
from obep.ontology.verdicts import GAVE_UP, NO_ANSWER


@dataclass(slots=True)
class Open:
    """What is not decided, and the answer if there is one."""

    goals: dict[Goal, list[frozenset[Triple]]] = field(default_factory=dict)
    """Each with the sets that surely entail it."""
    consistency: bool = False
    answer: Answer | None = None


class Bounds:
    """Compares the two readings of T on an item."""

    def __init__(self, bundle: Bundle, gap: Gap | None, max_explanations: int) -> None:
        self._bundle, self._gap, self._max = bundle, gap, max_explanations
        self.asked = 0
        """Questions that went to the gap."""

    @cached_property
    def _components(self) -> Components:
        """What belongs together in K while no item asserts an event."""
        definitions, k = self._bundle.definitions, self._bundle.k
        axioms = looking_only(definitions.axioms, definitions.goals, k)
        return Components(axioms, filter(self._bundle.means_something, k))

    @cached_property
    def _components_asserted(self) -> Components:
        return Components(
            self._bundle.definitions.axioms, filter(self._bundle.means_something, self._bundle.k)
        )

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._bundle.upper.program, self._bundle.upper.store)

    @cached_property
    def _goals(self) -> Mapping[bool, dict[Term, int]]:
        concept = self._bundle.upper.program.names.concept
        return {
            asserted: {goal: concept(goal) for goal in sorted(self._bundle.open_goals(asserted=asserted))}
            for asserted in (False, True)
        }

    @cached_property
    def _consistency(self) -> Mapping[bool, bool]:
        return {way: self._bundle.open_consistency(asserted=way) for way in (False, True)}

    def decide(
        self,
        triples: Sequence[Triple],
        news: frozenset[int],
        lower: Closure,
        explainer: Explainer,
        *,
        asserted: bool,
    ) -> Open | None:
        """What the rules leave open, closed by the gap if there is one; `None` if nothing is open."""
        goals, consistency = self._goals[asserted], self._consistency[asserted]
        if not goals and not consistency:
            return None
        program = self._bundle.upper_asserted if asserted else self._bundle.upper.program
        upper = assert_triples(program, self._bundle.upper.store, triples)
        upper.run()
        mine = [t for t in triples if self._bundle.means_something(t)]
        component = (self._components_asserted if asserted else self._components).of(mine)
        found = Open()
        opaque = bool((self._bundle.asserted if asserted else self._bundle.profile).opaque)
        names = _individuals((*mine, *component))
        for individual in names:
            for goal, c in goals.items():
                sets = self._lower_sets(lower, explainer, c, individual, triples)
                if opaque or self._upper_sets(upper, c, individual, triples) != set(sets):
                    found.goals[goal, individual] = sets
        found.consistency = consistency and (opaque or self._may_clash(upper, names))
        if not found.goals and not found.consistency:
            return None
        self._ask(found, triples, mine, news, component)
        return found

    def _ask(
        self,
        found: Open,
        triples: Sequence[Triple],
        mine: list[Triple],
        news: frozenset[int],
        component: tuple[Triple, ...],
    ) -> None:
        if self._gap is None:
            return
        new = {triples[n] for n in news}
        question = Question(
            tuple(t for t in mine if t in new),
            tuple(dict.fromkeys(t for t in (*mine, *component) if t not in new)),
            tuple(sorted(found.goals)),
            {goal: tuple(sets) for goal, sets in found.goals.items()},
            found.consistency,
            self._max,
        )
        try:
            self.asked += 1
            found.answer = self._gap.decide(question)
        except ObepError as error:
            if error.code not in NO_ANSWER:
                raise
            if error.code != GAVE_UP:  # nobody is there: what is open stays open, and is flagged
                self._gap = None

    def _lower_sets(
        self, lower: Closure, explainer: Explainer, c: int, individual: Term, triples: Sequence[Triple]
    ) -> list[frozenset[Triple]]:
        return [_as_triples(one, triples, lower) for one in _sets(lower, explainer, c, individual) or ()]

    def _upper_sets(
        self, upper: Closure, c: int, individual: Term, triples: Sequence[Triple]
    ) -> set[frozenset[Triple]] | None:
        """`None` if there are too many to compare."""
        if c in upper.program.universal:
            return {frozenset()}
        sets = _sets(upper, self._explainer, c, individual)
        return None if sets is None else {_as_triples(one, triples, upper) for one in sets}

    def _may_clash(self, upper: Closure, names: Iterable[Term]) -> bool:
        if upper.clashes or BOTTOM in upper.program.universal:
            return True
        store = upper.store
        known = {store.ids[name] for name in names if name in store.ids} | upper.program.witnesses
        return any(BOTTOM in store.types[x] for x in known)


def _sets(closure: Closure, explainer: Explainer, c: int, individual: Term) -> Sequence[Explanation] | None:
    x = closure.number(individual)
    premise = None if x is None else closure.type_node(c, x)
    if premise is None:
        return ()
    found = explainer.explain(premise) if isinstance(premise, list) else explainer.fact(premise)
    return None if found.cut else found.sets


def _as_triples(one: Explanation, triples: Sequence[Triple], closure: Closure) -> frozenset[Triple]:
    return frozenset(triples[n] if n >= 0 else closure.store.triples[-1 - n] for n in one)


def _individuals(triples: Iterable[Triple]) -> list[Term]:
    found: dict[Term, None] = {}
    for s, p, o in triples:
        found[s] = None
        if p != RDF_TYPE and not o.startswith('"'):
            found[o] = None
    return list(found)
