"""Casts to XSD datatypes: SPARQL 1.1's table (17.5), and durations."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from obep.guards.calendar import Day, Lapse, Moment
from obep.guards.guard_terms import XSD
from obep.guards.typed_values import Blank, ExpressionError, Value, lexical_form, parse_lexical
from obep.guards.value_order import RANK, as_double, as_single


def cast(datatype: str, value: Value) -> Value:
    """A value as one of another datatype (its IRI without brackets); what cannot be cast is an error.

    >>> cast("http://www.w3.org/2001/XMLSchema#integer", Decimal("-3.7"))
    -3
    """
    kind = datatype[len(XSD) :]
    if kind == "string":
        return to_string(value)
    convert = _FROM_NUMBERS.get(kind)
    if convert is not None and (type(value) in RANK or type(value) is bool):
        return convert(value)
    if type(value) is str:
        result = parse_lexical(value, datatype)
        if result is None:
            raise ExpressionError
        return result
    if type(value) is _OF_ITSELF.get(kind):
        return value
    if kind == "date" and isinstance(value, Moment):
        local = value.local()
        begin = local.replace(hour=0, minute=0, second=0, microsecond=0)
        return Day(int(value) - _micros(local - begin), value.offset)
    if kind == "dateTime" and isinstance(value, Day):
        return Moment(int(value), value.offset)
    raise ExpressionError


def to_string(value: Value) -> str:
    """The cast to xsd:string, also of IRIs."""
    if type(value) is Blank:
        raise ExpressionError
    return lexical_form(value)


_OF_ITSELF: dict[str, type] = {
    "dateTime": Moment,
    "date": Day,
    "dayTimeDuration": Lapse,
    "duration": Lapse,
}


def _micros(duration: Any) -> int:
    return int(duration.seconds * 1_000_000 + duration.microseconds)


def _to_integer(value: Any) -> int:
    try:
        return int(value)
    except (ValueError, OverflowError):
        raise ExpressionError from None


def _to_decimal(value: Any) -> Decimal:
    if isinstance(value, float):
        text = lexical_form(value)
        if text.endswith(("NaN", "INF")):
            raise ExpressionError
        return Decimal(text)
    return Decimal(value)


_FROM_NUMBERS: dict[str, Callable[[Any], Value]] = {
    "integer": _to_integer,
    "decimal": _to_decimal,
    "double": as_double,
    "float": as_single,
    "boolean": lambda value: bool(value) and value == value,
}
