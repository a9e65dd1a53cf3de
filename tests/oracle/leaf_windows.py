"""Leaves on windows, from DIALECTS 5, 6 (D35) and 8 alone: when an occurrence is in a window, and first seen.

A window's name says what it holds, so that a pattern says all: `<r3>` holds items of the stream, `<r3-of-F>`
the occurrences of the event F.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from obep.model import SECOND, Occurrence


class Frame(NamedTuple):
    """`a` and `b` as in FROM NOW - a TO NOW - b; RANGE r is a = r, b = 0. Bounds are those of FROM … TO."""

    text: str
    a: int | None = None
    b: int = 0
    step: int = 1
    first: int | None = None
    last: int | None = None

    def holds(self, t: int, now: int) -> bool:
        """Whether what happened at t is in the window at an instant."""
        seen = now // self.step * self.step
        if (self.first is not None and t < self.first) or (self.last is not None and t > self.last):
            return False
        return t <= seen - self.b and (self.a is None or seen - self.a < t)

    def seen_at(self, t: int) -> int | None:
        """The first instant at which what happened at t is in the window."""
        late = -(-(t + self.b) // self.step) * self.step
        return late if self.holds(t, late) else None


FRAMES = {
    "r3": Frame("RANGE 3 s", 3 * SECOND),
    "r1": Frame("RANGE 1 s", SECOND),
    "r4s2": Frame("RANGE 4 s STEP 2 s", 4 * SECOND, step=2 * SECOND),
    "r2s3": Frame("RANGE 2 s STEP 3 s", 2 * SECOND, step=3 * SECOND),
    "r6s4": Frame("RANGE 6 s STEP 4 s", 6 * SECOND, step=4 * SECOND),
    "n52": Frame("FROM NOW - 5 s TO NOW - 2 s", 5 * SECOND, 2 * SECOND),
    "f25": Frame("FROM 2 TO 5", first=2 * SECOND, last=5 * SECOND),
}
_NAMED = re.compile(r"IN <((\w+?)(?:-of-(\w+))?)>")


def declared(text: str) -> str:
    """The declarations of the windows that a text names."""
    found = dict.fromkeys(_NAMED.findall(text))
    return "".join(
        f"FROM NAMED WINDOW <{name}> ON {f'EVENT {event}' if event else '<s>'} [{FRAMES[frame].text}]\n"
        for name, frame, event in found
    )


def frame_of(window: str) -> Frame:
    return FRAMES[window.partition("-of-")[0]]


def seen_at(window: str | None, occurrence: Occurrence) -> int | None:
    """When a leaf has an occurrence: at once, or when the window that it is on has it."""
    return occurrence.detected if window is None else frame_of(window).seen_at(occurrence.detected)
