"""SQRT, POW, LN, EXP, SIN, COS, ATAN as XPath's math functions have them, and LOCAL (STATES 2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from obep.formats.zones import zone_named
from obep.guards.calendar import Moment
from obep.guards.typed_values import ExpressionError, Value
from obep.guards.value_order import RANK, as_double

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FARTHEST = 14 * 60
"""XSD's zones: at most 14 hours from UTC."""


def local(value: Value, zone: Value) -> Value:
    """A moment as the clocks of a zone show it; one without a zone is UTC.

    >>> str(local(Moment(1_794_909_600_000_000), "Europe/Rome"))
    '2026-11-17T11:00:00+01:00'
    """
    if not isinstance(value, Moment) or type(zone) is not str:
        raise ExpressionError
    try:
        there = (_EPOCH + timedelta(microseconds=int(value))).astimezone(zone_named(zone))
    except (ValueError, OverflowError):
        raise ExpressionError from None
    minutes = round((there.utcoffset() or timedelta()) / timedelta(minutes=1))
    if abs(minutes) > _FARTHEST:  # a place's own time, before there were zones
        raise ExpressionError
    return Moment(int(value), minutes)


def power(base: Value, exponent: Value) -> Value:
    """XPath's math:pow: INF and NaN as IEEE 754 has them.

    >>> power(2, -1), power(0, -1), power(-8, 0.5)
    (0.5, inf, nan)
    """
    one, other = _double(base), _double(exponent)
    try:
        return math.pow(one, other)
    except ValueError:  # of a negative number no fraction is a power; of zero a negative power is infinite
        if one < 0:
            return math.nan
    except OverflowError:
        pass
    odd = other % 2 == 1
    return -math.inf if odd and math.copysign(1, one) < 0 else math.inf


def _of_double(function: Callable[[float], float]) -> Callable[[Value], Value]:
    """A function of a number, as an xsd:double; outside of its domain NaN, beyond all doubles INF."""

    def apply(value: Value) -> Value:
        number = _double(value)
        try:
            return function(number)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return apply


def _double(value: Value) -> float:
    if type(value) not in RANK:
        raise ExpressionError
    return as_double(value)


def _logarithm(number: float) -> float:
    return -math.inf if number == 0 else math.log(number)


MATH: dict[str, Callable[..., Value]] = {
    "SQRT": _of_double(math.sqrt),
    "POW": power,
    "LN": _of_double(_logarithm),
    "EXP": _of_double(math.exp),
    "SIN": _of_double(math.sin),
    "COS": _of_double(math.cos),
    "ATAN": _of_double(math.atan),
    "LOCAL": local,
}
