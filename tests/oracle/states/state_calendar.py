"""DAILY (STATES 2): days and clocks, minute by minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from obep.model import SECOND

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = 60 * SECOND


def micros(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


@cache
def minutes_of(day: date, zone: str) -> tuple[tuple[int, int], ...]:
    """All minutes of a local day in order: the instant, and the minute since midnight that clocks show."""
    place = ZoneInfo(zone)
    at = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=26)
    found = []
    for _ in range(76 * 60):
        local = at.astimezone(place)
        if local.date() == day:
            found.append((micros(at), local.hour * 60 + local.minute))
        at += timedelta(minutes=1)
    return tuple(found)


def first_reading(day: date, zone: str, minute: int) -> int:
    """The first instant of the day whose clock reads that or more (24:00: the end of the day)."""
    shown = minutes_of(day, zone)
    return next((at for at, clock in shown if clock >= minute), shown[-1][0] + MINUTE)


def never_less(day: date, zone: str, minute: int) -> int:
    """The first instant of the day from which on its clock never reads less."""
    shown = minutes_of(day, zone)
    less = [at for at, clock in shown if clock < minute]
    return max(less) + MINUTE if less else shown[0][0]


def intervals(
    start: int, end: int, days: frozenset[str], zone: str, first: int, last: int
) -> list[tuple[int, int]]:
    """[FROM, TO) of each day that touches [first, last], those that touch each other as one."""
    if start == end:
        raise ValueError("TO = FROM")
    day = (EPOCH + timedelta(microseconds=first)).date() - timedelta(days=9)
    until = (EPOCH + timedelta(microseconds=last)).date() + timedelta(days=2)
    found: list[tuple[int, int]] = []
    while day <= until:
        if not days or DAYS[day.weekday()] in days:
            closing = day if end > start else day + timedelta(days=1)
            one = (first_reading(day, zone, start), never_less(closing, zone, end))
            if one[0] < one[1]:
                if found and one[0] <= found[-1][1]:
                    one = (found.pop()[0], one[1])
                found.append(one)
        day += timedelta(days=1)
    return [(b, x) for b, x in found if x >= first and b <= last]
