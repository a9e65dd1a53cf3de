"""What the rules leave open about an item, and how it is decided.

The lower reading finds what surely follows, the upper one what perhaps follows. Where both have the same
minimal sets for a goal, these are the explanations: whatever lies between two equal bounds equals them.
Everything else is asked of a `Gap`, about the item and its component of K.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from obep.abstraction.explanation_search import Explanation
from obep.abstraction.explanations import Explainer
from obep.errors import ObepError
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.verdicts import GAVE_UP, NO_ANSWER, NO_JAVA
from obep.ontology.closure.backwards import Fact
from obep.ontology.closure.runnable import assert_triples
from obep.ontology.closure.saturate import Closure
from obep.ontology.closure.store import Store
from obep.ontology.closure.work_budget import Work
from obep.ontology.hermit.reasoner_protocol import Answer, Gap, Goal, Question
from obep.ontology.owl.axioms import DIFFERENT_FROM, NAMED_INDIVIDUAL, OWL, RDF, RDFS, SAME_AS, THING
from obep.ontology.rules.locality import Components, fixed_names, looking_only
from obep.ontology.rules.program import BOTTOM

_EFFORT = 20_000
"""Sets of the upper reading that are looked at for one goal, before it counts as open."""
_REMEMBERED = 1 << 18
PATIENCE = 3
"""Questions on which the reasoner gives up, one after the other, before it is asked no more in this run."""
STEPS_TO_ASK = 500
"""The steps that a question to the reasoner counts as; it takes some milliseconds."""


class Part(NamedTuple):
    """A connected part: triples of the item, and the triples of K around them."""

    mine: list[Triple]
    background: list[Triple]

    def divided(self, new: set[Triple]) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
        """The triples that are new, and all the others."""
        known = dict.fromkeys(t for t in (*self.mine, *self.background) if t not in new)
        return tuple(t for t in self.mine if t in new), tuple(known)


@dataclass(slots=True)
class Open:
    """An undecided question, and its answer if there is one."""

    part: Part
    goals: dict[Goal, list[frozenset[Triple]]] = field(default_factory=dict)
    """Each with the sets that surely entail it."""
    consistency: bool = False
    answer: Answer | None = None


class _Readings(NamedTuple):
    """An item, closed in both readings, with the steps that are left for it."""

    triples: Sequence[Triple]
    lower: Closure
    upper: Closure
    explainer: Explainer
    """The explainer of the lower reading."""
    work: Work
    paid: tuple[set[Fact], set[Fact]]
    """The facts of K that were explained before, in the lower and in the upper reading."""
    enough: int
    """Steps after which nothing is compared any more: what is left counts as open."""


class Bounds:
    """Compares the two readings of T on an item."""

    def __init__(self, bundle: Bundle, gap: Gap | None, max_explanations: int) -> None:
        self._bundle, self._gap, self._max = bundle, gap, max_explanations
        self.asked = 0
        """Questions that went to the gap."""
        self._gave_up = 0
        """The number of times in a row that the gap has given up."""
        self._of_k: dict[tuple[int, Term, bool], tuple[bool, int]] = {}
        """About what K alone says: whether the bounds differ, and the steps that it takes to find out."""

    @cached_property
    def _components(self) -> Components:
        """The components of K while no item asserts an event."""
        definitions, k = self._bundle.definitions, self._bundle.k
        axioms = looking_only(definitions.axioms, definitions.goals, k)
        return Components(axioms, filter(self._bundle.means_something, k))

    @cached_property
    def components_asserted(self) -> Components:
        """The components of K if items may assert events."""
        return Components(
            self._bundle.definitions.axioms, filter(self._bundle.means_something, self._bundle.k)
        )

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._bundle.upper.program, self._bundle.upper.store, _EFFORT)

    @cached_property
    def _explainer_asserted(self) -> Explainer:
        return Explainer(self._bundle.upper_asserted, self._bundle.upper.store, _EFFORT)

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
        work: Work,
        *,
        asserted: bool,
    ) -> Open | None:
        """Decide what the rules leave open by the gap, if there is one; None if nothing is open."""
        goals, consistency = self._goals[asserted], self._consistency[asserted]
        if not goals and not consistency:
            return None
        program = self._bundle.upper_asserted if asserted else self._bundle.upper.program
        upper = assert_triples(program, self._bundle.upper.store, triples)
        run_within(upper, work)
        readings = _Readings(
            triples, lower, upper, explainer, work, (set(), set()), work.done + work.left // 2
        )
        mine = [t for t in triples if self._bundle.means_something(t)]
        components = self.components_asserted if asserted else self._components
        opaque = self._bundle.opaque(asserted=asserted)
        some = _parts(mine, components, work)
        here = {name for part in some for name in _individuals((*part.mine, *part.background))}
        also = [name for name in self._named_by_t(upper, opaque) if name not in here]
        if also:
            around = components.of((*mine, *((name, RDF_TYPE, "") for name in also)))
            some = [Part(mine, list(around))]
        if opaque and components.reasons:  # what T says of everything it says of these, too
            also += [name for name in (*_individuals(triples), *self._everybody) if name not in here]
        parts = [
            self._open_part(part, also, readings, opaque=opaque, goals=goals, consistency=consistency)
            for part in some
        ]
        still = [part for part in parts if part.goals or part.consistency]
        if not still:
            return None
        self._ask(still, {triples[n] for n in news}, work)
        return _together(still)

    @cached_property
    def _everybody(self) -> list[Term]:
        """The individuals of K and T, also those that no rule looks at."""
        of_t = fixed_names(self._bundle.definitions.axioms)
        said = (triple for triple in self._bundle.k if not _only_written(triple))
        return [*_individuals(said), *sorted(name for name in of_t if not name.startswith('"'))]

    @cached_property
    def _fixed(self) -> list[Term]:
        """The individuals that T names."""
        return sorted(name for name in fixed_names(self._bundle.module) if not name.startswith('"'))

    @cached_property
    def _perhaps_anyway(self) -> frozenset[Term]:
        """The individuals that may be of an event's class independently of the item, by a witness related
        to them."""
        lower, upper = self._bundle.lower.store, self._bundle.upper.store
        goals = frozenset(self._bundle.goal_numbers)
        universal = goals & self._bundle.upper.program.universal

        def types(store: Store, name: Term) -> frozenset[int]:
            x = store.ids.get(name)
            return frozenset() if x is None else goals & store.types[x]

        return frozenset(
            name for name in self._fixed if universal or not types(upper, name) <= types(lower, name)
        )

    def _named_by_t(self, upper: Closure, opaque: bool) -> Iterable[Term]:
        """The individuals that only T names, and about which something may be open."""
        if opaque:
            return self._fixed
        return [
            name for name in self._fixed if name in self._perhaps_anyway or upper.number(name) in upper.types
        ]

    def _open_part(
        self,
        part: Part,
        also: Sequence[Term],
        readings: _Readings,
        *,
        opaque: bool,
        goals: dict[Term, int],
        consistency: bool,
    ) -> Open:
        """The open questions about one part of the item, and about individuals that T names."""
        found = Open(part)
        names = [*dict.fromkeys((*_individuals((*part.mine, *part.background)), *also))]
        readings.work.spend(len(names) * len(goals))
        for individual in names:
            for goal, c in goals.items():
                if opaque or self._differs(readings, c, individual):
                    found.goals[goal, individual] = self._lower_sets(readings, c, individual)
        found.consistency = consistency and (opaque or self._may_clash(readings.upper, names))
        return found

    def _differs(self, readings: _Readings, c: int, individual: Term) -> bool:
        """Whether the bounds differ about a goal; of what the item does not touch that is known from K."""
        lower, upper, work = readings.lower, readings.upper, readings.work
        x = upper.number(individual)
        if c not in upper.program.universal and (x is None or upper.type_node(c, x) is None):
            return False
        if work.done > readings.enough:
            return True
        untouched = x is not None and x not in upper.types and lower.number(individual) not in lower.types
        key = (c, individual, upper.program is self._bundle.upper.program)
        known = self._of_k.get(key) if untouched else None
        if known is not None:  # it costs what it cost, whichever item came first
            work.spend(known[1])
            return known[0]
        if untouched:  # what else the item asks for does not change what is remembered
            readings = readings._replace(paid=(set(), set()))
        before = work.done
        sets = self._lower_sets(readings, c, individual)
        differs = self._upper_sets(readings, c, individual) != set(sets)
        if untouched and len(self._of_k) < _REMEMBERED:
            self._of_k[key] = differs, work.done - before
        return differs

    def _ask(self, parts: list[Open], new: set[Triple], work: Work) -> None:
        """Ask first whether each part is consistent, then about the goals."""
        for open_ in parts:
            if open_.consistency:
                question = Question(*open_.part.divided(new), (), check_consistency=True)
                open_.answer = self._decided(question, work)
                if open_.answer is not None and open_.answer.clash is not None:
                    return
        for open_ in parts:
            if open_.goals and not (open_.consistency and open_.answer is None):
                question = Question(
                    *open_.part.divided(new),
                    tuple(sorted(open_.goals)),
                    {goal: tuple(sets) for goal, sets in open_.goals.items()},
                    max_explanations=self._max,
                )
                open_.answer = self._decided(question, work)

    def _decided(self, question: Question, work: Work) -> Answer | None:
        """The answer to a question, if it is known."""
        if self._gap is None:
            return None
        try:
            self.asked += 1
            answer = self._gap.decide(replace(question, max_asked=work.most // STEPS_TO_ASK))
            self._gave_up = 0
            work.spend(answer.asked * STEPS_TO_ASK)
            return answer
        except ObepError as error:
            if error.code not in NO_ANSWER:
                raise
            self._gave_up += error.code == GAVE_UP
            if error.code == NO_JAVA or self._gave_up >= PATIENCE:
                self._gap = None  # what is open stays open, and is flagged
            return None

    def _lower_sets(self, readings: _Readings, c: int, individual: Term) -> list[frozenset[Triple]]:
        lower, work, paid = readings.lower, readings.work, readings.paid[0]
        if work.done > readings.enough:  # they would only save questions
            return []
        sets = _sets(lower, readings.explainer, c, individual, work, paid)
        return [_as_triples(one, readings.triples, lower) for one in sets or ()]

    def _upper_sets(self, readings: _Readings, c: int, individual: Term) -> set[frozenset[Triple]] | None:
        """`None` if there are too many to compare."""
        upper, work, paid = readings.upper, readings.work, readings.paid[1]
        if c in upper.program.universal:
            return {frozenset()}
        plain = upper.program is self._bundle.upper.program
        explainer = self._explainer if plain else self._explainer_asserted
        sets = _sets(upper, explainer, c, individual, work, paid)
        return None if sets is None else {_as_triples(one, readings.triples, upper) for one in sets}

    def _may_clash(self, upper: Closure, names: Iterable[Term]) -> bool:
        if upper.clashes or BOTTOM in upper.program.universal:
            return True
        store = upper.store  # what has an impossible witness has BOTTOM too (`build_reading`)
        return any(BOTTOM in store.types[store.ids[name]] for name in names if name in store.ids)


def run_within(closure: Closure, work: Work) -> None:
    """Closes a closure with the steps that are left."""
    closure.limit = work.left
    closure.run()
    work.spend(closure.operations + closure.steps)


def _parts(mine: list[Triple], components: Components, work: Work) -> list[Part]:
    """The item and its component of K in parts that no name joins (all in one where T reaches across)."""
    if components.reasons:
        return [Part(mine, list(components.of(mine)))]
    parts: list[tuple[set[Term], Part]] = []
    for triple in mine:
        around = components.of((triple,))
        work.spend(len(around) + len(parts))
        names = set(_individuals((triple, *around)))
        joined = [one for one in parts if not names.isdisjoint(one[0])]
        parts = [one for one in parts if names.isdisjoint(one[0])]
        for others, _ in joined:
            names |= others
        background = dict.fromkeys([*(t for _, part in joined for t in part.background), *around])
        parts.append((names, Part([*(t for _, part in joined for t in part.mine), triple], list(background))))
    return [part for _, part in parts]


def _together(parts: list[Open]) -> Open:
    """The parts as one answer; if one of them has none, there is none."""
    whole = Open(Part([], []), {goal: sets for one in parts for goal, sets in one.goals.items()})
    whole.consistency = any(one.consistency for one in parts)
    answers = [one.answer for one in parts]
    clash = next((a.clash for a in answers if a is not None and a.clash is not None), None)
    if clash is not None:
        whole.answer = Answer(clash=clash)
    elif None not in answers:
        known = [a for a in answers if a is not None]
        explanations = {goal: sets for a in known for goal, sets in a.explanations.items()}
        whole.answer = Answer(explanations, None, any(a.capped for a in known))
    return whole


def _sets(
    closure: Closure, explainer: Explainer, c: int, individual: Term, work: Work, paid: set[Fact]
) -> Sequence[Explanation] | None:
    x = closure.number(individual)
    premise = None if x is None else closure.type_node(c, x)
    if premise is None:
        return ()
    if isinstance(premise, list):
        found = explainer.explain(premise, paid)
        work.spend(found.steps)
    else:
        found = explainer.fact(premise)
        work.spend(0 if premise in paid else found.steps)
        paid.add(premise)
    return None if found.cut else found.sets


def _as_triples(one: Explanation, triples: Sequence[Triple], closure: Closure) -> frozenset[Triple]:
    return frozenset(triples[n] if n >= 0 else closure.store.triples[-1 - n] for n in one)


def _only_written(triple: Triple) -> bool:
    """Whether a triple is a part of how OWL 2 writes a statement in RDF: its nodes are no individuals."""
    _, p, o = triple
    if p == RDF_TYPE:
        return o.startswith((f"<{OWL}", "_")) and o not in (THING, NAMED_INDIVIDUAL)
    return p.startswith((f"<{OWL}", f"<{RDF}", f"<{RDFS}")) and p not in (SAME_AS, DIFFERENT_FROM)


def _individuals(triples: Iterable[Triple]) -> list[Term]:
    found: dict[Term, None] = {}
    for s, p, o in triples:
        found[s] = None
        if p != RDF_TYPE and not o.startswith('"'):
            found[o] = None
    return list(found)
