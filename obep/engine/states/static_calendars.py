"""The calendars of a DAILY state: as its text gives them, or K through its guard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.engine.states.daily_state import WEEKDAYS, Calendar
from obep.engine.states.episodes import Bindings, Key
from obep.engine.states.state_dataset import StateDataset
from obep.errors import fail
from obep.guards.typed_values import split_literal
from obep.model import Term
from obep.plan.state_plan import StatePlan
from obep.query import ast


def static_calendars(
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
