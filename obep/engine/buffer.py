"""Items that wait for the watermark (embedded engine), and the entries of a segment (Spark)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from operator import itemgetter
from typing import Generic, TypeVar

_T = TypeVar("_T")
_at = itemgetter(0)
_AHEAD = 1 << 62


class Buffer(Generic[_T]):
    """Entries in the order of time; those of one instant in the order of arrival.

    The embedded engine adds and takes them one by one, a segment by the batch: a heap serves the one, and a
    list that is sorted, which is a heap as well, the other.
    """

    __slots__ = ("_arrivals", "_entries", "_sorted")

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, _T]] = []
        self._arrivals = 0
        self._sorted = True

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[tuple[int, _T]]:
        return ((at, what) for at, _, what in self._in_order())

    @property
    def first(self) -> int | None:
        """The earliest instant at which something waits."""
        return self._entries[0][0] if self._entries else None

    def add(self, at: int, what: _T, *, ahead: bool = False) -> None:
        """Let one wait; `ahead` of those of its instant that are not."""
        heappush(self._entries, (at, self._arrivals - _AHEAD if ahead else self._arrivals, what))
        self._arrivals += 1
        self._sorted = False

    def pop(self, watermark: int) -> _T | None:
        """The first, if the watermark has come to it."""
        entries = self._entries
        if not entries or entries[0][0] > watermark:
            return None
        self._sorted = False
        return heappop(entries)[2]

    def extend(self, entries: Iterable[tuple[int, _T]]) -> None:
        """Let many wait, in the order in which they came."""
        new = [(at, number, what) for number, (at, what) in enumerate(entries, self._arrivals)]
        self._arrivals += len(new)
        self._entries += new
        self._sorted = False
        self._in_order()

    def due(self, watermark: int) -> int:
        """The number of entries, from the first one on, that the watermark has reached."""
        return bisect_right(self._in_order(), watermark, key=_at)

    def take(self, count: int) -> list[tuple[int, _T]]:
        """Let the first of them go."""
        entries = self._in_order()
        taken = [(at, what) for at, _, what in entries[:count]]
        del entries[:count]
        return taken

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
        self._sorted = True

    def _in_order(self) -> list[tuple[int, int, _T]]:
        if not self._sorted:
            self._entries.sort(key=itemgetter(0, 1))
            self._sorted = True
        return self._entries
