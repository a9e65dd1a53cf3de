"""States by a group: over windows, over K, over what other states hold (STATES §2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from obep.abstraction.graph_matcher import positive_patterns
from obep.abstraction.guard_graphs import ClosedGraph
from obep.abstraction.matcher import Matcher
from obep.algebra.dataset import Graph
from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.states.episodes import Bindings, Key
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_graph import New, WindowGraph
from obep.formats.input_limits import Refused
from obep.guards.guard_terms import term_of
from obep.model import Assertion, DeadLetter, Term, Triple
from obep.operators.state_values import Pack, Unpack
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.query.walk import walk, windows_of


class GroupState(StateRun):
    """Evaluated when a window or a state that it looks at has changed."""

    def __init__(
        self,
        plan: StatePlan,
        states: Mapping[Term, StateRun],
        windows: Mapping[str, WindowGraph],
        matcher: Matcher,
    ) -> None:
        super().__init__(plan)
        definition = plan.definition
        assert isinstance(definition, ast.GroupState)
        self._matcher = matcher
        self.group = definition.group
        self._atoms = [node for node in walk(definition.group) if isinstance(node, ast.Atom)]
        self.columns = {node.name.iri: states[node.name.iri].state.extra for node in self._atoms}
        """The columns of the states that it asks for, beside their parameters."""
        self._query = translate(definition.group, self.columns)
        self.dataset = StateDataset(definition.on, states, windows, matcher)
        self._windows = [windows[name] for name in windows_of(definition)]
        self._on = windows[definition.on] if definition.on is not None else None
        self._due: int | None = None
        self._states = [states[node.name.iri] for node in self._atoms]
        self._lasting = [(states[a.name.iri], a.lasting.micros) for a in self._atoms if a.lasting]
        self._begun = False

    @property
    def windows(self) -> Iterable[WindowGraph]:
        """The windows that it looks at."""
        return self._windows

    def start(self, at: int) -> None:
        self._begun = True

    def decide(self, at: int) -> None:
        if not self._begun or (self._on is not None and self._on.fed is None):
            return
        step = self._on.step if self._on is not None else None
        if step is not None and at % step:  # looked at at multiples only
            self._due = at - at % step + step
            return
        self.dataset.now = at
        try:
            answer = self._answer(at)
        except Refused as refused:
            self._refuse(at, refused)
            return
        if answer is None:  # an inconsistent window: as before
            return
        open_ = self.episodes.open
        ending = [key for key in open_ if key not in answer]
        still = self._with_what_left(at) if ending else {}
        for key in ending:
            self.episodes.end(key, at, (), "expired" if key in still else "changed")
        for key, bindings in sorted(answer.items()):
            if key in open_:
                self.episodes.change(key, at, bindings)
            else:
                self.episodes.begin(key, at, bindings, self._because(key, bindings))
        self._due = self._next_due(at)

    def _answer(self, at: int) -> dict[Key, Bindings] | None:
        """The bindings of each key; nothing where a window contradicts T and K."""
        if not all(window.consistent for window in self._windows):
            return None
        found: dict[Key, dict[tuple[tuple[str, Term], ...], dict[str, Term]]] = {}
        columns = self._query.columns
        for row in evaluate(self._query, self.dataset, at, self.state.name):
            values = {name: value for name, value in zip(columns, row, strict=True) if value is not None}
            if all(name in values for name in self.state.parameters):
                key = tuple(values[name] for name in self.state.parameters)
                extra = {name: values[name] for name in self.state.extra if name in values}
                found.setdefault(key, {})[tuple(extra.items())] = extra
        return {key: tuple(rows[row] for row in sorted(rows) if row) for key, rows in found.items()}

    def _with_what_left(self, at: int) -> dict[Key, Bindings]:
        """The answer as if nothing had left a window, nor a state expired, at this instant."""
        left = any(window.left[0] == at and window.left[1] for window in self._windows)
        if not left and not any(state.episodes.expired[0] == at for state in self._states):
            return {}
        self.dataset.before = at
        try:
            return self._answer(at) or {}
        finally:
            self.dataset.before = None

    def _refuse(self, at: int, refused: Refused) -> None:
        if self.on_dead_letter is not None:
            reason = f"in the state {self.state.name}: {refused.reason}"
            self.on_dead_letter(DeadLetter("", at, refused.code, reason))

    def _next_due(self, at: int) -> int | None:
        """When a state that it looks at will have lasted long enough."""
        ahead = [
            due
            for state, lasting in self._lasting
            for episode in state.episodes.open.values()
            if (due := episode.begun + lasting) > at
        ]
        return min(ahead, default=None)

    def _because(self, key: Key, bindings: Bindings) -> tuple[Assertion, ...]:
        """The triples of windows and of K that the group's patterns match under its first solution."""
        values = dict(zip(self.state.parameters, key, strict=True))
        values |= bindings[0] if bindings else {}
        found: set[Assertion] = set()
        for pattern in positive_patterns(self.group):
            triple = _under(pattern, values)
            if triple is None:
                continue
            for window in self._windows:
                if triple in window.triples:
                    found.add((triple, window.seen.get(triple)))
            if not any(triple == one for one, _ in found) and triple in self.dataset.static:
                found.add((triple, None))
        return tuple(sorted(found, key=lambda one: (one[0], one[1] is not None, one[1] or 0)))

    def next_change(self) -> int | None:
        return self._due

    def dump_own(self, pack: Pack) -> Any:
        return [self._begun, self._due]

    def load_own(self, data: Any, unpack: Unpack) -> None:
        self._begun, self._due = data


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
        self.static = frozenset(matcher.bundle.k)
        closed = ClosedGraph(matcher.bundle, (), with_k=True, facts=matcher.facts)
        self._closed = closed
        self.now = 0
        self.before: int | None = None
        """Where it is set: as if nothing had left at this instant."""

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The default graph."""
        if self._on is None:
            return self._closed.match(s, p, o)
        window = self._windows[self._on]
        return window.match(s, p, o) if self.before is None else window.before(self.before).match(s, p, o)

    def graph(self, name: Term, /) -> None:
        return None

    def graphs(self) -> Iterable[Term]:
        return ()

    def window(self, name: str, /) -> Graph | None:
        if self.before is not None and name in self._windows:
            return self._windows[name].before(self.before)
        return self._news.get(name)

    def windows(self) -> Iterable[str]:
        return self._news

    def atom(
        self, name: Term, lasting: int | None, window: str | None, /
    ) -> Iterable[tuple[Term | None, ...]]:
        state = self._states[name]
        episodes = list(state.episodes.open.values())
        if self.before is not None and state.episodes.expired[0] == self.before:
            episodes += state.episodes.expired[1]
        for episode in episodes:
            if lasting is None or episode.begun <= self.now - lasting:
                for one in episode.bindings or ({},):
                    yield (*episode.key, *[one.get(extra) for extra in state.state.extra])


def _under(pattern: ast.TriplePattern, values: Mapping[str, Term]) -> Triple | None:
    found = []
    for place in (pattern.subject, pattern.predicate, pattern.object):
        term = values.get(place.name) if isinstance(place, ast.Var) else term_of(place)
        if term is None:
            return None
        found.append(term)
    return found[0], found[1], found[2]
