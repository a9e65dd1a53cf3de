"""Warn of times in a DataFrame that are probably in another unit, with what to write in Python.

The warning is given in the worker, whose standard error is the driver's on a local master; `.progress` has
it, too.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from obep.errors import Diagnostic
from obep.formats.stream_reader import Notes, Reading
from obep.formats.time_hints import doubtful_unit, likely_unit
from obep.formats.timestamps import show_instant

UNIT = "OBEP566"
AS_TIMESTAMP = {
    "s": "timestamp_seconds(time)",
    "ms": "timestamp_millis(time)",
    "ns": "timestamp_micros(time div 1000)",
}
"""How Spark makes a timestamp of a number in another unit than microseconds."""
_said: set[str] = set()
"""The streams that this process has warned of."""


def note_micros(stream: str, first: int, other: int, notes: Notes) -> None:
    """Note what the first two times of a stream, which are microseconds, seem to be."""
    reading = Reading(stream=stream, source=stream, unit="us", notes=notes)
    for at in dict.fromkeys((first, other)):
        reading.instant(at)
    doubt, likely = doubtful_unit(first, first, "us"), likely_unit(first, "us")
    if stream in notes.doubts and doubt and likely:
        shown = show_instant(first)
        said = f"time is a number of microseconds, so the first one, {first}, is {shown}; {likely.meant}"
        explained = replace(doubt, said=said, remedy=as_timestamp(first))
        notes.firsts[stream] = replace(notes.firsts[stream], doubt=explained)


def as_timestamp(value: int) -> str:
    """What makes the right timestamps, if a number is a time of our days in another unit; or nothing.

    >>> as_timestamp(1767261600)
    'items.withColumn("time", f.expr("timestamp_seconds(time)"))'
    """
    found = likely_unit(value, "us")
    return f'items.withColumn("time", f.expr("{AS_TIMESTAMP[found.unit]}"))' if found else ""


def say(notes: Notes) -> None:
    """Warns of times in another unit, once in a process."""
    for source, doubt in notes.doubts.items():
        if source not in _said:
            _said.add(source)
            warnings.warn(warning(source, doubt.said, doubt.remedy), stacklevel=2)


def warning(source: str, said: str, remedy: str) -> str:
    """The words of the warning."""
    message = f"{source}: {said}" if source else said
    return str(Diagnostic(UNIT, message, remedy=remedy, severity="warning"))
