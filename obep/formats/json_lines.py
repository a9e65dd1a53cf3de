"""JSON lines: one record a line, an envelope around a graph, or a device's own JSON with a mapping.

The envelope is `{"stream": …, "time": 3 or ISO 8601, "graph": Turtle or N-Triples text, or JSON-LD}`,
and may have an `"id"`, the IRI of the message. A record of a stream AS GRAPH may have `insert`, `delete` or
`update` instead (`graph_changes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import msgspec

from obep.formats.input_limits import Refused, check_nesting, lines, whole
from obep.formats.nesting import check_turtle
from obep.formats.rdf_text import item_triples, read_message, read_turtle
from obep.formats.record_arrays import EACH
from obep.formats.stream_reader import Reading, dead
from obep.formats.tables.graph_blocks import GraphBlocks
from obep.formats.tables.mapped_records import ReadLine, fills_at_once, mapped_reader
from obep.formats.tables.record_blocks import BlockMaker, Objects, RecordBlock, Records, in_blocks, lots_of
from obep.formats.time_hints import hinted, likely_other
from obep.formats.triple_template import Template
from obep.model import DeadLetter, Item, Triple


class Envelope(msgspec.Struct):
    """A record whose graph is text: the common and fast case."""

    graph: str
    time: int | float | str | None = None
    stream: str | None = None
    id: str = ""


class Enclosed(msgspec.Struct):
    """A record whose graph is a JSON-LD object."""

    graph: msgspec.Raw
    time: int | float | str | None = None
    stream: str | None = None
    id: str = ""


_envelope = msgspec.json.Decoder(Envelope).decode
_enclosed = msgspec.json.Decoder(Enclosed).decode
_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_anything = msgspec.json.Decoder().decode

ONE_A_LINE = (
    "in JSON lines each line is one object; "
    'an array, or an object over several lines, is .json (format = "json")'
)


def read_json_lines(file: BinaryIO, reading: Reading, numbered: bool = False) -> Iterator[Item | DeadLetter]:
    """The items of a file of JSON lines; empty lines are passed over. `numbered`: dead letters say theirs."""
    read = _reader(reading)
    for number, line in enumerate(lines(file, reading.limits.item_bytes), 1):
        yield from _read_line(number, line, read, reading, numbered)


def read_json_blocks(file: BinaryIO, reading: Reading, template: Template | None) -> Iterator[Records]:
    """The same in blocks, of a file whose records a template maps, or that have graphs."""
    read, most = _reader(reading), reading.limits.nesting
    graphs = GraphBlocks(reading) if template is None else None
    maker = None if template is None else BlockMaker(reading, template)

    def at_once(some: Sequence[tuple[int, bytes | Refused]]) -> RecordBlock | None:
        texts = [line for _, line in some]
        if reading.growing and texts[-1][-1:] != b"\n":  # type: ignore[index]  # see _decoded
            return None
        records = _decoded(texts, most)
        if records is None:
            return None
        if graphs is not None:
            return graphs.make(records, texts)  # type: ignore[arg-type]  # decoded
        assert maker is not None
        return maker.make(Objects(records), texts)  # type: ignore[arg-type]  # decoded

    def one_by_one(some: Iterable[tuple[int, bytes | Refused]]) -> Records:
        return [found for n, line in some for found in _read_line(n, line, read, reading, numbered=True)]

    numbered = enumerate(lines(file, reading.limits.item_bytes), 1)
    for some in lots_of(numbered):
        yield from in_blocks(some, at_once, one_by_one)


def _reader(reading: Reading) -> ReadLine:
    read: ReadLine = read_mapped if reading.mapping is not None else _read_one
    if reading.lazily and (template := fills_at_once(reading)) is not None:
        return mapped_reader(reading, template, read)
    return read


def _read_line(
    number: int, line: bytes | Refused, read: ReadLine, reading: Reading, numbered: bool
) -> Sequence[Item | DeadLetter]:
    """The items of one line; none if it is empty, or the end of a file that may grow, and not finished."""
    if isinstance(line, Refused):
        return (dead(line, reading.stream, b"", line=number * numbered),)
    if line.isspace():
        return ()
    found = read(line, reading)
    if reading.growing and line[-1:] != b"\n" and not _is_complete(line, found):
        reading.leave(f"line {number}")
        return ()
    return [
        _hinted(one, line)._replace(line=number * numbered) if isinstance(one, DeadLetter) else one
        for one in found
    ]


_NEXT = b'"obep: the next record"'
"""Stands between two records that are decoded at once."""


def _decoded(texts: Sequence[bytes | Refused], most: int) -> list[Any] | None:
    """What stands in each of some lines; `None` if one of them is not a value, or may nest too deeply.

    What stands between two lines, and nowhere else, is found again between two values. So each line is one.
    """
    try:
        data = (b"," + _NEXT + b",").join(texts)  # type: ignore[arg-type]  # one that is refused is no bytes
        if data.count(_NEXT) != len(texts) - 1:
            return None
        found: list[Any] = _anything(b"[%b]" % data)
    except (TypeError, msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    between, records = found[1::2], found[::2]
    if len(found) != 2 * len(texts) - 1 or between.count(_NEXT[1:-1].decode()) != len(between):
        return None
    others = _brackets(data) - len(records)
    if set(map(type, records)) == {dict} and others < most - 1:  # each has a bracket, so none has many
        return records
    return None if any(_brackets(text) >= most for text in texts) else records  # type: ignore[arg-type]  # all are text


def _brackets(data: bytes) -> int:
    return data.count(b"{") + data.count(b"[")


def _read_one(line: bytes, reading: Reading) -> tuple[Item | DeadLetter]:
    return (read_record(line, reading),)


def _is_complete(line: bytes, found: Sequence[Item | DeadLetter]) -> bool:
    """Whether a last line without its end is all there: nothing can follow an object that is closed."""
    is_json = not any(isinstance(one, DeadLetter) and one.code == "OBEP600" for one in found)
    return is_json and line.rstrip()[-1:] == b"}"


def _hinted(letter: DeadLetter, line: bytes) -> DeadLetter:
    """A line's dead letter, with what helps if it is a piece of an array, or of an object over several."""
    piece = line.strip()
    broken = piece[:1] in (b"[", b"]", b"}", b'"') or piece == b"{" or piece[-1:] == b","
    if letter.code not in ("OBEP600", "OBEP601") or not broken or likely_other(line):
        return letter
    return letter._replace(reason=hinted(letter.reason, ONE_A_LINE))


def read_json(file: BinaryIO, reading: Reading) -> Iterator[Item | DeadLetter]:
    """The items of one JSON document: a record, or an array of records."""
    read = read_mapped if reading.mapping is not None else _read_one
    data = b""
    try:
        data = whole(file, reading.limits.item_bytes)
        check_nesting(data, reading.limits.nesting)
        is_array = data.lstrip()[:1] == b"[" and not _takes_arrays(reading)
        found = _array(data) if is_array else [data]
    except Refused as refused:
        yield dead(refused, reading.stream, data)
    except (msgspec.DecodeError, UnicodeError) as error:
        yield dead(_not_json(error, data), reading.stream, data)
    else:
        for record in found:
            yield from read(bytes(record), reading)


def _takes_arrays(reading: Reading) -> bool:
    """Whether what the mapping reads is an array itself."""
    records = reading.mapping.records if reading.mapping is not None else None
    return records is not None and records.steps[0] == EACH


def read_record(line: bytes, reading: Reading) -> Item | DeadLetter:
    """The item in one envelope."""
    stream, at = reading.stream, None
    try:
        if len(line) > reading.limits.nesting:
            check_nesting(line, reading.limits.nesting)
        try:
            record = _envelope(line)
            stream = reading.named(record.stream)
            at = reading.instant(record.time, guess=lambda: _elsewhere(line))
            text = reading.prologue + record.graph if reading.prologue else record.graph
            message = b""
            if "[" in text or "(" in text or "_:" in text or "<<" in text:  # there may be blank nodes
                message = record.graph.encode()
                check_turtle(message, reading.limits.nesting)  # brackets in the JSON string count for nothing
            found: list[Triple] = read_turtle(text)
            name = record.id
            if not message:
                return Item(stream, at, tuple(dict.fromkeys(found)), f"<{name}>" if name else "", line)
        except (msgspec.ValidationError, RecursionError):
            enclosed = _enclosed(line)
            stream = reading.named(enclosed.stream)
            at = reading.instant(enclosed.time, guess=lambda: _elsewhere(line))
            message = bytes(enclosed.graph)
            found = _read_enclosed(message)
            name = enclosed.id
        return Item(stream, at, item_triples(found, stream, at, message), f"<{name}>" if name else "", line)
    except Refused as refused:
        return dead(refused, stream, line, at)
    except msgspec.ValidationError as error:
        return _change(line, reading) or dead(_wrong_envelope(line, error, reading), stream, line, at)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        return dead(_not_json(error, line), stream, line, at)


def _change(line: bytes, reading: Reading) -> Item | DeadLetter | None:
    """The change of the static graph that a record without a graph may be."""
    from obep.formats.graph_changes import read_change

    try:
        return read_change(line, reading)
    except Refused as refused:
        return dead(refused, reading.stream, line)


def read_mapped(line: bytes, reading: Reading) -> Sequence[Item | DeadLetter]:
    """The items that the stream's mapping makes of one JSON record."""
    assert reading.mapping is not None
    try:
        if len(line) > reading.limits.nesting:
            check_nesting(line, reading.limits.nesting)
        record = _anything(line)
        if not isinstance(record, dict) and not (isinstance(record, list) and _takes_arrays(reading)):
            raise Refused("OBEP601", f"a record is a JSON object, this is {_kind(record)}")
    except Refused as refused:
        return (dead(refused, reading.stream, line),)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        return (dead(_not_json(error, line), reading.stream, line),)
    return list(reading.mapping.items(record, line, reading))


def _not_json(error: Exception, data: bytes) -> Refused:
    return Refused("OBEP600", hinted(f"not JSON: {error}", likely_other(data)))


def _read_enclosed(graph: bytes) -> list[Triple]:
    if graph[:1] not in b"{[":
        raise Refused("OBEP601", f"graph: expected text or a JSON-LD object, got {_kind(_anything(graph))}")
    return read_message(graph)


def _wrong_envelope(line: bytes, error: Exception, reading: Reading) -> Refused:
    """Names the field that was wrong; a record without a graph is probably a device's own JSON."""
    try:
        record = _anything(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as other:
        if likely_other(line):
            return _not_json(other, line)
        record = {"graph": None}  # a number that no machine has; the first error says which
    if not isinstance(record, dict):
        return Refused("OBEP601", f"a record is a JSON object, this is {_kind(record)}")
    if "graph" not in record:
        return Refused(
            "OBEP601",
            f"there is no field graph; for a device's own JSON, {reading.without_mapping()}",
        )
    reason = str(error)
    where = reason[reason.rindex("`$.") + 3 : -1] if "`$." in reason else ""
    return Refused("OBEP601", f"{where}: {reason[: reason.rindex(' - at ')]}" if where else reason)


def _elsewhere(line: bytes) -> str:
    """The field beside `graph` that probably holds the time."""
    from obep.formats.time_hints import likely_time

    path = likely_time({key: value for key, value in _anything(line).items() if key != "graph"})
    return f"beside graph it stands in a field called time, not {path}" if path else ""


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
