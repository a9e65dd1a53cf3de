"""Windows: which items of a stream an event looks at together, and when (SPEC §7).

Every item leaves a window when the window's *measure* has come to the item's expiration (001_*): time for
RANGE, the number of items for ROWS; from the other kinds none ever leaves.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obep.model import Term, body_of
from obep.query.ast import LogicalEvent, Window

if TYPE_CHECKING:
    from obep.query.link import Linked

NEVER = 1 << 62


@dataclass(frozen=True)
class WindowPlan:
    """A window, and the classes that are looked for in it: its events, of guarded ones the bodies."""

    window: Window
    goals: tuple[Term, ...]

    def only(self, goals: Container[Term]) -> WindowPlan | None:
        """The plan for some of its goals, if it has any of them."""
        kept = tuple(goal for goal in self.goals if goal in goals)
        return WindowPlan(self.window, kept) if kept else None

    @property
    def name(self) -> str:
        return self.window.name

    @property
    def stream(self) -> str:
        return self.window.stream

    @property
    def range(self) -> int | None:
        """How long an item stays, in microseconds; None if time does not decide it."""
        return self.window.range.micros if self.window.range is not None else None

    @property
    def step(self) -> int | None:
        return self.window.step.micros if self.window.step is not None else None

    @property
    def lasting(self) -> bool:
        """Whether no item ever leaves it while it is open."""
        return self.range is None and self.window.rows is None

    @property
    def over(self) -> int | None:
        """The last instant of FROM … TO: nothing comes after it."""
        return self.window.end

    def takes(self, at: int) -> bool:
        """Whether an item of this instant is ever in the window."""
        start, end = self.window.start, self.window.end
        return (start is None or start <= at) and (end is None or at <= end)

    def measure(self, now: int, count: int) -> int:
        """Where the window stands at an instant, after so many items."""
        return now if self.window.rows is None else count

    def expires(self, at: int, count: int) -> int:
        """The measure at which an item leaves; `count` includes all of its instant, which leave together."""
        if self.range is not None:
            return at + self.range
        return NEVER if self.window.rows is None else count + self.window.rows

    def evaluated_at(self, now: int) -> bool:
        """Whether the window is looked at then."""
        return self.step is None or now % self.step == 0

    def next_step(self, now: int) -> int | None:
        """The first instant after this one at which a window with STEP is looked at."""
        return None if self.step is None else now - now % self.step + self.step


def plan_windows(linked: Linked) -> tuple[WindowPlan, ...]:
    """The windows that events look at."""
    found = (WindowPlan(window, tuple(_goals(linked, window.name))) for window in linked.windows)
    return tuple(planned for planned in found if planned.goals)


def _goals(linked: Linked, window: str) -> Iterable[Term]:
    for iri, event in linked.events.items():
        if isinstance(event, LogicalEvent) and event.on == window:
            yield iri if event.guard is None else body_of(iri)
