"""Write the definition of a class in T as a query would, so that a bare name can be examined."""

from __future__ import annotations

from typing import Any, cast

from obep.model import Term
from obep.ontology.owl import axioms as a
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.literals import parts
from obep.output.why_tree import short
from obep.query import ast

_FACETS: dict[Term, Any] = {
    f"<{a.XSD}maxExclusive>": "<",
    f"<{a.XSD}maxInclusive>": "<=",
    f"<{a.XSD}minExclusive>": ">",
    f"<{a.XSD}minInclusive>": ">=",
}


def definitions_of(axioms: Axioms) -> dict[Term, ast.Description]:
    """The classes that T says to be the same as an expression, with the first that can be written down."""
    found: dict[Term, ast.Description] = {}
    for iri, same in axioms.equivalents():
        written = (described(one) for one in same if not isinstance(one, a.Class))
        first = next((one for one in written if one is not None), None)
        if first is not None:
            found.setdefault(iri, first)
    return found


def described(expression: a.ClassExpression) -> ast.Description | None:
    """A class expression as a description; `None` for kinds that are not looked into."""
    match expression:
        case a.Class(iri):
            return ast.ClassName(_name(iri))
        case a.And(operands) | a.Or(operands):
            written = tuple(described(one) for one in operands)
            kind = ast.Intersection if isinstance(expression, a.And) else ast.Union
            return None if None in written else kind(cast(tuple[ast.Description, ...], written))
        case a.Some(property, filler):
            wanted = described(filler)
            return None if wanted is None else ast.Some(_property(property), wanted)
        case a.DataSome(property, range):
            values = _range(range)
            return None if values is None else ast.Some(_name(property), values)
        case a.DataValue(property, literal):
            return ast.Value(_name(property), _literal(literal))
        case a.Value(property, individual):
            return ast.Value(_property(property), _name(individual))
    return None


def _range(range: a.DataRange) -> ast.Description | None:
    match range:
        case a.Datatype(iri):
            return ast.ClassName(_name(iri))
        case a.Restricted(datatype, facets) if all(facet in _FACETS for facet, _ in facets):
            bounds = (ast.Facet(_FACETS[facet], ast.Literal(parts(bound)[0])) for facet, bound in facets)
            return ast.Restriction(_name(datatype), tuple(bounds))
    return None


def _property(property: a.ObjectProperty) -> ast.Property:
    return ast.Inverse(_name(property.property)) if isinstance(property, a.Inverse) else _name(property)


def _literal(term: Term) -> ast.Literal:
    lexical, datatype, language = parts(term)
    typed = None if language or datatype == f"<{a.XSD}string>" else _name(datatype)
    return ast.Literal(lexical, typed, language)


def _name(iri: Term) -> ast.Name:
    return ast.Name(f"xsd:{short(iri)}" if iri.startswith(f"<{a.XSD}") else short(iri), iri)
