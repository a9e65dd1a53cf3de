"""Conditions of a guard that no value can meet, as far as the text alone shows it (OBEP219)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from itertools import combinations
from typing import NamedTuple

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.number_and_text import XSD, is_number
from obep.query.ast import (
    Arithmetic,
    Call,
    Comparison,
    Conjunction,
    Disjunction,
    Duration,
    Event,
    Expression,
    Literal,
    Name,
    Negation,
    Node,
    TimeFunction,
)
from obep.query.diagnostics import quote, say
from obep.query.parse.spelling import to_micros
from obep.query.walk import walk

SECOND = 1_000_000
MOST = 10**18
"""A duration longer than any that is written, in microseconds."""
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
ROUNDED = ("double", "float")
MILLISECONDS = 1e11
"""A number for a moment that is greater than this is in milliseconds."""


def times_and_others(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP219: moments, durations, numbers and text are never equal to each other, nor more, nor less."""
    for event, file in definitions.all():
        for node in walk(event.guard) if event.guard else ():
            if not isinstance(node, Comparison) or node.operator not in FLIPPED:
                continue
            for time, other in ((node.left, node.right), (node.right, node.left)):
                kind, of = _kind(time), _kind(other)
                if (kind, of) in _NEVER:
                    yield say(
                        "OBEP219",
                        file,
                        node.span,
                        f"{quote(node)} is never true of a {kind}",
                        f"{quote(time)} is a {kind}, and {_NEVER[kind, of]}.",
                        _of_one_kind(node, time, other, (kind, of)),
                    )


_NEVER = {
    ("duration", "number"): "a bare number has no unit",
    ("duration", "text"): "a value in quotes is text",
    ("moment", "number"): "a bare number is none",
    ("moment", "text"): "a value in quotes is text",
    ("moment", "duration"): "a duration has no beginning",
}
"""Incomparable kinds of values, with the reason."""


def _kind(node: Expression) -> str:
    """The kind of a value for all data: a moment, a duration, a number, text; "" if it is open."""
    match node:
        case TimeFunction("getDURATION") | Duration():
            return "duration"
        case TimeFunction():
            return "moment"
        case Literal() if is_number(node):
            return "number"
        case Literal() if _is_text(node):
            return "text"
        case Negation("-" | "+", operand) if _kind(operand) == "number":
            return "number"
        case Arithmetic(operator, left, right):
            return _COMPUTED.get((_kind(left), operator, _kind(right)), "")
    return ""


_COMPUTED = {
    ("moment", "-", "moment"): "duration",
    ("moment", "+", "duration"): "moment",
    ("moment", "-", "duration"): "moment",
    ("duration", "+", "moment"): "moment",
    ("duration", "+", "duration"): "duration",
    ("duration", "-", "duration"): "duration",
    ("duration", "*", "number"): "duration",
    ("number", "*", "duration"): "duration",
    ("duration", "/", "number"): "duration",
    **{("number", sign, "number"): "number" for sign in "+-*/"},
}


def _of_one_kind(node: Comparison, time: Expression, other: Expression, kinds: tuple[str, str]) -> str:
    """The comparison with what can be compared."""
    match kinds:
        case ("duration", "number"):
            return _with_a_unit(node, time, other)
        case ("duration", _):
            text = other.lexical if isinstance(other, Literal) else ""
            return f"{quote(instead(node, other, _length(text)))}   (a duration has no quotes)"
        case ("moment", "duration") if isinstance(time, TimeFunction):
            return quote(instead(node, time, replace(time, function="getDURATION", alias=None)))
        case ("moment", "duration"):
            return "compare it with another moment"
    text = other.lexical if isinstance(other, Literal) and kinds[1] == "text" else _moment(other)
    return quote(instead(node, other, Literal(text, Name("xsd:dateTime", f"<{XSD}dateTime>"))))


def _length(text: str) -> Duration:
    try:
        return Duration(to_micros(text))
    except ValueError:
        return Duration(300 * SECOND)


def _moment(number: Expression) -> str:
    """A number of seconds since the epoch, or of milliseconds if it is large, as people write a moment."""
    try:
        seconds = float(number.lexical) if isinstance(number, Literal) else 0.0
        if seconds >= MILLISECONDS:
            seconds /= 1000
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return "2026-01-31T12:00:00Z"


def _with_a_unit(node: Comparison, length: Expression, number: Expression) -> str:
    """The comparison with seconds, as a duration where the number can be written as one."""
    seconds = instead(node, length, Call("SECONDS", (length,)))
    try:
        micros = Decimal(number.lexical) * SECOND if isinstance(number, Literal) else Decimal("NaN")
    except InvalidOperation:  # it is no number, whatever its datatype says
        micros = Decimal("NaN")
    if micros.is_nan() or not 0 <= micros < MOST or micros % 1:
        return quote(seconds)
    unit = instead(node, number, Duration(int(micros)))
    return f"{quote(unit)}   (or {quote(seconds)})"


def instead(node: Comparison, old: Expression, new: Expression) -> Comparison:
    """A comparison with another side."""
    left, right = (new if side is old else side for side in (node.left, node.right))
    return Comparison(node.operator, left, right)


class _Bound(NamedTuple):
    """A comparison of an expression with the constant to its right."""

    operator: str
    constant: Literal | Name | Duration
    node: Comparison


def nothing_left(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP219: two conditions on the same thing that no value meets together."""
    for event, file in definitions.all():
        said: set[int] = set()
        for together in _conjunctions(event):
            for first, second in _contradictions(together):
                if second.node.span.start in said:
                    continue
                said.add(second.node.span.start)
                either = Disjunction((first.node, second.node))
                yield say(
                    "OBEP219",
                    file,
                    second.node.span,
                    f"{quote(second.node)} is never true where {quote(first.node)} is",
                    "No value satisfies both conditions.",
                    f"{quote(either)}   (one of the two)",
                )


def _conjunctions(event: Event) -> Iterator[list[Expression]]:
    """The conditions that one solution must meet: those of a block, of the whole guard, of an && inside."""
    if event.guard is None:
        return
    for filters in (*(block.filters for block in event.guard.blocks), event.guard.filters):
        yield list(_flat(filter_.condition for filter_ in filters))
    for node in walk(event.guard):
        if isinstance(node, Conjunction):
            yield list(_flat(node.operands))


def _flat(conditions: Iterable[Expression]) -> Iterator[Expression]:
    for one in conditions:
        yield from _flat(one.operands) if isinstance(one, Conjunction) else (one,)


def _contradictions(conditions: Iterable[Expression]) -> Iterator[tuple[_Bound, _Bound]]:
    bounds: dict[Expression, list[_Bound]] = {}
    for node in conditions:
        if isinstance(node, Comparison) and node.operator in FLIPPED:
            for value, constant, sign in (
                (node.left, node.right, node.operator),
                (node.right, node.left, FLIPPED[node.operator]),
            ):
                if isinstance(constant, Literal | Name | Duration) and not isinstance(
                    value, Literal | Name | Duration
                ):
                    bounds.setdefault(value, []).append(_Bound(sign, constant, node))
    for found in bounds.values():
        yield from (pair for pair in combinations(found, 2) if _apart(*pair))


def _apart(first: _Bound, second: _Bound) -> bool:
    """Whether no value meets both."""
    one, other = first.constant, second.constant
    if first.operator == second.operator == "=":
        if isinstance(one, Name) and isinstance(other, Name):
            return bool(one.iri and other.iri) and one.iri != other.iri
        if _is_text(one) and _is_text(other):
            return one != other
    sizes = _size(one), _size(other)
    if sizes[0] is None or sizes[1] is None or type(one) is not type(other):
        return False
    return _above(first, sizes[0], second, sizes[1]) or _above(second, sizes[1], first, sizes[0])


def _above(lower: _Bound, least: Decimal, upper: _Bound, most: Decimal) -> bool:
    """Whether what must be at least one thing would be more than it may be at most.

    Floating point rounds: two constants that it does not tell apart exclude nothing.
    """
    if lower.operator not in (">", ">=", "=") or upper.operator not in ("<", "<=", "="):
        return False
    strict = lower.operator == ">" or upper.operator == "<"
    if isinstance(lower.constant, Duration):
        return least > most or (strict and least == most)
    exact = not any(_rounds(one.constant) for one in (lower, upper))
    return (strict and exact and least >= most) or rounded(least) > rounded(most)


def rounded(number: Decimal) -> float:
    """A number as the coarsest type of XSD has it."""
    try:
        return float(struct.unpack("f", struct.pack("f", float(number)))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _size(constant: Literal | Name | Duration) -> Decimal | None:
    if isinstance(constant, Duration):
        return Decimal(constant.micros)
    if not isinstance(constant, Literal) or not is_number(constant):
        return None
    try:
        size = Decimal(constant.lexical)
    except ArithmeticError:
        return None
    return size if size.is_finite() else None


def _rounds(constant: Node) -> bool:
    type = constant.datatype if isinstance(constant, Literal) else None
    return type is not None and type.iri.removesuffix(">").endswith(ROUNDED)


def _is_text(node: Node) -> bool:
    return isinstance(node, Literal) and node.datatype is None and not node.language
