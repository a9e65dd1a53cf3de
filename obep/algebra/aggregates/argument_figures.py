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
from obep.guards.typed_values import Single, Value, parsed
from obep.guards.value_order import RANK
from obep.model import Term

_ZERO = Decimal(0)
_add, _subtract = EXACT.add, EXACT.subtract


class ArgumentFigures:
    """Figures of one argument over the rows that were added and not removed."""

    __slots__ = (
        "_decimals",
        "_doubles",
        "_greatest",
        "_inexact",
        "_least",
        "_nans",
        "_numbers",
        "_singles",
        "_sums",
        "_tenths",
        "_unbound",
        "_whole",
        "rows",
    )

    def __init__(self, functions: Collection[str]) -> None:
        self.rows = 0
        self._unbound = self._numbers = self._decimals = self._singles = self._doubles = 0
        self._sums = "AVG" in functions or "SUM" in functions
        self._whole = 0
        self._tenths = _ZERO
        """The sums of integers and of decimals,"""
        self._inexact: ExactSum | None = None
        """and that of all numbers, from the first float or double on."""
        self._greatest = RunningExtreme(greatest=True) if "MAX" in functions else None
        self._least = RunningExtreme(greatest=False) if "MIN" in functions else None
        self._nans: dict[Term, int] | None = None

    def frozen(self) -> ArgumentFigures:
        """The figures as they are now; no rows can be added to them or removed."""
        other = _new(ArgumentFigures)
        other.rows, other._unbound, other._numbers = self.rows, self._unbound, self._numbers
        other._decimals, other._singles, other._doubles = self._decimals, self._singles, self._doubles
        other._sums, other._whole, other._tenths = self._sums, self._whole, self._tenths
        other._inexact = self._inexact and copy(self._inexact)
        other._nans = self._nans and self._nans.copy()
        other._greatest = self._greatest and self._greatest.only_first()
        other._least = self._least and self._least.only_first()
        return other

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """A row comes."""
        self.rows += 1
        if value is None:
            self._unbound += 1
            return
        known: Any = parsed[value]
        kind = known.__class__
        if self._sums:
            if kind is Decimal and self._inexact is None:
                self._numbers += 1
                self._decimals += 1
                self._tenths = _add(self._tenths, known)
            elif kind in RANK:
                self._enter(known, kind)
        if kind is not Decimal and known != known:
            self._nans = self._nans or {}
            self._nans[value] = self._nans.get(value, 0) + 1
            return
        if self._greatest is not None:
            self._greatest.add(end, known, value)
        if self._least is not None:
            self._least.add(end, known, value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """A row leaves; none that ends before it stays."""
        self.rows -= 1
        if value is None:
            self._unbound -= 1
            return
        known: Any = parsed[value]
        kind = known.__class__
        if self._sums:
            if kind is Decimal and self._inexact is None and self._numbers > 1:
                self._numbers -= 1
                self._decimals -= 1
                self._tenths = _subtract(self._tenths, known)
            elif kind in RANK:
                self._leave(known, kind)
        if kind is not Decimal and known != known and self._nans is not None:
            left = self._nans.pop(value) - 1
            if left:
                self._nans[value] = left
            return
        if self._greatest is not None:
            self._greatest.expire(end)
        if self._least is not None:
            self._least.expire(end)

    def _enter(self, known: Any, kind: type) -> None:
        self._count(kind, 1)
        if self._inexact is None and (self._singles or self._doubles):
            self._inexact = ExactSum()
            self._inexact.put(self._whole)
            self._inexact.put(self._tenths)
        if self._inexact is not None:
            self._inexact.put(known)
        elif kind is int:
            self._whole += known

    def _leave(self, known: Any, kind: type) -> None:
        self._count(kind, -1)
        if not self._numbers:  # without the digits that the sum needed
            self._whole, self._tenths, self._inexact = 0, _ZERO, None
        elif self._inexact is not None:
            self._inexact.take(known)
        elif kind is int:
            self._whole -= known

    def _count(self, kind: type, by: int) -> None:
        self._numbers += by
        if kind is Decimal:
            self._decimals += by
        elif kind is Single:
            self._singles += by
        elif kind is float:
            self._doubles += by

    def _sum(self) -> ExactSum:
        if self._inexact is not None:
            return self._inexact
        exact = ExactSum()
        exact.put(self._whole)
        exact.put(self._tenths)
        return exact

    @property
    def rank(self) -> int:
        """The numeric type that holds all numbers."""
        return 3 if self._doubles else 2 if self._singles else 1 if self._decimals else 0

    # --- the figures, each with the instant that it is asked at

    def count_rows(self, now: int) -> Value | None:
        return self.rows

    def count(self, now: int) -> Value | None:
        return self.rows - self._unbound

    def sum(self, now: int) -> Value | None:
        """SUM; of nothing 0; an error beside what is no number."""
        if self._numbers != self.rows:
            return None
        return bounded(self._sum().total(self.rank))

    def average(self, now: int) -> Value | None:
        """AVG; of nothing 0."""
        count = self._numbers
        if count != self.rows:
            return None
        if count and self._inexact is None:
            whole, tenths = self._whole, self._tenths
            mean = quotient_of(_add(tenths, whole) if whole else tenths, count)
            return mean if is_short(mean) else bounded(mean)
        return bounded(average(self._sum(), count, self.rank))

    def greatest(self, now: int) -> Term | None:
        """MAX, as it was written."""
        return self._extreme(self._greatest)

    def least(self, now: int) -> Term | None:
        """MIN, as it was written."""
        return self._extreme(self._least)

    def _extreme(self, of: RunningExtreme | None) -> Term | None:
        if self._unbound or not self.rows or of is None:
            return None
        return min(self._nans) if self._nans else of.value()

    def greatest_value(self, now: int) -> Value | None:
        """MAX as a value."""
        of = self._greatest
        if of is None or self._nans or self._unbound:
            return self._extreme_value(of)
        return of.entries[of.first][1] if self.rows else None

    def least_value(self, now: int) -> Value | None:
        """MIN as a value."""
        of = self._least
        if of is None or self._nans or self._unbound:
            return self._extreme_value(of)
        return of.entries[of.first][1] if self.rows else None

    def _extreme_value(self, of: RunningExtreme | None) -> Value | None:
        term = self._extreme(of)
        return None if term is None else parsed[term]


_new = ArgumentFigures.__new__
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
