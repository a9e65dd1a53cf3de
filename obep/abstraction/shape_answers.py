"""The answers about a shape: rules first, and a reasoner for what they leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from obep.abstraction.answer_templates import Hit, Name, Template
from obep.abstraction.explanation_search import Explanation, Searched, Sought
from obep.abstraction.explanations import Explainer
from obep.abstraction.open_questions import Bounds, run_within
from obep.abstraction.shapes import Shape
from obep.model import RDF_TYPE, Assertion, Term, Triple, body_of
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.facts import Node
from obep.ontology.closure.runnable import Reading, assert_triples
from obep.ontology.closure.saturate import Closure
from obep.ontology.closure.work_budget import MAX_WORK, OVER_BUDGET, OverBudget, Work
from obep.ontology.hermit.justify import all_minimal
from obep.ontology.hermit.reasoner_protocol import Gap
from obep.ontology.rules.locality import Components
from obep.ontology.rules.program import BOTTOM

_Parts = tuple[tuple[int, ...], tuple[Assertion, ...]]
_PARTS = 5_000
"""Assertions among which further explanations are looked for by trying, where there are very many."""


class Evaluator:
    """Evaluates shapes; keeps nothing but what it has found out about K."""

    def __init__(self, bundle: Bundle, gap: Gap | None, max_explanations: int) -> None:
        self._bundle = bundle
        self._reading = bundle.lower
        self._explainers: dict[int, Explainer] = {}
        self._bounds = None if bundle.exact else Bounds(bundle, gap, max_explanations)
        self._max = max_explanations
        self._max_work = bundle.max_work or MAX_WORK
        self._bodies = bundle.definitions.bodies
        self._goals = bundle.goal_numbers
        self._bounded = {*bundle.bounded, *map(body_of, bundle.bounded)}

    @property
    def readings(self) -> list[Reading]:
        """The readings of T that count for items that assert no event's class."""
        return [self._reading] if self._bundle.exact_for_most else [self._reading, self._bundle.upper]

    def components(self) -> Components:
        """The components of K, independent of the assertions of items."""
        assert self._bounds is not None, "where the rules decide all, nothing is asked"
        return self._bounds.components_asserted

    def forget(self) -> None:
        """Drop cached facts about K after a change of it."""
        for explainer in self._explainers.values():
            explainer.forget()

    @property
    def asked(self) -> int:
        """The number of questions to the reasoner."""
        return 0 if self._bounds is None else self._bounds.asked

    def decide(self, triples: Sequence[Triple]) -> Closure:
        """Find what is certainly entailed, without explanations."""
        closure = assert_triples(self._reading.program, self._reading.store, triples)
        closure.run()
        return closure

    def evaluate(self, shape: Shape, news: frozenset[int] | None) -> Template:
        """Every hit whose explanation uses something new (`None`: all is new), or a minimal clash.

        Where that takes more steps than an item may have, it is refused.
        """
        try:
            template = self._evaluate(shape, news, Work(self._max_work))
        except OverBudget:
            return Template((), refused=(OVER_BUDGET, self._over_budget(shape)))
        if not self._bounded:
            return template
        flagged = [hit._replace(bounded=True) if hit.event in self._bounded else hit for hit in template.hits]
        return template._replace(hits=tuple(flagged))

    def _over_budget(self, shape: Shape) -> str:
        return (
            f"what follows from {len(shape.triples)} triples takes more than {self._max_work} steps, the "
            "limit for one item; send it in smaller items, or raise max_work under [engine] in obep.toml"
        )

    def _evaluate(self, shape: Shape, news: frozenset[int] | None, work: Work) -> Template:
        triples = shape.triples
        bodies = self._bodies
        asserted = False
        for _, p, o in triples:
            if o in bodies and p == RDF_TYPE:
                asserted = True
        program = self._bundle.lower_asserted if asserted else self._reading.program
        closure = assert_triples(program, self._reading.store, triples)
        run_within(closure, work)
        if closure.clashes:
            return self._clash(closure, shape, work)
        hits, capped = self._lower(closure, shape, news, work)
        if self._bounds is None:
            return Template(tuple(hits), capped=capped)
        if not asserted and self._bundle.exact_for_most:
            return Template(tuple(hits), capped=capped)
        template = self._between(hits, capped, closure, shape, news, work, asserted=asserted)
        # Where only an asserted event opens the upper reading, its names of K are not kept out of shapes.
        return template._replace(keep=not (asserted and self._bundle.exact_for_most))

    def _explainer(self, closure: Closure) -> Explainer:
        """Whatever explains by the rules that a closure was made with."""
        key = id(closure.program)
        if key not in self._explainers:
            self._explainers[key] = Explainer(closure.program, self._reading.store)
        return self._explainers[key]

    def _between(
        self,
        hits: list[Hit],
        capped: int,
        closure: Closure,
        shape: Shape,
        news: frozenset[int] | None,
        work: Work,
        *,
        asserted: bool,
    ) -> Template:
        assert self._bounds is not None
        triples = shape.triples
        new = frozenset(range(len(triples))) if news is None else news
        still = self._bounds.decide(triples, new, closure, self._explainer(closure), work, asserted=asserted)
        if still is None:
            return Template(tuple(hits), capped=capped)
        place = shape.names
        open_goals = {(event, place.get(c, c)) for event, c in still.goals}
        if still.answer is None:
            flagged = [hit._replace(bounded=(hit.event, hit.individual) in open_goals) for hit in hits]
            return Template(tuple(flagged), bounded=True, capped=capped)
        number = {triple: n for n, triple in enumerate(triples)}
        if still.answer.clash is not None:
            clash = still.answer.clash
            mine = tuple(sorted(number[t] for t in clash if t in number))
            return Template((), mine, tuple(sorted(t for t in clash if t not in number)))
        hits = [hit for hit in hits if (hit.event, hit.individual) not in open_goals]
        for (event, c), sets in still.answer.explanations.items():
            for one in sets:
                mine = tuple(sorted(number[t] for t in one if t in number))
                static = tuple(sorted((t, None) for t in one if t not in number))
                hits.append(Hit(event, place.get(c, c), mine, static))
        return Template(tuple(sorted(hits, key=_order)), capped=capped + still.answer.capped)

    def _lower(
        self, closure: Closure, shape: Shape, news: frozenset[int] | None, work: Work
    ) -> tuple[list[Hit], int]:
        """Find what is certainly entailed, and count how often explanations were dropped."""
        hits: list[Hit] = []
        capped = 0
        goals, witnesses, static = self._goals, closure.program.witnesses, self._reading.store.assertions
        size = closure.store.size
        numbers = {triple: n for n, triple in enumerate(shape.triples)} if closure.hits else {}
        explainer = self._explainer(closure)
        counts = _of_the_item if news is None else _using(news)
        paid: set[object] = set()
        alike: dict[tuple[int, ...], tuple[list[_Parts], bool]] = {}
        """What was found, by the derivations: equal ones have equal explanations."""
        for c, x, node in closure.hits:
            if x in witnesses:
                continue
            term = closure.term(x)
            individual: Name = shape.names.get(term, term) if x >= size else term
            ways = tuple([way if type(way) is int else ~id(way) for way in node])
            explained = alike.get(ways)
            if explained is None:
                found = explainer.search(node, Sought(self._max, work.left, counts, paid), numbers)
                work.spend(found.steps)
                sets, more = found.sets, found.more
                if found.cut:
                    whole = _Checks(self, closure, shape, (c, term), work)
                    sets, more = whole.completed(found, explainer, node, numbers, counts, self._max)
                explained = [_parts(one, static) for one in sets], more
                if not found.cut:
                    alike[ways] = explained
            parts, more = explained
            capped += more
            hits += [Hit(goals[c], individual, mine, behind) for mine, behind in parts]
        if len(hits) > 1:
            hits.sort(key=_order)
        return hits, capped

    def holds(
        self, some: Sequence[int], goal: tuple[int, Term], shape: Shape, closure: Closure, work: Work
    ) -> bool:
        """Whether some assertions entail a goal, or contradict T if that is the goal."""
        triples = [self._triple(n, shape) for n in some]
        check = assert_triples(closure.program, self._bundle.bare_store, triples)
        run_within(check, work)
        if not goal[0]:
            return bool(check.clashes)
        x = check.number(goal[1])
        return x is not None and bool(check.type_node(goal[0], x))

    def _triple(self, number: int, shape: Shape) -> Triple:
        return self._reading.store.triples[-1 - number] if number < 0 else shape.triples[number]

    def _clash(self, closure: Closure, shape: Shape, work: Work) -> Template:
        """A minimal set that contradicts T."""
        explainer = self._explainer(closure)
        found = explainer.search([node for _, _, node in closure.clashes], Sought(1, work.left))
        work.spend(found.steps)
        (smallest,) = found.sets
        if found.cut:
            goal = (BOTTOM, closure.term(closure.clashes[0][1]))
            smallest = _Checks(self, closure, shape, goal, work).minimal(smallest)
        triples = self._reading.store.triples
        return Template(
            (),
            tuple(sorted(n for n in smallest if n >= 0)),
            tuple(sorted(triples[-1 - n] for n in smallest if n < 0)),
        )


class _Checks:
    """Entailment checks for subsets of the assertions of an item and of K."""

    def __init__(
        self, evaluator: Evaluator, closure: Closure, shape: Shape, goal: tuple[int, Term], work: Work
    ) -> None:
        def holds(some: Sequence[int]) -> bool:
            return evaluator.holds(some, goal, shape, closure, work)

        self._holds = holds

    def minimal(self, one: Explanation) -> Explanation:
        """Reduce a set that entails the goal to a minimal one."""
        left = sorted(one)
        for n in tuple(left):
            fewer = [m for m in left if m != n]
            if self._holds(fewer):
                left = fewer
        return frozenset(left)

    def completed(
        self,
        found: Searched,
        explainer: Explainer,
        node: Node,
        numbers: Mapping[Triple, int],
        counts: Callable[[Explanation], bool],
        most: int,
    ) -> tuple[tuple[Explanation, ...], bool]:
        """The minimal sets inside those found, and others if they are few; whether there may be more."""
        sets = tuple(filter(counts, {self.minimal(one): None for one in found.sets}))
        parts = explainer.leaves(node, _PARTS)
        if parts is None:
            return tuple(sorted(sets, key=explainer.order)[:most]), True
        known = explainer.store.triples
        places = {n if n >= 0 else numbers.get(known[-1 - n], n) for n in parts}
        whole = all_minimal(self._holds, sorted(places), cap=most + 1, seeds=sets, wanted=counts)
        ordered = sorted(whole.sets, key=explainer.order)
        return tuple(ordered[:most]), len(ordered) > most or whole.capped


def _parts(one: Explanation, static: Sequence[Assertion]) -> _Parts:
    """An explanation as the triples of the item, and those of K."""
    return tuple([n for n in one if n >= 0]), tuple([static[-1 - n] for n in one if n < 0])


def _of_the_item(one: Explanation) -> bool:
    return max(one, default=-1) >= 0


def _using(news: frozenset[int]) -> Callable[[Explanation], bool]:
    return lambda one: not news.isdisjoint(one)


def _order(hit: Hit) -> tuple[object, ...]:
    """An order that the item's own names do not change."""
    return (hit.event, str(hit.individual), sorted(hit.triples), sorted(hit.static))
