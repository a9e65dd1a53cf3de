"""SPARQL's arithmetic, and that of moments and durations (SPEC §5)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Any

from obep.guards.calendar import LONGEST, Day, Lapse, Moment, within_years
from obep.guards.typed_values import MOST_DIGITS, ExpressionError, Single, Value, single
from obep.guards.value_order import RANK, promoted

_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
_EXACT = Context(prec=2 * MOST_DIGITS, Emax=2 * MOST_DIGITS, Emin=-2 * MOST_DIGITS, traps=_TRAPS)
_QUOTIENT = Context(prec=28, Emax=2 * MOST_DIGITS, Emin=-2 * MOST_DIGITS, traps=_TRAPS)
_MOST_BITS = 8 * MOST_DIGITS

PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
DECIMAL: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": _EXACT.add,
    "-": _EXACT.subtract,
    "*": _EXACT.multiply,
    "/": _QUOTIENT.divide,
}


def calculate(sign: str, left: Value, right: Value) -> Value:
    """`left sign right`; integers divide to decimals.

    >>> calculate("/", 1, 4), calculate("-", Moment(5_000_000), Moment(2_000_000))
    (Decimal('0.25'), 3000000)
    """
    if type(left) in RANK and type(right) in RANK:
        return _numbers(sign, left, right)
    return _times(sign, left, right)


def negative(value: Value) -> Value:
    """`-value`."""
    if type(value) is Lapse:
        return Lapse(-value)
    if type(value) not in RANK:
        raise ExpressionError
    if isinstance(value, Decimal):
        return value.copy_negate()  # the operator would round it
    return Single(-value) if type(value) is Single else -value  # type: ignore[operator]  # a number


def positive(value: Value) -> Value:
    """`+value`."""
    if type(value) not in RANK and type(value) is not Lapse:
        raise ExpressionError
    return value


def _numbers(sign: str, left: Any, right: Any) -> Value:
    left, right = promoted(left, right)
    kind = type(left)
    if kind is float or kind is Single:
        result = _floats(sign, left, right)
        return single(result) if kind is Single else result
    if kind is int and type(right) is int and sign != "/":
        whole: int = PLAIN[sign](left, right)
        if whole.bit_length() > _MOST_BITS:
            raise ExpressionError
        return whole
    try:
        return DECIMAL[sign](Decimal(left), Decimal(right))
    except ArithmeticError:
        raise ExpressionError from None


def _floats(sign: str, left: float, right: float) -> float:
    if sign == "/" and right == 0:
        # Doubles divide by zero as IEEE 754 says, and so does XPath.
        if left == 0 or left != left:
            return float("nan")
        return float("inf") if (left > 0) == (str(right)[0] != "-") else float("-inf")
    return float(PLAIN[sign](left, right))


def _times(sign: str, left: Any, right: Any) -> Value:
    rule = _RULES.get((type(left), sign, type(right)))
    if rule is None:
        raise ExpressionError
    return rule(left, right)


def _scaled(sign: str, micros: int, number: Any) -> Lapse:
    result: Any = _numbers(sign, micros, number)
    try:
        return _lapse(round(result))
    except (ValueError, OverflowError, ArithmeticError):
        raise ExpressionError from None


def _lapse(micros: int) -> Lapse:
    if abs(micros) > LONGEST:
        raise ExpressionError
    return Lapse(micros)


def _moment(micros: int, offset: int | None) -> Moment:
    if not within_years(micros):
        raise ExpressionError
    return Moment(micros, offset)


def _difference(left: Any, right: Any) -> Lapse:
    return _lapse(int(left) - int(right))


_RULES: dict[tuple[type, str, type], Callable[[Any, Any], Value]] = {
    (Moment, "-", Moment): _difference,
    (Day, "-", Day): _difference,
    (Lapse, "-", Lapse): _difference,
    (Lapse, "+", Lapse): lambda left, right: _lapse(int(left) + int(right)),
    (Moment, "+", Lapse): lambda left, right: _moment(int(left) + int(right), left.offset),
    (Moment, "-", Lapse): lambda left, right: _moment(int(left) - int(right), left.offset),
    (Lapse, "+", Moment): lambda left, right: _moment(int(left) + int(right), right.offset),
    (Lapse, "/", Lapse): lambda left, right: _numbers("/", int(left), int(right)),
    **{(Lapse, "*", number): lambda left, right: _scaled("*", int(left), right) for number in RANK},
    **{(Lapse, "/", number): lambda left, right: _scaled("/", int(left), right) for number in RANK},
    **{(number, "*", Lapse): lambda left, right: _scaled("*", int(right), left) for number in RANK},
}
"""The arithmetic of moments and durations with each other and with numbers."""
