"""The classes and properties that rules read and conclude: a change of others changes nothing they give."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl.axioms import DIFFERENT_FROM, SAME_AS
from obep.ontology.shacl.node_expressions import AlongPath, Constant, Expression, Filtered, Together
from obep.ontology.shacl.read_rules import SparqlRule, TripleRule
from obep.ontology.shacl.rule_clauses import KOnly, form_of
from obep.ontology.shacl.shacl_shape import Shape
from obep.ontology.shacl.shacl_terms import OF_SHACL, SUB_CLASS_OF, THIS
from obep.ontology.shacl.shape_paths import properties_of
from obep.query import ast
from obep.query.walk import walk


class Names(msgspec.Struct, frozen=True, array_like=True):
    """Classes and properties; rdf:type among these stands for any class."""

    properties: frozenset[Term] = frozenset()
    classes: frozenset[Term] = frozenset()
    all: bool = False
    """Whether it may be any."""

    def concern(self, triples: Iterable[Triple]) -> bool:
        """Whether some of the triples say anything about these."""
        return any(map(self._concerns, triples))

    def _concerns(self, triple: Triple) -> bool:
        _, p, o = triple
        if self.all or p in (SAME_AS, DIFFERENT_FROM) or p.startswith(OF_SHACL):
            return True
        return p in self.properties or (p == RDF_TYPE and o in self.classes)

    def meet(self, other: Names) -> bool:
        """Whether they have a name in common."""
        every = RDF_TYPE in self.properties and other.classes
        shared = self.properties & other.properties or self.classes & other.classes
        return self.all or other.all or bool(every or shared)

    def __or__(self, other: Names) -> Names:
        return Names(self.properties | other.properties, self.classes | other.classes, self.all or other.all)


def all_of(some: Iterable[Names]) -> Names:
    """All of them together."""
    some = list(some)
    properties = frozenset(name for one in some for name in one.properties)
    classes = frozenset(name for one in some for name in one.classes)
    return Names(properties, classes, any(one.all for one in some))


ANY = Names(all=True)
NO_NAMES = Names()


def names_of(rule: TripleRule | SparqlRule) -> Names:
    """What a rule reads, and what it may conclude."""
    targets = rule.targets
    found = Names(frozenset((*targets.subjects_of, *targets.objects_of)), frozenset(targets.classes))
    queries = [(query, frozenset[str]()) for query in targets.queries]
    if isinstance(rule, SparqlRule):
        queries += [(query, frozenset({"this"})) for query in rule.queries]
    elif isinstance(rule.predicate, Constant) and rule.predicate.term != THIS:
        kind = rule.object.term if isinstance(rule.object, Constant) else None
        found |= _concluded(rule.predicate.term, kind)
        found |= _read(rule.subject) | _read(rule.object)
    else:
        return ANY
    for condition in rule.conditions:
        found |= _of_shape(condition, set())
    try:
        for query, given in queries:
            for node in walk(form_of(query)):
                found |= _of_pattern(node, given)
    except KOnly:
        return ANY
    return found


def _concluded(property: Term, of: Term | None) -> Names:
    if property == RDF_TYPE and of is not None and of != THIS:
        return Names(classes=frozenset((of,)))
    return Names(frozenset((property,)))


def _read(expression: Expression) -> Names:
    match expression:
        case AlongPath(path, of):
            return Names(properties_of(path)) | _read(of)
        case Filtered(shape, of):
            return _of_shape(shape, set()) | _read(of)
        case Together(parts):
            return all_of(map(_read, parts))
    return NO_NAMES


def _of_shape(shape: Shape, seen: set[int]) -> Names:
    if id(shape) in seen:
        return NO_NAMES
    seen.add(id(shape))
    properties = shape.reads - {RDF_TYPE, SUB_CLASS_OF} if shape.classes else shape.reads
    found = Names(frozenset(properties), frozenset(shape.classes), shape.reads_all)
    if shape.path is not None:
        found |= Names(properties_of(shape.path))
    for part in (*shape.nested, *shape.parts):
        found |= _of_shape(part, seen)
    return found


def _of_pattern(node: ast.Node, given: frozenset[str]) -> Names:
    """`given`: the variables that have a value before the query is asked."""
    match node:
        case ast.Bgp(patterns) if _begins_anywhere(patterns, given):
            return ANY
        case ast.TriplePattern(_, ast.Name() as property, object_):
            return _concluded(property.iri, object_.iri if isinstance(object_, ast.Name) else None)
        case ast.TriplePattern() | ast.PathNegated():
            return ANY
        case ast.PathPattern(_, path):
            return Names(frozenset(one.iri for one in walk(path) if isinstance(one, ast.Name)))
    return NO_NAMES


def _begins_anywhere(patterns: Iterable[ast.TriplePattern | ast.PathPattern], given: frozenset[str]) -> bool:
    """Whether a path that may be empty holds of each node of the graph, since nothing binds its ends."""
    bound, waiting = {*given}, list[set[str]]()
    for one in patterns:
        ends = {end.name for end in (one.subject, one.object) if isinstance(end, ast.Var)}
        free = isinstance(one.subject, ast.Var) and isinstance(one.object, ast.Var)
        if free and isinstance(one, ast.PathPattern) and _may_be_empty(one.path):
            waiting.append(ends)
        else:
            bound |= ends
    while some := [ends for ends in waiting if ends & bound]:
        bound.update(*some)
        waiting = [ends for ends in waiting if ends not in some]
    return bool(waiting)


def _may_be_empty(path: ast.Path) -> bool:
    match path:
        case ast.PathRepeat(inner, times):
            return times != "+" or _may_be_empty(inner)
        case ast.PathSequence(steps):
            return all(map(_may_be_empty, steps))
        case ast.PathAlternative(branches):
            return any(map(_may_be_empty, branches))
        case ast.PathInverse(inner):
            return _may_be_empty(inner)
    return False
