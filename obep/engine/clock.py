"""Event time: what is late, what lies too far in the future, and how far time has come.

One rule for the embedded engine and for Spark: the slowest stream leads, idle ones time out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from operator import le
from typing import Any, Literal

import msgspec

from obep.model import SECOND

Verdict = Literal["on time", "late", "future"]


class ClockState(msgspec.Struct):
    """The state of a clock. It does not depend on settings, so they may change between two runs."""

    watermark: int | None
    greatest: dict[str, int | None]
    last_arrival: dict[str, int] = msgspec.field(name="heard")
    start: int | None
    elapsed: int
    looked: int | None


class Clock:
    """The watermark of several streams.

    `lateness` is how long an item may come after a later one of its stream. `idle` is how long (in time of
    arrival) a stream may be silent before the others go on without it; with it each of `streams` is waited
    for from the start, and once all are silent time goes on by itself. Without `idle` and `lateness` the
    input is taken as it comes, as one stream in order. `future` is how far beyond its arrival an item's
    instant may lie.

    `now` is a reading of a clock that should be steady. Between two looks at it at most `idle` is counted as
    silence, and never less than nothing: it may be set anew, and the process or the machine may have slept.
    """

    def __init__(
        self,
        lateness: int = 0,
        idle: int | None = None,
        future: int | None = None,
        streams: Iterable[str] = (),
    ) -> None:
        self.lateness = lateness
        self.idle = idle
        self.future = future
        self.watermark: int | None = None
        """No item before it is taken any more."""
        self._together = lateness == 0 and idle is None
        self._awaited = tuple(streams) if idle is not None else ()
        self._greatest: dict[str, int | None] = dict.fromkeys(self._awaited)
        self._last_arrival: dict[str, int] = {}
        self._start: int | None = None
        self._elapsed = 0
        """The time of arrival that has been counted; `_last_arrival` and `_start` are readings of it."""
        self._looked: int | None = None

    def observe(self, stream: str, at: int, now: int | None = None, wall: int | None = None) -> Verdict:
        """Whether an item that arrives `now` is taken; if so, time may go on.

        `wall` is the date of its arrival, by which `future` goes; by default `now` is one.
        """
        if self.too_far(at, now if wall is None else wall):
            return "future"
        self._look(now)
        if now is not None:
            self._last_arrival[stream] = self._elapsed
        if self.watermark is not None and at < self.watermark:
            return "late"
        known = self._greatest.get(stream)
        if known is None or at > known:
            self._greatest[stream] = at
        self._raise(at if self._together else self._slowest(now is not None))
        return "on time"

    def goes_on(self, stream: str, at: int, now: int, wall: int) -> bool:
        """Take an item of an input that is one stream in order, if it is; then time has come to it.

        The same as `observe`, in fewer steps. False: ask `observe`.
        """
        if not self._together or self._start is None or self.watermark is None or at < self.watermark:
            return False
        if self.future is not None and at > wall + self.future:
            return False
        self._looked = now
        self._last_arrival[stream] = self._elapsed  # constant where silence is not counted
        self._greatest[stream] = self.watermark = at
        return True

    def goes_on_until(self, times: Sequence[int]) -> int:
        """How many of some instants, from the first on, `goes_on` would take."""
        if not self._together or self.future is not None or not times:
            return 0
        if self._start is None or self.watermark is None:
            return 0
        if times[0] < self.watermark:
            return 0
        if all(map(le, times, islice(times, 1, None))):
            return len(times)
        return next(n for n, (one, other) in enumerate(pairwise(times), 1) if other < one)

    def too_far(self, at: int, wall: int | None) -> bool:
        """Whether an item that arrives at the date `wall` lies beyond `future`."""
        return self.future is not None and wall is not None and at > wall + self.future

    def tick(self, maxima: Mapping[str, int], now: int | None = None) -> int | None:
        """The watermark, after other parts of the input have come to these instants, or time has passed."""
        self._look(now)
        for stream, at in maxima.items():
            known = self._greatest.get(stream)
            if known is None or at > known:
                self._greatest[stream] = at
                if now is not None:
                    self._last_arrival[stream] = self._elapsed
        self._raise(self._slowest(now is not None))
        return self.watermark

    def advance(self, to: int) -> None:
        """Raise the watermark to `to`: every stream has reached it."""
        if self.watermark is None or to > self.watermark:
            self.watermark = to

    def holding(self, now: int | None = None) -> tuple[str, ...]:
        """The streams that hold the clock back, slowest first: at `now`, or at the last look."""
        if self._together:
            return ()
        elapsed = self._elapsed if now is None else self._counted(now)
        active = [
            (at is not None, at or 0, name)
            for name, at in self._greatest.items()
            if not self._silent(name, elapsed)
        ]
        least = min(active, default=None)
        return tuple(name for has, at, name in sorted(active) if least and (has, at) == least[:2])

    def _look(self, now: int | None) -> None:
        """Count the time since the last look."""
        if now is None:
            return
        self._elapsed, self._looked = self._counted(now), now
        if self._start is None:
            self._start = self._elapsed

    def _counted(self, now: int) -> int:
        if self._looked is None or self.idle is None:
            return self._elapsed
        return self._elapsed + min(max(0, now - self._looked), self.idle)

    def _slowest(self, timed: bool) -> int | None:
        """The watermark by the slowest stream; `timed`: the time of arrival is known."""
        if self._together:
            return max((at for at in self._greatest.values() if at is not None), default=None)
        elapsed = self._elapsed if timed else None
        active = [at for name, at in self._greatest.items() if not self._silent(name, elapsed)]
        if not active:
            return self._in_silence(elapsed)
        slowest = None
        for at in active:
            if at is None:
                return None
            slowest = at if slowest is None else min(slowest, at)
        return None if slowest is None else slowest - self.lateness

    def _in_silence(self, elapsed: int | None) -> int | None:
        """While all streams are silent, time advances from the latest instant with the clock of arrival.

        So the last sensor of all can be noticed to be silent, although no later item says what time it is.
        """
        known = [at for at in self._greatest.values() if at is not None]
        if not known:
            return None
        last = max(self._last_arrival.values(), default=self._start)
        beyond = 0 if elapsed is None or last is None or self.idle is None else elapsed - last - self.idle
        return max(known) - self.lateness + max(0, beyond)

    def _silent(self, stream: str, elapsed: int | None) -> bool:
        if self.idle is None or elapsed is None:
            return False
        since = self._last_arrival.get(stream, self._start if self._start is not None else elapsed)
        return elapsed - since >= self.idle

    def _raise(self, watermark: int | None) -> None:
        if watermark is not None and (self.watermark is None or watermark > self.watermark):
            self.watermark = watermark

    def follow(self, streams: Iterable[str]) -> None:
        """Go on with other streams: those that are not among them no longer hold back the watermark.

        A new one is waited for, if any is, from now on. The watermark stays.
        """
        named = tuple(streams)
        self._awaited = named if self.idle is not None else ()
        new = [name for name in self._awaited if name not in self._greatest]
        kept = {name: at for name, at in self._greatest.items() if name in named}
        self._greatest = {**dict.fromkeys(self._awaited), **kept}
        self._last_arrival = {name: at for name, at in self._last_arrival.items() if name in named}
        if self._start is not None:
            self._last_arrival.update(dict.fromkeys(new, self._elapsed))

    def resume(self) -> None:
        """Continue in a new process: the time in between does not count as silence."""
        self._last_arrival.clear()
        self._start = None
        self._looked = None

    def dump(self) -> dict[str, Any]:
        """Its state, for a snapshot."""
        return {
            "watermark": self.watermark,
            "greatest": self._greatest,
            "heard": self._last_arrival,
            "start": self._start,
            "elapsed": self._elapsed,
            "looked": self._looked,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Go on from a dump, also of a clock with other settings: they hold from its watermark on.

        Only a clock with `idle` waits for streams without an item so far.
        """
        state = msgspec.convert(data, ClockState)
        self.watermark = state.watermark
        seen = {stream: at for stream, at in state.greatest.items() if at is not None}
        self._greatest = {**dict.fromkeys(self._awaited), **seen}
        self._last_arrival = state.last_arrival
        self._start = state.start
        self._elapsed = state.elapsed
        self._looked = state.looked


def micros(duration: object) -> int | None:
    """A duration as microseconds: a number of seconds, a `timedelta`, or text such as `5 s`.

    >>> micros(2), micros("500 ms"), micros(None)
    (2000000, 500000, None)
    """
    from datetime import timedelta

    from obep.errors import fail
    from obep.query.parse.spelling import DurationError, to_micros

    if duration is None:
        return None
    try:
        if isinstance(duration, timedelta):
            found = duration // timedelta(microseconds=1)
        elif isinstance(duration, int | float):
            found = round(duration * SECOND)
        else:
            found = to_micros(str(duration))
        if found < 0:
            raise ValueError
        return found
    except (DurationError, ValueError, OverflowError):
        raise fail("OBEP013", f"{duration!r} is not a duration", remedy="5 s, 500 ms, 2 min") from None
