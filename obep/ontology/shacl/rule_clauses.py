"""Rules as clauses over triples: a head, and a body of classes, properties and ranges of values.

A rule that is no such clause raises `KOnly` with the reason: it is applied to K only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product
from math import prod

from msgspec import Struct

from obep.errors import ObepError
from obep.model import RDF_TYPE, Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import XSD
from obep.ontology.owl.literals import literal
from obep.ontology.shacl.node_expressions import AlongPath, Constant, Expression
from obep.ontology.shacl.read_rules import SparqlRule, TripleRule
from obep.ontology.shacl.read_shapes import is_off
from obep.ontology.shacl.shacl_terms import THIS, UnreadableShape, sh
from obep.ontology.shacl.shape_paths import Alternatives, Inverse, Path, Sequence
from obep.ontology.shacl.sparql_text import Query
from obep.ontology.shacl.targets import Targets
from obep.ontology.shacl.triple_index import TripleIndex
from obep.ontology.shacl.value_checks import text
from obep.query import ast

FOCUS = "?this"
_FACETS = {"<": "maxExclusive", "<=": "maxInclusive", ">": "minExclusive", ">=": "minInclusive"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class KOnly(Exception):
    """Why a rule is applied to K only."""


class IsA(Struct, frozen=True):
    """A variable is in a class."""

    node: str
    of: ax.ClassExpression


class Has(Struct, frozen=True):
    """A node has a property to another; both are variables (`?x`) or terms."""

    subject: str
    property: Term
    object: str


class Among(Struct, frozen=True):
    """The value of a variable lies in a range."""

    node: str
    range: ax.DataRange


Atom = IsA | Has | Among


class Clause(Struct, frozen=True):
    """Where the body holds, the head does: (s, p, o)."""

    head: tuple[str, Term, str]
    body: tuple[Atom, ...]


def clauses_of(rule: TripleRule | SparqlRule, shapes: TripleIndex) -> list[Clause]:
    """The clauses of a rule."""
    names = count()
    try:
        conditions = [atom for one in rule.conditions for atom in _condition(shapes, one.node, FOCUS, names)]
    except UnreadableShape as error:
        raise KOnly(f"of its condition, {error}") from None
    heads = _of_triple_rule(rule) if isinstance(rule, TripleRule) else _of_queries(rule)
    targets = _target_atoms(rule.targets)
    return [
        Clause(head, (*target, *conditions, *body)) for target, (head, body) in product(targets, list(heads))
    ]


def _target_atoms(targets: Targets) -> list[tuple[Atom, ...]]:
    if targets.queries:
        raise KOnly("its target is a query")
    found: list[tuple[Atom, ...]] = [(IsA(FOCUS, ax.OneOf((node,))),) for node in targets.nodes]
    found += [(IsA(FOCUS, ax.Class(name)),) for name in targets.classes]
    found += [(Has(FOCUS, p, "?~object"),) for p in targets.subjects_of]
    found += [(Has("?~subject", p, FOCUS),) for p in targets.objects_of]
    return found


# --- triple rules

_Part = tuple[tuple[str, Term, str], tuple[Atom, ...]]


def _of_triple_rule(rule: TripleRule) -> Iterator[_Part]:
    if not isinstance(rule.predicate, Constant) or rule.predicate.term == THIS:
        raise KOnly("its property is not fixed")
    for subject, before in _ends(rule.subject, "?~s"):
        for object_, after in _ends(rule.object, "?~o"):
            yield (subject, rule.predicate.term, object_), (*before, *after)


def _ends(expression: Expression, name: str) -> list[tuple[str, tuple[Atom, ...]]]:
    match expression:
        case Constant(term):
            return [(FOCUS if term == THIS else term, ())]
        case AlongPath(path, Constant(term)) if term == THIS:
            return [(name, _along(FOCUS, way, name)) for way in ways(path)]
    raise KOnly("a node expression of it is not a path from sh:this")


def ways(path: Path) -> list[tuple[tuple[Term, bool], ...]]:
    """The sequences of properties of a path, each with whether it is read backwards."""
    match path:
        case str():
            return [((path, False),)]
        case Inverse(inner):
            return [tuple((p, not back) for p, back in reversed(way)) for way in ways(inner)]
        case Sequence(paths):
            return [tuple(step for way in some for step in way) for some in product(*map(ways, paths))]
        case Alternatives(paths):
            return [way for one in paths for way in ways(one)]
    raise KOnly("a path of it repeats")


def _along(begin: str, way: tuple[tuple[Term, bool], ...], end: str) -> tuple[Atom, ...]:
    middle = end if end.startswith("?") else f"?~{begin}{end}"
    nodes = [begin, *(f"{middle}{number}" for number in range(1, len(way))), end]
    return tuple(
        Has(two, p, one) if back else Has(one, p, two)
        for (p, back), one, two in zip(way, nodes, nodes[1:], strict=False)
    )


# --- conditions


def _condition(
    shapes: TripleIndex, node: Term, at: str, names: Iterator[int], within: tuple[Term, ...] = ()
) -> Iterator[Atom]:
    """The atoms that state that a node conforms to a shape; only what asserted triples can show.

    `within`: the shapes that it is a part of.
    """
    if is_off(shapes, node):
        return
    if node in within:
        raise KOnly("a shape of its condition is a part of itself")
    within = (*within, node)
    for predicate in shapes.properties(node):
        word = predicate.removeprefix(sh("")[:-1])[:-1] if predicate.startswith(sh("")[:-1]) else ""
        for object_ in shapes.objects(node, predicate) if word else ():
            match word:
                case "class":
                    yield IsA(at, ax.Class(object_))
                case "node":
                    yield from _condition(shapes, object_, at, names, within)
                case "and":
                    for one in shapes.listed(object_):
                        yield from _condition(shapes, one, at, names, within)
                case "property" if not is_off(shapes, object_):
                    yield from _property(shapes, object_, at, names, within)
                case "hasValue" if object_.startswith("<"):
                    yield IsA(at, ax.OneOf((object_,)))
                case "name" | "description" | "message" | "severity" | "order" | "deactivated" | "property":
                    pass
                case _:
                    raise KOnly(f"sh:{word} of its condition is not about asserted triples")


def _property(
    shapes: TripleIndex, node: Term, at: str, names: Iterator[int], within: tuple[Term, ...]
) -> Iterator[Atom]:
    from obep.ontology.shacl.shape_paths import read_path

    (way, *others) = ways(read_path(shapes, shapes.objects(node, sh("path"))[0]))
    said = {p.removeprefix(sh("")[:-1])[:-1] for p in shapes.properties(node) if p.startswith(sh("")[:-1])}
    said -= {"path", "name", "description", "message", "severity", "order", "deactivated"}
    least = shapes.one(node, sh("minCount")) or shapes.one(node, sh("qualifiedMinCount"))
    if others or (least is not None and text(least) != "1"):
        raise KOnly("a property of its condition is counted, or has alternatives")
    end = f"?~c{next(names)}"
    if said == {"minCount"}:
        yield from _along(at, way, end)
    elif said - {"minCount"} == {"hasValue"}:
        for value in shapes.objects(node, sh("hasValue")):
            yield from _along(at, way, value)
    elif said == {"qualifiedValueShape", "qualifiedMinCount"}:
        inner = shapes.one(node, sh("qualifiedValueShape")) or ""
        wanted = shapes.objects(inner, sh("hasValue"))
        if len(wanted) == 1 and len(shapes.properties(inner)) == 1:
            yield from _along(at, way, wanted[0])
        else:
            yield from _along(at, way, end)
            yield from _condition(shapes, inner, end, names, within)
    else:
        raise KOnly(
            f"sh:{sorted(said)[0] if said else 'property'} of its condition is not about asserted triples"
        )


# --- SPARQL rules


def _of_queries(rule: SparqlRule) -> Iterator[_Part]:
    for query in rule.queries:
        template, group = _parsed(query)
        for pattern, body in product(template, _bodies(group)):
            if isinstance(pattern.predicate, ast.Var):
                raise KOnly("a property of it is a variable")
            head = _node(pattern.subject), pattern.predicate.iri, _node(pattern.object)
            if any(one.startswith("?_:") for one in head):
                raise KOnly("it makes nodes")
            yield head, body


def form_of(query: Query) -> ast.Node:
    """The query as the grammar of C-SPARQL reads it, which has all of SPARQL's groups."""
    from obep.query.parse.parser import parse

    prefixes = " ".join(f"PREFIX {name}: <{iri}>" for name, iri in query.prefixes.items())
    text = query.text.replace("\x00", "")
    try:
        return parse(f"REGISTER QUERY q AS {prefixes} {text}", language="csparql").queries[0].form
    except (ObepError, IndexError):
        raise KOnly("its query is more than a group of triples") from None


def _parsed(query: Query) -> tuple[tuple[ast.TriplePattern, ...], ast.Group]:
    form = form_of(query)
    if not isinstance(form, ast.ConstructQuery):
        raise KOnly("its query is not a CONSTRUCT")
    return form.template, form.select.where


def _bodies(group: ast.Group, within: str = "?~") -> Iterator[tuple[Atom, ...]]:
    """The bodies of a group: one for each way through its paths and unions."""
    parts: list[list[tuple[Atom, ...]]] = []
    for place, element in enumerate(group.elements):
        match element:
            case ast.Bgp(patterns):
                parts += [
                    [*_pattern(one, f"{within}{place}.{number}")] for number, one in enumerate(patterns)
                ]
            case ast.GroupUnion(branches):
                ways_in = enumerate(branches)
                parts.append([one for n, to in ways_in for one in _bodies(to, f"{within}{place}.{n}.")])
            case ast.Filter(condition):
                parts.append([tuple(_compared(condition))])
            case _:
                raise KOnly(f"its query has {_WORDS.get(type(element).__name__, 'more than triples')}")
    if prod(map(len, parts)) > _MOST_BODIES:
        raise KOnly(f"its paths and unions have more than {_MOST_BODIES} ways")
    for way in product(*parts):
        body = tuple(atom for part in way for atom in part)
        bound = {end for one in body if isinstance(one, Has) for end in (one.subject, one.object)}
        if not bound.issuperset(one.node for one in body if isinstance(one, Among)):
            raise KOnly("a filter of it reads a variable that its group does not bind")
        yield body


_MOST_BODIES = 64
_WORDS = {
    "GroupOptional": "OPTIONAL",
    "GroupMinus": "MINUS",
    "Bind": "BIND",
    "Values": "VALUES",
}


def _pattern(pattern: ast.TriplePattern | ast.PathPattern, name: str) -> Iterator[tuple[Atom, ...]]:
    """The atoms of a triple, one tuple for each way of its path."""
    subject, object_ = _node(pattern.subject), _node(pattern.object)
    if isinstance(pattern, ast.PathPattern):
        for way in ways(_path(pattern.path)):
            steps = _along(subject, way[:-1], f"{name}e") if len(way) > 1 else ()
            (p, back), last = way[-1], f"{name}e" if len(way) > 1 else subject
            yield (*steps, *_triple(*((object_, p, last) if back else (last, p, object_))))
    elif isinstance(pattern.predicate, ast.Var):
        raise KOnly("a property of it is a variable")
    else:
        yield tuple(_triple(subject, pattern.predicate.iri, object_))


def _triple(subject: str, property: Term, object_: str) -> Iterator[Atom]:
    if property == RDF_TYPE:
        if object_.startswith("?"):
            raise KOnly("a class of it is a variable")
        yield IsA(subject, ax.Class(object_))
    else:
        yield Has(subject, property, object_)


def _path(path: ast.Path) -> Path:
    match path:
        case ast.Name():
            return path.iri
        case ast.PathSequence(steps):
            return Sequence(tuple(map(_path, steps)))
        case ast.PathAlternative(branches):
            return Alternatives(tuple(map(_path, branches)))
        case ast.PathInverse(inner):
            return Inverse(_path(inner))
    raise KOnly("a path of it repeats")


def _compared(condition: ast.Expression) -> Iterator[Atom]:
    match condition:
        case ast.Conjunction(operands):
            for operand in operands:
                yield from _compared(operand)
        case ast.Comparison(operator, ast.Var() as variable, ast.Literal() as limit) if operator in _FACETS:
            yield Among(_node(variable), _range(operator, _node(limit)))
        case ast.Comparison(operator, ast.Literal() as limit, ast.Var() as variable) if operator in _FACETS:
            yield Among(_node(variable), _range(_TURNED[operator], _node(limit)))
        case _:
            raise KOnly("a filter of it is not a comparison of a value with a number")


def _range(operator: str, limit: Term) -> ax.DataRange:
    """All numbers on one side of a limit, of any datatype."""
    lexical, datatype = text(limit), limit.rpartition("^^")[2]
    if datatype not in (f"<{XSD}integer>", f"<{XSD}decimal>"):
        raise KOnly("a filter of it is not a comparison of a value with a number")
    facet = f"<{XSD}{_FACETS[operator]}>"
    kinds = ((f"<{ax.OWL}real>", f"<{XSD}decimal>"), (f"<{XSD}double>",) * 2, (f"<{XSD}float>",) * 2)
    return ax.DataOr(
        tuple(ax.Restricted(kind, ((facet, literal(lexical, written)),)) for kind, written in kinds)
    )


def _node(node: ast.Var | ast.Name | ast.Literal) -> str:
    match node:
        case ast.Var(name):
            return f"?{name}"
        case ast.Name():
            return node.iri
    return (
        literal(node.lexical, node.datatype.iri)
        if node.datatype is not None
        else literal(node.lexical, language=node.language)
    )
