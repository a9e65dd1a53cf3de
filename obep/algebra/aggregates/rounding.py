"""Exact fractions as numbers of XSD, rounded once."""

from __future__ import annotations

import math
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow

from obep.guards.typed_values import MOST_DIGITS, Single, Value, single

_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
_QUOTIENT = Context(prec=28, Emax=4 * MOST_DIGITS, Emin=-4 * MOST_DIGITS, traps=_TRAPS)
EXACT = Context(prec=10 * MOST_DIGITS, Emax=9 * MOST_DIGITS, Emin=-9 * MOST_DIGITS, traps=[*_TRAPS, Inexact])
"""For sums, products and squares of numbers that can be read: nothing is ever cut off."""
_ROOT_BITS = 64

INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
"""The numeric types in the order of promotion, as `value_order.RANK` has them."""


def rounded(numerator: int, denominator: int, rank: int) -> Value:
    """numerator / denominator in a numeric type: a decimal of 28 digits, or the nearest float or double.

    >>> rounded(1, 3, DECIMAL), rounded(1, 10, DOUBLE), rounded(4, 2, INTEGER)
    (Decimal('0.3333333333333333333333333333'), 0.1, 2)
    """
    if rank == DOUBLE:
        return nearest_double(numerator, denominator)
    if rank == FLOAT:
        return nearest_single(numerator, denominator)
    if rank == INTEGER and numerator % denominator == 0:
        return numerator // denominator
    return _QUOTIENT.divide(Decimal(numerator), Decimal(denominator))


def nearest_double(numerator: int, denominator: int) -> float:
    """The nearest xsd:double; one that is too large is infinite."""
    try:
        return numerator / denominator  # Python rounds the quotient of two integers correctly
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def nearest_single(numerator: int, denominator: int) -> Single:
    """The nearest xsd:float."""
    return single(_to_odd(abs(numerator), denominator, 40, 200) * (-1 if numerator < 0 else 1))


def nearest_root(numerator: int, denominator: int) -> float:
    """The xsd:double that is nearest to the square root of a fraction.

    >>> nearest_root(2, 1), nearest_root(1, 4)
    (1.4142135623730951, 0.5)
    """
    # With a sticky last bit, a root of 64 bits and more rounds as the exact one would.
    shift = max(0, 2 * _ROOT_BITS - numerator.bit_length() + denominator.bit_length())
    shift += shift % 2
    quotient, rest = divmod(numerator << shift, denominator)
    root = math.isqrt(quotient)
    if rest or root * root != quotient:
        root |= 1
    return nearest_double(root, 1 << (shift // 2))


def quotient_of(dividend: Decimal, divisor: int) -> Decimal:
    """A decimal of 28 digits.

    >>> quotient_of(Decimal("1.0"), 3)
    Decimal('0.3333333333333333333333333333')
    """
    return _QUOTIENT.divide(dividend, divisor)


def _to_odd(numerator: int, denominator: int, bits: int, most: int) -> float:
    """The fraction cut to some bits; the last is set if anything was cut off, so that ties stay none."""
    shift = min(bits - numerator.bit_length() + denominator.bit_length(), most)
    if shift >= 0:
        quotient, rest = divmod(numerator << shift, denominator)
    else:
        quotient, rest = divmod(numerator, denominator << -shift)
    if rest:
        quotient |= 1
    try:
        return math.ldexp(quotient, -shift)
    except OverflowError:
        return math.inf
