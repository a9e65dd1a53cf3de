"""A row with its interval, and the solutions that are remembered to be joined with later ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from obep.algebra.bag_node import united
from obep.algebra.evaluation import Row


class Solution(NamedTuple):
    """⟨μ, α, ω⟩; without an interval it is timeless: all of it comes from K."""

    row: Row
    start: int | None = None
    end: int | None = None


def together(one: Solution, other: Solution) -> Solution:
    """The union of two compatible solutions, from the first start to the last end."""
    row = united(one.row, other.row)
    if one.start is None or one.end is None:
        return Solution(row, other.start, other.end)
    if other.start is None or other.end is None:
        return Solution(row, one.start, one.end)
    return Solution(row, min(one.start, other.start), max(one.end, other.end))


class SolutionMemory:
    """Solutions by the values of the slots `key`, which all of them bind.

    `shared` are the slots in which a row may differ from them. A solution that began `within` before now, or
    earlier, is forgotten.
    """

    def __init__(self, key: Iterable[int], shared: Iterable[int], within: int | None = None) -> None:
        self._key = tuple(key)
        self._rest = tuple(slot for slot in shared if slot not in self._key)
        self._within = within
        self._tables: dict[Row, dict[Solution, None]] = {}
        self._starts: list[tuple[int, int, Solution]] = []
        self._added = 0

    def __iter__(self) -> Iterator[Solution]:
        for table in self._tables.values():
            yield from table

    def __len__(self) -> int:
        return sum(map(len, self._tables.values()))

    def load(self, solutions: Iterable[Solution]) -> None:
        """Remember these alone."""
        self._tables, self._starts = {}, []
        self.add(solutions)

    def add(self, solutions: Iterable[Solution]) -> list[Solution]:
        """Remember solutions; give those that were not there."""
        added = []
        for solution in solutions:
            table = self._tables.setdefault(self._at(solution.row), {})
            if solution in table:
                continue
            table[solution] = None
            added.append(solution)
            if self._within is not None and solution.start is not None:
                self._added += 1
                heappush(self._starts, (solution.start, self._added, solution))
        return added

    def compatible(self, row: Row) -> Iterator[Solution]:
        """The solutions that agree with a row where both bind a slot."""
        for solution in self._tables.get(self._at(row), ()):
            other = solution.row
            for slot in self._rest:
                if row[slot] is not None and other[slot] is not None and row[slot] != other[slot]:
                    break
            else:
                yield solution

    def expire(self, now: int) -> None:
        """Forget what is too old to be a part of anything from now on."""
        if self._within is None:
            return
        while self._starts and self._starts[0][0] <= now - self._within:
            solution = heappop(self._starts)[2]
            key = self._at(solution.row)
            table = self._tables[key]
            del table[solution]
            if not table:
                del self._tables[key]

    def _at(self, row: Row) -> Row:
        return tuple([row[slot] for slot in self._key])
