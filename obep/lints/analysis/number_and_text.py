"""Numbers that a guard compares with text, and the properties whose values are numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.query.ast import (
    Aggregate,
    Arithmetic,
    Cardinality,
    ClassName,
    Comparison,
    Event,
    Filter,
    Literal,
    LogicalEvent,
    Name,
    Node,
    Only,
    OverState,
    Restriction,
    Some,
    TriplePattern,
    Var,
)
from obep.query.diagnostics import quote, say
from obep.query.walk import walk

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = frozenset(f"<{XSD}{name}>" for name in ("integer", "decimal", "double", "float", "int", "long"))
COMPUTED = frozenset(
    ("SUM", "AVG", "MEDIAN", "PERCENTILE", "STDDEV", "RATE", "SLOPE", "TIMEAVG", "TRAVEL", "TURNS")
)
"""Aggregates that have no value while a row has none that is a number."""
ORDER = ("<", ">", "<=", ">=")


def numeric_properties(events: Iterable[Event]) -> Iterator[str]:
    """The properties whose values must be numbers by the definitions."""
    for event in events:
        if not isinstance(event, LogicalEvent):
            continue
        for node in walk(event.description):
            if not isinstance(node, Some | Only | Cardinality):
                continue
            filler, p = node.filler, node.property
            type = filler.datatype if isinstance(filler, Restriction) else None
            if isinstance(filler, ClassName):
                type = filler.name
            if isinstance(p, Name) and type and (type.text == "number" or type.iri in NUMBERS):
                yield p.iri


def aggregated_properties(states: Iterable[Node]) -> Iterator[str]:
    """The properties whose values AGGREGATE and HAVING of states by rows compute with."""
    for state in states:
        if isinstance(state, OverState) and state.guard is not None:
            computed = [*state.aggregates, *([state.having] if state.having is not None else [])]
            found = [node for one in computed for node in walk(one) if isinstance(node, Aggregate)]
            arguments = [one.argument for one in found if one.function in COMPUTED and one.argument]
            asked = list(walk(state.guard))
            filters = [node for node in asked if isinstance(node, Filter)]
            names = _variables(arguments) - _variables(filters)  # a filter may leave out what is no number
            for node in asked:
                if isinstance(node, TriplePattern) and _name(node.object) in names:
                    yield from [node.predicate.iri] if isinstance(node.predicate, Name) else ()


def _variables(nodes: Iterable[Node]) -> set[str]:
    return {name for one in nodes for node in walk(one) if (name := _name(node)) is not None}


def _name(node: object) -> str | None:
    return node.name if isinstance(node, Var) else None


def compared_with_text(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP219: SPARQL defines no order between a number and text, so the condition is never true."""
    numeric = frozenset(numeric_properties(definitions.events.values()))
    for event, file in definitions.all():
        nodes = list(walk(event.guard)) if event.guard else []
        numbers = {name for node in nodes for name in _numbers(node, numeric)}
        for node in nodes:
            if not isinstance(node, Comparison) or node.operator not in ORDER:
                continue
            for var, text in ((node.left, node.right), (node.right, node.left)):
                if isinstance(var, Var) and var.name in numbers and _is_text(text):
                    yield say(
                        "OBEP219",
                        file,
                        node.span,
                        f"{quote(node)} is never true of a number",
                        f"Text is neither more nor less than a number, and ?{var.name} is one elsewhere.",
                        _without_quotes(node),
                    )


def _numbers(node: Node, numeric: frozenset[str]) -> Iterator[str]:
    """The variables that must be numbers for a part of a guard to hold."""
    if isinstance(node, TriplePattern):
        if (
            isinstance(node.predicate, Name)
            and node.predicate.iri in numeric
            and isinstance(node.object, Var)
        ):
            yield node.object.name
    elif isinstance(node, Arithmetic) or (isinstance(node, Comparison) and node.operator in ORDER):
        for var, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(var, Var) and is_number(other):
                yield var.name


def is_number(node: Node) -> bool:
    """Whether a node is a number that is written down."""
    return isinstance(node, Literal) and node.datatype is not None and node.datatype.iri in NUMBERS


def _is_text(node: Node) -> bool:
    return isinstance(node, Literal) and node.datatype is None


def _without_quotes(node: Comparison) -> str:
    """The comparison with a number: the one that stands in the text, if there is one."""
    sides = (_as_number(side) if isinstance(side, Literal) else side for side in (node.left, node.right))
    return f"{quote(Comparison(node.operator, *sides))}   (a number has no quotes)"


def _as_number(text: Literal) -> Literal:
    found = re.fullmatch(r"\d+(\.\d+)?", text.lexical)
    name = "decimal" if found and found[1] else "integer"
    return Literal(text.lexical if found else "30", Name(f"xsd:{name}", f"<{XSD}{name}>"))
