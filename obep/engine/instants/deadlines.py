"""The deadlines of a plan: the instants at which something is decided without any item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obep.engine.event_run import EventRun

NEVER = 1 << 62


class Deadlines:
    """The next deadline of each run; a run is asked again only after something happened to it."""

    def __init__(self, runs: Sequence[EventRun]) -> None:
        self._runs = runs
        self.timed = [number for number, run in enumerate(runs) if run.timed]
        self.due: dict[int, int] = dict.fromkeys(self.timed, NEVER)
        self.first = NEVER
        """The least of them."""
        self.stale: set[int] = set(self.timed)
        """The runs whose deadline may differ from `due`."""

    def forget(self) -> None:
        """Ask all runs again: their state is another one."""
        self.due = dict.fromkeys(self.timed, NEVER)
        self.first = NEVER
        self.stale.update(self.timed)

    def next(self, now: int | None, exactly: bool = False) -> int | None:
        """The next deadline after the instant `now`.

        Perhaps nothing is decided there, where a run has its deadlines `in_turn` and its first has moved on;
        not if `exactly`.
        """
        dues, runs, now = self.due, self._runs, now or 0
        for number in self.stale:
            before = dues.get(number)
            if before is None:
                continue
            run = runs[number]
            if run.in_turn and now < before < NEVER and not exactly:
                continue
            due = run.next_deadline()
            dues[number] = after = NEVER if due is None else due
            if after < self.first:
                self.first = after
            elif before == self.first:
                self.first = min(dues.values())
        self.stale.clear()
        return None if self.first == NEVER else self.first

    def reached(self, at: int) -> Iterable[int]:
        """The runs that have a deadline by an instant."""
        return [number for number, due in self.due.items() if due <= at]

    def of_others(self, number: int, now: int | None) -> int:
        """The next deadline of another run than one."""
        self.stale.update(self.timed)
        self.next(now, exactly=True)
        return min([due for n, due in self.due.items() if n != number], default=NEVER)
