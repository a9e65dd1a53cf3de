"""A queue of future instants, filled mostly in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])


class Timeline(Generic[T]):
    """A queue of tuples that begin with an instant: those in order stand in a deque, the rest in a heap."""

    __slots__ = ("_heap", "_number", "next", "queue")

    def __init__(self) -> None:
        self.queue: deque[T] = deque()
        self._heap: list[tuple[int, int, T]] = []
        self._number = 0
        self.next: int | None = None
        """The first instant at which something happens."""

    def put(self, thing: T) -> None:
        """Something happens at the instant that it begins with.

        >>> line = Timeline()
        >>> line.put((5, "b")); line.put((3, "a")); line.next, list(line.until(5)), line.next
        (3, [(5, 'b'), (3, 'a')], None)
        """
        queue, at = self.queue, thing[0]
        if not queue or at >= queue[-1][0]:
            queue.append(thing)
        else:
            self._number += 1
            heappush(self._heap, (at, self._number, thing))
        if self.next is None or at < self.next:
            self.next = at

    @property
    def in_order(self) -> bool:
        """Whether all stands in `queue`."""
        return not self._heap

    def __iter__(self) -> Iterator[T]:
        """All future instants, unordered."""
        yield from self.queue
        yield from (thing for _, _, thing in self._heap)

    def until(self, at: int) -> list[T]:
        """Take out all that happens up to an instant, in its order."""
        found = []
        while self.next is not None and self.next <= at:
            found.append(self.pop())
        return found

    def pop(self) -> T:
        """Take out what happens first."""
        queue, heap = self.queue, self._heap
        late = heap and (not queue or heap[0][0] < queue[0][0])
        found = heappop(heap)[2] if late else queue.popleft()
        self.next = queue[0][0] if queue else None
        if heap and (self.next is None or heap[0][0] < self.next):
            self.next = heap[0][0]
        return found
