"""The plan of a state: its definition, the moments that patterns read, its alerts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from zlib import crc32

from obep.model import Term
from obep.plan import nodes
from obep.query import ast
from obep.query.group_walk import atoms_by_window
from obep.query.state_expansion import (
    Moment,
    extra_variables,
    mentioned_by_state,
    pattern_variables,
)
from obep.query.state_parts import part_of
from obep.query.walk import windows_of

if TYPE_CHECKING:
    from obep.plan.plan import EventPlan
    from obep.query.link import Linked


@dataclass(frozen=True)
class GraphPlan:
    """A graph event on items that asks for states or windows."""

    event: Term
    stratum: int
    position: int
    definition: ast.GraphEvent
    windows: Mapping[str, ast.Window]
    needs: frozenset[Term]
    counted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Windows ON EVENT whose occurrences groups count, each with the parameters of the event."""


@dataclass(frozen=True)
class Owner:
    """The bucket that decides a state for some values of one of its parameters."""

    place: int
    bucket: int
    buckets: int

    def owns(self, key: Sequence[Term]) -> bool:
        """Whether the values of the parameters are for this bucket."""
        return bucket_of(key[self.place], self.buckets) == self.bucket


def bucket_of(value: Term, buckets: int) -> int:
    """The bucket of a value of a key."""
    return crc32(value.encode()) % buckets


@dataclass(frozen=True)
class RowShare:
    """The rows of a query that one bucket gives: those with its values of a variable."""

    variable: str
    bucket: int
    buckets: int

    def has(self, value: Term | None) -> bool:
        """Whether a row with a value of the variable is given here."""
        return value is not None and bucket_of(value, self.buckets) == self.bucket


@dataclass(frozen=True)
class StatePlan:
    """One state of a query."""

    state: Term
    name: str
    stratum: int
    position: int
    """The number of events of the plan that are decided before it."""
    definition: ast.State
    parameters: tuple[str, ...]
    extra: tuple[str, ...] = ()
    """Its other variables, which `bindings` show."""
    moments: Mapping[Term, Moment] = field(default_factory=dict)
    """The moments that patterns read, by the event that they read."""
    alerts: tuple[int, ...] = ()
    """For each RETURN … AS ALERTS how long an episode lasts before it fires, in microseconds."""
    needs: frozenset[Term] = frozenset()
    """The states that it is defined by."""
    windows: Mapping[str, ast.Window] = field(default_factory=dict)
    """The windows of the query, by name."""
    counted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The windows ON EVENT whose occurrences groups count, each with the parameters of the event."""
    row_variables: tuple[str, ...] = ()
    """Of OVER: the variables of its rows."""
    history: int | None = 0
    """How long after an instant its content may be read; None is without a limit."""
    owner: Owner | None = None
    """Where it is split: which keys are decided here."""

    @property
    def parts(self) -> frozenset[Term]:
        """The events that it is decided by."""
        match self.definition:
            case ast.EventState():
                return frozenset((self.part("from"), self.part("to")))
            case ast.OverState():
                return frozenset((self.part("rows"),))
            case ast.GroupState():
                looked = [self.windows[one] for one in windows_of(self.definition) if one in self.windows]
                return frozenset(window.event.iri for window in looked if window.event is not None)
        return frozenset()

    def part(self, name: str) -> Term:
        """The hidden event of one of its patterns: `from`, `to` or `rows`."""
        return part_of(self.state, name)


def plan_state(linked: Linked, iri: Term, stratum: int, position: int) -> StatePlan:
    """The plan of one state of an expanded query."""
    state = linked.states[iri]
    return StatePlan(
        iri,
        state.name.text,
        stratum,
        position,
        state,
        tuple(one.name for one in state.parameters),
        extra_variables(state, linked.states),
        {event: moment for event, moment in linked.moments.items() if moment.state == iri},
        tuple(dict.fromkeys(_alerts(linked, iri))),
        frozenset(linked.needs.get(iri, ())) & linked.states.keys(),
        {window.name: window for window in linked.windows},
        counted_windows(linked),
        _row_variables(state, linked),
    )


def counted_windows(linked: Linked) -> dict[str, tuple[str, ...]]:
    """The windows ON EVENT H of which a group asks `H(?v, …)`, each with the parameters of H."""
    events = {one.name: one.event.iri for one in linked.windows if one.event is not None}
    found: dict[str, tuple[str, ...]] = {}
    for definition in (*linked.states.values(), *linked.on_items.values()) if events else ():
        for atom, window in atoms_by_window(definition):
            if isinstance(window, str) and events.get(window) == atom.name.iri:
                event = linked.events[atom.name.iri]
                declared = () if isinstance(event, ast.LogicalEvent) else event.parameters
                found[window] = tuple(one.name for one in declared)
    return found


def _row_variables(state: ast.State, linked: Linked) -> tuple[str, ...]:
    if not isinstance(state, ast.OverState) or isinstance(state.over, ast.StateUse):
        return ()
    return pattern_variables(state.over, state.guard, linked.states, mentioned_by_state(state))


def plan_graph(linked: Linked, iri: Term, stratum: int, position: int) -> GraphPlan:
    """The plan of a graph event on items."""
    windows = {window.name: window for window in linked.windows}
    needs = frozenset(linked.needs.get(iri, ()))
    return GraphPlan(iri, stratum, position, linked.on_items[iri], windows, needs, counted_windows(linked))


def _alerts(linked: Linked, iri: Term) -> list[int]:
    return [
        clause.lasting.micros if clause.lasting else 0
        for clause in linked.returns
        for name in clause.events
        if name.iri == iri
    ]


def with_history(states: Sequence[StatePlan], events: Iterable[EventPlan]) -> tuple[StatePlan, ...]:
    """The states with how long after an instant WHILE and UNLESS ask what held then."""
    asked: dict[Term, list[int | None]] = {}
    for event in events:
        if event.root is not None:
            for node, back in _looking(event.root, 0):
                asked.setdefault(node.state, []).append(back)
    found = []
    for state in states:
        bounds = asked.get(state.state, [])
        history = None if None in bounds else max((one for one in bounds if one is not None), default=0)
        found.append(replace(state, history=history))
    return tuple(found)


def _looking(node: nodes.Node, back: int | None) -> Iterator[tuple[nodes.InState, int | None]]:
    """The nodes that look at a state, each with how far back."""
    if isinstance(node, nodes.InState):
        late = 0 if node.operand.punctual else node.operand.reach
        yield node, None if back is None or late is None else back + late
    if isinstance(node, nodes.Within) and node.replay:
        back = None if back is None else back + node.micros
    for operand in node.operands:
        yield from _looking(operand, back)
