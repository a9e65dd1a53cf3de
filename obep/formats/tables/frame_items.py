"""Frames to items: the records of a frame, through the mapping of their stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypedDict, Unpack, cast, overload

import msgspec

from obep.errors import ObepError, fail
from obep.formats.input_limits import Refused
from obep.formats.likely_mapping import NOT_HELD, LikelyMapping, merged
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
from obep.formats.units import shown
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
    reader = record_reader(first, **how)
    return FrameItems(reader.lots(chain((first,), lots)), reader.mapping, reader.reading.notes)


class RecordReader:
    """Makes items of records, one after the other."""

    def __init__(
        self, reading: Reading, mapping: dict[str, Any], time: str, guessed: LikelyMapping | None
    ) -> None:
        self.reading = reading
        self.mapping = mapping
        """The settings of the mapping; one that is guessed grows with the fields of the records."""
        self._time = time
        self._guessed = guessed
        self._rows = 0

    def lots(self, lots: Iterable[Lot]) -> Iterator[Records]:
        """The items of many records."""
        template, maker = None, None
        for lot in lots:
            latest = fills_at_once(self.reading) if self._fits(lot) else None
            if latest is None:
                yield self._one_by_one(lot)
                continue
            if maker is None or latest is not template:
                template, maker = latest, BlockMaker(self.reading, latest)

            def at_once(some: Lot, maker: BlockMaker = maker) -> RecordBlock | None:
                return maker.make(some if isinstance(some, Columns) else Objects(some), _Lines(some))  # type: ignore[arg-type]  # dicts

            for records in in_blocks(lot, at_once, self._one_by_one):
                if isinstance(records, RecordBlock):
                    self._rows += len(records)
                yield records

    def _fits(self, lot: Lot) -> bool:
        """Whether many records can be read at once: dicts, without a field that the mapping has not seen."""
        if isinstance(lot, Columns):
            return self._guessed is None or self._guessed.holds_all(lot.columns.items())
        if set(map(type, lot)) != {dict}:
            return False
        records = cast(Sequence[Record], lot)
        names = set(chain.from_iterable(records)) if self._guessed is not None else ()
        columns = ((name, (record.get(name) for record in records)) for name in names)
        return self._guessed is None or self._guessed.holds_all(columns)

    def _one_by_one(self, lot: Iterable[Entry]) -> Records:
        return [item for entry in lot for item in self.items(entry)]

    def items(self, entry: Entry) -> Iterator[Item | DeadLetter]:
        """The items of a record, or its dead letter; what is an item already stays one."""
        self._rows += 1
        if isinstance(entry, Item | DeadLetter):
            yield entry
            return
        for one in self._read(entry):
            yield one._replace(line=self._rows) if isinstance(one, DeadLetter) else one

    def _read(self, entry: Record | Refused) -> Iterable[Item | DeadLetter]:
        reading = self.reading
        if isinstance(entry, Refused):
            return [dead(entry, reading.stream, b"")]
        guessed = self._guessed
        if guessed is not None and guessed.unheld(entry):
            if not guessed.is_full:
                guessed.grow(entry)
                self.mapping.update(guessed.settings)
                reading.mapping = make_mapping(self.mapping, "mapping")
            if path := guessed.unheld(entry):
                return [dead(Refused("OBEP610", f"{path}: {NOT_HELD}"), reading.stream, _raw(entry))]
        timed = reading.mapping is None and self._time
        row = {**entry, "time": entry.get(self._time)} if timed else entry
        return read_rows(row, _raw(entry), reading)


def record_reader(first: Lot, **how: Unpack[How]) -> RecordReader:
    """The reader of records that begin with `first`."""
    mapping, time, subject = how.get("mapping"), str(how.get("time", "")), str(how.get("subject", ""))
    stream = how.get("stream", "")
    notes = how.get("notes") or Notes()
    reading = Reading(stream=stream, source=stream or "the frame", notes=notes, in_program=True)
    if isinstance(mapping, RecordMapping):
        if time or subject:
            raise fail("OBEP881", "a mapping that is compiled has its own time", remedy="mapping={…}, time=…")
        reading.mapping, reading.rename = mapping, bool(stream)
        return RecordReader(reading, {}, "", None)
    sample = merged(one for one in first[:SAMPLE] if isinstance(one, dict))
    for name in (time, subject):
        if name and sample and look_up(sample, name) is None and name not in sample:
            raise _no_field(sample, name)
    settings: dict[str, Any] = {}
    guessed = None
    if mapping is not None:
        settings = _with_time(mapping, time, subject)
    elif sample and "graph" not in sample:
        names = how.get("names", "http://example.org/")
        guessed = LikelyMapping(sample, names, time=time, subject=subject, optional=True)
        if not guessed.time and _counts_time(first[:SAMPLE]):
            guessed = LikelyMapping(sample, names, time="t", subject=subject, optional=True)
        settings = guessed.settings
        if path := guessed.unheld(sample):
            raise fail(
                "OBEP881",
                f"no mapping can be guessed for the column {shown(path)}",
                reason=f"It is {NOT_HELD}.",
                remedy=f"leave it out, or give a mapping: mapping={settings}",
            )
    if settings:
        reading.mapping, reading.rename = make_mapping(settings, "mapping"), bool(stream)
    return RecordReader(reading, settings, time, guessed)


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


def _raw(record: Record) -> bytes:
    """A record as a line of JSON: blank nodes are named by it, and dead letters show it."""
    try:
        return _encode(record) + b"\n"
    except (ValueError, TypeError, RecursionError):  # text that is no UTF-8
        return repr(record).encode("utf-8", "backslashreplace")


class _Lines(Sequence[bytes]):
    """Records as lines of JSON, each written when it is first read."""

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
