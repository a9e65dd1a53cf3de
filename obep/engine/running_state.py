"""Which class runs a state of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obep.engine.daily_state import WEEKDAYS, Calendar, DailyState
from obep.engine.state_run import StateRun
from obep.engine.switched_state import SwitchedState
from obep.errors import fail
from obep.model import Term
from obep.plan.state_plan import StatePlan
from obep.query import ast


def running_state(plan: StatePlan, states: Mapping[Term, StateRun], matcher: Any) -> StateRun:
    """What runs for a state; `states` are those of lower strata."""
    match plan.definition:
        case ast.EventState():
            return SwitchedState(plan)
        case ast.DailyState() as daily if daily.guard is None:
            assert isinstance(daily.start, int) and isinstance(daily.end, int)
            assert not isinstance(daily.days, ast.Var) and not isinstance(daily.zone, ast.Var)
            calendar = Calendar(daily.start, daily.end, daily.days or WEEKDAYS, daily.zone or "UTC")
            return DailyState(plan, {(): (calendar, ())})
    raise fail("OBEP599", f"the state {plan.name} cannot run yet")
