"""The dataset of a query: its default graph, its windows, the open states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from obep.abstraction.guard_graphs import ClosedGraph
from obep.abstraction.matcher import Matcher
from obep.algebra.dataset import Graph
from obep.engine.queries.query_window import QueryWindow
from obep.engine.queries.static_graphs import StaticGraphs, WrittenGraph
from obep.engine.states.state_run import StateRun
from obep.model import Term, Triple
from obep.ontology.owl.static_graph import PatternIndex


class _New:
    """The triples that a window states and that it adds to K."""

    def __init__(self, window: QueryWindow) -> None:
        self.match = window.match_new


class QueryDataset:
    """C-SPARQL: the windows of FROM STREAM with K; RSP-QL and OBEP: K, and windows by their names."""

    def __init__(
        self,
        windows: Sequence[QueryWindow],
        states: Mapping[Term, StateRun],
        matcher: Matcher,
        static: StaticGraphs,
        named: Collection[Term] = (),
    ) -> None:
        """`named`: the graphs of FROM NAMED that it sees."""
        self._states, self._matcher, self._static, self._named = states, matcher, static, named
        self._default = [one for one in windows if one.window.role == "default"]
        self._windows = {one.window.name: one for one in windows if one.window.role == "window"}
        self._graphs = {f"<{one.window.name}>": one for one in windows if one.window.role == "graph"}
        self.now = 0
        self.matched: dict[Term, list[tuple[Term | None, ...]]] = {}
        """The row of the match that is answered, by the event of a MATCH."""
        self.settle()

    def settle(self) -> None:
        """The windows have changed: make their graphs anew when they are read next."""
        self._made: dict[object, Graph] = {}
        self._seen: dict[Triple, int | None] = {}
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
            return self._static.default.match(s, p, o)
        if "" not in self._made:
            closed: Graph = self._default[0] if len(self._default) == 1 else self._union()
            triples = (triple for window in self._default for triple in window.triples)
            self._made[""] = WrittenGraph(closed, PatternIndex(dict.fromkeys(triples)))
        return dict.fromkeys((*self._made[""].match(s, p, o), *self._static.k.match(s, p, o)))

    def match_static(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """K, closed under T."""
        return self._static.default.match(s, p, o)

    def _new(self, window: QueryWindow) -> Graph:
        if window not in self._made:
            self._made[window] = WrittenGraph(_New(window), PatternIndex(window.triples))
        return self._made[window]

    def seen_at(self, triple: Triple) -> int | None:
        """When a triple was last seen in a window; of an inferred one the greatest, over its derivations, of
        the least instant of what streams said for it (D34)."""
        if triple not in self._seen:
            parts = (*self._windows.values(), *self._graphs.values())
            said = [at for one in (*self._default, *parts) if (at := one.seen_at(triple)) is not None]
            if not said and not any(self._static.default.match(*triple)):
                unions = [self._default, *([one] for one in parts)]
                said = [at for some in unions if (at := self._inferred_at(some, triple)) is not None]
            self._seen[triple] = max(said, default=None)
        return self._seen[triple]

    def _inferred_at(self, windows: Sequence[QueryWindow], triple: Triple) -> int | None:
        """The greatest instant such that the triples stated from then on entail a triple."""
        said: dict[Triple, int] = {}
        for window in windows:
            for one in window.triples:
                if (at := window.seen_at(one)) is not None:
                    said[one] = max(at, said.get(one, at))
        instants = sorted({*said.values()})
        last: int | None = None
        low, high = 0, len(instants)
        while low < high:
            middle = (low + high) // 2
            since = [one for one, at in said.items() if at >= instants[middle]]
            closed = ClosedGraph(self._matcher.bundle, since, with_k=True, facts=self._matcher.facts)
            if any(closed.match(*triple)):
                last, low = instants[middle], middle + 1
            else:
                high = middle
        return last

    def graph(self, name: Term, /) -> Graph | None:
        if name in self._graphs:
            return self._new(self._graphs[name])
        return self._static.named(name) if name in self._named else None

    def graphs(self) -> Iterable[Term]:
        return (*self._graphs, *self._named)

    def window(self, name: str, /) -> Graph | None:
        return self._new(self._windows[name]) if name in self._windows else None

    def windows(self) -> Iterable[str]:
        return self._windows

    def atom(
        self, name: Term, lasting: int | None, window: str | None, /
    ) -> Iterable[tuple[Term | None, ...]]:
        """The rows of a state, of a match, or of the occurrences in a window ON EVENT."""
        if name in self.matched:
            yield from self.matched[name]
            return
        if name not in self._states:
            counted = self._windows[window or ""].occurrences
            yield from counted.rows() if counted is not None else ()
            return
        state = self._states[name]
        for episode in state.episodes.open.values():
            if lasting is None or episode.begun <= self.now - lasting:
                for one in episode.bindings or ({},):
                    yield (*episode.key, *[one.get(extra) for extra in state.state.extra])
