"""COUNT, SUM, AVG, MIN and MAX of one argument: its value is read once for all of them.

For rows that leave in the order of their ends, as those of OVER do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy
from decimal import Decimal
from typing import Any

from obep.algebra.aggregates.accumulator import RowKey, bounded
from obep.algebra.aggregates.exact_sum import ExactSum
from obep.algebra.aggregates.rounding import EXACT, quotient_of
from obep.algebra.aggregates.running_extreme import RunningExtreme
from obep.algebra.aggregates.sums import average, is_short
from obep.guards.typed_values import LONGEST_PARSED, MOST_DIGITS, MOST_PARSED, Single, Value, parsed
from obep.guards.value_order import RANK
from obep.model import Term

_ZERO = Decimal(0)
_MILLION = 1_000_000
_add, _subtract = EXACT.add, EXACT.subtract


class Numbers(dict[Term, tuple[Any, int | None, bool]]):
    """Terms with their values, these in millionths, and whether they are decimals.

    Integers, and decimals of up to six places, have whole millionths. To add these takes a tenth of the time.
    """

    def __missing__(self, term: Term) -> tuple[Any, int | None, bool]:
        known = parsed[term]
        found = known, in_millionths(known), type(known) is Decimal
        if len(self) >= MOST_PARSED:
            self.clear()
        if len(term) <= LONGEST_PARSED:
            self[term] = found
        return found


def in_millionths(value: Value) -> int | None:
    """The millionths of an exact number, if they are whole.

    >>> in_millionths(2), in_millionths(Decimal("1.5")), in_millionths(Decimal("1e-7")), in_millionths(1.5)
    (2000000, 1500000, None, None)
    """
    if type(value) is int:
        return value * _MILLION
    if type(value) is not Decimal:
        return None
    scaled = EXACT.scaleb(value, 6)
    return int(scaled) if scaled == scaled.to_integral_value() else None


known_numbers = Numbers()


class ArgumentFigures:
    """Figures of one argument over the rows that were added and not removed."""

    __slots__ = (
        "_doubles",
        "_nans",
        "_singles",
        "_sums",
        "_tenths",
        "_unbound",
        "decimals",
        "inexact",
        "maxima",
        "millionths",
        "minima",
        "numbers",
        "rows",
    )

    def __init__(self, functions: Collection[str]) -> None:
        self.rows = 0
        self._unbound = self.numbers = self.decimals = self._singles = self._doubles = 0
        self._sums = "AVG" in functions or "SUM" in functions
        self.millionths = 0
        self._tenths = _ZERO
        """The sums of exact numbers in millionths, and of decimals with more places,"""
        self.inexact: ExactSum | None = None
        """and that of all numbers, from the first float or double on."""
        self.maxima = RunningExtreme(greatest=True) if "MAX" in functions else None
        self.minima = RunningExtreme(greatest=False) if "MIN" in functions else None
        self._nans: dict[Term, int] | None = None

    def frozen(self) -> ArgumentFigures:
        """The figures as they are now; no rows can be added to them or removed."""
        other = _new(ArgumentFigures)
        other.rows, other._unbound, other.numbers = self.rows, self._unbound, self.numbers
        other.decimals, other._singles, other._doubles = self.decimals, self._singles, self._doubles
        other._sums, other.millionths, other._tenths = self._sums, self.millionths, self._tenths
        other.inexact = self.inexact and copy(self.inexact)
        other._nans = self._nans and self._nans.copy()
        other.maxima = self.maxima and self.maxima.only_first()
        other.minima = self.minima and self.minima.only_first()
        return other

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """A row comes."""
        self.rows += 1
        if value is None:
            self._unbound += 1
            return
        known, millionths, is_decimal = known_numbers[value]
        if millionths is not None and self.inexact is None:
            self.numbers += 1
            self.millionths += millionths
            self.decimals += is_decimal
        else:
            if self._sums and known.__class__ in RANK:
                self._enter(known)
            if known != known:
                self._nans = self._nans or {}
                self._nans[value] = self._nans.get(value, 0) + 1
                return
        if self.maxima is not None:
            self.maxima.add(end, known, value)
        if self.minima is not None:
            self.minima.add(end, known, value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """A row leaves; none that ends before it stays."""
        self.rows -= 1
        if value is None:
            self._unbound -= 1
            return
        known, millionths, is_decimal = known_numbers[value]
        if millionths is not None and self.inexact is None:
            self.numbers -= 1
            self.millionths -= millionths
            self.decimals -= is_decimal
        else:
            if self._sums and known.__class__ in RANK:
                self._leave(known)
            if known != known and self._nans is not None:
                left = self._nans.pop(value) - 1
                if left:
                    self._nans[value] = left
                return
        if self.maxima is not None:
            self.maxima.expire(end)
        if self.minima is not None:
            self.minima.expire(end)

    def _enter(self, known: Any) -> None:
        self._count(type(known), 1)
        if self.inexact is None and (self._singles or self._doubles):
            self.inexact = self._sum()
        if self.inexact is not None:
            self.inexact.put(known)
        else:
            self._tenths = _add(self._tenths, known)

    def _leave(self, known: Any) -> None:
        self._count(type(known), -1)
        if not self.numbers:  # without the digits that the sum needed
            self.millionths, self._tenths, self.inexact = 0, _ZERO, None
        elif self.inexact is not None:
            self.inexact.take(known)
        else:
            self._tenths = _subtract(self._tenths, known)

    def _count(self, kind: type, by: int) -> None:
        self.numbers += by
        if kind is Decimal:
            self.decimals += by
        elif kind is Single:
            self._singles += by
        elif kind is float:
            self._doubles += by

    def _sum(self) -> ExactSum:
        if self.inexact is not None:
            return self.inexact
        exact = ExactSum()
        whole, rest = divmod(self.millionths, _MILLION)
        exact.put(whole)
        exact.put(_add(self._tenths, EXACT.scaleb(Decimal(rest), -6)) if rest else self._tenths)
        return exact

    @property
    def rank(self) -> int:
        """The numeric type that holds all numbers."""
        return 3 if self._doubles else 2 if self._singles else 1 if self.decimals else 0

    # --- the figures, each with the instant that it is asked at

    def count_rows(self, now: int) -> Value | None:
        return self.rows

    def count(self, now: int) -> Value | None:
        return self.rows - self._unbound

    def sum(self, now: int) -> Value | None:
        """SUM; of nothing 0; an error beside what is no number."""
        if self.numbers != self.rows:
            return None
        return bounded(self._sum().total(self.rank))

    def average(self, now: int) -> Value | None:
        """AVG; of nothing 0."""
        count = self.numbers
        if count != self.rows:
            return None
        if count and self.inexact is None:
            total = Decimal(self.millionths)
            if self._tenths:
                total = _add(total, EXACT.scaleb(self._tenths, 6))
            mean = quotient_of(total, count * _MILLION)
            return mean if is_short(mean) else bounded(mean)
        return bounded(average(self._sum(), count, self.rank))

    def compared_mean(self, apply: Callable[[Any, Any], bool], millionths: int) -> bool | None:
        """How AVG compares with a number of `COMPARABLE`, without a division; `None`: it must be computed.

        A mean that is another number is so by more than it is rounded by.
        """
        count = self.numbers
        if count != self.rows or not count or self.inexact is not None or self._tenths:
            return None
        if self.millionths.bit_length() > READABLE_BITS:  # its mean may be too long to be read
            return None
        return apply(self.millionths, millionths * count)

    def greatest(self, now: int) -> Term | None:
        """MAX, as it was written."""
        return self._extreme(self.maxima)

    def least(self, now: int) -> Term | None:
        """MIN, as it was written."""
        return self._extreme(self.minima)

    def _extreme(self, of: RunningExtreme | None) -> Term | None:
        if self._unbound or not self.rows or of is None:
            return None
        return min(self._nans) if self._nans else of.value()

    def greatest_value(self, now: int) -> Value | None:
        """MAX as a value."""
        of = self.maxima
        if of is None or self._nans or self._unbound:
            return self._extreme_value(of)
        return of.entries[of.first][1] if self.rows else None

    def least_value(self, now: int) -> Value | None:
        """MIN as a value."""
        of = self.minima
        if of is None or self._nans or self._unbound:
            return self._extreme_value(of)
        return of.entries[of.first][1] if self.rows else None

    def _extreme_value(self, of: RunningExtreme | None) -> Value | None:
        term = self._extreme(of)
        return None if term is None else parsed[term]


_new = ArgumentFigures.__new__
COMPARABLE = 10**15
"""The millionths that a mean can be compared with by `compared_mean` are less than this.

A mean of n numbers differs from one of these by at least 10⁻⁶/n. A mean that is nearly so great and has 28
digits is rounded by at most 10⁻¹⁸.
"""
READABLE_BITS = 2 * MOST_DIGITS
"""The mean of a sum of so many bits has fewer digits than a number may have."""
FIGURES: dict[str, Callable[[ArgumentFigures, int], Any]] = {
    "COUNT": ArgumentFigures.count,
    "SUM": ArgumentFigures.sum,
    "AVG": ArgumentFigures.average,
    "MIN": ArgumentFigures.least,
    "MAX": ArgumentFigures.greatest,
}
"""What computes an aggregate of an argument."""
VALUES: dict[str, Callable[[ArgumentFigures, int], Any]] = {
    "MIN": ArgumentFigures.least_value,
    "MAX": ArgumentFigures.greatest_value,
}
"""What computes the value of an aggregate whose figure is a term."""
