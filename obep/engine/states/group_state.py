"""States by a group: over windows, over K, over what other states hold (STATES §2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

from obep.abstraction.matcher import Matcher
from obep.abstraction.windows.incremental_reasons import why_evaluated_anew
from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.states.episodes import Bindings, Key, sorted_because
from obep.engine.states.followed_group import FollowedGroup
from obep.engine.states.group_because import GroupBecause
from obep.engine.states.rows_by_key import RowsByKey
from obep.engine.states.state_dataset import StateDataset
from obep.engine.states.state_run import StateRun
from obep.engine.states.window_graph import WindowGraph
from obep.formats.input_limits import Refused
from obep.model import Assertion, DeadLetter, Term
from obep.operators.state_values import Pack, Unpack
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.query.group_walk import atoms_by_window
from obep.query.walk import windows_of


class GroupState(StateRun):
    """Decided when a window or a state that it looks at has changed."""

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
        self.group = definition.group
        self._atoms = [node for node, _ in atoms_by_window(definition) if node.name.iri in states]
        self.columns = {node.name.iri: states[node.name.iri].state.extra for node in self._atoms}
        """The columns of the states that it asks for, beside their parameters."""
        self._query = translate(definition.group, self.columns)
        self.dataset = StateDataset(definition.on, states, windows, matcher)
        looked = {name: windows[name] for name in windows_of(definition)}
        self._windows = list(looked.values())
        asked = definition.group
        whole = asked if isinstance(asked, ast.Group) else ast.Group((asked,))
        self._reasons = GroupBecause(whole, definition.on, states, looked, self.dataset, self.columns)
        self._on = windows[definition.on] if definition.on is not None else None
        self._due: int | None = None
        self._states = [states[node.name.iri] for node in self._atoms]
        self._lasting = [(states[a.name.iri], a.lasting.micros) for a in self._atoms if a.lasting]
        self._begun = False
        self._rows = RowsByKey(self._query.columns, plan.parameters, plan.extra)
        self._followed: FollowedGroup | None = None
        """Its rows, where they can be kept."""
        if why_evaluated_anew(matcher.bundle, self._query, definition.on) is None:
            named = {name: graph for name in self.dataset.graphs() if (graph := self.dataset.graph(name))}
            self._followed = FollowedGroup(self._query, definition.on, states, windows, self.dataset, named)
        self._loaded = False
        """Whether episodes have come out of a snapshot that the rows have not been compared with."""

    @property
    def windows(self) -> Iterable[WindowGraph]:
        """The windows that it looks at."""
        return self._windows

    @property
    def concerned(self) -> bool:  # type: ignore[override]
        return self._followed is None or self._followed.unread

    def start(self, at: int) -> None:
        self._begun = True

    def decide(self, at: int) -> None:
        if not self._begun or (self._on is not None and self._on.fed is None):
            return
        step = self._on.step if self._on is not None else None
        if step is not None and at % step:  # looked at at multiples only
            self._due = at - at % step + step
            return
        self._due = None
        self.dataset.now = at
        for window in self._windows:
            if not window.consistent:  # no answer, until one has changed
                return
        try:
            if self._followed is not None:
                self._decide_changes(at, self._followed)
            else:
                self._decide_anew(at)
        except Refused as refused:
            self._refuse(at, refused)
            self.unsettled = True
            if self._followed is not None and self._followed.lost:
                self._followed.stop()
                self._followed = None

    def _decide_changes(self, at: int, followed: FollowedGroup) -> None:
        """By the rows that came and went."""
        changed, left = followed.look(at)
        self._due = followed.next_due()
        self.unsettled = False
        if not changed and not left and not self._loaded:
            return
        rows = self._rows
        keys = rows.change(changed)
        if self._loaded:
            self._loaded = False
            keys.update(dict.fromkeys((*self.episodes.open, *rows.found)))  # rows of before may be there
        expired: Container[Key] = ()
        if left:
            expired = {key for key in rows.keys_of(left) if key in rows.found}
            keys.update(rows.change(left))
        if keys:
            self._pass_on(at, keys, rows, expired)

    def _decide_anew(self, at: int) -> None:
        rows = self._answer(at)
        open_ = self.episodes.open
        still = self._with_what_left(at).found if any(key not in rows.found for key in open_) else ()
        self._pass_on(at, dict.fromkeys((*open_, *rows.found)), rows, still)
        self._due = self._next_due(at)

    def _pass_on(self, at: int, keys: Iterable[Key], rows: RowsByKey, expired: Container[Key]) -> None:
        """Begin, change and end the episodes of keys; those of `expired` have not ended by a change."""
        open_, found = self.episodes.open, rows.found
        staying = []
        for key in sorted(keys):
            if key in found:
                staying.append(key)
            elif key in open_:
                self.episodes.end(key, at, self._ended(key, at), "expired" if key in expired else "changed")
        for key in staying:
            bindings = rows.bindings(key)
            if key in open_:
                self.episodes.change(key, at, bindings)
            elif self.episodes.owns(key):
                self.episodes.begin(key, at, bindings, self._because(key, bindings, at))

    def _answer(self, at: int) -> RowsByKey:
        """All rows, evaluated anew."""
        rows = RowsByKey(self._query.columns, self.state.parameters, self.state.extra)
        rows.change(Counter(evaluate(self._query, self.dataset, at, self.state.name)))
        return rows

    def _with_what_left(self, at: int) -> RowsByKey:
        """The answer as if nothing had left a window, nor a state expired, at this instant."""
        left = any(window.left[0] == at and window.left[1] for window in self._windows)
        if not left and not any(state.episodes.expired[0] == at for state in self._states):
            return RowsByKey((), (), ())
        self.dataset.before = at
        try:
            return self._answer(at)
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

    def _because(self, key: Key, bindings: Bindings, at: int) -> tuple[Assertion, ...]:
        """What the patterns and the states of the group are matched by under its first solution."""
        values = dict(zip(self.state.parameters, key, strict=True)) | (bindings[0] if bindings else {})
        return sorted_because(self._reasons.of(values, at))

    def _ended(self, key: Key, at: int) -> tuple[Assertion, ...]:
        """What came, or ended, when it came to hold no more."""
        if not (self.state.moments or self.state.alerts or self.watchers):
            return ()
        return sorted_because(self._reasons.ended(dict(zip(self.state.parameters, key, strict=True)), at))

    def next_change(self) -> int | None:
        return self._due

    def dump_own(self, pack: Pack) -> Any:
        return [self._begun, self._due]

    def load_own(self, data: Any, unpack: Unpack) -> None:
        self._begun, self._due = data
        self._loaded = self.unsettled = True
        if self._followed is not None:
            self._followed.reload()
