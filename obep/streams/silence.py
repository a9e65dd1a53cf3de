"""Time when nothing comes: after `idle`, event time goes on at the pace of the clock on the wall.

So the last sensor of all can be noticed to be silent, although no later item says what time it is. Event time
is carried on from the latest instant seen, so it need not be today's, and devices' clocks may be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Item


class Silence:
    """Knows how far event time has come while no item arrives. `now` is always seconds of a steady clock."""

    def __init__(self, idle: int | None, lateness: int, now: float, latest: int | None = None) -> None:
        self._idle = idle
        self._lateness = lateness
        self._latest = latest
        self._heard = now

    def hear(self, items: Iterable[Item], now: float) -> None:
        """Items have arrived."""
        for item in items:
            if self._latest is None or item.at > self._latest:
                self._latest = item.at
        self._heard = now

    def reached(self, now: float) -> int | None:
        """The instant that time has come to by silence alone, if it has lasted long enough."""
        if self._idle is None or self._latest is None:
            return None
        beyond = round((now - self._heard) * 1_000_000) - self._idle
        return self._latest + beyond - self._lateness if beyond > 0 else None
