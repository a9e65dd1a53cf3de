"""Aggregates over rows in the order of their end: FIRST, LAST, RATE, CHANGES, TRAVEL, TURNS, TIMEAVG.

What depends on a row and the one before it is kept as rows come and leave: a row that comes between two
others, or leaves from there, changes two such steps.
"""

from __future__ import annotations

from obep.algebra.aggregates.accumulator import (
    NumbersOnly,
    RowKey,
    bounded,
    greatest_kind,
    number_of,
    term_of_figure,
)
from obep.algebra.aggregates.exact_sum import ExactSum, Number
from obep.algebra.aggregates.sorted_buckets import SortedBuckets
from obep.algebra.aggregates.sums import quotient
from obep.guards.calendar import MICROS
from obep.guards.typed_values import ExpressionError, Value, parsed
from obep.guards.value_order import RANK, equal
from obep.model import Term

Placed = tuple[int, RowKey, Term]
"""A row: its end, its key, the term of the argument ("" for none)."""


class RowOrder:
    """Rows in their order; a subclass says what a step from one row to the next does."""

    def __init__(self) -> None:
        self._rows: SortedBuckets[Placed] = SortedBuckets()

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        row = (end, row_key, value or "")
        before, after = self._rows.insert(row)
        if before is not None and after is not None:
            self.part(before, after)
        if before is not None:
            self.join(before, row)
        if after is not None:
            self.join(row, after)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        row = (end, row_key, value or "")
        before, after = self._rows.remove(row)
        if before is not None:
            self.part(before, row)
        if after is not None:
            self.part(row, after)
        if before is not None and after is not None:
            self.join(before, after)

    def join(self, before: Placed, after: Placed) -> None:
        """Two rows have come to stand side by side."""

    def part(self, before: Placed, after: Placed) -> None:
        """Two rows stand side by side no more."""


class First(RowOrder):
    """FIRST: the term of the first row."""

    def value(self, now: int) -> Term | None:
        return (self._rows.first()[2] or None) if len(self._rows) else None


class Last(RowOrder):
    """LAST: the term of the last row."""

    def value(self, now: int) -> Term | None:
        return (self._rows.last()[2] or None) if len(self._rows) else None


class Changes(RowOrder):
    """CHANGES: how often the value differs from the one before, by SPARQL's `=`; terms of any kind.

    An error while a value is unbound, or two neighbours cannot be compared.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unbound = self._errors = self._changes = 0

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        self._unbound += value is None
        super().add(end, row_key, value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        self._unbound -= value is None
        super().remove(end, row_key, value)

    def join(self, before: Placed, after: Placed) -> None:
        self._step(before[2], after[2], 1)

    def part(self, before: Placed, after: Placed) -> None:
        self._step(before[2], after[2], -1)

    def _step(self, before: Term, after: Term, by: int) -> None:
        if not before or not after:
            return
        try:
            if not equal(parsed[before], parsed[after]):
                self._changes += by
        except ExpressionError:
            self._errors += by

    def figure(self, now: int) -> Value | None:
        return None if self._unbound or self._errors else self._changes

    def value(self, now: int) -> Term | None:
        return term_of_figure(self.figure(now))


class NumberOrder(RowOrder):
    """Rows of numbers: an error while the value of one is none."""

    def __init__(self) -> None:
        super().__init__()
        self._errors = 0
        self._kinds = [0, 0, 0, 0]

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        self._count(value, 1)
        super().add(end, row_key, value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        self._count(value, -1)
        super().remove(end, row_key, value)

    def _count(self, value: Term | None, by: int) -> None:
        number = number_of(value)
        if number is None:
            self._errors += by
        else:
            self._kinds[RANK[type(number)]] += by

    def join(self, before: Placed, after: Placed) -> None:
        self._step(before, after, 1)

    def part(self, before: Placed, after: Placed) -> None:
        self._step(before, after, -1)

    def _step(self, before: Placed, after: Placed, by: int) -> None:
        one, other = number_of(before[2] or None), number_of(after[2] or None)
        if one is not None and other is not None:
            self.step(one, other, before, after, by)

    def step(self, one: Number, other: Number, before: Placed, after: Placed, by: int) -> None:
        """A step between two numbers has come (by 1), or is gone (by -1)."""

    @property
    def rank(self) -> int:
        """The numeric type that holds all numbers."""
        return greatest_kind(self._kinds)


class ComputedOrder(NumbersOnly, NumberOrder):
    """A figure that is computed from numbers in their order."""


class Rate(ComputedOrder):
    """RATE: (LAST - FIRST) / seconds between them; over no time an error."""

    def outcome(self) -> Value | None:
        if not len(self._rows):
            return None
        first, last = self._rows.first(), self._rows.last()
        micros = last[0] - first[0]
        if not micros:
            return None
        one, other = number_of(first[2]), number_of(last[2])
        difference = ExactSum()
        difference.put(other)
        difference.put(one, -1)
        return quotient(difference, micros, max(RANK[type(one)], RANK[type(other)]), MICROS)


class Travel(ComputedOrder):
    """TRAVEL: the sum of the sizes of all steps; of nothing 0."""

    def __init__(self) -> None:
        super().__init__()
        self._sum = ExactSum()

    def step(self, one: Number, other: Number, before: Placed, after: Placed, by: int) -> None:
        comparable = one == one and other == other  # a decimal does not compare with NaN
        up = -1 if comparable and other < one else 1
        apply = self._sum.put if by > 0 else self._sum.take
        apply(other, up)
        apply(one, -up)

    def outcome(self) -> Value | None:
        return self._sum.total(self.rank)


class Turns(ComputedOrder):
    """TURNS: how often the direction changes, from one step up or down to the next; an error beside a NaN."""

    def __init__(self) -> None:
        super().__init__()
        self._moves: SortedBuckets[tuple[int, RowKey, Term, bool]] = SortedBuckets()
        self._turns = self._unknown = 0

    def step(self, one: Number, other: Number, before: Placed, after: Placed, by: int) -> None:
        if one != one or other != other:
            self._unknown += by
            return
        if one == other:
            return
        rises: bool = other > one
        move = (*after, rises)
        earlier, later = self._moves.insert(move) if by > 0 else self._moves.remove(move)
        if earlier is not None:
            self._turns += by * (earlier[3] != rises)
        if later is not None:
            self._turns += by * (later[3] != rises)
        if earlier is not None and later is not None:
            self._turns -= by * (earlier[3] != later[3])

    def outcome(self) -> Value | None:
        return None if self._unknown else self._turns


class TimeAverage(NumberOrder):
    """TIMEAVG: each value counts for the time until the next one, the last until now; over no time: it.

    Integers have a decimal mean, also over no time: a figure keeps its datatype while it stays the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sum = ExactSum()

    def step(self, one: Number, other: Number, before: Placed, after: Placed, by: int) -> None:
        apply = self._sum.put if by > 0 else self._sum.take
        apply(one, after[0] - before[0])

    def value(self, now: int) -> Term | None:
        if self._errors or not len(self._rows):
            return None
        first, last = self._rows.first()[0], self._rows.last()
        number = number_of(last[2])
        lasts = now - last[0] if now > first else 1
        self._sum.put(number, lasts)
        mean = quotient(self._sum, max(now - first, 1), self.rank)
        self._sum.take(number, lasts)
        return term_of_figure(bounded(mean))
