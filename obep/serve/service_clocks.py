"""The clocks of a service: the date, and a steady one that goes on from the last entry of its log."""

from __future__ import annotations

import time

from obep.engine.clock import Clock
from obep.serve.query_set import QuerySet


class ServiceClocks:
    """What they showed at the last look, in microseconds. A replay sets them as the log says."""

    def __init__(self) -> None:
        self.wall = self.steady = 0
        self._base = 0, 0

    def begin(self) -> None:
        """The steady clock goes on from here."""
        self._base = self.steady, time.monotonic_ns() // 1000

    def look(self) -> None:
        """Read them."""
        steady, monotonic = self._base
        self.wall = time.time_ns() // 1000
        self.steady = steady + time.monotonic_ns() // 1000 - monotonic

    def move(self, queries: QuerySet) -> bool:
        """Whether a watermark would be another one if its engine looked at the clock now."""
        return any(self._moves(one.clock, tuple(one.query.linked.streams)) for _, one in queries)

    def _moves(self, clock: Clock, streams: tuple[str, ...]) -> bool:
        if clock.idle is None:
            return False
        ahead = Clock(clock.lateness, clock.idle, clock.future, streams)
        ahead.load(clock.dump())
        return ahead.tick({}, self.steady) != clock.watermark
