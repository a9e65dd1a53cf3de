"""A window of a query: the items of a source, or the answers of another query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from obep.abstraction.matcher import Matcher
from obep.abstraction.windows.window_closure import Until
from obep.engine.bulk import uncollected
from obep.engine.states.window_contents import Dated, TimeContent
from obep.engine.states.window_graph import WindowGraph
from obep.model import Item, Occurrence, Triple
from obep.operators.state_values import Pack, Unpack
from obep.query import ast


class QueryWindow(WindowGraph):
    """A window that also notes when an item comes or leaves whose triples others say, too (D30).

    What comes and leaves at one instant changes its closure once.
    """

    counts_items = True

    def __init__(
        self,
        query: str,
        number: int,
        window: ast.Window,
        matcher: Matcher,
        *,
        left: bool,
        counted: tuple[str, ...] | None = None,
    ) -> None:
        """`left`: CLOSED left, each item is in the window one microsecond later (D28). `counted`: the
        parameters of its event, where the query asks for its occurrences."""
        super().__init__(replace(window, name=f"{query}#{number}"), matcher, counted)
        self.window = window
        self.moved = False
        """Whether an item has come or left since the query was last asked."""
        self._net: dict[Triple, int] = {}
        """The net number of statements of each triple since the closure was last changed."""
        self._dated: dict[Triple, Dated] = {}
        """The last statement of each triple since then."""
        self._left = left
        self._waiting: list[Item] = []
        self._touch: Callable[[], None] | None = None
        self.grid = 0 if self.takes_by_time and window.event is None else None

    def _until(self) -> Until | None:
        content, triples = self._content, self.triples
        if not isinstance(content, TimeContent) or self._window.range is None:
            return None
        return lambda triple: content.leaves(triples[triple].at)

    def connect(self, touch: Callable[[], None]) -> None:
        self._touch = touch

    def answer(self, item: Item) -> None:
        """An answer of a query that it reads."""
        self._waiting.append(item)
        if self._touch is not None:
            self._touch()

    def seen_at(self, triple: Triple) -> int | None:
        """The instant of the last item that states a triple of the window."""
        by = self.triples.get(triple)
        return None if by is None else by.at - self._left

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        mine = [*items]
        if self._left:
            stream = self.window.stream
            self._waiting += [one._replace(at=one.at + 1) for one in items if one.stream == stream]
            mine = []
        mine += [one for one in self._waiting if one.at <= at]
        self._waiting = [one for one in self._waiting if one.at > at]
        with uncollected():
            super().close(at, mine)
            self._settle()
        if self.moved:
            for watcher in self.watchers:
                watcher()
        return ()

    def enter(self, gone: Sequence[Triple], new: Sequence[Triple], by: Dated) -> bool:
        self.moved = True
        if self._refuses:  # LATEST asks of each item whether it can come
            return super().enter(gone, new, by)
        net, dated = self._net, self._dated
        for triple in new:
            net[triple] = net.get(triple, 0) + 1
            dated[triple] = by
        return True

    def leave(self, triples: Sequence[Triple]) -> None:
        self.moved = True
        if self._refuses:
            super().leave(triples)
            return
        net = self._net
        for triple in triples:
            net[triple] = net.get(triple, 0) - 1

    def _settle(self) -> None:
        """Change the closure by what has come and left."""
        if not self._net:
            return
        went: list[Triple] = []
        came: list[Triple] = []
        for triple, more in self._net.items():
            came += [triple for _ in range(more) if self._add(triple, self._dated[triple])]
            went += [triple for _ in range(-more) if self._remove(triple) is not None]
        again = {one: by for one, by in self._dated.items() if one in self.triples}
        self.triples.update(again)
        self._net, self._dated = {}, {}
        for triple in came:
            again.pop(triple, None)
        if went or came or again:
            change = self._closure.change(went, came, self._now, again)
            if went or came:
                self._tell(*change, leaving=False)

    def next_deadline(self) -> int | None:
        due = [one.at for one in self._waiting]
        after = super().next_deadline()
        return min(due if after is None else [*due, after], default=None)

    def dump(self, pack: Pack) -> Any:
        return [super().dump(pack), pack(self._waiting), self.moved]

    def load(self, data: Any, unpack: Unpack) -> None:
        super().load(data[0], unpack)
        self._settle()
        self._waiting = list(unpack(data[1]))
        self.moved = data[2]
