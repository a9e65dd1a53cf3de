"""Answer the asks of guards for the occurrences that a matcher finds (SPEC D7)."""

from __future__ import annotations

from collections.abc import Sequence

from obep.abstraction.answer_templates import Hit, Name, Pick, Questions, Row, named, picker
from obep.abstraction.guard_graphs import OccurrenceGraphs
from obep.abstraction.hit_groups import Grouping
from obep.abstraction.open_facts import OpenFacts
from obep.abstraction.shapes import Shape
from obep.guards.block_queries import Ask
from obep.guards.block_solutions import Graphs
from obep.guards.guard_terms import term_of
from obep.model import Occurrence, Term, Triple, body_of
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

        for some in alike.values():
            self._patterns.setdefault(some[0].event, []).append(Questions(some))
        bodies = map(body_of, bundle.definitions.guarded)
        self.grouping = Grouping({body for body in bodies if len(self._all.get(body, ())) == 1})
        """Puts hits together that differ in a constant of their guard."""

    def rows(self, hits: tuple[Hit, ...], shape: Shape) -> tuple[Hit, ...]:
        """The hits with what the patterns of their asks find."""
        if self._patterns:
            names = list(shape.names)
            hits = tuple([self._with_rows(hit, shape, names) for hit in hits])
        return tuple([hit._replace(solved=self._solved(hit)) for hit in hits])

    def _solved(self, hit: Hit) -> tuple[tuple[int, Pick], ...] | None:
        plain = self.plainly(hit)
        if plain is None:
            return None
        often, rows = plain
        named = [(number, (hit.individual,) * count) for number, count in often]
        return tuple([(number, picker(row)) for number, row in (*named, *rows)])

    def _with_rows(self, hit: Hit, shape: Shape, names: list[Term]) -> Hit:
        questions = self._patterns.get(hit.event)
        if not questions:
            return hit
        explanation = (*((shape.triples[n], 0) for n in hit.triples), *hit.static)
        individual = named(hit.individual, names) or ""
        occurrence = Occurrence(hit.event, individual, explanation, 0, 0, 0, 0)
        graphs = OccurrenceGraphs(self._bundle, occurrence, shape.triples, facts=self._facts)
        found = []
        for asked in questions:
            rows: list[Row] = []
            for solution in asked.rows(occurrence, graphs):
                row: list[Name | None] = [None if v is None else shape.names.get(v, v) for v in solution]
                rows.append(tuple(row))
            found.append((asked, tuple(rows)))
        return hit._replace(rows=tuple(found))

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

    def plainly(self, hit: Hit) -> tuple[list[tuple[int, int]], list[tuple[int, Row]]] | None:
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
