"""Which class runs a state of each kind, and the windows that it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from obep.engine.event_run import EventRun
from obep.engine.states.daily_state import DailyState
from obep.engine.states.graph_run import GraphRun
from obep.engine.states.group_state import GroupState
from obep.engine.states.over_state import OverState
from obep.engine.states.state_run import StateRun
from obep.engine.states.static_calendars import static_calendars
from obep.engine.states.switched_state import SwitchedState
from obep.engine.states.window_graph import WindowGraph
from obep.model import Term
from obep.plan.plan import EventPlan
from obep.plan.state_plan import GraphPlan, StatePlan
from obep.query import ast
from obep.query.walk import windows_of


class RunningStates:
    """The states and windows that run, lower strata first."""

    def __init__(self, matcher: Any, max_because: int) -> None:
        self.runs: dict[Term, StateRun] = {}
        self.patterns: dict[Term, EventPlan] = {}
        """The patterns that run inside of their states: those of rows, and those that are a single event."""
        self._windows: dict[str, WindowGraph] = {}
        self._matcher = matcher
        self._max_because = max_because

    def start(self, plan: StatePlan | GraphPlan) -> Iterator[EventRun]:
        """What runs for a state or a graph event, after the windows that nothing before it looks at."""
        for name in windows_of(plan.definition):
            if name in plan.windows and name not in self._windows:
                self._windows[name] = WindowGraph(plan.windows[name], self._matcher, plan.counted.get(name))
                yield self._windows[name]
        if isinstance(plan, GraphPlan):
            yield GraphRun(plan, dict(self.runs), dict(self._windows), self._matcher)
        else:
            run = self.runs[plan.state] = self._running(plan)
            yield run

    def _running(self, plan: StatePlan) -> StateRun:
        if isinstance(plan.definition, ast.OverState):
            return OverState(plan, self.runs, self.patterns.get(plan.part("rows")), self._max_because)
        if isinstance(plan.definition, ast.EventState):
            return SwitchedState(plan, self.patterns)
        return _running(plan, self.runs, self._windows, self._matcher)


def _running(
    plan: StatePlan, states: dict[Term, StateRun], windows: dict[str, WindowGraph], matcher: Any
) -> StateRun:
    match plan.definition:
        case ast.GroupState():
            return GroupState(plan, dict(states), dict(windows), matcher)
        case ast.DailyState() as daily:
            return DailyState(plan, dict(static_calendars(plan, daily, matcher)))
    raise AssertionError(plan.definition)
