"""Events and their clauses."""

from __future__ import annotations

from typing import Any

from obep.query import ast
from obep.query.build.actions import Children, Clause, nodes, reading, rule
from obep.query.parse.spelling import span_between
from obep.query.walk import alias_of, leaves


@rule
def on(children: Children) -> Any:
    return Clause("on", children[0], children[1], children[1].value[1:-1])


@rule
def partition_by(children: Children) -> Any:
    return Clause("partition_by", children[0], children[-1], nodes(children))


@rule
def policy(children: Children) -> Any:
    return Clause("policy", children[0], children[1], children[1].value.lower())


CLAUSE_WORDS = {
    "on": "ON",
    "partition_by": "PARTITION BY",
    "policy": "POLICY",
    "guard": "IF",
    "construct": "CONSTRUCT",
}


def clauses_of(children: Children, kind: str = "event") -> dict[str, Clause]:
    """The clauses of an event or a state by their field; each may stand once."""
    found: dict[str, Clause] = {}
    for clause in nodes(children, Clause):
        first = found.setdefault(clause.field, clause)
        if first is not clause:
            again = (
                "join the two into one" if clause.field in ("guard", "construct") else "remove one of them"
            )
            reading.scope.error(
                "OBEP011",
                f"{' '.join(clause.word.value.upper().split())} stands twice in this {kind}",
                clause.word.span,
                reason=f"The first one is in line {first.word.span.line}; each clause may occur once.",
                remedy=again,
            )
    return found


def extent_of(clauses: dict[str, Clause]) -> ast.Extent:
    """An event or state ends with the last word that was taken."""
    last = reading.scope.last
    places = {clause.field: span_between(clause.word, clause.last) for clause in clauses.values()}
    return ast.Extent(last.span.end if last else 0, places)


def _refuse_pattern_clauses(name_: ast.Name, clauses: dict[str, Clause]) -> None:
    """PARTITION BY and POLICY have no meaning where one item is looked at."""
    for field in ("partition_by", "policy"):
        if field in clauses:
            word = CLAUSE_WORDS[field]
            reading.scope.error(
                "OBEP012",
                f"{word} belongs to an event with MATCH",
                clauses[field].word.span,
                reason=f"{name_.text} is defined with AS: each item is looked at by itself.",
                remedy=f"move {word} to the MATCH that uses {name_.text}",
            )


def _event_of_items(children: Children) -> tuple[ast.Name, Any, dict[str, Any]]:
    """The name, the definition and the other fields of an event with AS."""
    named, _, name_, _ = children[:4]
    clauses = clauses_of(children[4:])
    _refuse_pattern_clauses(name_, clauses)
    fields: dict[str, Any] = {
        **{field: clauses[field].value for field in ("on", "guard", "construct") if field in clauses},
        "named": named is not None,
        "extent": extent_of(clauses),
        "span": span_between(children[0] or children[1], name_),
    }
    return name_, next(child for child in children[4:] if isinstance(child, ast.Node)), fields


@rule
def logical_event(children: Children) -> ast.LogicalEvent:
    name_, description, fields = _event_of_items(children)
    if variables := children[3]:
        reading.scope.error(
            "OBEP012",
            "parameters belong to an event with MATCH",
            span_between(variables[0], variables[-1]),
            reason=f"{name_.text} is defined with AS; its one individual is ?this.",
            remedy=f"EVENT {name_.text} AS …, and {name_.text}(?{variables[0].name}) where it is used",
        )
    return ast.LogicalEvent(name_, description, **fields)


@rule
def composite_event(children: Children) -> ast.CompositeEvent:
    named, _, name_, variables = children[:4]
    clauses = clauses_of(children[4:])
    if "on" in clauses:
        reading.scope.error(
            "OBEP012",
            "ON belongs to an event with AS",
            clauses["on"].word.span,
            reason="A pattern combines events of any streams.",
            remedy="move ON <…> to the events that the MATCH names",
        )
        del clauses["on"]
    pattern: Any = next(child for child in children[4:] if isinstance(child, ast.Node))
    check_own_triples(children, pattern)
    return ast.CompositeEvent(
        name_,
        pattern,
        parameters=variables or (),
        **{field: clause.value for field, clause in clauses.items()},
        named=named is not None,
        extent=extent_of(clauses),
        span=span_between(children[0] or children[1], name_),
    )


def check_own_triples(children: Children, pattern: ast.Node) -> None:
    """Triples in the guard of a pattern stand in the block of one of its events."""
    guard = next((clause.value for clause in nodes(children, Clause) if clause.field == "guard"), None)
    if guard is None or not guard.own:
        return
    first = guard.own[0].span
    written = " ".join(reading.scope.text[first.start : first.end].split())
    alias = next((alias_of(leaf) for leaf in leaves(pattern)), "*")
    reading.scope.error(
        "OBEP019",
        "triples in the guard of a MATCH need the EVENT whose graph they ask",
        first,
        reason="A pattern has several events, and each has its own graph.",
        remedy=f"IF {{ EVENT {alias} {{ {written} }} }}",
    )


@rule
def graph_event(children: Children) -> ast.GraphEvent:
    name_, group, fields = _event_of_items(children)
    return ast.GraphEvent(name_, group, parameters=children[3] or (), **fields)
