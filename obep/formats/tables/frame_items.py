"""Frames to items: the records of a frame, through the mapping of their stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import msgspec

from obep.errors import ObepError, fail
from obep.formats.input_limits import Refused
from obep.formats.likely_mapping import likely_settings
from obep.formats.record_fields import Record, look_up
from obep.formats.record_mapping import SETTINGS, make_mapping
from obep.formats.record_mapping import Mapping as RecordMapping
from obep.formats.stream_reader import Notes, Reading, dead
from obep.formats.table_rows import read_rows
from obep.formats.tables.frame_records import Entry, Lot, frame_lots
from obep.formats.tables.mapped_records import Mapped, fills_at_once
from obep.formats.tables.record_blocks import (
    BlockMaker,
    Columns,
    Objects,
    RecordBlock,
    Records,
    in_blocks,
)
from obep.formats.time_hints import fields_there, nearest_path
from obep.formats.triple_template import Template
from obep.model import DeadLetter, Item

SAMPLE = 200
"""Records that are looked at for a mapping, where none is given."""
_encode = msgspec.json.Encoder(decimal_format="number", enc_hook=repr).encode
Settings = Mapping[str, Any] | RecordMapping


class How(TypedDict, total=False):
    """How records are read.

    `mapping` has the keys of a mapping in obep.toml. Without one, records with a field `graph` are messages
    of RDF; of others each field becomes a property under `names`, and `subject` is the field that names their
    individual.
    """

    mapping: Settings | None
    time: str
    subject: str
    stream: str
    names: str
    notes: Notes | None


class FrameItems(NamedTuple):
    """The items of a frame, and how they are read."""

    lots: Iterator[Records]
    """Many at a time; a `RecordBlock` where they are alike."""
    mapping: dict[str, Any]
    """The settings of the mapping, which obep.toml would have; empty if there is none."""
    notes: Notes

    @property
    def items(self) -> Iterator[Item | DeadLetter | Mapped]:
        """One after the other."""
        return chain.from_iterable(self.lots)


def frame_items(frame: Any, **how: Unpack[How]) -> FrameItems:
    """The items of a frame, read as they are asked for."""
    lots = frame_lots(frame)
    first = next(lots, ())
    reader = record_reader(first[:SAMPLE], **how)
    return FrameItems(reader.lots(chain((first,), lots)), reader.mapping, reader.reading.notes)


class RecordReader(NamedTuple):
    """Makes items of records, one after the other."""

    reading: Reading
    mapping: dict[str, Any]
    time: str = ""
    template: Template | None = None
    """That of the mapping, if it says all about a record."""

    def lots(self, lots: Iterable[Lot]) -> Iterator[Records]:
        """The items of many records."""
        if self.template is None:
            yield from map(self._one_by_one, lots)
            return
        maker = BlockMaker(self.reading, self.template)

        def at_once(some: Lot) -> RecordBlock | None:
            return maker.make(some if isinstance(some, Columns) else Objects(some), _Lines(some))  # type: ignore[arg-type]  # dicts

        for lot in lots:
            if isinstance(lot, Columns) or set(map(type, lot)) == {dict}:
                yield from in_blocks(lot, at_once, self._one_by_one)
            else:
                yield self._one_by_one(lot)

    def _one_by_one(self, lot: Iterable[Entry]) -> Records:
        return [item for entry in lot for item in self.items(entry)]

    def items(self, entry: Entry) -> Iterator[Item | DeadLetter]:
        """The items of a record, or its dead letter; what is an item already stays one."""
        if isinstance(entry, Item | DeadLetter):
            yield entry
        elif isinstance(entry, Refused):
            yield dead(entry, self.reading.stream, b"")
        else:
            timed = self.reading.mapping is None and self.time
            row = {**entry, "time": entry.get(self.time)} if timed else entry
            yield from read_rows(row, _raw(entry), self.reading)


def record_reader(first: Lot, **how: Unpack[How]) -> RecordReader:
    """The reader of records that begin with `first`."""
    mapping, time, subject = how.get("mapping"), how.get("time", ""), how.get("subject", "")
    stream = how.get("stream", "")
    notes = how.get("notes") or Notes()
    reading = Reading(stream=stream, source=stream or "the frame", notes=notes, in_program=True)
    if isinstance(mapping, RecordMapping):
        if time or subject:
            raise fail("OBEP881", "a mapping that is compiled has its own time", remedy="mapping={…}, time=…")
        reading.mapping, reading.rename = mapping, bool(stream)
        return RecordReader(reading, {}, template=fills_at_once(reading))
    sample = _merged(first)
    for name in (time, subject):
        if name and sample and look_up(sample, name) is None and name not in sample:
            raise _no_field(sample, name)
    settings: dict[str, Any] = {}
    if mapping is not None:
        settings = _with_time(mapping, time, subject)
    elif sample and "graph" not in sample:
        names = how.get("names", "http://example.org/")
        settings = likely_settings(sample, names, time=time, subject=subject, optional=True)
        if not time and not {"time"} & (settings.keys() | sample.keys()) and _counts_time(first):
            settings = likely_settings(sample, names, time="t", subject=subject, optional=True)
    if settings:
        reading.mapping, reading.rename = make_mapping(settings, "mapping"), bool(stream)
    return RecordReader(reading, settings, time, fills_at_once(reading))


def _counts_time(entries: Lot) -> bool:
    """Whether the column `t` has numbers that only grow, as simulations count their time."""
    values = [entry["t"] for entry in entries if isinstance(entry, dict) and entry.get("t") is not None]
    if not values or not all(type(value) in (int, float) for value in values):
        return False
    return values[0] < values[-1] and values == sorted(values)


def _with_time(mapping: Mapping[str, Any], time: str, subject: str) -> dict[str, Any]:
    if subject:
        raise fail("OBEP881", "a mapping names its subject itself", remedy="mapping=…, without subject=…")
    if unknown := sorted(set(map(str, mapping)) - set(SETTINGS)):
        raise fail("OBEP522", f"mapping: there is no setting {unknown[0]!r}", remedy=" ".join(SETTINGS))
    return {**mapping, "time": time} if time else dict(mapping)


def _no_field(sample: Record, name: str) -> ObepError:
    near = nearest_path(name, list(sample))
    return fail(
        "OBEP881",
        f"the frame has no column {name}",
        reason=f"{fields_there(sample).capitalize()}." if sample else "",
        remedy=f'"{near}"' if near else "",
    )


def _merged(entries: Lot) -> Record:
    """One record with all fields of several, each with the first value that is there."""
    merged: Record = {}
    for entry in entries:
        if isinstance(entry, dict):
            for name, value in entry.items():
                if merged.get(name) is None:
                    merged[name] = value
    return merged


def _raw(record: Record) -> bytes:
    """A record as a line of JSON: blank nodes are named by it, and dead letters show it."""
    try:
        return _encode(record) + b"\n"
    except (ValueError, TypeError, RecursionError):  # text that is no UTF-8
        return repr(record).encode("utf-8", "backslashreplace")


class _Lines(Sequence[bytes]):
    """Records as lines of JSON, each written when somebody reads it."""

    def __init__(self, records: Sequence[Any]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(index, slice):
            return _Lines(self._records[index])
        return _raw(self._records[index])

    def __iter__(self) -> Iterator[bytes]:
        return map(_raw, self._records)
