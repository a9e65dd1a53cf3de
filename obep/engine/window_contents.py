"""What is in a window at each instant, by its frame (DIALECTS 5, STATES D42): triples come, and leave again.

A content is given the items of an instant, and says which triples have come and gone since it was last asked.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from obep.model import Item, Term, Triple
from obep.operators.state_values import Pack, Unpack
from obep.query.ast import Window

Change = Counter[Triple]
"""How many times more (or, negative, less) often a triple is in the window."""


class Content:
    """A window's triples; one that several items say counts as often."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.change: Change = Counter()
        self.left: dict[Triple, None] = {}
        """What has left by time or number, and was not replaced, since somebody asked."""
        self.step = window.step.micros if window.step is not None else None

    def take(self, at: int, items: Sequence[Item]) -> None:
        """The items of an instant, in the order of their N-Triples."""
        raise NotImplementedError

    def move(self, at: int) -> None:
        """Time has come to an instant: what leaves by then leaves."""

    def next_change(self) -> int | None:
        """When something leaves or is looked at without an item."""
        return None

    def later(self, at: int) -> int:
        """The first instant from `at` on at which the window is looked at."""
        return at if self.step is None else -(-at // self.step) * self.step

    def dump(self, pack: Pack) -> Any:
        """What it keeps, as plain values."""
        raise NotImplementedError

    def load(self, data: Any, unpack: Unpack) -> None:
        """Go on from a dump."""
        raise NotImplementedError


class TimeContent(Content):
    """RANGE, FROM NOW - a TO NOW - b, LANDMARK and FROM … TO: items enter at an instant and leave at one."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._after = window.until.micros if window.until is not None else 0
        self._stays = window.range.micros if window.range is not None else None
        self._coming: deque[tuple[int, Item]] = deque()
        self._inside: deque[tuple[int, Item]] = deque()
        """Items with the instant at which each enters, or leaves."""

    def take(self, at: int, items: Sequence[Item]) -> None:
        start, end = self.window.start, self.window.end
        if (start is None or start <= at) and (end is None or at <= end):
            self._coming.extend((self.later(at + self._after), item) for item in items)
        self.move(at)

    def move(self, at: int) -> None:
        while self._coming and self._coming[0][0] <= at:
            _, item = self._coming.popleft()
            leaves = None if self._stays is None else self.later(item.at + self._stays)
            if leaves is None or leaves > at:
                self.change.update(set(item.triples))
                self._inside.append((-1 if leaves is None else leaves, item))
        while self._inside and 0 <= self._inside[0][0] <= at:
            gone = set(self._inside.popleft()[1].triples)
            self.change.subtract(gone)
            self.left.update(dict.fromkeys(gone))

    def next_change(self) -> int | None:
        heads = [held[0][0] for held in (self._coming, self._inside) if held and held[0][0] >= 0]
        return min(heads, default=None)

    def dump(self, pack: Pack) -> Any:
        return [pack(list(self._coming)), pack(list(self._inside))]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._coming, self._inside = deque(unpack(data[0])), deque(unpack(data[1]))
        self.change = Counter(triple for _, item in self._inside for triple in set(item.triples))


class CountContent(Content):
    """ROWS n and TRIPLES n: the latest instants that have so many items, or triples."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._most = window.rows or 0
        self._every = window.rows_step or 1
        self._weigh: Callable[[Item], int] = (
            (lambda item: len(set(item.triples))) if window.kind == "triples" else (lambda item: 1)
        )
        self._instants: deque[tuple[Item, ...]] = deque()
        self._weight = 0
        self._count = 0
        self._waiting: list[Item] = []
        """Items since the window was last looked at."""

    def take(self, at: int, items: Sequence[Item]) -> None:
        if not items:
            return
        self._waiting.extend(items)
        before, self._count = self._count, self._count + len(items)
        if before // self._every == self._count // self._every:
            return
        instants: dict[int, list[Item]] = {}
        for item in self._waiting:
            instants.setdefault(item.at, []).append(item)
        self._waiting.clear()
        for some in instants.values():
            self._instants.append(tuple(some))
            self._weight += sum(map(self._weigh, some))
            self.change.update(triple for item in some for triple in set(item.triples))
        while self._weight - (first := sum(map(self._weigh, self._instants[0]))) >= self._most:
            self._weight -= first
            gone = [t for item in self._instants.popleft() for t in set(item.triples)]
            self.change.subtract(gone)
            self.left.update(dict.fromkeys(gone))

    def dump(self, pack: Pack) -> Any:
        return [self._count, pack(list(self._instants)), pack(self._waiting)]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._count, instants, waiting = data
        self._instants = deque(unpack(instants))
        self._waiting = list(unpack(waiting))
        kept = [item for some in self._instants for item in some]
        self._weight = sum(map(self._weigh, kept))
        self.change = Counter(triple for item in kept for triple in set(item.triples))


Entry = tuple[int, tuple[Triple, ...]]
"""The instant at which a key was last spoken of, and what was said."""


class LatestContent(Content):
    """LATEST [r]: of each subject and property the triples of the last instant that spoke of them (D42)."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._stays = window.range.micros if window.range is not None else None
        self._latest: dict[tuple[Term, ...], Entry] = {}
        self._due: list[tuple[int, tuple[Term, ...]]] = []
        self._waiting: list[Item] = []
        self._look: int | None = None

    def take(self, at: int, items: Sequence[Item]) -> None:
        if self.step is None:
            self._fold(at, items)
        elif items:
            self._waiting.extend(items)
            self._look = self.later(at) if self._look is None else self._look
        self.move(at)

    def move(self, at: int) -> None:
        if self._look is not None and self._look <= at:
            instants: dict[int, list[Item]] = {}
            for item in self._waiting:
                instants.setdefault(item.at, []).append(item)
            self._waiting.clear()
            self._look = None
            for instant in sorted(instants):
                self._fold(instant, instants[instant])
        while self._due and self._due[0][0] <= at:
            _, key = heappop(self._due)
            entry = self._latest.get(key)
            if entry is not None and self._leaves(entry[0]) <= at:
                gone = self._latest.pop(key)[1]
                self.change.subtract(gone)
                self.left.update(dict.fromkeys(gone))

    def _leaves(self, at: int) -> int:
        assert self._stays is not None
        return self.later(at + self._stays)

    def _fold(self, at: int, items: Sequence[Item]) -> None:
        found: dict[tuple[Term, ...], dict[Triple, None]] = {}
        for item in items:
            for key, triples in self._said(item):
                found.setdefault(key, {}).update(dict.fromkeys(triples))
        change = self.change
        for key, triples in found.items():
            old = self._latest.get(key)
            if old is not None:
                if self._merges and old[0] == at:  # a second call for one instant
                    triples = {**dict.fromkeys(old[1]), **triples}
                change.subtract(old[1])
            change.update(triples.keys())
            self._latest[key] = (at, tuple(triples))
            if self._stays is not None:
                heappush(self._due, (self._leaves(at), key))

    _merges = True

    def _said(self, item: Item) -> Iterator[tuple[tuple[Term, ...], Iterable[Triple]]]:
        """What an item says, by subject and property; what hangs on a blank node stays with it."""
        below: dict[Term, list[Triple]] = {}
        objects = {triple[2] for triple in item.triples}
        for triple in item.triples:
            if triple[0].startswith("_:"):
                below.setdefault(triple[0], []).append(triple)
        for triple in item.triples:
            s, p, o = triple
            if s in below and s in objects:
                continue
            yield (s, p), (triple, *_hanging(o, below)) if o in below else (triple,)

    def next_change(self) -> int | None:
        while self._due:
            at, key = self._due[0]
            entry = self._latest.get(key)
            if entry is not None and self._leaves(entry[0]) == at:
                break
            heappop(self._due)
        heads = [at for at in (self._look, self._due[0][0] if self._due else None) if at is not None]
        return min(heads, default=None)

    def dump(self, pack: Pack) -> Any:
        latest = [[key, at, triples] for key, (at, triples) in self._latest.items()]
        return [latest, pack(self._waiting), self._look]

    def load(self, data: Any, unpack: Unpack) -> None:
        latest, waiting, self._look = data
        self._waiting = list(unpack(waiting))
        self._latest = {
            tuple(key): (at, tuple(tuple(triple) for triple in triples)) for key, at, triples in latest
        }
        self._due = []
        self.change = Counter()
        for key, (at, triples) in self._latest.items():
            self.change.update(triples)
            if self._stays is not None:
                heappush(self._due, (self._leaves(at), key))


class LatestByContent(LatestContent):
    """LATEST BY { bgp }: for each value of its variables the node of the last item that has it."""

    _merges = False

    def __init__(
        self, window: Window, nodes: Callable[[Item], Iterable[tuple[tuple[Term, ...], Term]]]
    ) -> None:
        """`nodes` finds in an item the keys, each with a node."""
        super().__init__(window)
        self._nodes = nodes

    def _fold(self, at: int, items: Sequence[Item]) -> None:
        for item in items:  # the last item counts, also of one instant
            super()._fold(at, (item,))

    def _said(self, item: Item) -> Iterator[tuple[tuple[Term, ...], Iterable[Triple]]]:
        of: dict[Term, list[Triple]] = {}
        for triple in item.triples:
            of.setdefault(triple[0], []).append(triple)
        blank = {node: triples for node, triples in of.items() if node.startswith("_:")}
        for key, node in self._nodes(item):
            said = dict.fromkeys(of.get(node, ()))
            for triple in list(said):
                said.update(dict.fromkeys(_hanging(triple[2], blank)))
            yield key, said


def _hanging(node: Term, below: dict[Term, list[Triple]]) -> list[Triple]:
    """The triples of a blank node, and of those that these lead to."""
    found: dict[Triple, None] = {}
    waiting, seen = [node], {node}
    while waiting:
        for triple in below.get(waiting.pop(), ()):
            found[triple] = None
            if triple[2] in below and triple[2] not in seen:
                seen.add(triple[2])
                waiting.append(triple[2])
    return list(found)


def content_of(
    window: Window, nodes: Callable[[Item], Iterable[tuple[tuple[Term, ...], Term]]] | None = None
) -> Content:
    """The content of a window; `nodes` is for LATEST BY."""
    if window.kind == "latest":
        return LatestContent(window) if nodes is None else LatestByContent(window, nodes)
    return CountContent(window) if window.kind in ("rows", "triples") else TimeContent(window)
