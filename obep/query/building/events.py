"""Events and their clauses."""

from __future__ import annotations

from typing import Any

from obep.errors import Span
from obep.query import ast
from obep.query.building.rules import Children, nodes, reading, rule
from obep.query.names import alias_of, leaves
from obep.query.values import span_between


@rule
def on(children: Children) -> Any:
    return "on", children[0], children[1].value[1:-1]


@rule
def partition_by(children: Children) -> Any:
    return "partition_by", children[0], nodes(children)


@rule
def policy(children: Children) -> Any:
    return "policy", children[0], children[1].value.lower()


CLAUSE_WORDS = {
    "on": "ON",
    "partition_by": "PARTITION BY",
    "policy": "POLICY",
    "guard": "IF",
    "construct": "CONSTRUCT",
}


def _clauses(children: Children) -> dict[str, tuple[Span, Any]]:
    """The clauses of an event by their field; each may stand once."""
    found: dict[str, tuple[Span, Any]] = {}
    for child in children:
        if not isinstance(child, tuple) or not child or not isinstance(child[0], str):
            continue
        field, token, value = child
        place, word = span_between(token), CLAUSE_WORDS[field]
        if field in found:
            reading.scope.error(
                "OBEP011",
                f"{word} stands twice in this event",
                place,
                reason=f"The first one is in line {found[field][0].line}; each clause may stand once.",
                remedy="join the two into one" if field in ("guard", "construct") else "remove one of them",
            )
        else:
            found[field] = (place, value)
    return found


@rule
def logical_event(children: Children) -> ast.LogicalEvent:
    named, _, name_, variables = children[:4]
    clauses = _clauses(children[4:])
    for field in ("partition_by", "policy"):
        if field in clauses:
            word = CLAUSE_WORDS[field]
            reading.scope.error(
                "OBEP012",
                f"{word} belongs to an event with MATCH",
                clauses[field][0],
                reason=f"{name_.text} is defined with AS: each item is looked at by itself.",
                remedy=f"move {word} to the MATCH that uses {name_.text}",
            )
    if variables:
        reading.scope.error(
            "OBEP012",
            "parameters belong to an event with MATCH",
            span_between(variables[0], variables[-1]),
            reason=f"{name_.text} is defined with AS; its one individual is ?this.",
            remedy=f"EVENT {name_.text} AS …, and {name_.text}(?{variables[0].name}) where it is used",
        )
    description: Any = next(child for child in children[4:] if isinstance(child, ast.Node))
    return ast.LogicalEvent(
        name_,
        description,
        **{field: value for field, (_, value) in clauses.items() if field in ("on", "guard", "construct")},
        named=named is not None,
        span=span_between(children[0] or children[1], name_),
    )


@rule
def composite_event(children: Children) -> ast.CompositeEvent:
    named, _, name_, variables = children[:4]
    clauses = _clauses(children[4:])
    if "on" in clauses:
        reading.scope.error(
            "OBEP012",
            "ON belongs to an event with AS",
            clauses["on"][0],
            reason="A pattern follows events, whatever streams they come from.",
            remedy="move ON <…> to the events that the MATCH names",
        )
        del clauses["on"]
    pattern: Any = next(child for child in children[4:] if isinstance(child, ast.Node))
    if "guard" in clauses and clauses["guard"][1].own:
        first = clauses["guard"][1].own[0].span
        written = " ".join(reading.scope.text[first.start : first.end].split())
        reading.scope.error(
            "OBEP019",
            "triples in the guard of a MATCH need the EVENT whose graph they ask",
            first,
            reason="A pattern has several events, each with a graph of its own.",
            remedy=f"IF {{ EVENT {alias_of(next(leaves(pattern)))} {{ {written} }} }}",
        )
    return ast.CompositeEvent(
        name_,
        pattern,
        parameters=variables or (),
        **{field: value for field, (_, value) in clauses.items()},
        named=named is not None,
        span=span_between(children[0] or children[1], name_),
    )
