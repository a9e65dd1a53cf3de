"""OPTIONAL, MINUS and [NOT] EXISTS, kept up to date: how many rows of the right fit each row of the left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from obep.algebra.bag_node import united
from obep.algebra.evaluation import Row
from obep.algebra.live.join_input import Change, change_count, key_of

Kind = Literal["optional", "minus", "exists", "not exists"]


class MatchedRows:
    """Rows of the left with their number and the number of rows of the right that fit.

    `key` are slots that both sides always bind, `shared` others that both may bind.
    """

    def __init__(
        self,
        kind: Kind,
        key: tuple[int, ...],
        shared: tuple[int, ...],
        holds: Callable[[Row], bool],
        sink: Change,
    ) -> None:
        self._optional, self._positive = kind == "optional", kind == "exists"
        self._needed = (*key, *shared) if kind == "minus" else None
        self._key = key_of(key)
        self._shared, self._holds, self._sink = shared, holds, sink
        self._left: dict[Any, dict[Row, list[int]]] = {}
        self._right: dict[Any, dict[Row, int]] = {}

    def change_left(self, row: Row, number: int) -> None:
        key = self._key(row)
        rows = self._left.setdefault(key, {})
        entry = rows.get(row)
        if entry is None:
            fitting = self._right.get(key, {}).items()
            entry = rows[row] = [0, sum(times for other, times in fitting if self._fits(row, other))]
        entry[0] += number
        if not entry[0]:
            del rows[row]
            if not rows:
                del self._left[key]
        if not self._optional:
            if (entry[1] > 0) is self._positive:
                self._sink(row, number)
        elif not entry[1]:
            self._sink(row, number)
        else:
            for other, times in list(self._right[key].items()):
                if self._fits(row, other):
                    self._sink(united(row, other), number * times)

    def change_right(self, other: Row, number: int) -> None:
        key = self._key(other)
        change_count(self._right, key, other, number)
        for row, entry in list(self._left.get(key, {}).items()):
            if not self._fits(row, other):
                continue
            before = entry[1] > 0
            entry[1] += number
            after = entry[1] > 0
            if self._optional:
                self._sink(united(row, other), entry[0] * number)
            if before is not after:
                self._sink(row, entry[0] if after is self._positive else -entry[0])

    def _fits(self, row: Row, other: Row) -> bool:
        for slot in self._shared:
            if row[slot] is not None and other[slot] is not None and row[slot] != other[slot]:
                return False
        if self._needed is not None:
            return any(row[slot] is not None and other[slot] is not None for slot in self._needed)
        return self._holds(united(row, other))
