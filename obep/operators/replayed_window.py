"""WITHIN where what lies outside of the window could change what is inside: the window is evaluated again.

At each instant at which something comes, or a deadline may fall due, a new tree runs over what lies in the
window; only what is done at that instant counts (SPEC §4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from obep.model import Item, Occurrence
from obep.operators.candidates import DONE, Candidate, Emit, Rows
from obep.operators.operator import Operator
from obep.operators.state_values import Pack, Unpack
from obep.plan import nodes
from obep.plan.nodes import Node

if TYPE_CHECKING:
    from obep.operators.tree import Tree

Entry = tuple[int, int, Occurrence, Rows]
"""When it came, at which leaf, what."""


class Replay(Operator):
    """Keeps the window's occurrences and items, and runs them again and again."""

    field_name = "window (WITHIN)"
    waits = True

    state = ("_entries", "_items", "_new", "_new_items", "_due")

    def __init__(self, node: nodes.Within, emit: Emit, tree: Callable[[], Tree]) -> None:
        self.emit = emit
        self._micros = node.micros
        self._tree = tree
        self._waits = sorted(waits(node.operand, node.micros))
        self._steps = any(isinstance(one, nodes.InWindow) and one.delayed for one in nodes.walk(node.operand))
        """Whether something below comes into a window at multiples of its STEP."""
        self._entries: list[Entry] = []
        self._items: list[tuple[int, Item]] = []
        self._new: list[tuple[int, Occurrence, Rows]] = []
        self._new_items: list[Item] = []
        self._due: list[int] = []
        self._consumed: dict[int, tuple[int, Occurrence]] = {}

    def entrance(self, leaf: int) -> Callable[[Occurrence, Rows], None]:
        """Where the occurrences of a leaf below come in."""

        def enter(occurrence: Occurrence, rows: Rows) -> None:
            self._new.append((leaf, occurrence, rows))

        return enter

    def take_items(self, items: Iterable[Item]) -> None:
        self._new_items.extend(items)

    def next_deadline(self) -> int | None:
        return self._due[0] if self._due else None

    def close(self, at: int) -> None:
        due = False
        while self._due and self._due[0] <= at:
            due = heappop(self._due) == at or due
        if not (self._new or self._new_items or due):
            return
        for leaf, occurrence, rows in self._new:
            self._entries.append((at, leaf, occurrence, rows))
            for wait in self._waits:
                if occurrence.end + wait > at:
                    self._expect(occurrence.end + wait)
        self._items.extend((at, item) for item in self._new_items)
        if self._new_items:
            for wait in self._waits:
                self._expect(at + wait)
        self._new.clear()
        self._new_items.clear()
        self.prune(at)
        if self._entries or self._items:
            for candidate in self._run(at):
                self.emit(candidate)

    def _expect(self, at: int) -> None:
        if at not in self._due:
            heappush(self._due, at)

    def _run(self, at: int) -> list[Candidate]:
        tree = self._replayed(at)
        if self._steps and (due := tree.next_deadline()) is not None:
            self._expect(due)
        return [candidate for candidate in tree.found if candidate[DONE] == at]

    def _replayed(self, at: int, *, open_: bool = False) -> Tree:
        """A new tree that has seen what lies in the window at an instant; `open_`: all but that instant."""
        tree = self._tree()
        consumed = sorted((when, key) for key, (when, _) in self._consumed.items())
        instants: dict[int, tuple[list[Entry], list[Item]]] = {at: ([], [])}
        for entry in self._entries:
            if entry[2].since > at - self._micros:
                instants.setdefault(entry[0], ([], []))[0].append(entry)
        for when, item in self._items:
            if when > at - self._micros:
                instants.setdefault(when, ([], []))[1].append(item)

        def consume_before(instant: int) -> None:
            while consumed and consumed[0][0] < instant:
                when = consumed[0][0]
                gone = {key for at, key in consumed if at == when}
                del consumed[: len(gone)]
                tree.consume(gone, when)

        for instant in sorted(instants):
            while (due := tree.next_deadline()) is not None and due < instant:
                consume_before(due)
                tree.reach(due)
                tree.close(due)
            consume_before(instant)
            if open_ and instant == at:
                break
            tree.found.clear()
            tree.reach(instant)
            entries, items = instants[instant]
            for _, leaf, occurrence, rows in entries:
                tree.leaves[leaf].enter(occurrence, rows)
            tree.items(items)
            tree.close(instant)
        return tree

    def prune(self, at: int) -> None:
        before = at - self._micros
        self._entries = [entry for entry in self._entries if entry[2].since > before]
        self._items = [(when, item) for when, item in self._items if when > before]
        if self._consumed:
            kept = {id(entry[2]) for entry in self._entries}
            self._consumed = {key: value for key, value in self._consumed.items() if key in kept}

    def consume(self, gone: Set[int], at: int) -> None:
        for _, _, occurrence, _ in self._entries:
            if id(occurrence) in gone and id(occurrence) not in self._consumed:
                self._consumed[id(occurrence)] = (at, occurrence)

    def dump(self, pack: Pack) -> list[Any]:
        return [*super().dump(pack), pack(list(self._consumed.values()))]

    def load(self, data: list[Any], unpack: Unpack) -> None:
        super().load(data[:-1], unpack)
        self._consumed = {id(occurrence): (at, occurrence) for at, occurrence in unpack(data[-1])}

    def pending(self, only: int | None) -> int:
        """Count future deadlines, each in the window at its own instant."""
        ahead = [due for due in self._due if only in (None, due)]
        return sum(self._replayed(due, open_=True).pending(due) for due in ahead)

    def size(self) -> int:
        return len(self._entries) + len(self._items)


def waits(node: Node, window: int) -> set[int]:
    """The longest time from the end of an occurrence to a deadline below."""
    found: set[int] = set()
    _ends(node, found, window)
    return found


def _ends(node: Node, found: set[int], window: int) -> set[int]:
    """The longest time from the end of an occurrence to the end of a candidate; deadlines go to `found`."""
    if isinstance(node, nodes.Silence):
        ends = {end + node.micros for end in _ends(node.left, found, window)}
        _ends(node.right, found, window)
        found |= ends
        return ends
    if isinstance(node, nodes.Repeated):
        most = window // node.micros if node.at_most is None else min(node.at_most, window // node.micros)
        below = _ends(node.left, found, window)
        _ends(node.right, found, window)
        ends = {end + number * node.micros for end in below for number in range(1, most + 1)}
        found |= ends
        return ends or {0}
    ends = {0} if isinstance(node, nodes.Rest) else set()
    for operand in node.operands:
        ends |= _ends(operand, found, window)
    return ends or {0}
