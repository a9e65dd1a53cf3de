"""Filters: WITHIN, conditions over the whole candidate, and leaves on windows, which are views (D35)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

from obep.model import Occurrence
from obep.operators.candidates import DONE, PARTS, SINCE, Candidate, Emit
from obep.operators.memory import Memory
from obep.operators.operator import Operator, Place, grows
from obep.operators.row_join import KeyOf, compile_test
from obep.operators.state_values import Unpack
from obep.plan import nodes

NEVER = 1 << 62


def bounded(node: nodes.Within, emit: Emit) -> Emit:
    """Passes on the candidates all of whose parts lie in the window."""
    micros = node.micros

    def take(candidate: Candidate) -> None:
        if candidate[DONE] - candidate[SINCE] < micros:
            emit(candidate)

    return take


def checked(node: nodes.Check, emit: Emit) -> Emit:
    """Passes on the candidates that meet the conditions, with the rows that do."""
    test = compile_test(node.conditions, node.variables, node.aliases)
    if test is None:
        return emit

    def take(candidate: Candidate) -> None:
        start, end, done, since, parts, rows = candidate
        rows = test(rows, parts, start, end)
        if rows:
            emit((start, end, done, since, parts, rows))

    return take


@grows(nodes.Check)
def _(node: nodes.Check, place: Place) -> Operator | None:
    return place.grow(node.operand, checked(node, place.emit))


class WindowLeaf(Operator):
    """`H IN <w>`: emits an occurrence when it is first seen in the window, and shows it until it leaves.

    Occurrences come in the order of time, so they are seen and leave in that order, too.
    """

    field_name = "window (IN)"
    waits = True

    state = ("_members", "_coming")

    def __init__(self, node: nodes.InWindow, emit: Emit) -> None:
        self.emit = emit
        self._node = node
        self._now = 0
        self._members: list[tuple[int, Candidate]] = []
        """When each leaves."""
        self._coming: list[tuple[int, Candidate]] = []
        """When each is seen first."""
        self._watching: list[Callable[[Candidate], None]] = []
        self._indexes: dict[KeyOf, Memory] = {}
        """The members by the keys that others look them up by."""

    def take(self, candidate: Candidate) -> None:
        at = self._now = candidate[DONE]
        part = candidate[PARTS][0]
        if self._node.of_items and part and any(isinstance(one, Occurrence) for one in part.items):
            return
        seen = self._node.enters(at)
        if seen == at:
            self._admit(candidate, at)
        elif seen is not None:
            self._coming.append((seen, candidate))

    def _admit(self, candidate: Candidate, at: int) -> None:
        leaves = self._node.leaves(at)
        self._members.append((NEVER if leaves is None else leaves, candidate))
        for memory in self._indexes.values():
            memory.add(candidate)
        for watching in self._watching:
            watching(candidate)
        self.emit(candidate)

    def next_deadline(self) -> int | None:
        return self._coming[0][0] if self._coming else None

    def reach(self, at: int) -> None:
        self._now = at
        while self._coming and self._coming[0][0] <= at:
            seen, (start, end, done, since, parts, rows) = self._coming.pop(0)
            self._admit((start, end, seen, since, parts, rows), done)

    def close(self, at: int) -> None:
        self._now = at

    def live(self) -> Iterable[Candidate]:
        self._leave()
        return [candidate for _, candidate in self._members]

    def index(self, key: KeyOf) -> Memory:
        self._leave()
        memory = self._indexes.get(key)
        if memory is None:
            memory = self._indexes[key] = Memory(key, None)
            memory.refill(candidate for _, candidate in self._members)
        return memory

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        self._watching.append(seen)

    def _leave(self) -> None:
        """Forget what has left the window."""
        gone = 0
        while gone < len(self._members) and self._members[gone][0] <= self._now:
            for memory in self._indexes.values():
                memory.discard(self._members[gone][1])
            gone += 1
        del self._members[:gone]

    def prune(self, at: int) -> None:
        self._now = max(self._now, at)
        self._leave()
        if self._node.horizon is not None:
            before = at - self._node.horizon
            self._retain(lambda candidate: candidate[SINCE] > before)

    def consume(self, gone: Set[int], at: int) -> None:
        self._retain(lambda candidate: not any(id(part) in gone for part in candidate[PARTS]))

    def _retain(self, wanted: Callable[[Candidate], bool]) -> None:
        self._members = [entry for entry in self._members if wanted(entry[1])]
        self._coming = [entry for entry in self._coming if wanted(entry[1])]
        self._indexes.clear()

    def load(self, data: list[Any], unpack: Unpack) -> None:
        super().load(data, unpack)
        self._indexes.clear()

    def size(self) -> int:
        return len(self._members) + len(self._coming)


@grows(nodes.InWindow)
def _(node: nodes.InWindow, place: Place) -> Operator | None:
    operator = WindowLeaf(node, place.emit)
    if node.delayed:
        place.add_timed(operator)
    place.grow(node.operand, operator.take)
    return place.add(operator)
