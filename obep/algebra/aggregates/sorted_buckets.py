"""A sorted sequence that items are put into and taken from, in short lists of sorted items.

Items that come in order and leave from the oldest end, as those of a window, cost the same for any length;
others the logarithm of the length.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_right
from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar


class Comparable(Protocol):
    """A value with an order."""

    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=Comparable)

MOST = 512
"""The items of one bucket; a longer one is split."""


class SortedBuckets(Generic[T]):
    """Items in their order; equal ones may stand there several times."""

    __slots__ = ("_buckets", "_greatest", "_size")

    def __init__(self) -> None:
        self._buckets: list[list[T]] = []
        self._greatest: list[Any] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T]:
        for bucket in self._buckets:
            yield from bucket

    def first(self) -> T:
        """The least item. Raises IndexError if there is none."""
        return self._buckets[0][0]

    def last(self) -> T:
        """The greatest item. Raises IndexError if there is none."""
        return self._buckets[-1][-1]

    def last_two(self) -> list[T]:
        """The greatest item after the one before it, if there is one."""
        last = self._buckets[-1]
        return last[-2:] if len(last) > 1 or len(self._buckets) < 2 else [self._buckets[-2][-1], *last]

    def insert(self, item: T) -> tuple[T | None, T | None]:
        """Puts an item in; answers with the items before and after it.

        >>> numbers = SortedBuckets()
        >>> numbers.insert(3), numbers.insert(1), numbers.insert(2)
        ((None, None), (None, 3), (1, 3))
        """
        self._size += 1
        if not self._buckets:
            self._buckets.append([item])
            self._greatest.append(item)
            return None, None
        at = bisect_right(self._greatest, item)
        if at == len(self._buckets):
            at -= 1
            bucket = self._buckets[at]
            bucket.append(item)
            self._greatest[at] = item
            place = len(bucket) - 1
        else:
            bucket = self._buckets[at]
            place = bisect_right(bucket, item)
            bucket.insert(place, item)
        neighbours = self._before(at, place), self._after(at, place)
        if len(bucket) > MOST:
            self._split(at)
        return neighbours

    def remove(self, item: T) -> tuple[T | None, T | None]:
        """Takes an item out; answers with the items before and after it. Raises KeyError if there is none."""
        at = bisect_left(self._greatest, item)
        if at == len(self._buckets):
            raise KeyError(item)
        bucket = self._buckets[at]
        place = bisect_left(bucket, item)
        if bucket[place] != item:
            raise KeyError(item)
        neighbours = self._before(at, place), self._after(at, place)
        del bucket[place]
        self._size -= 1
        if not bucket:
            del self._buckets[at], self._greatest[at]
        else:
            self._greatest[at] = bucket[-1]
            if len(bucket) < MOST // 4:
                self._merge(at)
        return neighbours

    def put(self, item: T) -> None:
        """Puts an item in."""
        if len(self._buckets) == 1 and len(self._buckets[0]) < MOST:
            bucket = self._buckets[0]
            insort_right(bucket, item)
            self._greatest[0] = bucket[-1]
            self._size += 1
        else:
            self.insert(item)

    def take(self, item: T) -> None:
        """Takes an item out. Raises KeyError if there is none."""
        if self._size < 2 or len(self._buckets) > 1:
            self.remove(item)
            return
        bucket = self._buckets[0]
        place = bisect_left(bucket, item)
        if place == len(bucket) or bucket[place] != item:
            raise KeyError(item)
        del bucket[place]
        self._greatest[0] = bucket[-1]
        self._size -= 1

    def neighbours(self, item: T) -> tuple[T | None, T | None]:
        """The items before and after one that is not there."""
        at = bisect_left(self._greatest, item)
        if at == len(self._buckets):
            return (self._buckets[-1][-1] if self._buckets else None), None
        place = bisect_left(self._buckets[at], item)
        return self._before(at, place), self._buckets[at][place]

    def _before(self, at: int, place: int) -> T | None:
        if place:
            return self._buckets[at][place - 1]
        return self._buckets[at - 1][-1] if at else None

    def _after(self, at: int, place: int) -> T | None:
        bucket = self._buckets[at]
        if place + 1 < len(bucket):
            return bucket[place + 1]
        return self._buckets[at + 1][0] if at + 1 < len(self._buckets) else None

    def _split(self, at: int) -> None:
        bucket = self._buckets[at]
        half = bucket[: MOST // 2]
        del bucket[: MOST // 2]
        self._buckets.insert(at, half)
        self._greatest.insert(at, half[-1])

    def _merge(self, at: int) -> None:
        """Joins a short bucket with a neighbour, if the two are not long together."""
        for left in (at, at - 1):
            if 0 <= left < len(self._buckets) - 1:
                one, other = self._buckets[left], self._buckets[left + 1]
                if len(one) + len(other) <= MOST // 2:
                    one.extend(other)
                    self._greatest[left] = self._greatest[left + 1]
                    del self._buckets[left + 1], self._greatest[left + 1]
                    return
