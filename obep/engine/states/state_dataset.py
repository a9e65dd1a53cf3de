"""What the group of a state, or of a graph event, sees: K, windows, and what other states hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obep.abstraction.guard_graphs import ClosedGraph, NamedGraphs
from obep.abstraction.matcher import Matcher
from obep.algebra.dataset import Graph
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_graph import New, WindowGraph
from obep.model import Term, Triple


class StateDataset:
    """What the group of a state sees: K or a window as the default graph, windows by name, states."""

    def __init__(
        self,
        on: str | None,
        states: Mapping[Term, StateRun],
        windows: Mapping[str, WindowGraph],
        matcher: Matcher,
    ) -> None:
        self._states, self._windows = states, windows
        self._news = {name: New(window) for name, window in windows.items()}
        self._on = on
        self._bundle = matcher.bundle
        self._named = NamedGraphs(matcher.bundle, matcher.facts)
        self._closed = ClosedGraph(matcher.bundle, (), with_k=True, facts=matcher.facts)
        self.now = 0
        self.before: int | None = None
        """Where it is set: as if nothing had left at this instant."""

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The default graph."""
        if self._on is None:
            return self.match_static(s, p, o)
        window = self._windows[self._on]
        return (window if self.before is None else window.before(self.before, new=False)).match(s, p, o)

    def is_static(self, triple: Triple) -> bool:
        """Whether K, or a graph of FROM NAMED GRAPH, says it."""
        return triple in self._bundle.k or self._named.says(triple)

    def match_static(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """K, closed under T."""
        return dict.fromkeys(self._closed.match(s, p, o))

    def graph(self, name: Term, /) -> Graph | None:
        """A graph of FROM NAMED GRAPH."""
        return self._named.get(name)

    def graphs(self) -> Iterable[Term]:
        return self._named.names

    def window(self, name: str, /) -> Graph | None:
        if self.before is not None and name in self._windows:
            return self._windows[name].before(self.before, new=True)
        return self._news.get(name)

    def windows(self) -> Iterable[str]:
        return self._news

    def atom(
        self, name: Term, lasting: int | None, window: str | None, /
    ) -> Iterable[tuple[Term | None, ...]]:
        if name not in self._states:
            counted = self._windows[window or self._on or ""].occurrences
            yield from counted.rows(self.before) if counted is not None else ()
            return
        state = self._states[name]
        episodes = list(state.episodes.open.values())
        if self.before is not None and state.episodes.expired[0] == self.before:
            episodes += state.episodes.expired[1]
        for episode in episodes:
            if lasting is None or episode.begun <= self.now - lasting:
                yield from state.episodes.rows(episode)
