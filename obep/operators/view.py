"""Views (FIRST, LAST) without looking at all of their members again and again.

The bounds say in constant time whether a view shows a candidate. `Shown` is what an operator reads of a view
while an instant closes: by key, and in the order of their end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from heapq import heapify, heappop, heappush
from operator import le

from obep.operators.candidates import END, ROWS, SINCE, START, Candidate, Key
from obep.operators.memory import Memory
from obep.operators.operator import Operator
from obep.operators.row_join import KeyOf
from obep.plan import nodes


class Latest:
    """LAST shows what ends at the latest start, or after it."""

    def __init__(self) -> None:
        self._start: int | None = None
        self._known = False

    def add(self, candidate: Candidate) -> None:
        """A new member."""
        if self._start is None or candidate[START] > self._start:
            self._start = candidate[START]

    def forget(self) -> None:
        """Members were removed: compute the bound again when it is needed."""
        self._start, self._known = None, False

    def shows(self, candidate: Candidate, members: list[Candidate], at: int) -> bool:
        """Whether no member comes after a candidate."""
        if not self._known:
            self._known = True
            for member in members:
                self.add(member)
        return self._start is None or candidate[END] >= self._start


class Earliest:
    """FIRST shows what starts at the earliest end or before it; with a window only what lies in it counts."""

    def __init__(self, window: int | None) -> None:
        self._window = window
        self._ends: list[tuple[int, int]] = []
        """End and since, the earliest end on top; without a window only that one."""
        self._known = False

    def add(self, candidate: Candidate) -> None:
        """A new member."""
        if self._window is not None:
            heappush(self._ends, (candidate[END], candidate[SINCE]))
        elif not self._ends or candidate[END] < self._ends[0][0]:
            self._ends = [(candidate[END], candidate[SINCE])]

    def forget(self) -> None:
        """Members were removed: compute the bound again when it is needed."""
        self._ends, self._known = [], False

    def shows(self, candidate: Candidate, members: list[Candidate], at: int) -> bool:
        """Whether no member that counts at an instant comes before a candidate."""
        ends = self._ends
        if not self._known:
            self._known = True
            ends[:] = [(member[END], member[SINCE]) for member in members]
            heapify(ends)
            if self._window is None:
                del ends[1:]
        if self._window is not None:
            while ends and ends[0][1] <= at - self._window:
                heappop(ends)
        return not ends or candidate[START] <= ends[0][0]


def bound_of(node: nodes.Choice) -> Earliest | Latest:
    """Return the bound that decides whether a view shows a candidate."""
    if node.which == "last":
        return Latest()
    return Earliest(node.horizon if node.windowed else None)


class Shown:
    """The members of a view during the closing of one instant; computed when first needed."""

    def __init__(
        self, read: Callable[[], Iterable[Candidate]], key: KeyOf, memory: Memory | None = None
    ) -> None:
        """`memory` is all of it, where the view keeps that itself, in the order of their end."""
        self._read = read
        self._key = key
        self._all: list[Candidate] = []
        self._memory = memory
        self._indexed = memory is not None
        self._in_order = True
        self._places: dict[int, int] = {}

    def partners(self, of: Candidate, key: KeyOf, least: int | None, greatest: int | None) -> list[Candidate]:
        """Members with a key in common with a candidate and an end in the range, in the order of the view."""
        found = self._by_key().partners(of, key, least, greatest)
        return found if self._in_order and len(of[ROWS]) == 1 else self.arranged(found)

    def latest(self, key: Key, greatest: int, least: int) -> Iterator[Candidate]:
        """Members under one key whose end lies in a range, both ends included, from the last to the first."""
        return self._by_key().latest(key, greatest, least)

    def arranged(self, found: Collection[Candidate]) -> list[Candidate]:
        """Some of its candidates in the order of the view."""
        if len(found) < 2:
            return list(found)
        if self._indexed:
            return sorted(found, key=lambda candidate: (candidate[END], candidate[START]))
        if not self._places:
            self._places = {id(candidate): place for place, candidate in enumerate(self._all)}
        return sorted(found, key=lambda candidate: self._places[id(candidate)])

    def _by_key(self) -> Memory:
        if self._memory is None:
            self._memory = Memory(self._key, None)
            self._all = list(self._read())
            for candidate in self._all:
                self._memory.add(candidate)
            ends = [candidate[END] for candidate in self._all]
            self._in_order = all(map(le, ends, ends[1:]))
        return self._memory


def shown_by(view: Operator | None, key: KeyOf) -> Shown | None:
    """Return the readable members of an operand that is a view."""
    return None if view is None else Shown(view.live, key, view.index(key))
