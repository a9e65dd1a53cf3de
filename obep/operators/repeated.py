"""`E REPEATED EVERY d UNTIL N AT MOST n TIMES` (STATES §3)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from heapq import heapify, heappop, heappush

from obep.operators.absence import Blocking
from obep.operators.candidates import END, PARTS, SINCE, START, Candidate, Emit, Rows
from obep.operators.memory import Memory
from obep.operators.operator import Operator, Place, grows
from obep.plan import nodes

MANY = 100
"""So many keys of UNTIL may be kept before those are looked for that stop nothing."""


class Repeated(Operator):
    """Each e waits for its next repetition, as long as no n has come."""

    field_name = "timer (REPEATED EVERY)"
    waits = True
    state = ("blocking.memory", "_waiting", "_count")

    def __init__(self, node: nodes.Repeated, emit: Emit) -> None:
        self.emit = emit
        self._micros = node.micros
        self._at_most = node.at_most
        self._held = node.held
        self._horizon = node.horizon
        self._punctual = node.left.punctual
        self.blocking = Blocking(node, exclusive=False)
        bound = node.keeps if node.horizon is None else _sum(node.horizon, node.right.reach)
        self.blocking.memory = Memory(self.blocking.memory.key, bound, START)
        self._waiting: list[tuple[int, int, int, Candidate]] = []
        """When, in which order they came, for the how many-th time, and what."""
        self._count = 0
        self._kept = 0

    def take_left(self, left: Candidate) -> None:
        self._count += 1
        self._wait(left, 1, self._count)

    def _wait(self, left: Candidate, number: int, count: int) -> None:
        due = left[END] + number * self._micros
        if self._horizon is None or due - left[SINCE] < self._horizon:
            heappush(self._waiting, (max(due, left[2]), count, number, left))

    def take_right(self, candidate: Candidate) -> None:
        if self.blocking.view is None:
            self.blocking.memory.add(candidate)

    def next_deadline(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    def close(self, at: int) -> None:
        if len(self.blocking.memory.buckets) > 2 * self._kept + MANY:
            self._drop_idle(at)
        if not (self._waiting and self._waiting[0][0] <= at):
            return
        self.blocking.look()
        while self._waiting and self._waiting[0][0] <= at:
            _, count, number, left = heappop(self._waiting)
            self._decide(left, number, count, at)
        self.blocking.look()  # and keep nothing of it
        if not self._waiting:
            self._count = 0

    def _decide(self, left: Candidate, number: int, count: int, at: int) -> None:
        rows = self._rows_left(left, number)
        if not rows:
            return
        start, end, done, since, parts, _ = left
        deadline = end + number * self._micros
        self.emit((start, deadline, at, since, parts, (rows,) if self._held else rows))
        if self._at_most is None or number < self._at_most:
            self._wait((start, end, done, since, parts, rows), number + 1, count)

    def _rows_left(self, left: Candidate, number: int) -> Rows:
        end = left[END]
        last = end + number * self._micros - 1
        return self.blocking.rows_left(left, end, last, lambda _, other: end <= other[END] <= last)

    def memories(self) -> Iterable[Memory]:
        return (self.blocking.memory,)

    def prune(self, at: int) -> None:
        super().prune(at)
        self._drop_idle(at)

    def _drop_idle(self, at: int) -> None:
        """Forget each n that ended before all that wait, and before now: it stops nothing."""
        if self._punctual:
            first = min((left[END] for _, _, _, left in self._waiting), default=at)
            self.blocking.memory.drop_ended(min(first, at))
            self._kept = len(self.blocking.memory)

    def consume(self, gone: Set[int], at: int) -> None:
        """A consumed candidate still counts as n, but is not repeated."""
        kept = [entry for entry in self._waiting if not any(id(part) in gone for part in entry[3][PARTS])]
        self._waiting = kept
        heapify(self._waiting)

    def pending(self, only: int | None) -> int:
        self.blocking.look()
        ahead = [(due, number, left) for due, _, number, left in self._waiting]
        return sum(only in (None, due) and bool(self._rows_left(left, n)) for due, n, left in ahead)

    def size(self) -> int:
        return super().size() + len(self._waiting)


def _sum(first: int, second: int | None) -> int | None:
    return None if second is None else first + second


@grows(nodes.Repeated)
def _(node: nodes.Repeated, place: Place) -> Operator | None:
    operator = Repeated(node, place.emit)
    place.add_timed(operator)
    place.grow(node.left, operator.take_left)
    operator.blocking.view = place.grow(node.right, operator.take_right, exempt=True)
    return place.add(operator)


@grows(nodes.Never)
def _(node: nodes.Never, place: Place) -> Operator | None:
    return None
