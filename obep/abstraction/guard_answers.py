"""Answer the asks of guards for the occurrences that a matcher finds (SPEC D7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from obep.abstraction.answer_templates import Hit, Pick, PlainAsks, Questions, Row, named, picker
from obep.abstraction.guard_graphs import ClosedGraph, OccurrenceGraphs
from obep.abstraction.hit_groups import Grouping
from obep.abstraction.open_facts import OpenFacts
from obep.abstraction.shapes import Shape
from obep.guards.block_queries import Ask
from obep.guards.block_solutions import Graphs, is_narrow
from obep.guards.guard_terms import term_of
from obep.model import EagerOccurrence, Occurrence, Solution, Term, Triple, body_of
from obep.ontology.bundle.compile import Bundle
from obep.query.ast import Var


class Asking:
    """The asks of a query, sorted by how much of them can be remembered for a shape."""

    def __init__(self, bundle: Bundle, asks: Sequence[Ask], facts: OpenFacts | None = None) -> None:
        self._bundle, self._facts = bundle, facts
        self.some = bool(asks)
        self._all: dict[Term, list[Ask]] = {}
        self._names: dict[Term, list[tuple[int, int]]] = {}
        """Asks that only name the individual: number, and how often."""
        self._patterns: dict[Term, list[Questions]] = {}
        self._live: dict[Term, list[Ask]] = {}
        """Asks that look at nothing of a shape: at times, or at the parameters of a composite."""
        self.fixed: set[Term] = set()
        """The terms that guards name: to them an item's own names are not all alike."""
        alike: dict[object, list[Ask]] = {}
        for ask in asks:
            self._all.setdefault(ask.event, []).append(ask)
            if ask.triples and not ask.parameters:
                key = (ask.event, ask.triples, ask.variables, ask.names_this)
                alike.setdefault(key, []).append(ask)
            elif ask.filters or ask.parameters:
                self._live.setdefault(ask.event, []).append(ask)
            else:
                self._names.setdefault(ask.event, []).append((ask.number, len(ask.variables)))
            for pattern in ask.triples:
                for place in (pattern.subject, pattern.predicate, pattern.object):
                    if not isinstance(place, Var):
                        self.fixed.add(term_of(place))

        patterns: dict[Ask, Ask] = {}
        for some in alike.values():
            asked = Questions(some)
            asked.pattern = patterns.setdefault(asked.pattern, asked.pattern)
            self._patterns.setdefault(some[0].event, []).append(asked)
        bodies = map(body_of, bundle.definitions.guarded)
        self.grouping = Grouping({body for body in bodies if len(self._all.get(body, ())) == 1})
        """Puts hits together that differ in a constant of their guard."""

    def rows(self, hits: tuple[Hit, ...], shape: Shape) -> tuple[Hit, ...]:
        """The hits with what the patterns of their asks find."""
        found = PatternRows(self._bundle, shape, self._facts)
        return tuple([self._with_rows(hit, found) for hit in hits])

    def _with_rows(self, hit: Hit, found: PatternRows) -> Hit:
        if questions := self._patterns.get(hit.event):
            hit = hit._replace(rows=tuple([(asked, found.of(hit, asked)) for asked in questions]))
        return hit._replace(solved=self._solved(hit))

    def _solved(self, hit: Hit) -> tuple[tuple[int, Pick], ...] | None:
        plain = self.plainly(hit)
        if plain is None:
            return None
        often, rows = plain
        named = [(number, (hit.individual,) * count) for number, count in often]
        return tuple([(number, picker(row)) for number, row in (*named, *rows)])

    def solve(self, occurrence: Occurrence, hit: Hit, names: tuple[Term, ...]) -> None:
        """The solutions of all asks about an occurrence."""
        event = occurrence.event
        solutions = occurrence.solutions
        if hit.solved is not None:
            for number, pick in hit.solved:
                solutions[number] = (pick(names),)
            return
        for number, often in self._names.get(event, ()):
            solutions[number] = ((occurrence.individual,) * often,)
        for asked, rows in hit.rows:
            if len(rows) == 1 and asked.unfiltered is not None:
                filled = (picker(rows[0])(names),)
                for number in asked.unfiltered:
                    solutions[number] = filled
            elif rows:
                asked.solve(rows, names, occurrence)
        for ask in self._live.get(event, ()):
            graphs = OccurrenceGraphs(self._bundle, occurrence, ())
            self._solve(ask, occurrence, graphs)

    def plainly(self, hit: Hit) -> PlainAsks | None:
        """The asks about a hit that only name the individual, and the one row of each other.

        `None` where there is a filter, or another number of rows.
        """
        if self._live.get(hit.event):
            return None
        rows: list[tuple[int, Row]] = []
        for asked, found in hit.rows:
            numbers = asked.unfiltered
            if numbers is None or len(found) > 1:
                return None
            rows += [(number, row) for row in found for number in numbers]
        return self._names.get(hit.event, []), rows

    def solve_derived(self, occurrence: Occurrence, triples: Sequence[Triple]) -> None:
        """The solutions of the asks about a composite or guarded occurrence, whose graph is all of it."""
        if occurrence.event in self._all:
            graphs = OccurrenceGraphs(self._bundle, occurrence, triples, derived=True, facts=self._facts)
            self.solve_over(occurrence, graphs)

    def solve_over(self, occurrence: Occurrence, graphs: Graphs) -> None:
        """The solutions of all asks about an occurrence, over these graphs."""
        for ask in self._all.get(occurrence.event, ()):
            self._solve(ask, occurrence, graphs)

    @staticmethod
    def _solve(ask: Ask, occurrence: Occurrence, graphs: Graphs) -> None:
        found = ask.solve(occurrence, graphs)
        if found:
            occurrence.solutions[ask.number] = found


class PatternRows:
    """What patterns find about the hits of one shape: each is matched once for all hits to which it is the
    same question."""

    def __init__(self, bundle: Bundle, shape: Shape, facts: OpenFacts | None) -> None:
        self._bundle, self._shape, self._facts = bundle, shape, facts
        self._names = list(shape.names)
        self._found: dict[object, tuple[Row, ...]] = {}
        self._wide = cache(lambda: ClosedGraph(bundle, shape.triples, with_k=True, facts=facts))
        self._narrow: dict[object, Callable[[], ClosedGraph]] = {}

    def of(self, hit: Hit, asked: Questions) -> tuple[Row, ...]:
        """The rows of the pattern that some asks about a hit have in common."""
        vocabulary = self._bundle.vocabulary(hit.event)
        narrow = tuple([is_narrow(one, vocabulary) for one in asked.pattern.triples])
        explained = (hit.triples, hit.static) if True in narrow else None
        key = (id(asked.pattern), hit.individual, narrow, explained)
        rows = self._found.get(key)
        if rows is None:
            individual = named(hit.individual, self._names) or ""
            occurrence = EagerOccurrence(hit.event, individual, (), 0, 0, 0, 0)
            solutions = asked.pattern.solve(occurrence, _Graphs(vocabulary, self._explained(hit), self._wide))
            rows = self._found[key] = tuple([self._row(solution) for solution in solutions])
        return rows

    def _row(self, solution: Solution) -> Row:
        names = self._shape.names
        return tuple([None if value is None else names.get(value, value) for value in solution])

    def _explained(self, hit: Hit) -> Callable[[], ClosedGraph]:
        """The closure of an explanation, which several hits may have."""
        key = (hit.triples, hit.static)
        if key not in self._narrow:
            triples = dict.fromkeys([self._shape.triples[n] for n in hit.triples])
            triples |= dict.fromkeys([triple for triple, _ in hit.static])
            self._narrow[key] = cache(
                lambda: ClosedGraph(self._bundle, tuple(triples), with_k=False, facts=self._facts)
            )
        return self._narrow[key]


class _Graphs:
    """The two graphs of a hit, closed when they are asked for."""

    def __init__(
        self,
        vocabulary: frozenset[Term],
        explained: Callable[[], ClosedGraph],
        whole: Callable[[], ClosedGraph],
    ) -> None:
        self.vocabulary = vocabulary
        self._explained, self._whole = explained, whole

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The explanation, closed under T."""
        return self._explained().match(s, p, o)

    def wide(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The whole item and K, closed under T."""
        return self._whole().match(s, p, o)
