"""What is in a window at each instant, by its frame (DIALECTS 5, STATES D42): triples enter and leave.

A content takes the items of an instant, and passes the triples that enter and leave to its graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Protocol

from obep.model import Item, Sent, Term, Triple
from obep.operators.state_values import Pack, Unpack, frozen, sent_again
from obep.query.ast import Window


class Dated(Protocol):
    """What says triples, at an instant."""

    @property
    def at(self) -> int: ...

    @property
    def converted(self) -> tuple[tuple[Triple, Sent], ...]: ...


class Entered(Protocol):
    """The graph of a window. A triple that several items say is there as often."""

    counts_items: bool
    """Whether it gets every item, also one whose triples are all in the window."""

    def enter(self, gone: Sequence[Triple], new: Sequence[Triple], by: Dated, /) -> bool:
        """Triples of an instant come, in place of others; false where they cannot, and nothing changes."""

    def date(self, triples: Iterable[Triple], by: Dated, /) -> None:
        """Triples that are there were last said by something else."""

    def leave(self, triples: Sequence[Triple], /) -> None:
        """Different triples leave by time or number, and nothing is in their place."""

    def refuse(self, item: Item, /) -> None:
        """An item could not come in."""

    def came(self, item: Item, /) -> None:
        """A whole item is in the window (not by LATEST)."""

    def went(self, item: Item, /) -> None:
        """A whole item has left it, or will never be in it."""


class Content:
    """What a window remembers of its items."""

    def __init__(self, window: Window, graph: Entered) -> None:
        self.window, self.graph = window, graph
        self.step = window.step.micros if window.step is not None else None

    def take(self, at: int, items: Sequence[Item]) -> None:
        """The items of an instant, in the order of their N-Triples; what leaves by then leaves."""
        raise NotImplementedError

    def next_change(self) -> int | None:
        """When something leaves or is looked at without an item."""
        return None

    @property
    def in_turn(self) -> bool:
        """Whether nothing leaves before what came earlier, and nothing else happens without an item."""
        return False

    def later(self, at: int) -> int:
        """The first instant from `at` on at which the window is looked at."""
        return at if self.step is None else -(-at // self.step) * self.step

    def dump(self, pack: Pack) -> Any:
        """What it keeps, as plain values."""
        raise NotImplementedError

    def load(self, data: Any, unpack: Unpack) -> None:
        """Go on from a dump, with an empty graph."""
        raise NotImplementedError

    def _enter(self, items: Iterable[Item]) -> None:
        for item in items:
            self.graph.enter((), _once(item), item)
            self.graph.came(item)

    def _leave(self, item: Item) -> None:
        self.graph.leave(_once(item))
        self.graph.went(item)


class TimeContent(Content):
    """RANGE, FROM NOW - a TO NOW - b, LANDMARK and FROM … TO: items enter at an instant and leave at one.

    It may be given the items of several instants at the last of them.
    """

    def __init__(self, window: Window, graph: Entered) -> None:
        super().__init__(window, graph)
        self._after = window.until.micros if window.until is not None else 0
        self._stays = window.range.micros if window.range is not None else None
        self._coming: deque[tuple[int, Item]] = deque()
        self._inside: deque[tuple[int, Item]] = deque()
        """Items with the instant at which each enters, or leaves."""

    def take(self, at: int, items: Sequence[Item]) -> None:
        start, end = self.window.start, self.window.end
        after, later, coming = self._after, self.later, self._coming
        for item in items:
            if (start is None or start <= item.at) and (end is None or item.at <= end):
                coming.append((later(item.at + after), item))
            else:
                self.graph.went(item)
        while self._coming and self._coming[0][0] <= at:
            _, item = self._coming.popleft()
            leaves = None if self._stays is None else self.leaves(item.at)
            if leaves is None or leaves > at:
                self._enter((item,))
                self._inside.append((-1 if leaves is None else leaves, item))
            else:
                self.graph.went(item)
        while self._inside and 0 <= self._inside[0][0] <= at:
            self._leave(self._inside.popleft()[1])

    def leaves(self, at: int) -> int:
        """When an item of an instant leaves a window of a certain length."""
        return self.later(at + (self._stays or 0))

    @property
    def in_turn(self) -> bool:
        return self.step is None and not self._after

    def next_change(self) -> int | None:
        heads = [held[0][0] for held in (self._coming, self._inside) if held and held[0][0] >= 0]
        return min(heads, default=None)

    def dump(self, pack: Pack) -> Any:
        return [pack(list(self._coming)), pack(list(self._inside))]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._coming, self._inside = deque(unpack(data[0])), deque(unpack(data[1]))
        self._enter(item for _, item in self._inside)


class CountContent(Content):
    """ROWS n and TRIPLES n: the latest instants that have so many items, or triples."""

    def __init__(self, window: Window, graph: Entered) -> None:
        super().__init__(window, graph)
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
        for some in _instants(self._waiting):
            self._instants.append(some)
            self._weight += sum(map(self._weigh, some))
            self._enter(some)
        self._waiting.clear()
        while self._weight - (first := sum(map(self._weigh, self._instants[0]))) >= self._most:
            self._weight -= first
            for item in self._instants.popleft():
                self._leave(item)

    def dump(self, pack: Pack) -> Any:
        return [self._count, pack(list(self._instants)), pack(self._waiting)]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._count, instants, waiting = data
        self._instants = deque(unpack(instants))
        self._waiting = list(unpack(waiting))
        kept = [item for some in self._instants for item in some]
        self._weight = sum(map(self._weigh, kept))
        self._enter(kept)


Key = tuple[Term, ...]


class Latest:
    """What was said of a key when it was last spoken of."""

    __slots__ = ("at", "converted", "triples")

    def __init__(
        self, at: int, triples: tuple[Triple, ...], converted: tuple[tuple[Triple, Sent], ...] = ()
    ) -> None:
        self.at, self.triples = at, triples
        self.converted = converted
        """Those of its triples that were brought to another unit, and what was sent."""


class LatestContent(Content):
    """LATEST [r]: of each subject and property the triples of the last instant that spoke of them (D42)."""

    def __init__(self, window: Window, graph: Entered) -> None:
        super().__init__(window, graph)
        self._stays = window.range.micros if window.range is not None else None
        self._plain = self._merges and not graph.counts_items
        """Whether a triple with a name is all that there is of its key, and items are not counted."""
        self._latest: dict[Key, Latest] = {}
        self._ages: list[tuple[int, Key]] = []
        """A heap with each key and an instant at which it was spoken of, not always the last."""
        self._waiting: list[Item] = []
        self._look: int | None = None

    def take(self, at: int, items: Sequence[Item]) -> None:
        if self.step is None:
            for item in items:
                if self._plain and len(item.triples) == 1 and item.triples[0][0][0] != "_":
                    self._fold_one(at, item)
                else:
                    self._fold(at, item)
        elif items:
            self._waiting.extend(items)
            self._look = self.later(at) if self._look is None else self._look
        if self._look is not None and self._look <= at:
            self._look = None
            for some in _instants(self._waiting):
                for item in some:
                    self._fold(item.at, item)
            self._waiting.clear()
        if self._stays is not None:
            ages = self._ages
            if ages and ages[0][0] + self._stays <= at:
                while (leaves := self._leaves()) is not None and leaves <= at:
                    self.graph.leave(self._latest.pop(heappop(ages)[1]).triples)

    def _leaves(self) -> int | None:
        """When the key leaves that was spoken of longest ago."""
        ages, latest = self._ages, self._latest
        while ages:
            at, key = ages[0]
            last = latest[key].at
            if last == at:
                return self.later(at + (self._stays or 0))
            heapreplace(ages, (last, key))
        return None

    def _fold(self, at: int, item: Item) -> None:
        """What an item says takes the place of what was known."""
        latest = self._latest
        gone: tuple[Triple, ...] = ()
        new: tuple[Triple, ...] = ()
        said = self._said(item)
        sent = dict(item.converted)
        for key, triples in said.items():
            old = latest.get(key)
            if old is not None:
                gone += old.triples
                if self._merges and old.at == at:  # several items of one instant
                    triples = said[key] = tuple(dict.fromkeys((*old.triples, *triples)))
                    sent.update(old.converted)
            new += triples
        if not self.graph.enter(gone, new, item):
            self.graph.refuse(item)
            return
        for key, triples in said.items():
            converted = tuple([(one, sent[one]) for one in triples if one in sent]) if sent else ()
            entry = Latest(at, triples, converted)
            self._keep(key, entry)
            self.graph.date(triples, entry)

    def _fold_one(self, at: int, item: Item) -> None:
        """The same for one triple of a subject with a name: it belongs to this key alone."""
        new = item.triples
        key = new[0][:2]
        old = self._latest.get(key)
        if old is None:
            entry = Latest(at, new, item.converted)
            if self.graph.enter((), new, entry):
                self._keep(key, entry)
            else:
                self.graph.refuse(item)
            return
        gone = old.triples
        if gone == new:
            old.at, old.converted = at, item.converted
            return
        before, sent = old.at, old.converted
        old.at, old.triples, old.converted = at, new, item.converted
        if before == at:  # several items of one instant
            old.triples = new = tuple(dict.fromkeys((*gone, *new)))
            old.converted = tuple({**dict(item.converted), **dict(sent)}.items())
        if not self.graph.enter(gone, new, old):
            old.at, old.triples, old.converted = before, gone, sent
            self.graph.refuse(item)

    def _keep(self, key: Key, entry: Latest) -> None:
        if self._stays is not None and key not in self._latest:
            heappush(self._ages, (entry.at, key))
        self._latest[key] = entry

    _merges = True

    def _said(self, item: Item) -> dict[Key, tuple[Triple, ...]]:
        """What an item says, by subject and property; what hangs on a blank node stays with it."""
        if len(item.triples) == 1:
            [triple] = item.triples
            return {triple[:2]: item.triples}
        found: dict[Key, dict[Triple, None]] = {}
        below: dict[Term, list[Triple]] = {}
        for triple in item.triples:
            if triple[0].startswith("_:"):
                below.setdefault(triple[0], []).append(triple)
        objects = {triple[2] for triple in item.triples} if below else set()
        for triple in item.triples:
            s, p, o = triple
            if s in below and s in objects:
                continue
            said = found.setdefault((s, p), {})
            said[triple] = None
            if o in below:
                said.update(dict.fromkeys(_hanging(o, below)))
        if below:  # blank nodes in a circle, to which nothing else leads
            keyed = {triple for said in found.values() for triple in said}
            for triple in item.triples:
                if triple not in keyed:
                    found.setdefault(triple[:2], {})[triple] = None
        return {key: tuple(said) for key, said in found.items()}

    @property
    def in_turn(self) -> bool:
        return self.step is None

    def next_change(self) -> int | None:
        leaves = None if self._stays is None else self._leaves()
        if leaves is None or self._look is None:
            return self._look if leaves is None else leaves
        return min(leaves, self._look)

    def dump(self, pack: Pack) -> Any:
        latest = [[key, one.at, one.triples, one.converted] for key, one in self._latest.items()]
        return [latest, pack(self._waiting), self._look]

    def load(self, data: Any, unpack: Unpack) -> None:
        latest, waiting, self._look = data
        self._waiting = list(unpack(waiting))
        self._latest.clear()
        for key, at, said, *sent in sorted(latest, key=itemgetter(1)):
            one = Latest(at, frozen(said), sent_again(*sent))
            self._latest[tuple(key)] = one
            self.graph.enter((), one.triples, one)
        self._ages[:] = sorted((one.at, key) for key, one in self._latest.items())


Nodes = Callable[[Item], Iterable[tuple[Key, Term]]]
"""The keys of an item, each with a node."""


class LatestByContent(LatestContent):
    """LATEST BY { bgp }: for each value of its variables the node of the last item that has it."""

    _merges = False

    def __init__(self, window: Window, graph: Entered, nodes: Nodes) -> None:
        """`nodes` finds in an item the keys, each with a node."""
        super().__init__(window, graph)
        self._nodes = nodes

    def _said(self, item: Item) -> dict[Key, tuple[Triple, ...]]:
        found: dict[Key, dict[Triple, None]] = {}
        of: dict[Term, list[Triple]] = {}
        for triple in item.triples:
            of.setdefault(triple[0], []).append(triple)
        blank = {node: triples for node, triples in of.items() if node.startswith("_:")}
        for key, node in self._nodes(item):
            said = found.setdefault(key, {})
            for triple in of.get(node, ()):
                said[triple] = None
                said.update(dict.fromkeys(_hanging(triple[2], blank)))
        return {key: tuple(said) for key, said in found.items()}


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


def _once(item: Item) -> tuple[Triple, ...]:
    """The triples of an item, each once."""
    return tuple(dict.fromkeys(item.triples)) if len(item.triples) > 1 else item.triples


def _instants(items: Iterable[Item]) -> Iterator[tuple[Item, ...]]:
    """Items that came in the order of time, by instant."""
    return (tuple(some) for _, some in groupby(items, key=attrgetter("at")))


def content_of(window: Window, graph: Entered, nodes: Nodes | None = None) -> Content:
    """The content of a window; `nodes` is for LATEST BY."""
    if window.kind == "latest":
        return LatestContent(window, graph) if nodes is None else LatestByContent(window, graph, nodes)
    return (CountContent if window.kind in ("rows", "triples") else TimeContent)(window, graph)
