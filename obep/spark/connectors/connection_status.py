"""Whether a spooled source is connected: a file of the spool has the reason why it is not.

A worker reads the source, and the driver reports to the user: one writes the file, the other reads it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LOST = "away"
"""The name of the file."""


class OtherEnd:
    """The connection of a spooled source, as the driver sees it."""

    def __init__(self, name: str, spool: Path) -> None:
        self.name = name
        self._said = spool / LOST
        self._said.unlink(missing_ok=True)  # what an earlier run said

    @property
    def lost(self) -> str:
        """Why the connection is lost; empty while it is there."""
        try:
            return self._said.read_text("utf-8")
        except OSError:
            return ""


def report_connection(spool: Path, why: str) -> None:
    """Write the reason for the driver; an empty one: the connection is there."""
    said = spool / LOST
    with suppress(OSError):  # messages matter more than words about them
        if why:
            whole = spool / f".{LOST}.tmp"
            whole.write_text(why, "utf-8")
            whole.replace(said)
        else:
            said.unlink(missing_ok=True)
