"""A sub-pattern that several events have in common: it runs once, and feeds them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from obep.algebra.over.over_expressions import MAX_BECAUSE
from obep.engine.event_run import EventRun, Undivided, running
from obep.engine.family_rows import by_condition, by_leaf
from obep.engine.states.state_run import StateRun
from obep.model import Item, Occurrence, Term
from obep.operators.candidates import Candidate, Emit
from obep.operators.state_context import States
from obep.operators.tree import Tree
from obep.plan.event_families import Family
from obep.plan.nodes import Read
from obep.plan.plan import EventPlan, Plan
from obep.plan.state_plan import GraphPlan, StatePlan


class Common(Undivided):
    """A tree whose candidates go on into other trees, as soon as they are there."""

    def __init__(self, plan: EventPlan, states: States | None = None) -> None:
        assert plan.root is not None
        tree = Tree(plan.root, states=states)
        super().__init__(plan, tree, tree)
        self._fed: list[tuple[Emit, Callable[[], None]]] = []

    @property
    def inlets(self) -> list[tuple[str, Emit]]:
        return self._tree.inlets

    def feed(self, event: Term, emit: Emit, touch: Callable[[], None]) -> None:
        """Give an event's candidates to `emit`, and tell it that it has got one."""
        self._fed.append((emit, touch))

    def report(self) -> Sequence[Occurrence]:
        for candidate in self._tree.found:
            self._hand_on(candidate)
        self._tree.found.clear()
        return ()

    def _hand_on(self, candidate: Candidate) -> None:
        for emit, touch in self._fed:
            emit(candidate)
            touch()

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        self._intake.close()
        self._tree.close(at)
        return self.report()


class Kin(Common):
    """The common pattern of a family of events: each event gets its own candidates and rows."""

    def __init__(self, plan: EventPlan, family: Family, states: States | None = None) -> None:
        super().__init__(plan, states)
        self._choose = by_leaf(family) if family.leaf is not None else by_condition(family)
        self._members: dict[Term, tuple[Emit, Callable[[], None]]] = {}

    def feed(self, event: Term, emit: Emit, touch: Callable[[], None]) -> None:
        self._members[event] = (emit, touch)

    def _hand_on(self, candidate: Candidate) -> None:
        for event, own in self._choose(candidate):
            emit, touch = self._members[event]
            emit(own)
            touch()


def all_running(
    plan: Plan, max_keys: int | None = None, matcher: Any = None, max_because: int = MAX_BECAUSE
) -> list[EventRun]:
    """What runs for the events and states, in their order; common patterns come before their first event."""
    events, common = plan.shared
    runs: list[EventRun] = []
    states: dict[Term, StateRun] = {}
    if plan.states or plan.graphs:
        from obep.engine.states.running_state import RunningStates

        hosts = RunningStates(matcher, max_because)
        states = hosts.runs
    ahead: list[StatePlan | GraphPlan] = [*plan.states, *plan.graphs]
    ahead.sort(key=lambda one: (one.stratum, one.position), reverse=True)
    started: set[str] = set()
    of_rows = {state.part("rows") for state in plan.states}
    of_switches = {state.part(part) for state in plan.states for part in ("from", "to")}

    def add(run: EventRun) -> None:
        for name, _ in run.inlets:
            _start(name, common, started, runs, states)
        runs.append(run)

    for number, event in enumerate(events):
        while ahead and ahead[-1].position <= number:
            for one in hosts.start(ahead.pop()):
                add(one)
        if event.event in of_rows or (event.event in of_switches and is_leaf(event)):
            hosts.patterns[event.event] = event
        elif (run := running(event, max_keys, states)) is not None:
            add(run)
    for state in reversed(ahead):
        for one in hosts.start(state):
            add(one)
    if plan.queries:
        from obep.engine.queries.start_queries import start_queries

        parameters = {event.event: event.parameters for event in plan.events}
        runs += start_queries(plan.queries, states, matcher, parameters, plan.shares)
    return runs


def is_leaf(event: EventPlan) -> bool:
    """Whether a pattern is a single event, so that its occurrences can be taken as they are."""
    root = event.root
    return type(root) is Read and not (root.wide or root.held or event.partition_by)


def _start(
    name: str,
    common: Mapping[str, EventPlan],
    started: set[str],
    runs: list[EventRun],
    states: Mapping[Term, StateRun],
) -> None:
    """Run a common pattern, after those that it is fed by."""
    if name in started:
        return
    started.add(name)
    family = common[name].family
    plan = common[name]
    run = Common(plan, states) if family is None else Kin(plan, family, states)
    for below, _ in run.inlets:
        _start(below, common, started, runs, states)
    runs.append(run)


def connect(runs: Sequence[EventRun], touch: Callable[[int], None]) -> None:
    """Let the common sub-patterns feed the events."""
    common = {run.plan.event: run for run in runs if isinstance(run, Common)}
    states = {run.plan.event: run for run in runs if isinstance(run, StateRun)}
    for number, run in enumerate(runs):
        for name, emit in run.inlets:
            common[name].feed(run.fed_as, emit, partial(touch, number))
        if isinstance(run, StateRun):
            for need in run.state.needs:
                states[need].watchers.append(partial(touch, number))
            for window in run.windows:
                window.groups.append((run, partial(touch, number)))
        run.connect(partial(touch, number))
