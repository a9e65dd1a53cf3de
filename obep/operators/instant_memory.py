"""A memory of leaves that are instants, in half the space: a candidate is made on demand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Set
from operator import itemgetter

from obep.model import Occurrence
from obep.operators.candidates import DONE, PARTS, ROWS, START, Candidate, Emit, Key, Rows
from obep.operators.memory import FEW, Memory
from obep.operators.row_join import KeyOf, keys_of

Entry = tuple[int, Occurrence, Rows]
"""When, what, and with which rows."""
_at = itemgetter(0)


class Instants(Memory):
    """Entries by key, in the order of time. Code on the hot path reads `shelves` itself."""

    def __init__(self, key: KeyOf, horizon: int | None) -> None:
        super().__init__(key, horizon)
        self.shelves: dict[Key, list[Entry]] = {}

    def add(self, candidate: Candidate) -> None:
        if candidate[DONE] >= self._sweep_at:
            self.prune(candidate[DONE])
        rows = candidate[ROWS]
        entry: Entry = (candidate[START], candidate[PARTS][0], rows)  # type: ignore[assignment]  # a leaf's
        for key in keys_of(self.key, rows):
            shelf = self.shelves.setdefault(key, [])
            if shelf and shelf[-1][0] > entry[0]:  # only what comes from a snapshot is out of order
                shelf.insert(bisect_right(shelf, entry[0], key=_at), entry)
            else:
                shelf.append(entry)
        if len(rows) != 1:
            self.several = True

    def adder(self) -> Emit:
        return self.add

    def between(self, key: Key, least: int | None, greatest: int | None) -> list[Candidate]:
        shelf = self.shelves.get(key, [])
        low = 0 if least is None else bisect_left(shelf, least, key=_at)
        high = len(shelf) if greatest is None else bisect_right(shelf, greatest, key=_at)
        return [_candidate(entry) for entry in shelf[low:high]]

    def earliest(self, key: Key, greatest: int) -> Iterator[Candidate]:
        return iter(self.between(key, None, greatest))

    def latest(self, key: Key, greatest: int, least: int | None = None) -> Iterator[Candidate]:
        return reversed(self.between(key, least, greatest))

    def refill(self, candidates: Iterable[Candidate]) -> None:
        self.shelves.clear()
        for candidate in candidates:
            self.add(candidate)

    def prune(self, at: int) -> None:
        if self._horizon is None:
            return
        before = at - self._horizon
        self._sweep_at = self.quick_until = at + self._horizon
        empty = []
        for key, shelf in self.shelves.items():
            if not shelf or shelf[-1][0] <= before:
                empty.append(key)
            elif len(shelf) > FEW and shelf[0][0] <= before:
                cut(shelf, before)
        for key in empty:
            del self.shelves[key]

    def forget(self, gone: Set[int]) -> None:
        for shelf in self.shelves.values():
            shelf[:] = [entry for entry in shelf if id(entry[1]) not in gone]

    def __iter__(self) -> Iterator[Candidate]:
        seen: set[int] = set()
        for shelf in self.shelves.values():
            for entry in shelf:
                if id(entry) not in seen:
                    seen.add(id(entry))
                    yield _candidate(entry)

    def __len__(self) -> int:
        return sum(map(len, self.shelves.values()))


def _candidate(entry: Entry) -> Candidate:
    at, occurrence, rows = entry
    return at, at, at, at, (occurrence,), rows


def cut(shelf: list[Entry], before: int) -> None:
    """Remove what lies beyond the horizon; it is at the front."""
    count = 1
    while count < len(shelf) and shelf[count][0] <= before:
        count += 1
    del shelf[:count]
