"""SPARQL's equality, order and effective boolean value, over parsed values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from obep.guards.calendar import Day, Lapse, Moment
from obep.guards.guard_terms import XSD
from obep.guards.typed_values import (
    NUMERIC,
    Blank,
    ExpressionError,
    Iri,
    Opaque,
    Single,
    Tagged,
    Value,
    single,
)

ORDERED: frozenset[type] = frozenset({int, Decimal, float, Single, bool, str, Moment, Day, Lapse})
"""Two values of one of these types compare as Python compares them."""

RANK: dict[type, int] = {int: 0, Decimal: 1, Single: 2, float: 3}
"""The numeric types in the order of promotion."""

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def compare(sign: str, left: Value, right: Value) -> bool:
    """One of SPARQL's comparisons; what cannot be compared is an error.

    >>> compare("<", 1, Decimal("1.5")), compare("=", "a", 1)
    (True, False)
    """
    apply = OPERATORS[sign]
    kind = type(left)
    if kind is type(right) and kind in ORDERED:
        return apply(left, right)
    if kind in RANK and type(right) in RANK:
        if kind is float:
            return apply(left, as_double(right))
        if type(right) is float:
            return apply(as_double(left), right)
        return apply(*promoted(left, right))
    if sign == "=":
        return _same(left, right)
    if sign == "!=":
        return not _same(left, right)
    if isinstance(left, Tagged) and isinstance(right, Tagged) and left.language == right.language:
        return bool(apply(left.text, right.text))
    raise ExpressionError


def equal(left: Value, right: Value) -> bool:
    """SPARQL's `=`."""
    kind = type(left)
    if kind is type(right) and kind in ORDERED:
        return bool(left == right)
    if kind in RANK and type(right) in RANK:
        return bool(operator.eq(*promoted(left, right)))
    return _same(left, right)


def _same(left: Value, right: Value) -> bool:
    """Equality of values that no operator compares: the same term, or literals that are known to differ."""
    if type(left) is Opaque or type(right) is Opaque:
        if left == right:
            return True
        if type(left) in (Iri, Blank) or type(right) in (Iri, Blank):
            return False
        raise ExpressionError  # two forms of an unknown datatype may or may not be one value
    return type(left) is type(right) and left == right


def promoted(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers in the type that holds both: integer, decimal, float, double.

    >>> promoted(Decimal("0.5"), 2.0)
    (0.5, 2.0)
    """
    rank = max(RANK[type(left)], RANK[type(right)])
    if rank < 2:
        return left, right
    convert = as_double if rank == 3 else as_single
    return convert(left), convert(right)


def as_double(value: Any) -> float:
    """A number as xsd:double; one that is too large is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def as_single(value: Any) -> Single:
    """A number as xsd:float."""
    return value if type(value) is Single else single(as_double(value))


def truth(value: Value) -> bool:
    """The effective boolean value (SPARQL 1.1, 17.2.2).

    >>> truth(0), truth("no")
    (False, True)
    """
    kind = type(value)
    if isinstance(value, bool):
        return value
    if kind in RANK:
        return bool(value) and value == value
    if kind is str:
        return value != ""
    if isinstance(value, Tagged):
        return value.text != ""
    if isinstance(value, Opaque) and (value.datatype in NUMERIC or value.datatype == f"{XSD}boolean"):
        return False  # SPARQL: an ill-typed number or boolean is false
    raise ExpressionError
