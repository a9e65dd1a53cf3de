"""Whether the other end of a spooled source can be heard: a file of the spool says that it is away, and why.

Spark lets another process listen than the one that speaks to the user, so it is said there and read here.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

AWAY = "away"


class OtherEnd:
    """Whom a spooled source listens to, as the driver sees it."""

    def __init__(self, name: str, spool: Path) -> None:
        self.name = name
        self._said = spool / AWAY
        self._said.unlink(missing_ok=True)  # what an earlier run said

    @property
    def away(self) -> str:
        """Why it cannot be heard at the moment; empty while it can."""
        try:
            return self._said.read_text("utf-8")
        except OSError:
            return ""


def say_away(spool: Path, why: str) -> None:
    """For the driver; without a reason: it can be heard."""
    said = spool / AWAY
    with suppress(OSError):  # messages matter more than words about them
        if why:
            whole = spool / f".{AWAY}.tmp"
            whole.write_text(why, "utf-8")
            whole.replace(said)
        else:
            said.unlink(missing_ok=True)
