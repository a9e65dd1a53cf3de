"""From the triples of a shapes graph to `Shape`s. A constraint that is not known is never skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from obep.model import RDF_TYPE, Term
from obep.ontology.owl.literals import value
from obep.ontology.shacl import value_checks as check
from obep.ontology.shacl.shacl_shape import Shape, Test
from obep.ontology.shacl.shacl_terms import FIRST, OF_SHACL, REST, SH, SUB_CLASS_OF, UnreadableShape, sh
from obep.ontology.shacl.shape_paths import read_path, show_path
from obep.ontology.shacl.triple_index import TripleIndex

MakePattern = Callable[[str, str], Callable[[str], bool]]
"""Makes a test of texts of a regular expression and its flags."""
_SAYS_NOTHING = frozenset(
    {
        "name",
        "description",
        "order",
        "group",
        "defaultValue",
        "message",
        "severity",
        "deactivated",
        "path",
        "rule",
        "target",
        "targetClass",
        "targetNode",
        "targetSubjectsOf",
        "targetObjectsOf",
        "flags",
        "ignoredProperties",
        "qualifiedValueShape",
        "qualifiedValueShapesDisjoint",
        "declare",
        "prefixes",
        "suggestedShapesGraph",
        "shapesGraph",
        "entailment",
    }
)


class SparqlTests(Protocol):
    """Makes tests of constraints in SPARQL (`sparql_constraints`)."""

    def test(self, shapes: TripleIndex, shape: Shape, constraint: Term) -> Test: ...


class ShapeReader:
    """The shapes of a graph, each read once."""

    def __init__(
        self, graph: TripleIndex, make_pattern: MakePattern, sparql: SparqlTests | None = None
    ) -> None:
        self.graph, self._make_pattern, self._sparql = graph, make_pattern, sparql
        self._read: dict[Term, Shape] = {}

    def shape(self, node: Term) -> Shape:
        """The shape that a node stands for."""
        found = self._read.get(node)
        if found is None:
            if node.startswith('"'):
                raise UnreadableShape("a literal is used where a shape is needed")
            found = self._read[node] = Shape(node)
            try:
                self._fill(found)
            except UnreadableShape:
                del self._read[node]
                raise
        return found

    def _fill(self, shape: Shape) -> None:
        node, graph = shape.node, self.graph
        if (path := graph.one(node, sh("path"))) is not None:
            shape.path = read_path(graph, path)
        if node.startswith("_"):
            shape.called = in_words(graph, node)
        messages = [check.text(one) for one in graph.objects(node, sh("message"))]
        shape.message = messages[0] if messages else ""
        severity = graph.one(node, sh("severity"))
        shape.severity = severity[len(OF_SHACL) : -1] if severity else "Violation"
        shape.deactivated = is_off(graph, node)
        for predicate in graph.properties(node):
            if not predicate.startswith(OF_SHACL):
                continue
            word = predicate[len(OF_SHACL) : -1]
            for object_ in graph.objects(node, predicate) if word not in _SAYS_NOTHING else ():
                if word == "property":
                    shape.nested.append(self._property(object_))
                elif word in ("qualifiedMinCount", "qualifiedMaxCount"):
                    shape.tests += ((word, test) for test in self._qualified(shape, word, whole(object_)))
                else:
                    shape.tests.append((word, self._test(shape, word, object_)))

    def _property(self, node: Term) -> Shape:
        shape = self.shape(node)
        if shape.path is None:
            raise UnreadableShape(f"{node} is a value of sh:property and has no sh:path")
        return shape

    def _test(self, shape: Shape, word: str, object_: Term) -> Test:
        match word:
            case "class":
                shape.reads |= {RDF_TYPE, SUB_CLASS_OF}
                shape.classes.add(object_)
                return check.of_class(object_)
            case "datatype":
                return check.of_datatype(object_)
            case "nodeKind":
                found = check.of_kind(object_.removeprefix(OF_SHACL)[:-1])
                if found is None:
                    raise UnreadableShape(f"{object_} is not a node kind")
                return found
            case "minCount":
                return check.at_least(whole(object_))
            case "maxCount":
                return check.at_most(whole(object_))
            case "minInclusive" | "minExclusive" | "maxInclusive" | "maxExclusive":
                if not object_.startswith('"'):
                    raise UnreadableShape(f"the constraint sh:{word} needs a literal")
                return check.in_order(word, object_)
            case "minLength":
                least = whole(object_)
                return check.of_length(lambda length: length >= least)
            case "maxLength":
                most = whole(object_)
                return check.of_length(lambda length: length <= most)
            case "pattern":
                return self._pattern(shape, object_)
            case "languageIn":
                return check.of_language([check.text(one).lower() for one in self.graph.listed(object_)])
            case "uniqueLang":
                return check.unique_language if truth(object_) else lambda data, focus, values: ()
            case "hasValue":
                return check.has_value(object_)
            case "in":
                return check.one_of(self.graph.listed(object_))
            case "sparql":
                if self._sparql is None:
                    raise UnreadableShape("a constraint in SPARQL (sh:sparql) has no place here")
                shape.reads_all = shape.sparql = True
                return self._sparql.test(self.graph, shape, object_)
        return self._pair(shape, word, object_) or self._of_shapes(shape, word, object_)

    def _pattern(self, shape: Shape, object_: Term) -> Test:
        flags = self.graph.one(shape.node, sh("flags"))
        try:
            return check.of_pattern(
                self._make_pattern(check.text(object_), check.text(flags) if flags else "")
            )
        except ValueError as error:
            raise UnreadableShape(f"the constraint sh:pattern {object_}: {error}") from None

    def _pair(self, shape: Shape, word: str, object_: Term) -> Test | None:
        """Constraints that compare with the values of another property, and sh:closed."""
        if word == "closed":
            shape.reads_all = True
            return self._closed(shape) if truth(object_) else lambda data, focus, values: ()
        if word not in ("equals", "disjoint", "lessThan", "lessThanOrEquals"):
            return None
        shape.reads.add(object_)
        if word == "equals":
            return check.equal_to(object_)
        if word == "disjoint":
            return check.disjoint_with(object_)
        return check.less_than(object_, or_equal=word != "lessThan")

    def _closed(self, shape: Shape) -> Test:
        graph = self.graph
        ignored = graph.one(shape.node, sh("ignoredProperties"))
        allowed = {
            path
            for inner in graph.objects(shape.node, sh("property"))
            for path in graph.objects(inner, sh("path"))
        }
        return check.closed_to(frozenset(allowed | {*(graph.listed(ignored) if ignored else ())}))

    def _of_shapes(self, shape: Shape, word: str, object_: Term) -> Test:
        match word:
            case "node":
                return check.conforming(self._part(shape, object_))
            case "not":
                return check.not_conforming(self._part(shape, object_))
            case "and" | "or" | "xone":
                parts = [self._part(shape, one) for one in self.graph.listed(object_)]
                fits: dict[str, Callable[[int], bool]] = {
                    "and": lambda count: count == len(parts),
                    "or": lambda count: count > 0,
                    "xone": lambda count: count == 1,
                }
                return check.so_many(parts, fits[word])
        raise UnreadableShape(f"the constraint sh:{word} is not supported")

    def _part(self, shape: Shape, node: Term) -> Shape:
        part = self.shape(node)
        shape.parts.append(part)
        return part

    def _qualified(self, shape: Shape, word: str, limit: int) -> Iterator[Test]:
        graph, node = self.graph, shape.node
        disjoint = graph.one(node, sh("qualifiedValueShapesDisjoint"))
        fits = limit.__le__ if word == "qualifiedMinCount" else limit.__ge__
        for counted in graph.objects(node, sh("qualifiedValueShape")):
            siblings = [
                self._part(shape, other)
                for parent in (graph.subjects(sh("property"), node) if disjoint and truth(disjoint) else ())
                for sibling in graph.objects(parent, sh("property"))
                for other in graph.objects(sibling, sh("qualifiedValueShape"))
                if other != counted
            ]
            yield check.qualified(self._part(shape, counted), siblings, fits)


def truth(term: Term) -> bool:
    """The value of a boolean literal."""
    return value(term).point == "true"


def is_off(graph: TripleIndex, node: Term) -> bool:
    """Whether a shape or a rule is deactivated."""
    said = graph.one(node, sh("deactivated"))
    return said is not None and truth(said)


def whole(term: Term) -> int:
    """The value of an integer literal."""
    found = value(term).point if term.startswith('"') else None
    if not isinstance(found, int):
        raise UnreadableShape(f"{term} is used where a whole number is needed ({SH} counts)")
    return found


_ABOVE = (
    *(sh(word) for word in ("property", "node", "not", "qualifiedValueShape", "and", "or", "xone")),
    FIRST,
    REST,
)
_TARGETS = ("targetClass", "targetNode", "targetSubjectsOf", "targetObjectsOf")


def in_words(graph: TripleIndex, node: Term) -> str:
    """A shape without a name, for people: its path, what it is for, and the shape that it is a part of."""
    path = graph.objects(node, sh("path"))
    words = f"for {show_path(read_path(graph, path[0]))}" if path else "without a name"
    for target in _TARGETS:
        words += "".join(f", sh:{target} {one}" for one in graph.objects(node, sh(target))[:1])
    seen = {node}
    while node.startswith("_"):
        above = [one for word in _ABOVE for one in graph.subjects(word, node) if one not in seen]
        if not above:
            return words
        node = above[0]
        seen.add(node)
    return f"{words}, in {node}"
