"""What readers of a DataFrame say of times and fields, in the words of a program: it has no obep.toml.

Comes in: notes and reasons of `obep.formats`. Goes out: the same with what to write in Python, and a warning
in the worker, whose standard error is the driver's on a local master; `.progress` says it, too.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

from obep.errors import Diagnostic
from obep.formats.stream_reader import Notes, Reading
from obep.formats.time_hints import doubtful_unit, likely_unit
from obep.formats.timestamps import show_instant
from obep.model import DeadLetter

UNIT = "OBEP566"
AS_TIMESTAMP = {
    "s": "timestamp_seconds(time)",
    "ms": "timestamp_millis(time)",
    "ns": "timestamp_micros(time div 1000)",
}
"""How Spark makes a timestamp of a number in another unit than microseconds."""
_said: set[str] = set()
"""The streams that this process has warned of."""
_PLACE = re.compile(r" (?:for its source|in the mapping of its source) in obep\.toml")
_FILE = ", and a file has no time of arrival"
_ARRIVAL = re.compile(r': missing_time = "arrival" under \[sources\.[^]]*\] would take that of arrival')


def in_mapping(text: str) -> str:
    """What obep.toml is to be changed in, said of `mapping=`.

    >>> in_mapping('unit = "ms" for its source in obep.toml')
    'unit = "ms" in the mapping'
    """
    return _PLACE.sub(" in the mapping", _ARRIVAL.sub("", text)).removesuffix(_FILE)


def mapped_letter(letter: DeadLetter) -> DeadLetter:
    """The dead letter of a mapped row."""
    return letter._replace(reason=in_mapping(letter.reason))


def mapped_notes(notes: Notes) -> Notes:
    """What was noted about mapped rows."""
    for source, one in notes.firsts.items():
        if one.doubt is not None:
            doubt = replace(one.doubt, remedy=in_mapping(one.doubt.remedy))
            notes.firsts[source] = replace(one, doubt=doubt)
    return notes


def note_micros(stream: str, first: int, other: int, notes: Notes) -> None:
    """Note what the first two times of a stream, which are microseconds, seem to be."""
    reading = Reading(stream=stream, source=stream, unit="us", notes=notes)
    for at in dict.fromkeys((first, other)):
        reading.instant(at)
    if stream in notes.doubts and (doubt := doubtful_unit(first, first, "us")):
        meant = doubt.said.rpartition("; ")[2]
        said = (
            f"time is a number of microseconds, so the first one, {first}, is {show_instant(first)}; {meant}"
        )
        explained = replace(doubt, said=said, remedy=as_timestamp(first))
        notes.firsts[stream] = replace(notes.firsts[stream], doubt=explained)


def as_timestamp(value: int) -> str:
    """What makes the right timestamps, if a number is a time of our days in another unit; or nothing.

    >>> as_timestamp(1767261600)
    'items.withColumn("time", f.expr("timestamp_seconds(time)"))'
    """
    found = re.match(r"in (\w+) it would be", likely_unit(value, "us"))
    return f'items.withColumn("time", f.expr("{AS_TIMESTAMP[found[1]]}"))' if found else ""


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
