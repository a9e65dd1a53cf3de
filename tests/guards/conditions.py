"""Conditions of FILTER from their text, for tests: `holds("?a < ?b", a=…, b=…)`."""

from __future__ import annotations

from obep.guards.filter_closures import Compiler
from obep.guards.guard_terms import literal
from obep.guards.three_valued import Times
from obep.guards.typed_values import ExpressionError, term_of_value
from obep.model import Term
from obep.query.ast import Expression
from obep.query.parse.parser import parse

XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(lexical: str, local: str) -> Term:
    """A literal of one of XSD's datatypes."""
    return literal(lexical, f"<{XSD}{local}>")


def expression(text: str) -> Expression:
    """The condition of a FILTER, as the parser reads it."""
    file = parse(f"EVENT H MATCH A IF {{ EVENT A {{ ?this :p ?v . FILTER({text}) }} }}")
    guard = file.events[0].guard
    assert guard is not None
    return guard.blocks[0].filters[0].condition


def holds(text: str, times: dict[str, tuple[int, int]] | None = None, /, **row: Term | None) -> bool | None:
    """Whether a condition is true or false of a row; `None` for SPARQL's error."""
    try:
        return Compiler(_index(row), _places(times)).test(expression(text))([*row.values()], _times(times))
    except ExpressionError:
        return None


def value(text: str, times: dict[str, tuple[int, int]] | None = None, /, **row: Term | None) -> Term | None:
    """The term that an expression gives for a row; `None` for SPARQL's error."""
    try:
        found = Compiler(_index(row), _places(times)).value(expression(text))([*row.values()], _times(times))
        return term_of_value(found)
    except ExpressionError:
        return None


def _index(row: dict[str, Term | None]) -> dict[str, int]:
    return {name: slot for slot, name in enumerate(row)}


def _places(times: dict[str, tuple[int, int]] | None) -> dict[str, int]:
    return {alias: place for place, alias in enumerate(times or {})}


def _times(times: dict[str, tuple[int, int]] | None) -> Times:
    return tuple((times or {}).values())
