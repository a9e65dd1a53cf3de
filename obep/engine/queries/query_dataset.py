"""What a query sees: its default graph, its windows, the states that hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from obep.abstraction.guard_graphs import ClosedGraph
from obep.abstraction.matcher import Matcher
from obep.algebra.dataset import Graph
from obep.engine.queries.query_window import QueryWindow
from obep.engine.states.state_run import StateRun
from obep.model import RDF_TYPE, Term, Triple


class TripleIndex:
    """Triples by their subject, predicate and object."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._all = list(triples)
        self._by: tuple[dict[Term, list[Triple]], ...] = ({}, {}, {})
        for triple in self._all:
            for place, term in enumerate(triple):
                self._by[place].setdefault(term, []).append(triple)

    def match(self, *wanted: Term | None) -> Iterable[Triple]:
        """The triples of a pattern."""
        found = self._all
        for place, term in enumerate(wanted):
            if term is not None and len(some := self._by[place].get(term, [])) <= len(found):
                found = some
        return [one for one in found if all(w in (None, t) for w, t in zip(wanted, one, strict=True))]


class WrittenGraph:
    """A closed graph with the triples that are written in it: also of classes that nothing else names."""

    def __init__(self, closed: Graph, written: TripleIndex) -> None:
        self._closed, self._written = closed, written

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        found = dict.fromkeys(self._closed.match(s, p, o))
        if p is None or (p == RDF_TYPE and o is None):
            found |= dict.fromkeys(self._written.match(s, p, o))
        return found


class _New:
    """What a window says and adds to K."""

    def __init__(self, window: QueryWindow) -> None:
        self.match = window.match_new


class QueryDataset:
    """C-SPARQL: the windows of FROM STREAM with K; RSP-QL and OBEP: K, and windows by their names."""

    def __init__(
        self,
        windows: Sequence[QueryWindow],
        states: Mapping[Term, StateRun],
        matcher: Matcher,
        static: WrittenGraph,
        k: TripleIndex,
    ) -> None:
        self._states, self._matcher, self._static, self._k = states, matcher, static, k
        self._default = [one for one in windows if one.window.role == "default"]
        self._windows = {one.window.name: one for one in windows if one.window.role == "window"}
        self._graphs = {f"<{one.window.name}>": one for one in windows if one.window.role == "graph"}
        self.now = 0
        self.settle()

    def settle(self) -> None:
        """The windows have changed: make their graphs anew, when somebody looks."""
        self._made: dict[object, Graph] = {}
        self._joined: ClosedGraph | None = None

    @property
    def consistent(self) -> bool:
        """Whether nothing that it sees contradicts T."""
        parts = (*self._windows.values(), *self._graphs.values())
        if len(self._default) == 1:
            parts = (*parts, *self._default)
        joined = self._union().consistent if len(self._default) > 1 else True
        return joined and all(one.consistent for one in parts)

    def _union(self) -> ClosedGraph:
        if self._joined is None:
            triples = [*dict.fromkeys(triple for window in self._default for triple in window.triples)]
            matcher = self._matcher
            self._joined = ClosedGraph(matcher.bundle, triples, with_k=True, facts=matcher.facts)
        return self._joined

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The default graph."""
        if not self._default:
            return self._static.match(s, p, o)
        if "" not in self._made:
            closed: Graph = self._default[0] if len(self._default) == 1 else self._union()
            triples = (triple for window in self._default for triple in window.triples)
            self._made[""] = WrittenGraph(closed, TripleIndex(dict.fromkeys(triples)))
        found = dict.fromkeys(self._made[""].match(s, p, o))
        if p is None or (p == RDF_TYPE and o is None):
            found |= dict.fromkeys(self._k.match(s, p, o))
        return found

    def _new(self, window: QueryWindow) -> Graph:
        if window not in self._made:
            self._made[window] = WrittenGraph(_New(window), TripleIndex(window.triples))
        return self._made[window]

    def graph(self, name: Term, /) -> Graph | None:
        return self._new(self._graphs[name]) if name in self._graphs else None

    def graphs(self) -> Iterable[Term]:
        return self._graphs

    def window(self, name: str, /) -> Graph | None:
        return self._new(self._windows[name]) if name in self._windows else None

    def windows(self) -> Iterable[str]:
        return self._windows

    def atom(
        self, name: Term, lasting: int | None, window: str | None, /
    ) -> Iterable[tuple[Term | None, ...]]:
        """The rows of a state."""
        state = self._states[name]
        for episode in state.episodes.open.values():
            if lasting is None or episode.begun <= self.now - lasting:
                for one in episode.bindings or ({},):
                    yield (*episode.key, *[one.get(extra) for extra in state.state.extra])
