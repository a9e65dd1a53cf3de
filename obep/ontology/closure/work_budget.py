"""The cost limit of one item, counted in steps: the same on every machine and engine."""

from __future__ import annotations

OVER_BUDGET = "OBEP628"
MAX_WORK = 2_000_000
"""Steps for one item, unless `[engine] max_work` sets another number."""


class OverBudget(Exception):
    """An item needs more steps than it may have."""


class Work:
    """Counts steps against a bound: facts that are looked at, and sets that are tried as explanations."""

    __slots__ = ("done", "most")

    def __init__(self, most: int = MAX_WORK) -> None:
        self.most, self.done = most, 0

    @property
    def left(self) -> int:
        """The steps that are left."""
        return self.most - self.done

    def spend(self, steps: int) -> None:
        """Raises `OverBudget` if there are not so many steps left."""
        self.done += steps
        if self.done > self.most:
            raise OverBudget
