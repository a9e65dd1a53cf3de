"""The rules of a shapes graph (sh:rule), read: triple rules and SPARQL rules, in the order of sh:order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from obep.model import RDF_TYPE, Term
from obep.ontology.owl.literals import comparable, value
from obep.ontology.shacl.node_expressions import Expression, read_expression, reads
from obep.ontology.shacl.read_shapes import ShapeReader, is_off
from obep.ontology.shacl.shacl_shape import Shape
from obep.ontology.shacl.shacl_terms import FIRST, OF_SHACL, RefusedQuery, UnreadableShape, sh, short
from obep.ontology.shacl.sparql_graph import check_query
from obep.ontology.shacl.sparql_text import Query, read_query
from obep.ontology.shacl.targets import Targets, read_targets


@dataclass(frozen=True)
class Rule:
    """The common fields of rules of both kinds."""

    node: Term
    shape: Term
    label: str
    """Its name for people."""
    targets: Targets
    conditions: tuple[Shape, ...]
    order: tuple[Fraction, str, Fraction, str]
    """Shapes by sh:order, then their names; the rules of a shape by sh:order, then their names."""

    def reads(self) -> frozenset[Term] | None:
        """The properties on which it depends what the rule gives; `None` if that may be any."""
        found: set[Term] = set()
        for more in (self.targets.reads(), *(condition.properties() for condition in self.conditions)):
            if more is None:
                return None
            found |= more
        return frozenset(found)


@dataclass(frozen=True)
class TripleRule(Rule):
    """Adds (s, p, o) for all nodes that three expressions give."""

    subject: Expression
    predicate: Expression
    object: Expression

    def reads(self) -> frozenset[Term] | None:
        found = super().reads()
        for part in (self.subject, self.predicate, self.object):
            more = reads(part)
            if found is None or more is None:
                return None
            found |= more
        return found


@dataclass(frozen=True)
class SparqlRule(Rule):
    """Adds what CONSTRUCTs give for its focus nodes."""

    queries: tuple[Query, ...]

    def reads(self) -> frozenset[Term] | None:
        return None


_KINDS = {sh("SPARQLRule"): "a SPARQL rule", sh("TripleRule"): "a triple rule"}


@dataclass(frozen=True)
class Unread:
    """A rule that obep does not carry out, and why."""

    shape: Term
    label: str
    reason: str
    refused: bool = False
    """Whether its SPARQL is wrong, or uses what it may not."""
    file: str = ""
    """Where the rule stands."""


def read_rules(reader: ShapeReader) -> tuple[list[TripleRule | SparqlRule], list[Unread]]:
    """All rules in the order in which they are carried out, and those that cannot be."""
    found: list[TripleRule | SparqlRule] = []
    unread: list[Unread] = []
    for shape, node in sorted(set(reader.graph.pairs(sh("rule")))):
        try:
            rule = _rule(reader, shape, node)
        except UnreadableShape as error:
            unread.append(Unread(shape, _label(reader, node), str(error), isinstance(error, RefusedQuery)))
        else:
            if rule is not None:
                found.append(rule)
    return sorted(found, key=lambda rule: rule.order), unread


def _rule(reader: ShapeReader, shape: Term, node: Term) -> TripleRule | SparqlRule | None:
    graph = reader.graph
    if is_off(graph, shape) or is_off(graph, node):
        return None
    types = graph.objects(node, RDF_TYPE)
    targets = read_targets(graph, shape)
    if not targets.any:
        raise UnreadableShape("its shape has no target and is not declared as a class")
    common = (
        node,
        shape,
        _label(reader, node),
        targets,
        tuple(map(reader.shape, _conditions(reader, node))),
        (_order(reader, shape), shape, _order(reader, node), node),
    )
    if sh("TripleRule") in types:
        return TripleRule(
            *common, *(_part(reader, node, word) for word in ("subject", "predicate", "object"))
        )
    if sh("SPARQLRule") in types:
        texts = graph.objects(node, sh("construct"))
        if not texts:
            raise UnreadableShape("it has no sh:construct")
        queries = tuple(read_query(graph, node, text, "CONSTRUCT") for text in sorted(texts))
        for query in queries:
            check_query(query)
        return SparqlRule(*common, queries)
    words = ", ".join(f"sh:{one.removeprefix(OF_SHACL)[:-1]}" for one in types if one.startswith(OF_SHACL))
    raise UnreadableShape(f"it is neither a sh:TripleRule nor a sh:SPARQLRule{words and f', but {words}'}")


def _conditions(reader: ShapeReader, node: Term) -> Iterator[Term]:
    for one in reader.graph.objects(node, sh("condition")):
        if reader.graph.objects(one, FIRST):
            yield from reader.graph.listed(one)
        else:
            yield one


def _part(reader: ShapeReader, node: Term, word: str) -> Expression:
    said = reader.graph.one(node, sh(word))
    if said is None:
        raise UnreadableShape(f"it has no sh:{word}")
    return read_expression(reader, said)


def _order(reader: ShapeReader, node: Term) -> Fraction:
    said = reader.graph.one(node, sh("order"))
    if said is None:
        return Fraction(0)
    point = comparable(value(said).point) if said.startswith('"') else None
    if not isinstance(point, int | float | Fraction) or abs(point) == inf:
        raise UnreadableShape(f"its sh:order is {said}, which is not a number")
    return Fraction(point)


def _label(reader: ShapeReader, node: Term) -> str:
    """The name of a rule: `sh:name`, its IRI, or its kind."""
    from obep.ontology.shacl.value_checks import text

    names = reader.graph.objects(node, sh("name"))
    if names:
        return text(names[0])
    if node.startswith("<"):
        return short(node)
    types = reader.graph.objects(node, RDF_TYPE)
    return next((label for kind, label in _KINDS.items() if kind in types), "a rule")
