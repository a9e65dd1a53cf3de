"""A sum of numbers without rounding, so that what was added can be taken away (D18).

Integers, decimals and binary fractions are kept apart: decimals as a decimal of as many digits as it needs,
floats and doubles as an integer, scaled by a power of two by as much as the finest number so far needed.
"""

from __future__ import annotations

import math
from decimal import Decimal

from obep.algebra.aggregates.rounding import DECIMAL, EXACT, FLOAT, quotient_of, rounded
from obep.guards.typed_values import Single, Value

Number = int | Decimal | float
"""Single is a float."""
_ZERO = Decimal(0)
_add, _subtract, _multiply = EXACT.add, EXACT.subtract, EXACT.multiply


class ExactSum:
    """Σ weight · number, over what was put and not taken."""

    __slots__ = ("_minus", "_nan", "_plus", "_tenths", "_twos", "_twos_places", "_whole")

    def __init__(self) -> None:
        self._whole = 0
        self._tenths = _ZERO
        self._twos = self._twos_places = 0
        self._plus = self._minus = self._nan = 0

    def put(self, number: Number, weight: int = 1) -> None:
        """Adds weight · number; a weight of 0 adds nothing, of NaN and INF too."""
        if type(number) is int:
            self._whole += number * weight
        elif isinstance(number, Decimal):
            self._tenths = _add(self._tenths, number if weight == 1 else _multiply(number, weight))
        else:
            self._change(number, weight, 1)

    def take(self, number: Number, weight: int = 1) -> None:
        """Subtract a number that was added."""
        if type(number) is int:
            self._whole -= number * weight
        elif isinstance(number, Decimal):
            self._tenths = _subtract(self._tenths, number if weight == 1 else _multiply(number, weight))
        else:
            self._change(number, weight, -1)

    def put_square(self, number: Number, times: int = 1) -> None:
        """Add the square of a number, or subtract it with -1."""
        if isinstance(number, float):
            if not math.isfinite(number):
                self._special(number * number, 1, times)
                return
            numerator, denominator = number.as_integer_ratio()
            self._add_twos(numerator * numerator * times, 2 * (denominator.bit_length() - 1))
        elif isinstance(number, Decimal):
            self._tenths = _add(self._tenths, _multiply(_multiply(number, number), times))
        else:
            self._whole += number * number * times

    def special(self) -> float | None:
        """NaN or an infinity, if the sum is none of the real numbers."""
        if self._nan or (self._plus and self._minus):
            return math.nan
        if self._plus:
            return math.inf
        return -math.inf if self._minus else None

    def ratio(self) -> tuple[int, int]:
        """The finite sum as a fraction."""
        if not self._tenths:
            return (self._whole << self._twos_places) + self._twos, 1 << self._twos_places
        tenths, ten = self._tenths.as_integer_ratio()
        numerator = ((self._whole * ten + tenths) << self._twos_places) + self._twos * ten
        return numerator, ten << self._twos_places

    def total(self, rank: int) -> Value:
        """The sum in a numeric type: exact for integers and decimals, else rounded once."""
        special = self.special()
        if special is not None:
            return Single(special) if rank == FLOAT else special
        if rank == DECIMAL:
            return _add(self._tenths, self._whole)
        return rounded(*self.ratio(), rank)

    def divided(self, divisor: int) -> Decimal:
        """The sum, divided, where there are integers and decimals alone."""
        whole = self._whole
        return quotient_of(_add(self._tenths, whole) if whole else self._tenths, divisor)

    def _change(self, number: int | float, weight: int, times: int) -> None:
        if not weight:
            return
        if isinstance(number, float):
            if number - number != 0:  # NaN and the infinities
                self._special(number, weight, times)
                return
            numerator, denominator = number.as_integer_ratio()
            self._add_twos(numerator * weight * times, denominator.bit_length() - 1)
        else:
            self._whole += number * weight * times

    def _add_twos(self, amount: int, places: int) -> None:
        more = places - self._twos_places
        if more > 0:
            self._twos <<= more
            self._twos_places = places
            self._twos += amount
        else:
            self._twos += amount << -more

    def _special(self, number: float, weight: int, times: int) -> None:
        if number != number:
            self._nan += times
        elif (number > 0) == (weight > 0):
            self._plus += times
        else:
            self._minus += times
