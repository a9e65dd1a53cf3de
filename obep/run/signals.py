"""Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed) during a run, on both engines.

The first asks for a clean stop. The second changes nothing: `timeout` sends each signal twice, and impatient
users press Ctrl-C twice, while a message to Java or a checkpoint may be half written. The third ends the
process.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

PATIENCE = 3
HINT = b"\rStopping; once more ends it at once.\n"
HARD = b"\rEnded at once: what was under way is not finished.\n"


def exit_status(number: int) -> int:
    """The exit status of a run that a signal ended."""
    return 128 + number


def _caught() -> list[int]:
    """The signals that ask for a stop; SIGHUP not where it is ignored, as under nohup, or does not exist."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    there = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return [one for one in there if one == signal.SIGINT or signal.getsignal(one) != signal.SIG_IGN]


@contextmanager
def interrupted(stop: Callable[[], None], caught: list[int]) -> Iterator[None]:
    """`stop` is called at the first signal; all of them are in `caught`."""

    def ask(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if len(caught) == 1:
            stop()
        elif len(caught) >= PATIENCE:
            os.write(2, HARD)  # print could be in the midst of a line
            os._exit(exit_status(caught[0]))
        elif os.isatty(2):
            os.write(2, HINT)

    before: dict[int, Any] = {number: signal.signal(number, ask) for number in _caught()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
