"""The rows of a group over windows, K and states, kept while these change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from heapq import heappop, heappush
from types import MappingProxyType
from typing import Any, Protocol

from obep.algebra.dataset import Graph
from obep.algebra.evaluation import Row
from obep.algebra.live.fact_feed import RowFeed, TripleFeed
from obep.algebra.live.fact_source import DEFAULT_GRAPH, FactSource, named_graph
from obep.algebra.live.live_group import LiveGroup
from obep.algebra.select_node import SelectNode
from obep.engine.states.episodes import Episode, Key
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_changes import Followed
from obep.engine.states.window_graph import WindowGraph
from obep.formats.input_limits import Refused
from obep.model import Term, Triple


class StaticFacts(Protocol):
    """A dataset that knows K."""

    def match_static(self, s: Term | None, p: Term | None, o: Term | None, /) -> Iterable[Triple]: ...


class FollowedGroup:
    """A LiveGroup that windows and states feed. Make it while they are empty, or have not been loaded."""

    def __init__(
        self,
        select: SelectNode,
        on: str | None,
        states: Mapping[Term, StateRun],
        windows: Mapping[str, WindowGraph],
        dataset: StaticFacts,
        named: Mapping[Term, Graph] = MappingProxyType({}),
    ) -> None:
        """`on`: the window that is the default graph; without one it is K."""
        static: dict[FactSource, Graph] = {} if on is not None else {DEFAULT_GRAPH: _Static(dataset)}
        for name, graph in named.items():
            static[named_graph(name)] = graph
        self._live = LiveGroup(select, static)
        self._graphs: list[tuple[Followed[Any], TripleFeed | RowFeed]] = []
        """What a window says, or the occurrences in it."""
        self._atoms: list[_Held] = []
        for source in self._live.sources:
            if source.kind == "atom" and source.name not in states:
                counted = windows[source.window or on or ""].occurrences
                assert counted is not None
                feed = self._live.atom(source)
                self._graphs.append((counted.follow(partial(self._take, feed)), feed))
            elif source.kind == "atom":
                self._atoms.append(_Held(states[source.name], source.lasting, self._live.atom(source)))
            elif source == DEFAULT_GRAPH and on is not None:
                self._follow(source, windows[on], with_k=True)
                self._take_static(dataset)
            elif source.kind == "window" and source.name in windows:
                self._follow(source, windows[source.name], with_k=False)

    def _follow(self, source: FactSource, window: WindowGraph, *, with_k: bool) -> None:
        feed = self._live.graph(source)
        self._graphs.append((window.follow(partial(self._take, feed), with_k=with_k), feed))

    def _take_static(self, dataset: StaticFacts) -> None:
        """What K says to the patterns over a window with K."""
        patterns = self._live.patterns(DEFAULT_GRAPH)
        feed = self._live.graph(DEFAULT_GRAPH)
        for triple in dict.fromkeys(t for one in patterns for t in dataset.match_static(*one.constants)):
            feed.add(triple)

    def _take(self, feed: Any, changes: Iterable[tuple[Any, bool]]) -> None:
        """What has changed goes to the rows; with too many of them they are lost, and `changes` says so."""
        if self._live.lost:
            return
        add, remove = feed.add, feed.remove
        try:
            for one, there in changes:
                if there:
                    add(one)
                else:
                    remove(one)
        except Refused:
            assert self._live.lost

    @property
    def unread(self) -> bool:
        """Whether a look may find something."""
        return self._live.unread or any(followed.left for followed, _ in self._graphs)

    def look(self, at: int) -> tuple[dict[Row, int], dict[Row, int]]:
        """The rows that came (above 0) and went (below) since the last look; then those that did so by what
        left a window, or a state that expired, at this instant.

        Raises Refused where there are too many.
        """
        leaving = []
        for followed, feed in self._graphs:
            left = followed.looked(at)
            if left:
                leaving.append((feed, left))
        for atom in self._atoms:
            atom.change(at)
        if not leaving and not (self._atoms and any(atom.expires(at) for atom in self._atoms)):
            return self._live.changes(at), {}
        refused: Refused | None = None
        first: dict[Row, int] = {}
        try:
            first = self._live.changes(at)
        except Refused as error:  # what has left may leave few enough
            refused = error
        for feed, left in leaving:
            self._take(feed, left)
        for atom in self._atoms:
            atom.expire(at)
        if refused is not None:
            raise refused
        return first, self._live.changes(at)

    def changes(self, at: int) -> dict[Row, int]:
        """All rows that came (above 0) and went (below) since the last call.

        Raises Refused where there are too many; the next ones are then since the last that were given.
        """
        for followed, feed in self._graphs:
            self._take(feed, followed.looked(at))
        for atom in self._atoms:
            atom.change(at)
            atom.expire(at)
        return self._live.changes(at)

    @property
    def rows(self) -> Mapping[Row, int]:
        """The bag of rows, as of the last changes."""
        return self._live.rows

    @property
    def lost(self) -> bool:
        """Whether there were so many rows that they are no longer kept."""
        return self._live.lost

    def stop(self) -> None:
        """Stop following."""
        for followed, _ in self._graphs:
            followed.stop()
        for atom in self._atoms:
            atom.stop()

    def next_due(self) -> int | None:
        """When a state will have held as long as an atom asks for."""
        if not self._atoms:
            return None
        return min([due for atom in self._atoms if (due := atom.next_due()) is not None], default=None)

    def reload(self) -> None:
        """The states have been loaded."""
        for atom in self._atoms:
            atom.reload()


class _Static:
    def __init__(self, dataset: StaticFacts) -> None:
        self.match: Callable[[Term | None, Term | None, Term | None], Iterable[Triple]] = dataset.match_static


class _Held:
    """The rows of an atom `S(?k, …) [FOR d]`."""

    def __init__(self, state: StateRun, lasting: int | None, feed: RowFeed) -> None:
        self._state, self._lasting, self._feed = state, lasting, feed
        self._rows: dict[Key, list[Row]] = {}
        self._changed: dict[Key, None] = {}
        """The keys that have begun, changed or ended."""
        self._due: list[tuple[int, Key]] = []
        state.episodes.changed_keys.append(self._changed)

    def stop(self) -> None:
        noted = self._state.episodes.changed_keys
        noted[:] = [keys for keys in noted if keys is not self._changed]

    def change(self, at: int) -> None:
        """Rows of keys that have changed; of those that expired at this instant as if they had not."""
        while self._due and self._due[0][0] <= at:
            self._changed[heappop(self._due)[1]] = None
        expired = {one.key: one for one in self._expired(at)}
        for key in self._changed:
            episode = self._state.episodes.open.get(key)
            self._give(key, [row for one in (episode, expired.get(key)) for row in self._of(one, at)])
        self._changed.clear()

    def expires(self, at: int) -> bool:
        """Whether a key expired at this instant."""
        return bool(self._expired(at))

    def expire(self, at: int) -> None:
        """What has expired goes."""
        for one in self._expired(at):
            self._give(one.key, self._of(self._state.episodes.open.get(one.key), at))

    def next_due(self) -> int | None:
        while self._due:
            due, key = self._due[0]
            episode = self._state.episodes.open.get(key)
            if episode is not None and self._lasting is not None and episode.begun + self._lasting == due:
                return due
            heappop(self._due)
        return None

    def reload(self) -> None:
        self._changed.update(dict.fromkeys((*self._rows, *self._state.episodes.open)))

    def _expired(self, at: int) -> list[Episode]:
        instant, episodes = self._state.episodes.expired
        return episodes if instant == at else []

    def _of(self, episode: Episode | None, at: int) -> list[Row]:
        if episode is None:
            return []
        if self._lasting is not None and episode.begun > at - self._lasting:
            if episode.ended is None:
                heappush(self._due, (episode.begun + self._lasting, episode.key))
            return []
        return [*self._state.episodes.rows(episode)]

    def _give(self, key: Key, rows: list[Row]) -> None:
        for row in self._rows.pop(key, ()):
            self._feed.remove(row)
        for row in rows:
            self._feed.add(row)
        if rows:
            self._rows[key] = rows
