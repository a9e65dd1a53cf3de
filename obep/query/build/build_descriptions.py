"""Class expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.build.actions import RULES, Children, nodes, reading, rule
from obep.query.build.build_names import facet_value
from obep.query.parse.spelling import span_between


@rule
def union(children: Children) -> ast.Union:
    return ast.Union(nodes(children), span=span_between(children[0], children[-1]))


@rule
def intersection(children: Children) -> ast.Intersection:
    return ast.Intersection(nodes(children), span=span_between(children[0], children[-1]))


@rule
def complement(children: Children) -> ast.Complement:
    return ast.Complement(children[1], span=span_between(children[0], children[1]))


@rule
def some(children: Children) -> ast.Some:
    filler = children[2] if len(children) > 2 else None
    return ast.Some(children[0], filler, span=span_between(children[0], children[-1]))


@rule
def only(children: Children) -> ast.Only:
    return ast.Only(children[0], children[2], span=span_between(children[0], children[2]))


@rule
def value(children: Children) -> ast.Value:
    return ast.Value(children[0], children[2], span=span_between(children[0], children[2]))


@rule
def has_self(children: Children) -> ast.HasSelf:
    return ast.HasSelf(children[0], span=span_between(children[0], children[1]))


@rule
def cardinality(children: Children) -> ast.Cardinality:
    bound, number = children[1], children[2]
    filler = children[3] if len(children) > 3 else None
    count = reading.scope.count(number, bound.value, least=0)
    return ast.Cardinality(
        bound.value, count, children[0], filler, span=span_between(children[0], children[-1])
    )


@rule
def one_of(children: Children) -> ast.OneOf:
    return ast.OneOf(nodes(children), span=span_between(children[0], children[-1]))


@rule
def class_name(children: Children) -> ast.ClassName:
    return ast.ClassName(children[0], span=children[0].span)


@rule
def restriction(children: Children) -> ast.Restriction:
    return ast.Restriction(
        children[0], nodes(children, ast.Facet), span=span_between(children[0], children[-1])
    )


@rule
def facet(children: Children) -> ast.Facet:
    comparison, value, *unit = children
    if unit:
        value = facet_value([value])
    whole = span_between(comparison, children[-1])
    return ast.Facet(comparison.value, value, unit[0] if unit else None, span=whole)


@rule
def unit(children: Children) -> ast.Name | ast.Literal:
    """A name with a prefix, or an IRI; other words and texts are names that obep or UCUM give to units."""
    (token,) = children
    if token.type == "STRING":
        return ast.Literal(reading.scope.string(token), span=span_between(token))
    if ":" in token.value:
        return reading.scope.resolve(token)
    return ast.Literal(token.value, span=span_between(token))


@rule
def inverse(children: Children) -> ast.Inverse:
    (inverted,) = nodes(children)
    return ast.Inverse(inverted, span=span_between(children[0], children[-1]))


@rule
def grouped(children: Children) -> Any:
    """Mark an expression in parentheses as grouped."""
    return replace(children[1], bracketed=True)


RULES["bracketed"] = RULES["enclosed"] = grouped
