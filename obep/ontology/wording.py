"""Axioms and class expressions for people: Manchester syntax, with names cut short."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Term
from obep.ontology import axioms as ax
from obep.ontology.literals import parts

_FACETS = {"minInclusive": ">=", "minExclusive": ">", "maxInclusive": "<=", "maxExclusive": "<"}
_COUNTS: dict[type, str] = {ax.Min: "min", ax.Max: "max", ax.Exactly: "exactly"}
_COUNTS |= {ax.DataMin: "min", ax.DataMax: "max", ax.DataExactly: "exactly"}


def name(term: Term) -> str:
    """The last word of an IRI; a literal by its lexical form.

    >>> name("<http://example.org/building#Room>")
    'Room'
    """
    if term.startswith('"'):
        lexical, _, language = parts(term)
        return f'"{lexical}"@{language}' if language else f'"{lexical}"'
    if not term.startswith("<"):
        return term
    return term[1:-1].rstrip("#/").rsplit("#", 1)[-1].rsplit("/", 1)[-1] or term


def role(property: ax.ObjectProperty) -> str:
    """A property, or `inverse p`."""
    return f"inverse {name(property.property)}" if isinstance(property, ax.Inverse) else name(property)


def show(node: ax.ClassExpression | ax.DataRange) -> str:
    """A class expression or a data range.

    >>> show(ax.And((ax.Class("<x#A>"), ax.Some("<x#r>", ax.Or((ax.Class("<x#B>"), ax.TOP))))))
    'A and r some (B or Thing)'
    """
    match node:
        case ax.Class(iri) | ax.Datatype(iri):
            return name(iri)
        case ax.And(operands) | ax.DataAnd(operands):
            return " and ".join(_inside(operand) for operand in operands) or "Thing"
        case ax.Or(operands) | ax.DataOr(operands):
            return " or ".join(_inside(operand) for operand in operands) or "Nothing"
        case ax.Not(operand) | ax.DataNot(operand):
            return f"not {_inside(operand)}"
        case ax.OneOf(members) | ax.DataOneOf(members):
            return f"{{{', '.join(map(name, members))}}}"
        case ax.Some(property, filler):
            return f"{role(property)} some {_inside(filler)}"
        case ax.Only(property, filler):
            return f"{role(property)} only {_inside(filler)}"
        case ax.DataSome(property, range):
            return f"{name(property)} some {_inside(range)}"
        case ax.DataOnly(property, range):
            return f"{name(property)} only {_inside(range)}"
        case ax.Value(property, individual):
            return f"{role(property)} value {name(individual)}"
        case ax.DataValue(property, literal):
            return f"{name(property)} value {name(literal)}"
        case ax.HasSelf(property):
            return f"{role(property)} Self"
        case ax.Min(count, property, filler) | ax.Max(count, property, filler):
            return f"{role(property)} {_COUNTS[type(node)]} {count} {_inside(filler)}"
        case ax.Exactly(count, property, filler):
            return f"{role(property)} exactly {count} {_inside(filler)}"
        case (
            ax.DataMin(count, property, range)
            | ax.DataMax(count, property, range)
            | ax.DataExactly(count, property, range)
        ):
            return f"{name(property)} {_COUNTS[type(node)]} {count} {_inside(range)}"
        case ax.Restricted(datatype, facets):
            limits = (f"{_FACETS.get(name(facet), name(facet))} {name(bound)}" for facet, bound in facets)
            return f"{name(datatype)}[{', '.join(limits)}]"


def show_axiom(axiom: ax.Axiom) -> str:
    """An axiom or an assertion as one line.

    >>> show_axiom(ax.SubClassOf(ax.Class("<x#Dog>"), ax.Not(ax.Class("<x#Cat>"))))
    'Dog SubClassOf not Cat'
    """
    match axiom:
        case ax.SubClassOf(sub, sup):
            return f"{show(sub)} SubClassOf {show(sup)}"
        case ax.EquivalentClasses(operands):
            return " EquivalentTo ".join(map(_inside, operands))
        case ax.DisjointClasses(operands):
            return f"DisjointClasses: {', '.join(map(show, operands))}"
        case ax.DisjointUnion(term, operands):
            return f"{name(term)} DisjointUnionOf {', '.join(map(show, operands))}"
        case ax.SubProperty(lower, upper):
            return f"{role(lower)} SubPropertyOf {role(upper)}"
        case ax.SubChain(chain, upper):
            return f"{' o '.join(map(role, chain))} SubPropertyOf {role(upper)}"
        case ax.InverseProperties(first, second):
            return f"{role(first)} InverseOf {role(second)}"
        case ax.Domain(property, expression):
            return f"{role(property)} Domain {show(expression)}"
        case ax.Range(property, expression):
            return f"{role(property)} Range {show(expression)}"
        case ax.DataDomain(property, expression):
            return f"{name(property)} Domain {show(expression)}"
        case ax.DataPropertyRange(property, range):
            return f"{name(property)} Range {show(range)}"
        case ax.SubDataProperty(below, above):
            return f"{name(below)} SubPropertyOf {name(above)}"
        case ax.DatatypeDefinition(datatype, range):
            return f"{name(datatype)} EquivalentTo {show(range)}"
        case ax.FunctionalData(property):
            return f"{name(property)} is functional"
        case ax.HasKey(expression, object_properties, data_properties):
            return f"{show(expression)} HasKey {_list((*object_properties, *data_properties))}"
        case ax.EquivalentProperties(roles) | ax.EquivalentDataProperties(roles):
            return f"EquivalentProperties: {_list(roles)}"
        case ax.DisjointProperties(roles) | ax.DisjointDataProperties(roles):
            return f"DisjointProperties: {_list(roles)}"
        case ax.ClassAssertion(expression, individual):
            return f"{name(individual)} a {_inside(expression)}"
        case ax.PropertyAssertion(property, s, o):
            return f"{name(s)} {role(property)} {name(o)}"
        case ax.NegativePropertyAssertion(property, s, o):
            return f"not {name(s)} {role(property)} {name(o)}"
        case ax.DataAssertion(property, s, literal):
            return f"{name(s)} {name(property)} {name(literal)}"
        case ax.NegativeDataAssertion(property, s, literal):
            return f"not {name(s)} {name(property)} {name(literal)}"
        case ax.SameIndividual(individuals):
            return f"{', '.join(map(name, individuals))} are the same"
        case ax.DifferentIndividuals(individuals):
            return f"{', '.join(map(name, individuals))} are different"
    kind = {"InverseFunctional": "inverse functional"}.get(type(axiom).__name__, type(axiom).__name__.lower())
    return f"{role(axiom.property)} is {kind}"


def _inside(node: ax.ClassExpression | ax.DataRange) -> str:
    plain = isinstance(node, ax.Class | ax.Datatype | ax.OneOf | ax.DataOneOf | ax.Restricted)
    compound = not plain and not (isinstance(node, ax.Some | ax.Only | ax.Value | ax.HasSelf))
    return f"({show(node)})" if compound else show(node)


def _list(roles: Iterable[ax.ObjectProperty]) -> str:
    return ", ".join(map(role, roles))
