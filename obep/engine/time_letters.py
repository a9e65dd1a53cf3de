"""Dead letters of items whose time or stream is not right: the same, whichever engine writes them."""

from __future__ import annotations

from collections.abc import Collection

from obep.formats.stream_reader import as_sent
from obep.formats.tables.mapped_records import Mapped
from obep.formats.tables.record_blocks import RecordBlock, Records
from obep.formats.timestamps import show_instant
from obep.model import DeadLetter, Item
from obep.output.json_writer import style_of_instant

LATE, TOO_FAR = "OBEP640", "OBEP641"
AFTER_READING = frozenset(("OBEP620", "OBEP630", "OBEP820", "OBEP822", "OBEP826", TOO_FAR))
"""The codes of items that could be read and take part in nothing, beside those that are late."""
FAR = 30 * 86_400_000_000
"""An item later than this was probably not late: another item had a wrong time."""


def late(stream: str, at: int, watermark: int, raw: str = "") -> DeadLetter:
    """Of an item that comes after the watermark."""
    reached = show_instant(watermark, style_of_instant(at))
    reason = f"it comes after the watermark, {reached}; "
    if watermark - at < FAR:
        reason += "a longer lateness would wait for it"
    else:
        reason += (
            "an item of that time has moved it there: is that right? (future under [engine] refuses such)"
        )
    return DeadLetter(stream, at, LATE, reason, raw)


def late_change(item: Item, watermark: int | None) -> DeadLetter:
    """Of a change of K that comes after the watermark, or after an item of its instant was judged."""
    if watermark is not None and item.at < watermark:
        return late(item.stream, item.at, watermark, as_sent(item))
    reason = (
        "an item of its instant has been judged already, and changes of an instant come before its items; "
        "a longer lateness would wait for it, or give it a later time"
    )
    return DeadLetter(item.stream, item.at, LATE, reason, as_sent(item))


def not_a_model(item: Item) -> DeadLetter:
    """Of a change of K in a stream whose items are no changes."""
    reason = f"it changes the static graph, and FROM STREAM <{item.stream}> does not say AS GRAPH"
    return DeadLetter(item.stream, item.at, "OBEP826", reason, as_sent(item))


def too_far(item: Item) -> DeadLetter:
    """Of an item that lies too far in the future."""
    when = show_instant(item.at, style_of_instant(item.at))
    limit = "a wrong clock? (future under [engine] is the limit)"
    reason = f"its instant, {when}, lies too far in the future: {limit}"
    return DeadLetter(item.stream, item.at, TOO_FAR, reason, as_sent(item))


def stray(item: Item, streams: Collection[str]) -> DeadLetter:
    """Of an item of a stream that the query does not read."""
    known = ", ".join(sorted(streams))
    reason = f"the query reads {known}, not {item.stream or 'items without a stream'}"
    return DeadLetter(item.stream, item.at, "OBEP616", reason, as_sent(item))


def kept_streams(items: Records, streams: Collection[str]) -> Records:
    """The items, with a dead letter in place of each that belongs to no stream of the query."""
    if not streams or (isinstance(items, RecordBlock) and items.stream in streams):
        return items
    return [
        one
        if isinstance(one, DeadLetter) or one.stream in streams
        else stray(one.item(one.sent) if isinstance(one, Mapped) else one, streams)
        for one in items
    ]
