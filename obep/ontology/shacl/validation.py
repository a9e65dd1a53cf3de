"""Validation: the shapes of a graph that have targets, as constraints on K or on an item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl.literals import literal
from obep.ontology.shacl.read_shapes import MakePattern, ShapeReader, SparqlTests
from obep.ontology.shacl.shacl_shape import Result, Shape, Test, Wrong
from obep.ontology.shacl.shacl_terms import SUB_CLASS_OF, UnreadableShape, sh, short
from obep.ontology.shacl.shape_paths import show_path
from obep.ontology.shacl.sparql_graph import SparqlGraph, check_query
from obep.ontology.shacl.sparql_text import read_query
from obep.ontology.shacl.targets import Targets, is_class, read_targets
from obep.ontology.shacl.triple_index import TripleIndex
from obep.ontology.shacl.value_checks import text

_TARGETS = ("targetClass", "targetNode", "targetSubjectsOf", "targetObjectsOf", "target")


@dataclass(frozen=True)
class Constraints:
    """The shapes of a graph that have targets, and those that cannot be read, with the reasons."""

    shapes: tuple[tuple[Shape, Targets], ...]
    unread: tuple[tuple[Term, str], ...]

    def results(self, data: TripleIndex, sparql: SparqlGraph | None = None) -> Iterator[Result]:
        """The violations of the focus nodes of a graph."""
        for shape, targets in self.shapes:
            for node in targets.focus_nodes(data, sparql):
                yield from shape.results(data, node)


def read_constraints(
    graph: TripleIndex, make_pattern: MakePattern, sparql: SparqlTests | None = None
) -> Constraints:
    """All shapes that have targets."""
    reader = ShapeReader(graph, make_pattern, sparql)
    nodes = {node for word in _TARGETS for node, _ in graph.pairs(sh(word))}
    for kind in ("NodeShape", "PropertyShape"):
        nodes |= {node for node in graph.subjects(RDF_TYPE, sh(kind)) if is_class(graph, node)}
    found: list[tuple[Shape, Targets]] = []
    unread: list[tuple[Term, str]] = []
    for node in sorted(nodes):
        try:
            shape, targets = reader.shape(node), read_targets(graph, node)
            if sparql is None and targets.queries:
                raise UnreadableShape("a target in SPARQL has no place here")
        except UnreadableShape as error:
            unread.append((node, str(error)))
        else:
            if not shape.deactivated and (shape.tests or shape.nested):
                found.append((shape, targets))
    return Constraints(tuple(found), tuple(unread))


class SparqlConstraints:
    """Makes tests of sh:sparql: each row of its SELECT is something wrong."""

    def __init__(self, graph: SparqlGraph) -> None:
        self._graph = graph

    def test(self, shapes: TripleIndex, shape: Shape, constraint: Term) -> Test:
        select = shapes.one(constraint, sh("select"))
        if select is None:
            raise UnreadableShape("a constraint sh:sparql has no sh:select")
        if shape.path is not None:
            select = literal(text(select).replace("$PATH", show_path(shape.path)))
        query = read_query(shapes, constraint, select, "SELECT")
        check_query(query)
        messages = shapes.objects(constraint, sh("message"))
        message = text(messages[0]) if messages else ""

        def test(data: TripleIndex, focus: Term, values: list[Term]) -> Iterable[Wrong]:
            for row in self._graph.selected(query, [focus]):
                said = text(row["message"]) if "message" in row else message
                yield Wrong(row.get("value", focus), _filled_in(said, {**row, "this": focus}))

        return test


def _filled_in(message: str, row: Mapping[str, Term]) -> str:
    """A message with the values of a row in the places of `{?name}` and `{$name}`."""

    def value(place: re.Match[str]) -> str:
        found = row.get(place[1])
        return place[0] if found is None else text(found) if found.startswith('"') else found

    return re.sub(r"\{[?$](\w+)\}", value, message)


def said_of(result: Result) -> str:
    """Describe a violation, with the shape's own message if it has one."""
    value = f": {result.value}" if result.value not in (None, result.focus) else ""
    if result.message:
        return f"{result.message} ({result.focus}{value})"
    shape = result.called or short(result.shape)
    return f"{result.focus} does not meet sh:{result.constraint} of the shape {shape}{value}"


class ItemCheck:
    """The compiled check of items: their nodes against the shapes that have them as targets."""

    def __init__(self, constraints: Constraints, above: Iterable[Triple], k: Iterable[Triple]) -> None:
        """`above`: the classes of T with what lies above them."""
        self._shapes = constraints.shapes
        self._above = TripleIndex(above)
        self.begin(k)

    def begin(self, k: Iterable[Triple]) -> None:
        """K is another one, as a whole."""
        self._base = TripleIndex(k, self._above)

    def change(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None:
        """K has changed."""
        for triple in gone:
            self._base.discard(triple)
        self._base.update(come)

    def wrong(self, triples: Iterable[Triple]) -> str | None:
        """The first violation of an item; warnings do not count."""
        result = self._violation(triples)
        return None if result is None else said_of(result)

    def _violation(self, triples: Iterable[Triple]) -> Result | None:
        data = TripleIndex(triples, self._base)
        nodes = dict.fromkeys(term for s, _, o in data.own() for term in (s, o))
        for shape, targets in self._shapes:
            for node in nodes:
                if self._is_target(targets, data, node):
                    for result in shape.results(data, node):
                        if result.severity == "Violation":
                            return result
        return None

    @staticmethod
    def _is_target(targets: Targets, data: TripleIndex, node: Term) -> bool:
        return (
            node in targets.nodes
            or any(data.is_member(node, name) for name in targets.classes)
            or any(data.objects(node, p) for p in targets.subjects_of)
            or any(data.subjects(p, node) for p in targets.objects_of)
        )


def item_check(
    shapes: Iterable[Triple], above: Iterable[Triple], k: Iterable[Triple], make_pattern: MakePattern
) -> tuple[ItemCheck, tuple[tuple[Term, str], ...]]:
    """The check of items by the shapes of a file, and its shapes that cannot be read."""
    graph = TripleIndex(shapes)
    constraints = read_constraints(graph, make_pattern)
    more = [triple for triple in graph if triple[1] == SUB_CLASS_OF]
    return ItemCheck(constraints, (*above, *more), k), constraints.unread
