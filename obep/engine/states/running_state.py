"""Which class runs a state of each kind, and the windows that it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.event_run import Running
from obep.engine.states.daily_state import WEEKDAYS, Calendar, DailyState
from obep.engine.states.episodes import Bindings, Key
from obep.engine.states.graph_run import GraphRun
from obep.engine.states.group_state import GroupState
from obep.engine.states.over_state import OverState
from obep.engine.states.state_dataset import StateDataset
from obep.engine.states.state_run import StateRun
from obep.engine.states.switched_state import SwitchedState
from obep.engine.states.window_graph import WindowGraph
from obep.errors import fail
from obep.guards.typed_values import split_literal
from obep.model import Term
from obep.plan.plan import EventPlan
from obep.plan.state_plan import GraphPlan, StatePlan
from obep.query import ast
from obep.query.walk import windows_of


class States:
    """The states and windows that run, lower strata first."""

    def __init__(self, matcher: Any) -> None:
        self.runs: dict[Term, StateRun] = {}
        self.patterns: dict[Term, EventPlan] = {}
        """The patterns of the states by rows, which run inside of them."""
        self._windows: dict[str, WindowGraph] = {}
        self._matcher = matcher

    def start(self, plan: StatePlan | GraphPlan) -> Iterator[Running]:
        """What runs for a state or a graph event, after the windows that nothing before it looks at."""
        for name in windows_of(plan.definition):
            if name in plan.windows and name not in self._windows:
                self._windows[name] = WindowGraph(plan.windows[name], self._matcher)
                yield self._windows[name]
        if isinstance(plan, GraphPlan):
            yield GraphRun(plan, dict(self.runs), dict(self._windows), self._matcher)
        else:
            run = self.runs[plan.state] = self._running(plan)
            yield run

    def _running(self, plan: StatePlan) -> StateRun:
        if isinstance(plan.definition, ast.OverState):
            return OverState(plan, self.runs, self.patterns.get(plan.part("rows")))
        return _running(plan, self.runs, self._windows, self._matcher)


def _running(
    plan: StatePlan, states: dict[Term, StateRun], windows: dict[str, WindowGraph], matcher: Any
) -> StateRun:
    match plan.definition:
        case ast.EventState():
            return SwitchedState(plan)
        case ast.GroupState():
            return GroupState(plan, dict(states), dict(windows), matcher)
        case ast.DailyState() as daily:
            return DailyState(plan, dict(_calendars(plan, daily, matcher)))
    raise AssertionError(plan.definition)


def _calendars(
    plan: StatePlan, daily: ast.DailyState, matcher: Any
) -> Iterator[tuple[Key, tuple[Calendar, Bindings]]]:
    """For each key the calendar that the definition, or K through its guard, gives it."""
    rows: list[dict[str, Term]] = [{}]
    if daily.guard is not None:
        query = translate(ast.Group((ast.Bgp(daily.guard.own), *daily.guard.filters)))
        found = evaluate(query, StateDataset(None, {}, {}, matcher))
        named = [dict(zip(query.columns, row, strict=True)) for row in found]
        rows = [{name: term for name, term in row.items() if term is not None} for row in named]
    for row in rows:
        if all(name in row for name in plan.parameters):
            calendar = Calendar(
                _minutes(daily.start, row),
                _minutes(daily.end, row),
                _days(daily.days, row),
                _zone(daily, row),
            )
            extra = {name: row[name] for name in plan.extra if name in row}
            yield tuple(row[name] for name in plan.parameters), (calendar, (extra,) if extra else ())


def _text(variable: ast.Var, row: dict[str, Term]) -> str:
    term = row.get(variable.name, "")
    return split_literal(term)[0] if term.startswith('"') else ""


def _minutes(time: int | ast.Var, row: dict[str, Term]) -> int:
    """Minutes since midnight, of `18:00` or an xsd:time."""
    if isinstance(time, int):
        return time
    hours, _, rest = _text(time, row).partition(":")
    minutes = rest.partition(":")[0]
    if hours.isdecimal() and minutes.isdecimal() and int(hours) * 60 + int(minutes) <= 24 * 60:
        return int(hours) * 60 + int(minutes)
    raise fail(
        "OBEP647",
        f"K gives {row.get(time.name, 'nothing')} as a time of day",
        reason="DAILY takes times such as 18:00.",
        remedy='write them in the static graph as "18:00"',
    )


def _days(days: tuple[ast.Weekday, ...] | ast.Var, row: dict[str, Term]) -> tuple[str, ...]:
    if not isinstance(days, ast.Var):
        return days or WEEKDAYS
    found: list[str] = []
    for part in _text(days, row).replace(",", " ").split():
        first, _, last = part.partition("-")
        if first not in WEEKDAYS or (last and last not in WEEKDAYS):
            raise fail(
                "OBEP647",
                f"K gives {row.get(days.name, 'nothing')} as days",
                reason="DAILY takes days such as Mon-Fri, Sun.",
                remedy='write them in the static graph as "Mon-Fri, Sun"',
            )
        at, end = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
        while True:
            found.append(WEEKDAYS[at])
            if at == end:
                break
            at = (at + 1) % 7
    return tuple(found) or WEEKDAYS


def _zone(daily: ast.DailyState, row: dict[str, Term]) -> str:
    zone = _text(daily.zone, row) if isinstance(daily.zone, ast.Var) else daily.zone or "UTC"
    try:
        return ZoneInfo(zone).key
    except (KeyError, ValueError, OSError):  # a folder of zones, such as Europe, is an OSError
        raise fail(
            "OBEP647",
            f"there is no time zone {zone}",
            reason="Zones have the names of the IANA database.",
            remedy='write it as "Europe/Rome"',
        ) from None
