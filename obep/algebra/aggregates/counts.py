"""COUNT, SAMPLE and GROUP_CONCAT: of any terms."""

from __future__ import annotations

from typing import TypeVar

from obep.algebra.aggregates.accumulator import RowKey, term_of_figure
from obep.algebra.aggregates.sorted_buckets import SortedBuckets
from obep.guards.guard_terms import literal
from obep.guards.sparql_functions import LONGEST_STRING
from obep.guards.typed_values import Value, split_literal, term_of_value
from obep.model import Term

_K = TypeVar("_K")


class CountRows:
    """`COUNT(*)`; with DISTINCT, of the different row keys, or of the values where a row has one."""

    __slots__ = ("_count", "_counts", "_distinct")

    def __init__(self, distinct: bool) -> None:
        self._distinct = distinct
        self._count = 0
        self._counts: dict[RowKey, int] = {}

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        if self._distinct:
            _change(self._counts, row_key if value is None else value, 1)
        self._count += 1

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        if self._distinct:
            _change(self._counts, row_key if value is None else value, -1)
        self._count -= 1

    def figure(self, now: int) -> Value | None:
        return len(self._counts) if self._distinct else self._count

    def value(self, now: int) -> Term | None:
        return term_of_figure(self.figure(now))


class CountValues:
    """`COUNT(?x)`: how often it is bound and no error."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        self._count += value is not None

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        self._count -= value is not None

    def figure(self, now: int) -> Value | None:
        return self._count

    def value(self, now: int) -> Term | None:
        return term_of_value(self._count)


class Sample:
    """`SAMPLE(?x)`: the least term as N-Triples, of those that are bound."""

    def __init__(self) -> None:
        self._counts: dict[Term, int] = {}
        self._terms: SortedBuckets[Term] = SortedBuckets()

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        if value is not None and _change(self._counts, value, 1) == 1:
            self._terms.put(value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        if value is not None and not _change(self._counts, value, -1):
            self._terms.take(value)

    def value(self, now: int) -> Term | None:
        return self._terms.first() if self._counts else None


class GroupConcat:
    """`GROUP_CONCAT(?x; SEPARATOR=", ")`: STR of each, in the order of the terms as N-Triples."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._counts: dict[Term, int] = {}
        self._terms: SortedBuckets[Term] = SortedBuckets()
        self._errors = 0
        self._length = 0

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        if value is None or value[0] == "_":  # a blank node has no STR
            self._errors += 1
            return
        self._length += len(value)
        if _change(self._counts, value, 1) == 1:
            self._terms.put(value)

    def remove(self, end: int, row_key: RowKey, value: Term | None) -> None:
        if value is None or value[0] == "_":
            self._errors -= 1
            return
        self._length -= len(value)
        if not _change(self._counts, value, -1):
            self._terms.take(value)

    def value(self, now: int) -> Term | None:
        if self._errors:
            return None
        texts: list[str] = []
        for term in self._terms:
            text = term[1:-1] if term[0] == "<" else split_literal(term)[0]
            texts.extend([text] * self._counts[term])
        joined = self._separator.join(texts)
        return literal(joined) if len(joined) <= LONGEST_STRING else None


def _change(counts: dict[_K, int], key: _K, by: int) -> int:
    """The new count of a key; a key that is there no more has none."""
    count = counts.get(key, 0) + by
    if count:
        counts[key] = count
    else:
        del counts[key]
    return count
