"""Aggregates: rows are added and removed, and each has a value for the current rows."""

from __future__ import annotations

from abc import abstractmethod
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from obep.algebra.aggregates.exact_sum import Number
from obep.guards.typed_values import MOST_DIGITS, Value, lexical_form, parsed, term_of_value
from obep.guards.value_order import RANK
from obep.model import Term

RowKey = str | tuple[Term, ...]
"""A row as N-Triples, which orders rows with one end; all rows of a window have it in one form."""


class Collecting(Protocol):
    """An accumulator that keeps the rows that were added and not removed."""

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """A row comes: its end, itself as N-Triples, and the term of the aggregate's argument in it; `None`
        where that is unbound or an error."""
        ...

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """A row leaves that was added with these."""
        ...


class Accumulator(Collecting, Protocol):
    """An aggregate over the rows that were added and not removed."""

    def value(self, now: int) -> Term | None:
        """The aggregate at an instant; `None` is SPARQL's error: the variable stays unbound."""
        ...


@runtime_checkable
class Computed(Accumulator, Protocol):
    """An aggregate whose result is computed, so that conditions can have it without its term."""

    def figure(self, now: int) -> Value | None:
        """The value of the aggregate at an instant; `None` is SPARQL's error."""
        ...


class Distinct:
    """An aggregate over the different terms of its argument: `SUM(DISTINCT ?x)`."""

    def __init__(self, inner: Accumulator) -> None:
        self._inner = inner
        self._counts: dict[Term | None, int] = {}

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        count = self._counts.get(value, 0)
        self._counts[value] = count + 1
        if not count:
            self._inner.add(0, "", value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        count = self._counts[value]
        if count > 1:
            self._counts[value] = count - 1
        else:
            del self._counts[value]
            self._inner.remove(0, "", value)

    def value(self, now: int) -> Term | None:
        return self._inner.value(now)


class DistinctComputed(Distinct):
    """A DISTINCT accumulator whose result is computed from its values."""

    def __init__(self, inner: Computed) -> None:
        super().__init__(inner)
        self.figure = inner.figure


class NumberAggregate:
    """An aggregate over numbers: an error while a row is there whose value is no number.

    A subclass says what a number does that comes (`enter`) or leaves (`leave`), and what the numbers give
    (`value`).
    """

    __slots__ = ("_errors", "_kinds", "count")

    def __init__(self) -> None:
        self.count = 0
        self._errors = 0
        self._kinds = [0, 0, 0, 0]

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        number = number_of(value)
        if number is None:
            self._errors += 1
            return
        self.count += 1
        self._kinds[RANK[type(number)]] += 1
        self.enter(end, number, value or "")

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        number = number_of(value)
        if number is None:
            self._errors -= 1
            return
        self.count -= 1
        self._kinds[RANK[type(number)]] -= 1
        self.leave(end, number, value or "")

    @property
    def rank(self) -> int:
        """The numeric type that holds all numbers: integer, decimal, float, double."""
        return greatest_kind(self._kinds)

    @abstractmethod
    def enter(self, end: int, number: Number, term: Term) -> None: ...

    @abstractmethod
    def leave(self, end: int, number: Number, term: Term) -> None: ...

    @abstractmethod
    def value(self, now: int) -> Term | None: ...


class NumbersOnly:
    """A figure that is computed from the numbers: none while a row has a value that is no number."""

    __slots__ = ()
    _errors: int

    def value(self, now: int) -> Term | None:
        return term_of_figure(self.figure(now))

    def figure(self, now: int) -> Value | None:
        return None if self._errors else bounded(self.outcome())

    @abstractmethod
    def outcome(self) -> Value | None:
        """The result of numbers alone."""


def number_of(term: Term | None) -> Any:
    """The number that a term stands for, or `None`."""
    if term is None:
        return None
    value = parsed[term]
    return value if type(value) in RANK else None


def greatest_kind(kinds: list[int]) -> int:
    """The greatest of the numeric types that occur."""
    return 3 if kinds[3] else 2 if kinds[2] else 1 if kinds[1] else 0


def bounded(value: Value | None) -> Value | None:
    """A result; a number that is too long to be read again is an error."""
    if type(value) is int:
        return value if value.bit_length() < _LONG_BITS or _is_short(value) else None
    if type(value) is Decimal:
        _, digits, exponent = value.as_tuple()
        short = len(digits) + abs(int(exponent)) + 3 <= MOST_DIGITS
        return value if short or _is_short(value) else None
    return value


_LONG_BITS = 3 * MOST_DIGITS
"""An integer of fewer bits has fewer digits than a number may have."""


def _is_short(value: Value) -> bool:
    return len(lexical_form(value)) <= MOST_DIGITS


def term_of_figure(value: Value | None) -> Term | None:
    """The term of a result."""
    return None if value is None else term_of_value(value)
