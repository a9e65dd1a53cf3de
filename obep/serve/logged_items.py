"""The items that the log of a service still has."""

from __future__ import annotations

from obep.model import Item
from obep.serve.entries import Came, unpacked
from obep.serve.write_log import WriteLog


def logged_items(log: WriteLog, before: tuple[int, int] | None = None) -> list[Item]:
    """In the order of their time; with `before`, those of the changes before one: its frame, its number."""
    changes = (
        change
        for frame, body in log.history()
        if before is None or frame <= before[0]
        for number, change in enumerate(unpacked(body))
        if before is None or (frame, number) < before
    )
    found = [item for change in changes if isinstance(change, Came) for item in change.as_items()]
    return sorted(found, key=lambda item: item.at)
