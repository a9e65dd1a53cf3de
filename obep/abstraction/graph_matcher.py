"""Graph events on items (DIALECTS 8): the solutions of a group over an item and K, closed under T.

Only news counts (D38): some triple pattern of the group is matched by what the item says or adds to K.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from obep.abstraction.guard_graphs import ClosedGraph, NamedGraphs, OccurrenceGraphs
from obep.abstraction.open_facts import OpenFacts
from obep.algebra.dataset import Dataset, Graph
from obep.algebra.select_node import SelectNode, evaluate
from obep.algebra.translate import translate
from obep.formats.units import converted_assertions
from obep.guards.guard_terms import term_of
from obep.model import Assertion, EagerOccurrence, Item, Occurrence, Term, Triple, as_converted, identity
from obep.ontology.bundle.compile import Bundle
from obep.query import ast
from obep.query.walk import walk

Row = dict[str, Term]


class GraphMatcher:
    """Finds the occurrences of all graph events in an item."""

    def __init__(
        self,
        bundle: Bundle,
        facts: OpenFacts | None,
        events: Mapping[Term, ast.GraphEvent],
        columns: Mapping[Term, tuple[str, ...]] | None = None,
    ) -> None:
        """`columns` are those of states beside their parameters."""
        self._bundle, self._facts = bundle, facts
        self._named = NamedGraphs(bundle, facts)
        self._events = [_Searched(iri, event, columns or {}) for iri, event in events.items()]

    def match(
        self, item: Item, around: Dataset | None = None
    ) -> Iterator[tuple[Occurrence, OccurrenceGraphs]]:
        """The occurrences in an item, each with the graphs that guards see of it.

        `around` has the windows and states that groups ask for.
        """
        events = [one for one in self._events if one.on in (None, item.stream)]
        if not events:
            return
        graph = ItemGraph(self._bundle, item.triples, self._static, self._facts, around, self._named)
        for event in events:
            for values, rows in event.solutions(graph, item.at).items():
                found = self._occurrence(event, values, rows, graph, item)
                yield (
                    found,
                    OccurrenceGraphs(
                        self._bundle, found, item.triples, whole=lambda: graph.closed, facts=self._facts
                    ),
                )

    @cached_property
    def _static(self) -> ClosedGraph:
        return ClosedGraph(self._bundle, (), with_k=True, facts=self._facts)

    def _occurrence(
        self, event: _Searched, values: tuple[Term, ...], rows: list[Row], graph: ItemGraph, item: Item
    ) -> Occurrence:
        at = item.at
        name = identity(event.iri, (), at, at, values, ())
        because: set[Assertion] = set()
        for triple in event.matched(rows[0], graph):
            because.update(graph.explain(triple, at))
        because.update((triple, None) for triple in event.matched_in_graphs(rows[0], graph))
        explanation = tuple(sorted(because, key=lambda one: (one[0], one[1] is not None)))
        if item.converted:
            explanation = as_converted(explanation, converted_assertions(at, item.converted))
        bindings = tuple(sorted(rows, key=lambda row: sorted(row.items())))
        return EagerOccurrence(
            event.iri, f"<{name}>", explanation, at, at, at, at, bindings=bindings, items=(item,), _id=name
        )


class ItemGraph:
    """An item with K, closed under T, as the dataset of a group."""

    def __init__(
        self,
        bundle: Bundle,
        triples: Sequence[Triple],
        static: ClosedGraph,
        facts: OpenFacts | None,
        around: Dataset | None = None,
        named: NamedGraphs | None = None,
    ) -> None:
        """`named` are the graphs of GRAPH, where several items share them."""
        self._bundle, self._facts, self._static = bundle, facts, static
        self.named, self._around = named or NamedGraphs(bundle, facts), around
        self._said = dict.fromkeys(triples)

    @cached_property
    def closed(self) -> ClosedGraph:
        return ClosedGraph(self._bundle, [*self._said], with_k=True, facts=self._facts)

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        return dict.fromkeys(self.closed.match(s, p, o))

    def is_new(self, triple: Triple) -> bool:
        """Whether the item says it, or adds it to K."""
        return triple in self._said or not any(True for _ in self._static.match(*triple))

    def static(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """Solutions of the group over K alone."""
        return dict.fromkeys(self._static.match(s, p, o))

    def explain(self, triple: Triple, at: int) -> list[Assertion]:
        """A smallest set of the item's triples, found by leaving out one after the other, that gives it."""
        if triple in self._said:
            return [(triple, at)]
        if not self.is_new(triple):
            return [(triple, None)] if triple in self._bundle.k else []
        kept = sorted(self._said)
        for one in list(kept):
            fewer = [other for other in kept if other != one]
            graph = ClosedGraph(self._bundle, fewer, with_k=True, facts=self._facts)
            if any(True for _ in graph.match(*triple)):
                kept = fewer
        return [(one, at) for one in kept]

    def graph(self, name: Term, /) -> Graph | None:
        return self.named.get(name)

    def graphs(self) -> Iterable[Term]:
        return self.named.names

    def window(self, name: str, /) -> Graph | None:
        return None if self._around is None else self._around.window(name)

    def windows(self) -> Iterable[str]:
        return () if self._around is None else self._around.windows()

    def atom(
        self, name: Term, lasting: int | None, window: str | None, /
    ) -> Iterable[tuple[Term | None, ...]]:
        return () if self._around is None else self._around.atom(name, lasting, window)


class _New(ItemGraph):
    """The triples that an item states and that it adds to K (D14)."""

    def __init__(self, graph: ItemGraph) -> None:
        self._graph, self._around, self.named = graph, graph._around, graph.named

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        return [triple for triple in self._graph.match(s, p, o) if self._graph.is_new(triple)]


class _Static(ItemGraph):
    """The same group evaluated over K alone."""

    def __init__(self, graph: ItemGraph) -> None:
        self._graph, self._around, self.named = graph, graph._around, graph.named

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        return self._graph.static(s, p, o)


class _Searched:
    """One graph event, made ready."""

    def __init__(self, iri: Term, event: ast.GraphEvent, columns: Mapping[Term, tuple[str, ...]]) -> None:
        self.iri, self.on, self._alone = iri, event.on, event.alone
        self._query: SelectNode = translate(event.group, columns)
        self._parameters = tuple(one.name for one in event.parameters)
        self._patterns = tuple(positive_patterns(event.group))
        self._in_graphs = tuple(
            (node.graph, pattern)
            for node in walk(event.group)
            if isinstance(node, ast.GraphGroup)
            for pattern in positive_patterns(node.group)
        )
        """The triple patterns of `GRAPH`, which no item is asked for."""
        self._paths = tuple(
            _PathPairs(one) for one in _positive(event.group) if isinstance(one, ast.PathPattern)
        )

    def solutions(self, graph: ItemGraph, at: int) -> Mapping[tuple[Term, ...], list[Row]]:
        """The solutions that are news, by the values of the parameters."""
        found: dict[tuple[Term, ...], list[Row]] = {}
        rows = self._rows(_New(graph) if self._alone else graph, at)
        new_pairs = [pair for one in self._paths for pair in one.new(graph)] if rows else []
        for row in rows:
            if all(name in row for name in self._parameters) and (
                self._alone or self._is_news(row, graph, at, new_pairs)
            ):
                values = tuple(row[name] for name in self._parameters)
                if row not in found.setdefault(values, []):
                    found[values].append(row)
        return found

    def _rows(self, graph: ItemGraph, at: int) -> list[Row]:
        columns = self._query.columns
        named = [dict(zip(columns, row, strict=True)) for row in evaluate(self._query, graph, at, self.iri)]
        return [{name: term for name, term in row.items() if term is not None} for row in named]

    def _is_news(self, row: Row, graph: ItemGraph, at: int, new_pairs: Sequence[Row]) -> bool:
        if self._patterns or self._paths:
            return any(graph.is_new(triple) for triple in self.matched(row, graph)) or any(
                _agree(row, pair) for pair in new_pairs
            )
        return row not in self._rows(_Static(graph), at)

    def matched(self, row: Row, graph: ItemGraph) -> Iterator[Triple]:
        """The triples that the group's patterns match under a solution."""
        for pattern in self._patterns:
            yield from graph.match(*_places(pattern, row))

    def matched_in_graphs(self, row: Row, graph: ItemGraph) -> Iterator[Triple]:
        """The same of the patterns of GRAPH, as far as the graphs have them as they stand."""
        for name, pattern in self._in_graphs:
            of = graph.graph(row.get(name.name, "") if isinstance(name, ast.Var) else term_of(name))
            if of is not None:
                yield from filter(graph.named.says, of.match(*_places(pattern, row)))


class _PathPairs:
    """The pairs of a path: those that cl(K) does not have are news (D38)."""

    def __init__(self, pattern: ast.PathPattern) -> None:
        self._query = translate(ast.Group((ast.Bgp((pattern,)),)))

    def new(self, graph: ItemGraph) -> list[Row]:
        """The values of its ends, for each pair that the item adds."""
        known = set(evaluate(self._query, _Static(graph)))
        columns = self._query.columns
        added = [row for row in evaluate(self._query, graph) if row not in known]
        return [{n: term for n, term in zip(columns, row, strict=True) if term is not None} for row in added]


def _agree(row: Row, pair: Row) -> bool:
    """Whether a solution has the values of a pair, where it has any."""
    return all(row.get(name, term) == term for name, term in pair.items())


def _places(pattern: ast.TriplePattern, row: Row) -> tuple[Term | None, Term | None, Term | None]:
    """The terms of a pattern under a solution."""
    s, p, o = (
        row.get(one.name) if isinstance(one, ast.Var) else term_of(one)
        for one in (pattern.subject, pattern.predicate, pattern.object)
    )
    return s, p, o


def positive_patterns(group: ast.Group | ast.Select, *, graphs: bool = False) -> Iterator[ast.TriplePattern]:
    """The triple patterns outside of MINUS, EXISTS and sub-selects; those in GRAPH only with `graphs`."""
    return (one for one in _positive(group, graphs) if isinstance(one, ast.TriplePattern))


def _positive(
    group: ast.Group | ast.Select, graphs: bool = False
) -> Iterator[ast.TriplePattern | ast.PathPattern]:
    """The same with those whose predicate is a path."""
    if isinstance(group, ast.Select):
        return
    for element in group.elements:
        match element:
            case ast.Bgp(patterns):
                yield from patterns
            case ast.GroupOptional(inner) | ast.WindowGroup(group=inner):
                yield from _positive(inner, graphs)
            case ast.GraphGroup(group=inner) if graphs:
                yield from _positive(inner, graphs)
            case ast.GroupUnion(groups):
                for one in groups:
                    yield from _positive(one, graphs)
            case ast.Group():
                yield from _positive(element, graphs)
