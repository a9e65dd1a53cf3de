"""WHILE and UNLESS: what a pattern finds, as far as a state holds or does not hold (STATES §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from obep.model import Term
from obep.operators.candidates import END, ROWS, START, Candidate, Emit, Row, Rows
from obep.operators.operator import Operator, Place, grows
from obep.operators.row_join import Joining, compile_test
from obep.plan import nodes


class HeldEpisode(Protocol):
    """As much of an episode as a pattern needs."""

    key: tuple[Term, ...]

    def bindings_at(self, at: int) -> tuple[dict[str, Term], ...]: ...


class HeldState(Protocol):
    """As much of a state as a pattern needs."""

    names: tuple[str, ...]
    """Its variables, parameters first."""

    def covering(self, key: tuple[Term, ...] | None, start: int, end: int) -> Iterable[HeldEpisode]: ...


States = Mapping[Term, HeldState]


class InState(Operator):
    """Decides each candidate of its operand when its instant closes."""

    field_name = "context (WHILE, UNLESS)"
    waits = True
    state = ("_new",)

    def __init__(self, node: nodes.InState, emit: Emit, states: States) -> None:
        self.emit = emit
        self._held = node.held
        self._state = states[node.state]
        columns = list(node.columns)
        self._width = len(columns)
        sure = frozenset(columns[: node.parameters])
        operand = node.operand
        self._joining = Joining(operand.variables, columns, operand.sure, sure)
        self._parameters = node.parameters
        given = columns[: node.parameters]
        known = all(name in operand.sure for name in given) and len(given) == len(set(given))
        self._key = [operand.variables.index(name) for name in given] if known else None
        self._test = compile_test(node.conditions, node.variables, node.aliases)
        self._new: list[Candidate] = []

    def take(self, candidate: Candidate) -> None:
        self._new.append(candidate)

    def close(self, at: int) -> None:
        new, self._new = self._new, []
        for candidate in new:
            rows = self._rows(candidate)
            if rows:
                start, end, done, since, parts, _ = candidate
                self.emit((start, end, done, since, parts, (rows,) if self._held else rows))

    def _rows(self, candidate: Candidate) -> Rows:
        raise NotImplementedError

    def _holding(self, row: Row, start: int, end: int) -> Rows:
        """The state's variables for each key that joins with a row and holds all the time."""
        key = None if self._key is None else tuple([row[at] or "" for at in self._key])
        found: list[Row] = []
        others = self._state.names[self._parameters :]
        for episode in self._state.covering(key, start, end):
            bindings = episode.bindings_at(end)
            for one in bindings if bindings else ({},):
                values: Row = (*episode.key, *[one.get(name) for name in others])
                found.append(values[: self._width])
        return tuple(dict.fromkeys(found))


class While(InState):
    """`E WHILE S(?k)`."""

    field_name = "context (WHILE)"

    def _rows(self, candidate: Candidate) -> Rows:
        start, end = candidate[START], candidate[END]
        found: dict[Row, None] = {}
        for row in candidate[ROWS]:
            found.update(dict.fromkeys(self._joining.join((row,), self._holding(row, start, end))))
        rows = tuple(found)
        if rows and self._test is not None:
            rows = self._test(rows, candidate[4], start, end)
        return rows


class Unless(InState):
    """`E UNLESS S(?k)`."""

    field_name = "context (UNLESS)"

    def _rows(self, candidate: Candidate) -> Rows:
        end = candidate[END]
        return tuple(
            row for row in candidate[ROWS] if not self._joining.join((row,), self._holding(row, end, end))
        )


@grows(nodes.While, nodes.Unless)
def _(node: nodes.InState, place: Place) -> Operator | None:
    kind = While if isinstance(node, nodes.While) else Unless
    operator: InState = kind(node, place.emit, place.states)
    place.grow(node.operand, operator.take)
    return place.add(operator)
