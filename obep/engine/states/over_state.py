"""`STATE S(?k) OVER E WITHIN d … AGGREGATE … HAVING`: a state by the rows of the last while (STATES §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from obep.algebra.over.over_expressions import GroupKey, OverExpressions, OverRow
from obep.algebra.over.over_rows import OverRows
from obep.algebra.over.over_snapshot import restore, to_plain
from obep.algebra.over.row_groups import GroupChange
from obep.engine.states.episodes import Bindings, Episode, Key
from obep.engine.states.state_run import StateRun
from obep.model import Assertion, Occurrence, Term
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.state_plan import StatePlan
from obep.query import ast

MAX_BECAUSE = 100
"""The rows whose explanations an episode keeps."""


class OverState(StateRun):
    """Rows come and leave; groups whose HAVING is true hold."""

    def __init__(self, plan: StatePlan, states: Mapping[Term, StateRun]) -> None:
        super().__init__(plan)
        definition = plan.definition
        assert isinstance(definition, ast.OverState)
        over = definition.over
        self._of_state = isinstance(over, ast.StateUse)
        if isinstance(over, ast.StateUse):
            self._variables = tuple(one.name for one in over.parameters)
            states[over.state.iri].episodes.listeners.append(self._episode)
        else:
            self._variables = tuple(sorted(plan.row_variables))
        grouped = definition.group_by or definition.parameters
        self._group_by = tuple(one.name for one in grouped)
        self._key_places = [self._group_by.index(name) for name in plan.parameters]
        within = definition.within.micros
        expressions = OverExpressions(
            self._group_by, self._variables, definition.aggregates, definition.having, within
        )
        step = definition.step.micros if definition.step is not None else None
        self._window = OverRows(expressions, within, step)
        self._names = tuple(one.variable.name for one in definition.aggregates)
        self._others = [(name, at) for at, name in enumerate(self._group_by) if name not in plan.parameters]
        self._rows: list[Occurrence] = []
        self._holding: dict[Key, dict[GroupKey, dict[str, Term]]] = {}
        computed = definition.aggregates or definition.having is not None
        self._always = bool(computed) and not plan.parameters and not grouped and definition.each is None
        if definition.each is not None:
            expressions.each = True
            given = tuple(one.name for one in definition.each.parameters)
            self._each_places = [given.index(name) for name in self._group_by if name in given]
            states[definition.each.state.iri].episodes.listeners.append(self._each)

    def routes(self) -> Iterator[tuple[Term, Take]]:
        if not self._of_state:
            yield self.state.part("rows"), self._rows.append

    def start(self, at: int) -> None:
        if self._always:
            self._window.stand((), at, at)

    def _each(self, episode: Episode, at: int) -> None:
        """FOR EACH: an episode of its state begins or ends."""
        group = tuple(episode.key[place] for place in self._each_places)
        if episode.ended is None:
            self._window.stand(group, episode.begun, at)
        else:
            self._window.fall(group, at)

    def _episode(self, episode: Episode, at: int) -> None:
        """OVER STATE: an episode begins or ends."""
        values = dict(zip(self._variables, episode.key, strict=False))
        row = self._row(values, episode.begun, episode.begun, at, f"{episode.begun}", episode.explanation)
        if episode.ended is None:
            self._window.begin(row)
        else:
            self._window.cease(row, at)

    def _row(
        self,
        values: Mapping[str, Term],
        start: int,
        end: int,
        done: int,
        individuals: str,
        why: tuple[Assertion, ...],
    ) -> OverRow:
        group = tuple([values.get(name) for name in self._group_by])
        terms = tuple([values.get(name) for name in self._variables])
        solution = "\n".join([f"{name} {term}" for name, term in sorted(values.items())])
        return OverRow(group, start, end, done, f"{solution}\n{start}\n{individuals}", terms, why)

    def decide(self, at: int) -> None:
        for one in self._rows:
            individuals = " ".join(one.individuals())
            for values in one.bindings or ({},):
                row = self._row(values, one.start, one.end, one.detected, individuals, one.explanation)
                if None not in [row.group[place] for place in self._key_places]:
                    self._window.add(row)
        self._rows.clear()
        touched: dict[Key, list[GroupChange]] = {}
        """For each key its groups that held no more."""
        for change in self._window.advance(at):
            key = tuple([change.group[place] or "" for place in self._key_places])
            groups = self._holding.setdefault(key, {})
            ended = touched.setdefault(key, [])
            if change.holds:
                groups[change.group] = self._bindings(change)
            elif groups.pop(change.group, None) is not None:
                ended.append(change)
        for key, ended in touched.items():
            self._settle(key, ended, at)

    def _bindings(self, change: GroupChange) -> dict[str, Term]:
        found = {name: term for name, at in self._others if (term := change.group[at]) is not None}
        values = zip(self._names, change.values, strict=True)
        return found | {name: value for name, value in values if value is not None}

    def _settle(self, key: Key, ended: list[GroupChange], at: int) -> None:
        groups = self._holding[key]
        bindings: Bindings = tuple(groups[group] for group in sorted(groups, key=str) if groups[group])
        if groups and key not in self.episodes.open:
            self.episodes.begin(key, at, bindings, self._because(groups))
        elif groups:
            self.episodes.change(key, at, bindings)
        elif key in self.episodes.open:
            why = self._because({change.group: {} for change in ended})
            expired = any(change.expired for change in ended)
            self.episodes.end(key, at, why, "expired" if expired else "changed")
        if not groups:
            del self._holding[key]

    def _because(self, groups: Mapping[GroupKey, object]) -> tuple[Assertion, ...]:
        """The explanations of the rows, at most so many."""
        rows = [row for group in groups for row in self._window.rows_of(group)[:MAX_BECAUSE]]
        found = {one for row in rows[:MAX_BECAUSE] for one in row.source}
        return tuple(sorted(found, key=lambda one: (one[0], one[1] is not None, one[1] or 0)))

    def figures(self) -> Iterator[tuple[Key, list[tuple[dict[str, Term], int]]]]:
        """What holds: for each key the figures of its groups, each with the number of its rows."""
        for key, groups in self._holding.items():
            yield key, [(found, len(self._window.rows_of(group))) for group, found in groups.items()]

    def next_change(self) -> int | None:
        return self._window.next_moment()

    def size(self) -> int:
        return super().size() + sum(len(group.rows) for group in self._window.groups.values())

    def dump_own(self, pack: Pack) -> Any:
        holding = [
            [key, [[group, list(row.items())] for group, row in groups.items()]]
            for key, groups in self._holding.items()
        ]
        return [list(to_plain(self._window).items()), pack(self._rows), holding]

    def load_own(self, data: Any, unpack: Unpack) -> None:
        window, rows, holding = data
        expressions, within, step = self._window.expressions, self._window.within, self._window.step
        self._window = OverRows(expressions, within, step)
        restore(self._window, dict(window), _assertions)
        self._rows[:] = unpack(rows)
        self._holding = {
            tuple(key): {tuple(group): dict(row) for group, row in groups} for key, groups in holding
        }


def _assertions(plain: Any) -> tuple[Assertion, ...]:
    return tuple((tuple(triple), at) for triple, at in plain)
