"""Whether a spooled source is connected: a file of the spool has the reason why it is not.

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
        """Why the connection is lost; empty while it is there."""
        try:
            return self._said.read_text("utf-8")
        except OSError:
            return ""


def say_away(spool: Path, why: str) -> None:
    """Write the reason for the driver; an empty one: the connection is there."""
    said = spool / AWAY
    with suppress(OSError):  # messages matter more than words about them
        if why:
            whole = spool / f".{AWAY}.tmp"
            whole.write_text(why, "utf-8")
            whole.replace(said)
        else:
            said.unlink(missing_ok=True)
