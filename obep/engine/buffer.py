"""What waits for the watermark: the embedded engine's items, and the entries of a segment on Spark."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Generic, TypeVar

_T = TypeVar("_T")
_at = itemgetter(0)
SPARE = 64
"""So many that have left, or an eighth of all, may stand at the front before they are dropped."""


class Buffer(Generic[_T]):
    """Entries in the order of time; those of one instant in the order of arrival."""

    __slots__ = ("_entries", "_gone")

    def __init__(self) -> None:
        self._entries: list[tuple[int, _T]] = []
        self._gone = 0
        """How many at the front have left: so to take one costs no more where many wait."""

    def __len__(self) -> int:
        return len(self._entries) - self._gone

    def __iter__(self) -> Iterator[tuple[int, _T]]:
        return iter(self._entries[self._gone :])

    @property
    def first(self) -> int | None:
        """The earliest instant at which something waits."""
        return self._entries[self._gone][0] if len(self) else None

    def add(self, at: int, what: _T) -> None:
        """Let one wait."""
        entries = self._entries
        if not entries or entries[-1][0] <= at:
            entries.append((at, what))
        else:
            insort(entries, (at, what), lo=self._gone, key=_at)

    def extend(self, entries: Iterable[tuple[int, _T]]) -> None:
        """Let many wait, in the order in which they came."""
        self._entries[: self._gone] = ()
        self._gone = 0
        self._entries.extend(entries)
        self._entries.sort(key=_at)

    def due(self, watermark: int) -> int:
        """How many of the first the watermark has come to."""
        return bisect_right(self._entries, watermark, self._gone, key=_at) - self._gone

    def take(self, count: int) -> list[tuple[int, _T]]:
        """Let the first of them go."""
        start, end = self._gone, min(self._gone + count, len(self._entries))
        taken = self._entries[start:end]
        self._gone = end
        if end == len(self._entries) or (end > SPARE and 8 * end > len(self._entries)):
            self._entries[:end] = ()
            self._gone = 0
        return taken

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
        self._gone = 0
