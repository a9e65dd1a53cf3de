"""The answers about a shape: rules first, and a reasoner for what they leave open."""

from __future__ import annotations

from collections.abc import Sequence

from obep.abstraction.bounds import Bounds
from obep.abstraction.explain import Explainer, Explanation, add_minimal
from obep.abstraction.shapes import Shape
from obep.abstraction.templates import Hit, Name, Template
from obep.model import RDF_TYPE, Term, Triple, body_of
from obep.ontology.compile import Bundle
from obep.ontology.gap import Gap
from obep.ontology.locality import Components
from obep.ontology.program import BOTTOM
from obep.ontology.reading import Reading, assert_triples
from obep.ontology.saturate import Closure


class Evaluator:
    """Evaluates shapes; keeps nothing but what it has found out about K."""

    def __init__(self, bundle: Bundle, gap: Gap | None, max_explanations: int) -> None:
        self._bundle = bundle
        self._reading = bundle.lower
        self._explainers: dict[int, Explainer] = {}
        self._bounds = None if bundle.exact else Bounds(bundle, gap, max_explanations)
        self._max = max_explanations
        self._bodies = bundle.definitions.bodies
        self._goals = bundle.goal_numbers
        self._bounded = {*bundle.bounded, *map(body_of, bundle.bounded)}

    @property
    def readings(self) -> list[Reading]:
        """The readings of T that count for items that assert no event's class."""
        return [self._reading] if self._bundle.profile.exact() else [self._reading, self._bundle.upper]

    def components(self) -> Components:
        """What belongs together in K, whatever an item asserts."""
        assert self._bounds is not None, "where the rules decide all, nobody asks"
        return self._bounds.components_asserted

    @property
    def asked(self) -> int:
        """How many questions went to the reasoner."""
        return 0 if self._bounds is None else self._bounds.asked

    def decide(self, triples: Sequence[Triple]) -> Closure:
        """What surely follows, without explanations."""
        closure = assert_triples(self._reading.program, self._reading.store, triples)
        closure.run()
        return closure

    def evaluate(self, shape: Shape, news: frozenset[int] | None) -> Template:
        """Every hit whose explanation uses something new (`None`: all is new), or a minimal clash."""
        template = self._evaluate(shape, news)
        if not self._bounded:
            return template
        flagged = [hit._replace(bounded=True) if hit.event in self._bounded else hit for hit in template.hits]
        return template._replace(hits=tuple(flagged))

    def _evaluate(self, shape: Shape, news: frozenset[int] | None) -> Template:
        triples = shape.triples
        bodies = self._bodies
        asserted = False
        for _, p, o in triples:
            if o in bodies and p == RDF_TYPE:
                asserted = True
        program = self._bundle.lower_asserted if asserted else self._reading.program
        closure = assert_triples(program, self._reading.store, triples)
        closure.run()
        if closure.clashes:
            return self._clash(closure, shape)
        hits, capped = self._lower(closure, shape, news)
        if self._bounds is None:
            return Template(tuple(hits), capped=capped)
        if not asserted and self._bundle.profile.exact():
            return Template(tuple(hits), capped=capped)
        template = self._between(hits, capped, closure, shape, news, asserted)
        # Where only an asserted event opens the upper reading, its names of K are not kept out of shapes.
        return template._replace(keep=not (asserted and self._bundle.profile.exact()))

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
        asserted: bool,
    ) -> Template:
        assert self._bounds is not None
        triples = shape.triples
        new = frozenset(range(len(triples))) if news is None else news
        still = self._bounds.decide(triples, new, closure, self._explainer(closure), asserted=asserted)
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

    def _lower(self, closure: Closure, shape: Shape, news: frozenset[int] | None) -> tuple[list[Hit], int]:
        """What surely follows, and how often there was too much of it."""
        hits: list[Hit] = []
        capped = 0
        goals, witnesses, static = self._goals, closure.program.witnesses, self._reading.store.assertions
        size = closure.store.size
        numbers = {triple: n for n, triple in enumerate(shape.triples)} if closure.hits else {}
        explainer = self._explainer(closure)
        for c, x, node in closure.hits:
            if x in witnesses:
                continue
            term = closure.term(x)
            individual: Name = shape.names.get(term, term) if x >= size else term
            sets, cut = explainer.explain(node)
            if cut:
                goal = (c, term)
                sets = tuple({self._minimal(one, goal, shape, closure): None for one in sets})
            sets = self._as_of_the_item(sets, numbers)
            if news is None:
                sets = tuple([one for one in sets if one and max(one) >= 0])
            else:
                sets = tuple([one for one in sets if not news.isdisjoint(one)])
            if cut or len(sets) > self._max:
                capped += 1
                sets = tuple(sorted(sets, key=self._smallest_first)[: self._max])
            for one in sets:
                mine, behind = [], []
                for n in one:
                    if n >= 0:
                        mine.append(n)
                    else:
                        behind.append(static[-1 - n])
                hits.append(Hit(goals[c], individual, tuple(mine), tuple(behind)))
        if len(hits) > 1:
            hits.sort(key=_order)
        return hits, capped

    def _smallest_first(self, one: Explanation) -> tuple[object, ...]:
        """The order in which sets are kept: by their size, then by what comes first in the item, and by the
        names in K, whatever the order of its files."""
        known = self._reading.store.triples
        return len(one), sorted(n for n in one if n >= 0), sorted(known[-1 - n] for n in one if n < 0)

    def _as_of_the_item(
        self, sets: tuple[Explanation, ...], numbers: dict[Triple, int]
    ) -> tuple[Explanation, ...]:
        """Sets in which a triple that the item and K share has one number, the item's."""
        known = self._reading.store.triples
        if not any(n < 0 and known[-1 - n] in numbers for one in sets for n in one):
            return sets
        smallest: list[Explanation] = []
        for one in sets:
            add_minimal(smallest, frozenset(numbers.get(known[-1 - n], n) if n < 0 else n for n in one))
        return tuple(smallest)

    def _minimal(
        self, one: Explanation, goal: tuple[int, Term], shape: Shape, closure: Closure
    ) -> Explanation:
        """A minimal set inside one that entails a goal: whatever can be left out is."""
        left = sorted(one)
        for n in tuple(left):
            fewer = [m for m in left if m != n]
            triples = [self._triple(m, shape) for m in fewer]
            check = assert_triples(closure.program, self._bundle.bare_store, triples)
            check.run()
            x = check.number(goal[1])
            if (bool(check.clashes) and not goal[0]) or (x is not None and check.type_node(goal[0], x)):
                left = fewer
        return frozenset(left)

    def _triple(self, number: int, shape: Shape) -> Triple:
        return self._reading.store.triples[-1 - number] if number < 0 else shape.triples[number]

    def _clash(self, closure: Closure, shape: Shape) -> Template:
        """A minimal set that contradicts T."""
        explainer = self._explainer(closure)
        explained = [(explainer.explain(node), x) for _, x, node in closure.clashes]
        found = [(one, cut, x) for (sets, cut), x in explained for one in sets]
        smallest, cut, x = min(found, key=lambda one: (len(one[0]), sorted(one[0])))
        if cut:
            smallest = self._minimal(smallest, (BOTTOM, closure.term(x)), shape, closure)
        triples = self._reading.store.triples
        return Template(
            (),
            tuple(sorted(n for n in smallest if n >= 0)),
            tuple(sorted(triples[-1 - n] for n in smallest if n < 0)),
        )


def _order(hit: Hit) -> tuple[object, ...]:
    """An order that the item's own names do not change."""
    return (hit.event, str(hit.individual), sorted(hit.triples), sorted(hit.static))
