"""SUM, AVG, STDDEV and SLOPE: of exact sums, rounded once."""

from __future__ import annotations

import math
from decimal import Decimal

from obep.algebra.aggregates.accumulator import NumberAggregate, NumbersOnly, RowKey, bounded
from obep.algebra.aggregates.exact_sum import ExactSum, Number
from obep.algebra.aggregates.rounding import DECIMAL, FLOAT, nearest_root, rounded
from obep.guards.calendar import MICROS
from obep.guards.typed_values import MOST_DIGITS, Single, Value, parsed
from obep.guards.value_order import RANK
from obep.model import Term

_SHORT = MOST_DIGITS - 50
"""A decimal of 28 digits of this magnitude can be read again."""


class Total(NumbersOnly, NumberAggregate):
    """A figure of numbers whose sum is kept."""

    __slots__ = ("_sum",)

    def __init__(self) -> None:
        super().__init__()
        self._sum = ExactSum()

    def enter(self, end: int, number: Number, term: Term) -> None:
        self._sum.put(number)

    def leave(self, end: int, number: Number, term: Term) -> None:
        if self.count:
            self._sum.take(number)
        else:
            self._sum = ExactSum()


class Sum(Total):
    """SUM; of nothing 0."""

    __slots__ = ()

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        # As in the base class, without its calls: SUM and AVG are what is asked for most.
        number = None if value is None else parsed[value]
        rank = RANK.get(type(number))
        if rank is None:
            self._errors += 1
            return
        self.count += 1
        self._kinds[rank] += 1
        self._sum.put(number)  # type: ignore[arg-type]  # it has a rank

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        number = None if value is None else parsed[value]
        rank = RANK.get(type(number))
        if rank is None:
            self._errors -= 1
            return
        self.count -= 1
        self._kinds[rank] -= 1
        self.leave(end, number, "")  # type: ignore[arg-type]

    def outcome(self) -> Value | None:
        return self._sum.total(self.rank)


class Average(Sum):
    """AVG; of nothing 0; integers have a decimal mean."""

    __slots__ = ()

    def figure(self, now: int) -> Value | None:
        _, _, singles, doubles = self._kinds
        if self._errors or not self.count or singles or doubles:
            return super().figure(now)
        mean = self._sum.divided(self.count)
        return mean if is_short(mean) else bounded(mean)

    def outcome(self) -> Value | None:
        return average(self._sum, self.count, self.rank)


class Deviation(Total):
    """STDDEV of the population, an xsd:double; of nothing an error."""

    __slots__ = ("_squares",)

    def __init__(self) -> None:
        super().__init__()
        self._squares = ExactSum()

    def enter(self, end: int, number: Number, term: Term) -> None:
        super().enter(end, number, term)
        self._squares.put_square(number)

    def leave(self, end: int, number: Number, term: Term) -> None:
        super().leave(end, number, term)
        if self.count:
            self._squares.put_square(number, -1)
        else:
            self._squares = ExactSum()

    def outcome(self) -> Value | None:
        if not self.count:
            return None
        if self._sum.special() is not None:
            return math.nan
        total, total_unit = self._sum.ratio()
        squares, squares_unit = self._squares.ratio()
        numerator = self.count * squares * total_unit**2 - total**2 * squares_unit
        return nearest_root(numerator, (self.count * total_unit) ** 2 * squares_unit)


class Slope(Total):
    """SLOPE: the slope of the line of least squares, by second; over no time an error."""

    __slots__ = ("_base", "_products", "_squares", "_times")

    def __init__(self) -> None:
        super().__init__()
        self._products = ExactSum()
        self._times = self._squares = 0
        self._base = 0

    def enter(self, end: int, number: Number, term: Term) -> None:
        if self.count == 1:
            self._base = end
        super().enter(end, number, term)
        self._products.put(number, end - self._base)
        self._times += end - self._base
        self._squares += (end - self._base) ** 2

    def leave(self, end: int, number: Number, term: Term) -> None:
        super().leave(end, number, term)
        self._products.take(number, end - self._base)
        self._times -= end - self._base
        self._squares -= (end - self._base) ** 2
        if not self.count:
            self._products = ExactSum()

    def outcome(self) -> Value | None:
        spread = self.count * self._squares - self._times**2
        if not spread:
            return None
        rank = max(self.rank, DECIMAL)
        if self._sum.special() is not None:
            return Single(math.nan) if rank == FLOAT else math.nan
        total, total_unit = self._sum.ratio()
        products, products_unit = self._products.ratio()
        numerator = self.count * products * total_unit - self._times * total * products_unit
        return rounded(numerator * MICROS, total_unit * products_unit * spread, rank)


def is_short(mean: Decimal) -> bool:
    """Whether a decimal of 28 digits can surely be read again."""
    return -_SHORT < mean.adjusted() < _SHORT


def average(total: ExactSum, count: int, rank: int) -> Value:
    """The mean of so many numbers; of none 0."""
    return quotient(total, count, rank) if count else 0


def quotient(dividend: ExactSum, divisor: int, rank: int, factor: int = 1) -> Value:
    """dividend · factor / divisor in a numeric type that divides: decimal, float or double."""
    special = dividend.special()
    if special is not None:
        return Single(special) if rank == FLOAT else special
    if factor == 1 and rank <= DECIMAL:
        return dividend.divided(divisor)
    numerator, denominator = dividend.ratio()
    return rounded(numerator * factor, denominator * divisor, max(rank, DECIMAL))
