"""The periods of DAILY in all zones, also where clocks are changed and where a day is left out."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo, available_timezones

import pytest

from obep.engine.states.daily_state import WEEKDAYS, Calendar
from oracle.states.state_calendar import HOUR, MINUTE, intervals, micros, shift

CASES = int(os.environ.get("OBEP_CALENDARS", "25"))
DAY = 24 * HOUR
APIA = "Pacific/Apia"


def periods(calendar: Calendar, first: int, last: int) -> list[tuple[int, int]]:
    """The periods that touch [first, last], one after the other."""
    found = []
    begin, end = calendar.period(first)
    while begin <= last:
        found.append((begin, end))
        further = calendar.period(end)
        assert further[1] > end
        if further[0] <= end:  # a period without a break is followed for some days only
            found[-1] = (begin, end := further[1])
            begin = found[-1][0]
            if end > last:
                break
            continue
        begin, end = further
    return found


def local(at: int, zone: str) -> str:
    return (
        (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)).astimezone(ZoneInfo(zone)).isoformat()
    )


@pytest.mark.parametrize("seed", range(CASES))
def test_a_calendar_holds_when_the_clocks_of_its_zone_say_so(seed: int) -> None:
    """Any zone, any year; half of them about a change of clocks, if the zone has one in that year."""
    random = Random(seed)
    zone = random.choice(sorted(available_timezones()))
    place, year = ZoneInfo(zone), random.randint(1970, 2037)
    noons = [micros(datetime(year, 1, 1, 12, tzinfo=UTC)) + n * DAY for n in range(365)]
    shifts = [at for at in noons if shift(at, place) != shift(at + DAY, place)]
    about = random.choice(shifts if shifts and random.random() < 0.7 else noons)
    first = about - random.randint(0, 3 * 24) * HOUR + random.randint(0, 59) * MINUTE
    last = about + random.randint(1, 4 * 24) * HOUR
    near = [
        m for hour in (0, 1, 2, 3, 23) for m in (hour * 60, hour * 60 + 1, hour * 60 + 30, hour * 60 + 59)
    ]
    start = random.choice(near) if random.random() < 0.7 else random.randrange(1440)
    end = random.choice([m for m in (*near, 1440, random.randrange(1, 1440)) if m != start])
    days = tuple(random.sample(WEEKDAYS, random.choice((1, 2, 5, 7))))
    expected = [(b, x) for b, x in intervals(start, end, frozenset(days), zone, first, last) if x > first]
    found = periods(Calendar(start, end, days, zone), first, last)
    long = first - 7 * DAY  # what has gone on for days began some days ago, and that is all that is asked
    told = [[(local(max(b, long), zone), local(x, zone)) for b, x in some] for some in (found, expected)]
    assert told[0] == told[1], (seed, zone, start, end, days)


@pytest.mark.parametrize(
    ("start", "end", "days", "expected"),
    [
        # 20:00 to 06:00 every night: that of the 29th ends on the 31st, ten hours later
        (20 * 60, 6 * 60, WEEKDAYS, [("2011-12-29T20:00:00-10:00", "2011-12-31T06:00:00+14:00")]),
        (20 * 60, 6 * 60, ("Thu",), [("2011-12-29T20:00:00-10:00", "2011-12-31T06:00:00+14:00")]),
        # The 30th was a Friday, and there is none of it.
        (8 * 60, 18 * 60, ("Fri",), [("2012-01-06T08:00:00+14:00", "2012-01-06T18:00:00+14:00")]),
        (20 * 60, 6 * 60, ("Fri",), [("2012-01-06T20:00:00+14:00", "2012-01-07T06:00:00+14:00")]),
        (8 * 60, 18 * 60, ("Sat",), [("2011-12-31T08:00:00+14:00", "2011-12-31T18:00:00+14:00")]),
    ],
)
def test_a_day_that_a_zone_skips_has_no_period(
    start: int, end: int, days: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    """Samoa went from Thursday 2011-12-29 to Saturday the 31st."""
    calendar = Calendar(start, end, days, APIA)
    begin, over = calendar.period(micros(datetime(2011, 12, 30, 7, tzinfo=UTC)))  # the 29th, 21:00 there
    assert [(local(begin, APIA), local(over, APIA))] == expected
    assert date(2011, 12, 30).strftime("%a") == "Fri"
