"""CSV and Parquet: a row is a record; columns time, graph, stream and id, or a mapping's own columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO, StringIO
from typing import Any, BinaryIO

import msgspec

from obep.errors import fail
from obep.formats.input_limits import Refused, check_nesting, lines
from obep.formats.rdf_text import item_triples, read_turtle
from obep.formats.stream_reader import Reading, dead
from obep.formats.tables.plain_values import arrow_columns
from obep.formats.tables.record_blocks import BlockMaker, Columns, RecordBlock, Records, in_blocks, lots_of
from obep.formats.time_hints import hinted, likely_bytes
from obep.formats.triple_template import Template
from obep.model import DeadLetter, Item

Row = dict[str, Any]
BATCH = 1024
MARKS = ",;\t|"
"""Possible separators of the fields of a CSV file."""
UNFINISHED = Refused("OBEP600", "the end of the record is not there yet")
_BEFORE = {mark: re.compile(rf'("[^"]*+")|(?<! ) ++(?={re.escape(mark)}|[\r\n]|\Z)') for mark in MARKS}
"""Quoted text, and the spaces before a separator or the end."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*\Z", re.ASCII)


def read_csv(file: BinaryIO, reading: Reading, numbered: bool = False) -> Iterator[Item | DeadLetter]:
    """The items of a CSV file with a header line, which also shows what separates its fields.

    `numbered`: dead letters say the line on which the record begins.
    """
    table = _Table(reading, numbered)
    for first, record in records(file, reading.limits.item_bytes, growing=reading.growing):
        yield from table.read(first, record)


def read_csv_blocks(file: BinaryIO, reading: Reading, template: Template) -> Iterator[Records]:
    """The same of a file whose rows a template maps, in blocks."""
    table, maker = _Table(reading, numbered=True), BlockMaker(reading, template)

    def at_once(some: Sequence[tuple[int, bytes | Refused]]) -> RecordBlock | None:
        texts = [record for _, record in some]
        cells = table.cells(texts)
        return None if cells is None else maker.make(cells, texts)  # type: ignore[arg-type]  # they are bytes

    def one_by_one(some: Iterable[tuple[int, bytes | Refused]]) -> Records:
        return [found for first, record in some for found in table.read(first, record)]

    found = records(file, reading.limits.item_bytes, growing=reading.growing)
    for some in lots_of(found):
        yield from in_blocks(some, at_once, one_by_one)


def csv_rows(file: BinaryIO) -> Iterator[Row]:
    """The rows of a CSV file as records; lines that are none are left out."""
    reading = Reading()
    table = _Table(reading, numbered=False)
    for _, record in records(file, reading.limits.item_bytes):
        with suppress(Refused):
            if not isinstance(record, Refused) and (row := table.row(record)) is not None:
                yield row


class _Table:
    """Reads the records of a CSV file in their order; the first is its header."""

    def __init__(self, reading: Reading, numbered: bool) -> None:
        self._reading, self._numbered = reading, numbered
        self._header: list[str] | None = None
        self._mark = ","

    def read(self, first: int, record: bytes | Refused) -> list[Item | DeadLetter]:
        """The items of a record that begins on a line."""
        reading, line = self._reading, first * self._numbered
        if record is UNFINISHED:
            reading.leave(f"line {first}")
            return []
        if isinstance(record, Refused):
            return [dead(record, reading.stream, b"", line=line)]
        try:
            row = self.row(record)
        except Refused as refused:
            return [dead(refused, reading.stream, record, line=line)]
        return [
            found._replace(line=line) if isinstance(found, DeadLetter) else found
            for found in (() if row is None else read_rows(row, record, reading))
        ]

    def row(self, record: bytes) -> Row | None:
        """The fields of a record; `None`: it is the header."""
        try:
            text = record.decode()
            if self._header is None:
                self._mark = max(MARKS, key=text.count)
            fields = _cells(text, self._mark)
        except (csv.Error, UnicodeDecodeError) as error:
            raise Refused("OBEP600", hinted(f"not CSV: {error}", likely_bytes(record))) from None
        header = self._header
        if header is None:
            self._header = [name.strip() for name in fields]
            return None
        if len(fields) != len(header):
            raise Refused("OBEP600", f"{len(fields)} fields where the header has {len(header)}")
        if self._mark == ";":  # where that is used, decimals mostly have a comma
            fields = [f.replace(",", ".") if DECIMAL_COMMA.match(f) else f for f in fields]
        return dict(zip(header, fields, strict=True))

    def cells(self, texts: Sequence[bytes | Refused]) -> Columns | None:
        """Many records at once; `None` if one of them must be read by itself."""
        header, mark = self._header, self._mark
        try:
            text = b"".join(texts).decode().replace("\r\n", "\n")  # type: ignore[arg-type]  # a refused one
        except (TypeError, UnicodeDecodeError):
            return None
        odd = '"' in text or "\r" in text or "\0" in text or (mark == ";" and "," in text)
        if header is None or odd or len(max(texts, key=len)) > csv.field_size_limit():  # type: ignore[arg-type]
            return None
        rows = [line.split(mark) for line in text.removesuffix("\n").split("\n")]
        if len(rows) != len(texts) or set(map(len, rows)) != {len(header)}:
            return None
        if " " in text:
            rows = [[cell.strip(" ") for cell in row] for row in rows]
        return Columns(dict(zip(header, zip(*rows, strict=True), strict=True)))


def _cells(text: str, mark: str) -> list[str]:
    """The cells of one record, without the spaces around those that are not quoted."""
    if " " in text:
        text = _BEFORE[mark].sub(lambda found: found[1] or "", text)
    lines = StringIO(text, newline="")
    return next(csv.reader(lines, strict=True, delimiter=mark, skipinitialspace=True), [])


def records(file: BinaryIO, most: int, *, growing: bool = False) -> Iterator[tuple[int, bytes | Refused]]:
    """The records of a CSV file: lines, joined while a quoted field is open; each with its first line.

    `growing`: a last record without its end is `UNFINISHED`, since another figure may follow.
    """
    held, first = b"", 1
    for number, line in enumerate(lines(file, most), 1):
        if isinstance(line, Refused):
            if held:
                yield first, _unclosed(held)
            held = b""
            yield number, line
            continue
        if not held:
            first = number
        held += line
        if growing and line[-1:] != b"\n":
            break
        if held.count(b'"') % 2 == 0:
            if not held.isspace():
                yield first, held
            held = b""
        elif len(held) > most:
            reason = f"a quoted field is over the limit of {most} bytes; is a quote missing?"
            yield first, Refused("OBEP605", reason)
            held = b""
    if held and growing:
        if not held.isspace():
            yield first, UNFINISHED
    elif held:
        yield first, _unclosed(held)


def _unclosed(held: bytes) -> Refused:
    return Refused("OBEP600", hinted("a quoted field is never closed", likely_bytes(held)))


def read_parquet(file: BinaryIO, reading: Reading) -> Iterator[Item | DeadLetter]:
    """The items of a Parquet file, a batch of rows at a time."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise fail(
            "OBEP551",
            "reading Parquet needs pyarrow",
            remedy='pip install "obep[spark]"   (or pip install pyarrow)',
        ) from None
    try:
        table = pyarrow.parquet.ParquetFile(file if file.seekable() else BytesIO(file.read()))
        for batch in table.iter_batches(BATCH):
            for row in arrow_columns(batch):
                yield from read_rows(row, repr(row).encode(), reading)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:  # no UTF-8, no date
        yield dead(Refused("OBEP600", f"not Parquet: {error}"), reading.stream, b"")


def read_rows(row: Row, raw: bytes, reading: Reading) -> Iterator[Item | DeadLetter]:
    """The items of one row: several if the mapping takes the elements of an array in it."""
    if reading.mapping is not None:
        yield from reading.mapping.items(row, raw, reading)
    else:
        yield read_row(row, raw, reading)


def read_row(row: Row, raw: bytes, reading: Reading) -> Item | DeadLetter:
    """The item of one row: by the stream's mapping, or by its columns time and graph."""
    if reading.mapping is not None:
        return reading.mapping.item(row, raw, reading)
    stream, at = reading.stream, None
    try:
        stream = reading.named(row.get("stream"))
        graph = row.get("graph")
        if not isinstance(graph, str):
            raw = msgspec.json.encode(row)  # with the names of the columns: a mapping is to be made of them
            raise Refused("OBEP601", f"there is no column graph; {reading.without_mapping()}")
        at = reading.instant(row.get("time"), guess=lambda: _elsewhere(row))
        message = graph.encode()
        check_nesting(message, reading.limits.nesting)
        found = read_turtle(reading.prologue + graph)
        name = row.get("id")
        return Item(stream, at, item_triples(found, stream, at, message), f"<{name}>" if name else "", raw)
    except Refused as refused:
        return dead(refused, stream, raw, at)


def _elsewhere(row: Row) -> str:
    """The column beside `graph` that probably holds the time."""
    from obep.formats.time_hints import likely_time

    path = likely_time({name: value for name, value in row.items() if name != "graph"})
    return f"beside graph it stands in a column called time, not {path}" if path else ""
