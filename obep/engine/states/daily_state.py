"""`STATE S DAILY FROM 18:00 TO 08:00 ON Mon-Fri ZONE "Europe/Rome"`: a calendar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from heapq import heappop, heappush
from typing import Any
from zoneinfo import ZoneInfo

from obep.engine.states.episodes import Bindings, Episode, Key
from obep.engine.states.state_run import StateRun
from obep.model import Term
from obep.operators.state_values import Pack, Unpack
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.why_not.state_history import Spell

WEEKDAYS: tuple[ast.Weekday, ...] = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAYS = 9
"""How many days a period without a break is followed."""


@dataclass(frozen=True)
class Calendar:
    """Periods from a time of day to another, on some days of the week, in a zone."""

    start: int
    """Minutes since midnight."""
    end: int
    days: Sequence[str] = WEEKDAYS
    zone: str = "UTC"

    @cached_property
    def tz(self) -> ZoneInfo:
        return ZoneInfo(self.zone)

    def period(self, at: int) -> tuple[int, int]:
        """The period that an instant lies in, or else the next one: from its first instant to its end."""
        here = (EPOCH + timedelta(microseconds=at)).astimezone(self.tz).date()
        days = (here + timedelta(days=n) for n in range(-3, 17))  # a zone may skip the day of a week
        periods = ((one, found) for one in days if (found := self._period(one)) and at < found[1])
        day, (begin, end) = next(periods)
        for _ in range(_DAYS):  # what follows without a break belongs to it
            following = self._period(day := day + timedelta(days=1))
            if following is None or following[0] > end:
                break
            end = max(end, following[1])
        if begin <= at:
            begin = self._first(here, begin)
        return begin, end

    def _first(self, day: date, begin: int) -> int:
        """When a period began that goes on without a break over some days."""
        for n in range(_DAYS):
            before = self._period(day - timedelta(days=n + 1))
            if before is not None and before[1] < begin:
                break
            if before is not None:
                begin = min(begin, before[0])
        return begin

    def _period(self, day: date) -> tuple[int, int] | None:
        """The period that begins on a day."""
        if WEEKDAYS[day.weekday()] not in self.days:
            return None
        if not self._exists(day):
            return None
        last = day if self.end > self.start else day + timedelta(days=1)
        if not self._exists(last):
            last += timedelta(days=1)
        begin, end = self._instant(day, self.start, fold=0), self._instant(last, self.end, fold=1)
        return (begin, end) if begin < end else None

    def _exists(self, day: date) -> bool:
        """Whether the zone has that day: Pacific/Apia went from 2011-12-29 to the 31st."""
        first = EPOCH + timedelta(microseconds=self._instant(day, 0, fold=0))
        return first.astimezone(self.tz).date() == day

    def _instant(self, day: date, minutes: int, *, fold: int) -> int:
        """The first instant of a day whose clock reads so much (`fold` 1: and never less again)."""
        wall = datetime(day.year, day.month, day.day) + timedelta(minutes=minutes)
        local = wall.replace(tzinfo=self.tz, fold=fold)
        instant = local.astimezone(UTC)
        if instant.astimezone(self.tz).replace(tzinfo=None) != wall:  # the clock skips that time
            instant = self._transition(wall)
        elif fold and (instant - _MICROSECOND).astimezone(self.tz).replace(tzinfo=None) >= wall:
            instant = local.replace(fold=0).astimezone(UTC)  # clocks go back to that, not below
        return (instant - EPOCH) // _MICROSECOND

    def _transition(self, wall: datetime) -> datetime:
        """When the clock jumps over a time."""
        low, high = sorted(wall.replace(tzinfo=self.tz, fold=n).astimezone(UTC) for n in (0, 1))
        before = low.astimezone(self.tz).utcoffset()
        while high - low > _MICROSECOND:
            middle = low + (high - low) / 2
            if middle.astimezone(self.tz).utcoffset() == before:
                low = middle
            else:
                high = middle
        return high


class DailyState(StateRun):
    """A state that the calendar switches on and off."""

    def __init__(self, plan: StatePlan, calendars: Mapping[Key, tuple[Calendar, Bindings]]) -> None:
        """`calendars`: for each key that of its days and times, and its bindings."""
        super().__init__(plan)
        self._calendars = calendars
        self._edges: list[tuple[int, Key]] = []

    def start(self, at: int) -> None:
        self.episodes.now = at - 1
        for key, (calendar, bindings) in self._calendars.items():
            begin, end = calendar.period(at - 1)
            if begin < at:
                self.episodes.begin(key, begin, bindings, (), seen=False)
                heappush(self._edges, (end, key))
            else:
                heappush(self._edges, (begin, key))

    def decide(self, at: int) -> None:
        while self._edges and self._edges[0][0] <= at:
            edge, key = heappop(self._edges)
            calendar, bindings = self._calendars[key]
            begin, end = calendar.period(edge)
            if begin <= edge:
                if key not in self.episodes.open:
                    self.episodes.begin(key, edge, bindings, ())
                heappush(self._edges, (end, key))
            else:
                if key in self.episodes.open:
                    self.episodes.end(key, edge)
                heappush(self._edges, (begin, key))

    @property
    def _asked_only(self) -> bool:
        """Whether nothing waits for its edges: WHILE and UNLESS ask the calendar when they need it."""
        return not (self.state.moments or self.state.alerts or self.watchers or self.episodes.listeners)

    def next_change(self) -> int | None:
        return self._edges[0][0] if self._edges and not self._asked_only else None

    def covering(self, key: Key | None, start: int, end: int) -> Iterable[Episode]:
        asked = self._calendars if key is None else {key} & self._calendars.keys()
        for one in asked:
            calendar, bindings = self._calendars[one]
            begin, over = calendar.period(start)
            while begin <= start and over <= end and (further := calendar.period(over))[0] <= over:
                over = further[1]  # a period without a break is followed for some days only
            if begin <= start and end < over:
                yield Episode(one, begin, bindings, ())

    def follow(self, callback: Callable[[Term, Spell], None], most: int | None) -> None:
        """Nothing waits for its edges: it is asked for its periods."""

    def periods(self, key: Key, start: int, end: int) -> Iterator[Spell]:
        """The periods of a key that some instant of an interval lies in; the last of them may go on."""
        if key not in self._calendars:
            return
        calendar, _ = self._calendars[key]
        begin, over = calendar.period(start)
        while begin <= end:
            yield Spell(key, begin, over if over <= end else None, by_calendar=True)
            begin, over = calendar.period(over)

    @property
    def calendars(self) -> Mapping[Key, tuple[Calendar, Bindings]]:
        """For each key that of its days and times."""
        return self._calendars

    def dump_own(self, pack: Pack) -> Any:
        return self._edges

    def load_own(self, data: Any, unpack: Unpack) -> None:
        self._edges = [(at, tuple(key)) for at, key in data]
