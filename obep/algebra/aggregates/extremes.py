"""MIN, MAX, MEDIAN and PERCENTILE: of values in their order."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from obep.algebra.aggregates.accumulator import NumberAggregate, RowKey, number_of
from obep.algebra.aggregates.exact_sum import ExactSum, Number
from obep.algebra.aggregates.sorted_buckets import SortedBuckets
from obep.algebra.aggregates.sums import quotient
from obep.guards.calendar import Day, Lapse, Moment
from obep.guards.typed_values import Blank, Iri, Opaque, Single, Tagged, parsed, term_of_value
from obep.guards.value_order import RANK
from obep.model import Term

KINDS: dict[type, int] = {
    Blank: 0,
    Iri: 1,
    int: 2,
    Decimal: 2,
    Single: 2,
    float: 2,
    str: 3,
    Tagged: 4,
    bool: 5,
    Moment: 6,
    Day: 7,
    Lapse: 8,
    Opaque: 9,
}
"""ORDER BY's order of kinds: SPARQL leaves that of the kinds of literals open."""


class Extreme:
    """MIN or MAX by SPARQL's ORDER BY; of several equal values the least term as N-Triples.

    Numbers compare by their exact values. With a NaN among the values it is NaN, as XPath's fn:min and fn:max
    are; with an unbound one it is an error; of nothing it is an error.
    """

    __slots__ = ("_counts", "_greatest", "_nans", "_order")

    def __init__(self, greatest: bool) -> None:
        self._greatest = greatest
        self._counts: dict[Term | None, int] = {}
        self._order: SortedBuckets[tuple[Any, ...]] = SortedBuckets()
        self._nans: SortedBuckets[Term] | None = None

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        counts = self._counts
        if value in counts:
            counts[value] += 1
            return
        counts[value] = 1
        if value is None:
            return
        known = parsed[value]
        if known == known:
            self._order.put((KINDS[type(known)], known, value))
        else:
            if self._nans is None:
                self._nans = SortedBuckets()
            self._nans.put(value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        counts = self._counts
        count = counts[value]
        if count > 1:
            counts[value] = count - 1
            return
        del counts[value]
        if value is None:
            return
        known = parsed[value]
        if known == known:
            self._order.take((KINDS[type(known)], known, value))
        elif self._nans is not None:
            self._nans.take(value)

    def value(self, now: int) -> Term | None:
        if not self._counts or None in self._counts:
            return None
        if self._nans:
            return self._nans.first()
        if not self._greatest:
            term: Term = self._order.first()[2]
            return term
        *before, (kind, known, term) = self._order.last_two()
        if before and before[0][:2] == (kind, known):
            term = self._order.neighbours((kind, known))[1][2]  # type: ignore[index]  # there are two
        return term


class Ranked(NumberAggregate):
    """Numbers split in two: the least `wanted(count)` of them, and the others."""

    def __init__(self, wanted: Callable[[int], int]) -> None:
        super().__init__()
        self._wanted = wanted
        self._low: SortedBuckets[tuple[Number, Term]] = SortedBuckets()
        self._high: SortedBuckets[tuple[Number, Term]] = SortedBuckets()
        self._nans: SortedBuckets[Term] = SortedBuckets()

    def enter(self, end: int, number: Number, term: Term) -> None:
        if number != number:
            self._nans.put(term)
            return
        item = (number, term)
        if len(self._low) and item <= self._low.last():
            self._low.put(item)
        else:
            self._high.put(item)
        self._balance()

    def leave(self, end: int, number: Number, term: Term) -> None:
        if number != number:
            self._nans.take(term)
            return
        item = (number, term)
        if item <= self._low.last():
            self._low.take(item)
        else:
            self._high.take(item)
        self._balance()

    def _balance(self) -> None:
        wanted = self._wanted(len(self._low) + len(self._high))
        while len(self._low) < wanted:
            item = self._high.first()
            self._high.take(item)
            self._low.put(item)
        while len(self._low) > wanted:
            item = self._low.last()
            self._low.take(item)
            self._high.put(item)

    def value(self, now: int) -> Term | None:
        if self._errors or not self.count:
            return None
        return self._nans.first() if len(self._nans) else self.ranked()

    def ranked(self) -> Term:
        """The greatest of the lower part, as it was written."""
        return self._low.last()[1]


class Percentile(Ranked):
    """PERCENTILE by the nearest rank: the ⌈p/100 · n⌉th of n numbers."""

    def __init__(self, percent: Fraction) -> None:
        parts, whole = percent.numerator, 100 * percent.denominator
        super().__init__(lambda count: -(-parts * count // whole))


class Median(Ranked):
    """MEDIAN: the number in the middle, or the mean of the two."""

    def __init__(self) -> None:
        super().__init__(lambda count: (count + 1) // 2)

    def ranked(self) -> Term:
        below = self._low.last()[1]
        if len(self._low) > len(self._high):
            return below
        middle, kinds = ExactSum(), []
        for number in map(number_of, (below, self._high.first()[1])):
            middle.put(number)
            kinds.append(RANK[type(number)])
        return term_of_value(quotient(middle, 2, max(kinds)))
