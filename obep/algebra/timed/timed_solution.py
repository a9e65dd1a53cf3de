"""A row with its interval, and the solutions that are remembered to be joined with later ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple

from obep.algebra.bag_node import united
from obep.algebra.evaluation import Row
from obep.model import Term


class Solution(NamedTuple):
    """⟨μ, α, ω⟩; without an interval it is timeless: all of it comes from K."""

    row: Row
    start: int | None = None
    end: int | None = None
    since: int | None = None
    """The least start of its triples, each less its lead."""

    def is_over(self, reach: int | None, at: int | None) -> bool:
        """Whether one of its triples is out of the RANGE of its stream at an instant."""
        return reach is not None and at is not None and self.since is not None and at - self.since >= reach


def together(one: Solution, other: Solution) -> Solution:
    """The union of two compatible solutions, from the first start to the last end."""
    row = united(one.row, other.row)
    if one.start is None or one.end is None:
        return Solution(row, other.start, other.end, other.since)
    if other.start is None or other.end is None:
        return Solution(row, one.start, one.end, one.since)
    since = other.since if one.since is None else one.since
    if since is not None and other.since is not None:
        since = min(since, other.since)
    return Solution(row, min(one.start, other.start), max(one.end, other.end), since)


class SolutionMemory:
    """Solutions by the values of the slots `key`, which all of them bind.

    `shared` are the slots in which a row may differ from them. A solution that began `within` before now, or
    earlier, is forgotten. `marks` are slots by whose values solutions can be dropped.
    """

    def __init__(
        self,
        key: Iterable[int],
        shared: Iterable[int],
        within: int | None = None,
        marks: Iterable[int] = (),
    ) -> None:
        self._key = tuple(key)
        self._rest = tuple(slot for slot in shared if slot not in self._key)
        self._within = within
        self._tables: dict[Row, dict[Solution, None]] = {}
        self._starts: list[tuple[int, int, Solution]] = []
        self._added = 0
        self._slots = tuple(marks)
        self._marked: dict[Term, dict[Solution, None]] = {}
        self.latest: int | None = None
        """The greatest start of all that were added."""

    def __iter__(self) -> Iterator[Solution]:
        for table in self._tables.values():
            yield from table

    def __len__(self) -> int:
        return sum(map(len, self._tables.values()))

    def load(self, solutions: Iterable[Solution]) -> None:
        """Remember these alone."""
        self._tables, self._starts, self._marked, self.latest = {}, [], {}, None
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
            for slot in self._slots:
                mark = solution.row[slot]
                if mark is not None:
                    self._marked.setdefault(mark, {})[solution] = None
            start = solution.start
            if start is not None:
                self.latest = start if self.latest is None else max(start, self.latest)
                if self._within is not None:
                    self._added += 1
                    heappush(self._starts, (start, self._added, solution))
        return added

    def drop(self, marks: Iterable[Term]) -> None:
        """Forget what has such marks."""
        for mark in marks:
            for solution in [*self._marked.get(mark, ())]:
                self._remove(solution)

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
            self._remove(heappop(self._starts)[2])

    def _remove(self, solution: Solution) -> None:
        """Forget a solution, if it is still there."""
        places: list[tuple[dict[Any, dict[Solution, None]], Any]] = [(self._tables, self._at(solution.row))]
        places += [(self._marked, solution.row[slot]) for slot in self._slots]
        for tables, key in places:
            table = tables.get(key, {})
            table.pop(solution, None)
            if not table:
                tables.pop(key, None)

    def _at(self, row: Row) -> Row:
        return tuple([row[slot] for slot in self._key])
