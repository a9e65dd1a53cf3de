"""Bytes in, items out: RDF text, JSON lines, CSV, Parquet, and mappings from plain records.

They read untrusted bytes and give `Item`s, and a `DeadLetter` for each record that cannot be one.
Nothing here raises on bad input, opens a file, or uses the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from obep.errors import fail
from obep.model import DeadLetter, Item, Triple

if TYPE_CHECKING:
    from obep.formats.stream_reader import Reading
    from obep.formats.tables.record_blocks import Records

T = TypeVar("T")

ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".nq": "nquads",
    ".trig": "trig",
    ".nt": "ntriples",
    ".ttl": "turtle",
    ".jsonld": "jsonld",
    ".csv": "csv",
    ".parquet": "parquet",
}
"""The format that the ending of a file's name stands for."""

NAMES = {"nt": "ntriples", "ttl": "turtle", "nq": "nquads"}
"""Other names that a format goes by."""

FORMATS = tuple(dict.fromkeys(ENDINGS.values()))


def format_named(name: str) -> str:
    """The format called `name`; raises OBEP510 for one that there is not."""
    format = NAMES.get(name, name)
    if format not in FORMATS:
        raise fail("OBEP510", f"there is no format {name!r}", remedy=" ".join(FORMATS))
    return format


def read_graph(
    data: str | bytes | dict[str, object] | list[object], format: str = "turtle"
) -> tuple[Triple, ...]:
    """The triples of one document in `turtle`, `ntriples` or `jsonld`; raises ObepError OBEP6xx.

    Blank nodes are labelled by the document and the order of their appearance, so two readings agree.

    >>> read_graph('<http://e/a> <http://e/b> 1 .')
    (('<http://e/a>', '<http://e/b>', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),)
    """
    import msgspec

    from obep.formats.input_limits import Limits, Refused
    from obep.formats.rdf_text import localise, parse_graph, private_prefix

    format = format_named(format)
    if format not in ("turtle", "ntriples", "jsonld"):
        raise fail("OBEP510", f"{format} holds items, not one graph", remedy="turtle, ntriples or jsonld")
    if isinstance(data, dict | list):
        data = msgspec.json.encode(data)
    try:
        found = parse_graph(data, format, Limits(item_bytes=1 << 30, nesting=1000))
        return localise(found, private_prefix("", None, data.encode() if isinstance(data, str) else data))
    except Refused as refused:
        raise fail(refused.code, refused.reason) from None


def read_items(data: bytes, format: str, stream: str = "", **settings: Any) -> Iterator[Item | DeadLetter]:
    """The items of a file's or message's bytes; `settings` are those of `Reading`.

    `stream` is that of records that name none (with `rename=True`, of all).

    >>> line = b'{"stream": "doors", "time": 3, "graph": "<http://e/a> <http://e/b> <http://e/c> ."}'
    >>> [item] = read_items(line, "jsonl")
    >>> item.stream, item.at, len(item.triples)
    ('doors', 3000000, 1)
    """
    from obep.formats.stream_reader import Reading

    return read_items_of(data, format, Reading(stream=stream, **settings))


def read_items_of(data: bytes, format: str, reading: Reading) -> Iterator[Item | DeadLetter]:
    """The items of one message's bytes."""
    from io import BytesIO

    return read_file(BytesIO(data), format, reading, numbered=False)


def read_file(
    file: BinaryIO, format: str, reading: Reading, *, numbered: bool = True
) -> Iterator[Item | DeadLetter]:
    """The items of an open file, read as it comes; a damaged end is a dead letter too, unless it may grow.

    `numbered`: dead letters say the line, where lines are records.
    """
    yield from _whole(_read(file, format_named(format), reading, numbered), reading, lambda letter: letter)


def read_blocks(file: BinaryIO, format: str, reading: Reading, size: int) -> Iterator[Records]:
    """The same in blocks: of `size` records, but for those that are read at once."""
    from obep.formats.tables.mapped_records import fills_at_once
    from obep.formats.tables.record_blocks import lots_of

    template = fills_at_once(reading) if reading.lazily and format in ("jsonl", "csv") else None
    has_graphs = reading.mapping is None and not reading.prologue
    if template is None and not (reading.lazily and has_graphs and format in ("jsonl", "nquads")):
        records = read_file(file, format, reading)
        return lots_of(records, size)
    if format == "nquads":
        from obep.formats.tables.graph_blocks import read_quad_blocks

        return _whole(read_quad_blocks(file, reading), reading, lambda letter: [letter])
    if format == "csv":
        assert template is not None, "a table has no graphs"
        from obep.formats.table_rows import read_csv_blocks

        return _whole(read_csv_blocks(file, reading, template), reading, lambda letter: [letter])
    from obep.formats.json_lines import read_json_blocks

    return _whole(read_json_blocks(file, reading, template), reading, lambda letter: [letter])


def _whole(found: Iterator[T], reading: Reading, buried: Callable[[DeadLetter], T]) -> Iterator[T]:
    """What is found in a file, and its damaged end as a dead letter, unless it may grow."""
    from obep.formats.input_limits import CutShort, Refused
    from obep.formats.stream_reader import dead

    try:
        yield from found
    except Refused as refused:  # the file itself, not one record: a gzip bomb, a torn file
        if reading.growing and isinstance(refused, CutShort):
            reading.leave("the compressed file")
        else:
            yield buried(dead(refused, reading.stream, b""))


def _read(file: BinaryIO, format: str, reading: Reading, numbered: bool) -> Iterator[Item | DeadLetter]:
    if format == "jsonl":
        from obep.formats.json_lines import read_json_lines

        return read_json_lines(file, reading, numbered)
    if format == "json":
        from obep.formats.json_lines import read_json

        return read_json(file, reading)
    if format == "csv":
        from obep.formats.table_rows import read_csv

        return read_csv(file, reading, numbered)
    if format == "parquet":
        from obep.formats.table_rows import read_parquet

        return read_parquet(file, reading)
    from obep.formats.quads import read_document, read_quads

    if format in ("trig", "nquads"):
        return read_quads(file, format, reading)
    return read_document(file, format, reading)
