"""The calendars of a DAILY state: as its text gives them, or K through its guard."""

from __future__ import annotations

import re
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

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::00(?:\.0+)?)?", re.ASCII)
"""A time of day, in whole minutes."""
DAY = 24 * 60


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
    known: dict[Key, Calendar] = {}
    for row in rows:
        if all(name in row for name in plan.parameters):
            calendar = Calendar(
                _minutes(daily.start, row),
                _minutes(daily.end, row),
                _days(daily.days, row),
                _zone(daily, row),
            )
            key = tuple(row[name] for name in plan.parameters)
            _require_one(known.setdefault(key, calendar), calendar, key)
            extra = {name: row[name] for name in plan.extra if name in row}
            yield key, (calendar, (extra,) if extra else ())


def _require_one(first: Calendar, calendar: Calendar, key: Key) -> None:
    """Refuse a calendar that is no time, and a second one for the same values."""
    if calendar.start == calendar.end or (calendar.start, calendar.end) == (DAY, 0):
        message = "K gives a calendar that begins and ends at the same time of day"
        reason = "That is no time at all, or the whole day: it does not say which."
        raise fail("OBEP647", message, reason=reason, remedy='"00:00" and "24:00" for the whole day')
    if first != calendar:
        about = ", ".join(key) or "the state"
        raise fail(
            "OBEP647",
            f"K gives two calendars for {about}",
            reason="A state DAILY has one for each value of its parameters.",
            remedy="a parameter that distinguishes them, or two states",
        )


def _text(variable: ast.Var, row: dict[str, Term]) -> str:
    term = row.get(variable.name, "")
    return split_literal(term)[0] if term.startswith('"') else ""


def _minutes(time: int | ast.Var, row: dict[str, Term]) -> int:
    """Minutes since midnight, of `18:00` or an xsd:time."""
    if isinstance(time, int):
        return time
    if found := _TIME.fullmatch(_text(time, row)):
        return int(found[1]) * 60 + int(found[2])
    if _text(time, row) in ("24:00", "24:00:00"):
        return DAY
    raise fail(
        "OBEP647",
        f"K gives {row.get(time.name, 'nothing')} as a time of day",
        reason="DAILY takes times in whole minutes, such as 18:00.",
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
