"""When episodes will have lasted long enough: in a queue, or in a heap where some wait longer than others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from obep.model import Term

Due = tuple[int, int, tuple[Term, ...], int]
"""The instant at which an episode has lasted long enough, how long, for which values, since when."""


class InTurn:
    """All wait equally long, so that who begins later is due later."""

    def __init__(self) -> None:
        self.waiting: deque[Due] = deque()
        self.drop_first = self.waiting.popleft

    def add(self, due: Due) -> None:
        waiting = self.waiting
        if not waiting or waiting[-1][0] <= due[0]:
            waiting.append(due)
            return
        later = []  # it began before the run, as those of calendars have
        while waiting and waiting[-1][0] > due[0]:
            later.append(waiting.pop())
        waiting.append(due)
        waiting.extend(reversed(later))

    def reached(self, at: int) -> Sequence[Due]:
        """What is due by an instant, in order; it is taken out."""
        waiting, found = self.waiting, []
        while waiting and waiting[0][0] <= at:
            found.append(waiting.popleft())
        if len(found) > 1:
            found.sort()
        return found

    def load(self, due: Iterable[Due]) -> None:
        self.waiting.clear()
        self.waiting.extend(sorted(due))


class Heaped:
    """Some wait longer than others."""

    def __init__(self) -> None:
        self.waiting: list[Due] = []

    def add(self, due: Due) -> None:
        heappush(self.waiting, due)

    def drop_first(self) -> None:
        heappop(self.waiting)

    def reached(self, at: int) -> Sequence[Due]:
        """What is due by an instant, in order; it is taken out."""
        found = []
        while self.waiting and self.waiting[0][0] <= at:
            found.append(heappop(self.waiting))
        return found

    def load(self, due: Iterable[Due]) -> None:
        self.waiting[:] = sorted(due)
