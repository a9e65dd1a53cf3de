"""DAILY (STATES 2): days and clocks, from one change of clocks to the next.

A day that a zone skips has no instant, so it has no FROM; a TO of the next day is one of the next day that
there is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from obep.model import SECOND

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def micros(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


@cache
def pieces_of(day: date, zone: str) -> tuple[tuple[int, int, int], ...]:
    """The parts of a local day in order: from an instant to another, and what clocks show at the first.

    Inside a part clocks run on. A day that the zone skips has none.
    """
    place = ZoneInfo(zone)
    low = micros(datetime(day.year, day.month, day.day, tzinfo=UTC)) - 26 * HOUR
    quarters = [(at, at + HOUR // 4) for at in range(low, low + 76 * HOUR, HOUR // 4)]
    changes = [changed_at(*one, place) for one in quarters if shift(one[0], place) != shift(one[1], place)]
    edges = [low, *changes, low + 76 * HOUR]
    midnight = (day - EPOCH.date()).days * 24 * HOUR
    found = []
    for first, last in pairwise(edges):
        ahead = shift(first, place)
        start, end = max(first, midnight - ahead), min(last, midnight + 24 * HOUR - ahead)
        if start < end:
            found.append((start, end, start + ahead - midnight))
    return tuple(found)


def shift(at: int, place: ZoneInfo) -> int:
    """By how much clocks are ahead of UTC."""
    return (EPOCH + timedelta(microseconds=at)).astimezone(place).utcoffset() // timedelta(microseconds=1)  # type: ignore[operator]


def changed_at(low: int, high: int, place: ZoneInfo) -> int:
    """The first instant with the shift of `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if shift(middle, place) == shift(low, place):
            low = middle
        else:
            high = middle
    return high


def first_reading(day: date, zone: str, minute: int) -> int:
    """The first instant of the day whose clock reads that or more (24:00: the end of the day)."""
    pieces = pieces_of(day, zone)
    for start, end, clock in pieces:
        if clock + (end - start) > minute * MINUTE:
            return start + max(0, minute * MINUTE - clock)
    return pieces[-1][1]


def never_less(day: date, zone: str, minute: int) -> int:
    """The first instant of the day from which on its clock never reads less."""
    pieces = pieces_of(day, zone)
    for start, end, clock in reversed(pieces):
        if clock < minute * MINUTE:
            return min(end, start + minute * MINUTE - clock)
    return pieces[0][0]


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
        if pieces_of(day, zone) and (not days or DAYS[day.weekday()] in days):
            closing = day
            while (end <= start and closing <= day) or not pieces_of(closing, zone):
                closing += timedelta(days=1)
            one = (first_reading(day, zone, start), never_less(closing, zone, end))
            if one[0] < one[1]:
                if found and one[0] <= found[-1][1]:
                    one = (found.pop()[0], one[1])
                found.append(one)
        day += timedelta(days=1)
    return [(b, x) for b, x in found if x >= first and b <= last]
