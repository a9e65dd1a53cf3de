"""The items that the log of a service still has."""

from __future__ import annotations

from obep.model import Item
from obep.serve.alert_notes import ack_item
from obep.serve.entries import Acted, Came, unpacked
from obep.serve.write_log import WriteLog


def logged_items(log: WriteLog, lateness: int, before: tuple[int, int] | None = None) -> list[Item]:
    """In the order of their time; with `before`, those of the changes before one: its frame, its number.

    What people did with alerts is an item at the watermark of then, as if all streams were one.
    """
    changes = (
        change
        for frame, body in log.history()
        if before is None or frame <= before[0]
        for number, change in enumerate(unpacked(body))
        if before is None or (frame, number) < before
    )
    found: list[Item] = []
    watermark: int | None = None
    for change in changes:
        if isinstance(change, Came) and (came := change.as_items()):
            found += came
            latest = max(item.at for item in came) - lateness
            watermark = latest if watermark is None else max(watermark, latest)
        elif isinstance(change, Acted):
            found.append(ack_item(change, watermark))
    return sorted(found, key=lambda item: item.at)
