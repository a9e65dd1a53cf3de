"""FULL and HELD: since when a group has had rows, and for how long a state held."""

from __future__ import annotations

from collections import deque
from typing import Any

from obep.algebra.aggregates.accumulator import RowKey, term_of_figure
from obep.guards.calendar import Lapse
from obep.guards.typed_values import Value
from obep.model import Term


class Full:
    """FULL(): the group has had a row without a break since `now - within` or before.

    Rows come with their end, not with the instant at which they are known, so who keeps them says when the
    group came to have rows (`begin`) and when it had none any more (`cease`).
    """

    def __init__(self, within: int) -> None:
        self._within = within
        self._since: int | None = None

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """Rows do not change it."""

    remove = add

    def begin(self, since: int) -> None:
        """The group has rows from this instant on."""
        self._since = since

    def cease(self) -> None:
        """The group has no row."""
        self._since = None

    def figure(self, now: int) -> Value | None:
        return self._since is not None and self._since <= now - self._within

    def value(self, now: int) -> Term | None:
        return term_of_figure(self.figure(now))


class Held:
    """HELD(): the time in (now - within, now] for which a state held, as a duration.

    If several values of the state hold for one group, time counts once. Instants come in order.
    """

    def __init__(self, within: int) -> None:
        self._within = within
        self._open = 0
        self._since = 0
        self._past: deque[tuple[int, int]] = deque()
        self._sum = 0

    def add(self, end: int, row_key: RowKey, value: Term | None) -> None:
        """Rows do not change it."""

    remove = add

    def begin(self, instant: int) -> None:
        """A value of the state began to hold."""
        if not self._open:
            self._since = instant
        self._open += 1

    def cease(self, instant: int) -> None:
        """A value of the state holds no more."""
        self._open -= 1
        if not self._open and instant > self._since:
            self._past.append((self._since, instant))
            self._sum += instant - self._since

    def plain(self) -> list[Any]:
        """The state as plain values."""
        return [self._open, self._since, [list(span) for span in self._past]]

    def restore(self, plain: list[Any]) -> None:
        """Remembers what another one has."""
        self._open, self._since, past = plain
        self._past = deque((begin, end) for begin, end in past)
        self._sum = sum(end - begin for begin, end in self._past)

    def value(self, now: int) -> Term | None:
        return term_of_figure(self.figure(now))

    def figure(self, now: int) -> Value | None:
        least = now - self._within
        while self._past and self._past[0][1] <= least:
            begin, end = self._past.popleft()
            self._sum -= end - begin
        held = self._sum
        if self._past:
            held -= max(0, least - self._past[0][0])
        if self._open:
            held += now - max(self._since, least)
        return Lapse(held)
