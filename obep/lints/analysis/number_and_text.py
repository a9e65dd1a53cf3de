"""Numbers that a guard compares with text, and the properties whose values are numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

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
    Intersection,
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
from obep.query.free_variables import THIS
from obep.query.walk import alias_of, leaves, walk

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
            if isinstance(node, Some | Only | Cardinality) and (p := _of_numbers(node)) is not None:
                yield p


def _of_numbers(node: Some | Only | Cardinality) -> str | None:
    """The property of a restriction to numbers."""
    filler, p = node.filler, node.property
    type = filler.datatype if isinstance(filler, Restriction) else None
    if isinstance(filler, ClassName):
        type = filler.name
    asked = isinstance(p, Name) and type and (type.text == "number" or type.iri in NUMBERS)
    return p.iri if asked and isinstance(p, Name) else None


def _needed_numbers(event: Event | None) -> set[str]:
    """The properties of which each individual of a logical event has a number."""
    if not isinstance(event, LogicalEvent):
        return set()
    whole = event.description
    parts = whole.operands if isinstance(whole, Intersection) else (whole,)
    return {p for one in parts if isinstance(one, Some) and (p := _of_numbers(one)) is not None}


def aggregated_properties(states: Iterable[Node], events: Mapping[str, Event]) -> Iterator[tuple[str, bool]]:
    """The properties whose values AGGREGATE and HAVING of states by rows compute with.

    With each, whether only individuals that have a number of it make rows.
    """
    for state in states:
        if isinstance(state, OverState) and state.guard is not None:
            computed = [*state.aggregates, *([state.having] if state.having is not None else [])]
            found = [node for one in computed for node in walk(one) if isinstance(node, Aggregate)]
            arguments = [one.argument for one in found if one.function in COMPUTED and one.argument]
            filters = [node for node in walk(state.guard) if isinstance(node, Filter)]
            names = _variables(arguments) - _variables(filters)  # a filter may leave out what is no number
            found_in = {alias_of(leaf): leaf for leaf in leaves(state.over)}
            blocks = [(one.triples, found_in.get(", ".join(one.aliases))) for one in state.guard.blocks]
            for triples, leaf in (*blocks, (state.guard.own, None)):  # none: of several events
                needed = _needed_numbers(events.get(leaf.event.iri)) if leaf is not None else set()
                first = {THIS, *(one.name for one in leaf.parameters[:1])} if leaf is not None else set()
                for node in triples:
                    if _name(node.object) in names and isinstance(p := node.predicate, Name):
                        yield p.iri, _name(node.subject) in first and p.iri in needed


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
