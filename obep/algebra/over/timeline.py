"""Things that happen at instants to come, put in mostly in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])


class Timeline(Generic[T]):
    """A queue of tuples that begin with an instant: those in order stand in a deque, the rest in a heap."""

    __slots__ = ("_heap", "_number", "_queue")

    def __init__(self) -> None:
        self._queue: deque[T] = deque()
        self._heap: list[tuple[int, int, T]] = []
        self._number = 0

    def put(self, thing: T) -> None:
        """Something happens at the instant that it begins with."""
        queue = self._queue
        if not queue or thing[0] >= queue[-1][0]:
            queue.append(thing)
        else:
            self._number += 1
            heappush(self._heap, (thing[0], self._number, thing))

    def next(self) -> int | None:
        """The first instant at which something happens.

        >>> line = Timeline()
        >>> line.put((5, "b")); line.put((3, "a")); line.next(), list(line.until(5)), line.next()
        (3, [(5, 'b'), (3, 'a')], None)
        """
        if not self._heap:
            return self._queue[0][0] if self._queue else None
        return min(self._heap[0][0], self._queue[0][0]) if self._queue else self._heap[0][0]

    def __iter__(self) -> Iterator[T]:
        """All that is to come, in no order."""
        yield from self._queue
        yield from (thing for _, _, thing in self._heap)

    def until(self, at: int) -> Iterator[T]:
        """Takes out all that happens up to an instant, in no order."""
        while self._queue and self._queue[0][0] <= at:
            yield self._queue.popleft()
        while self._heap and self._heap[0][0] <= at:
            yield heappop(self._heap)[2]
