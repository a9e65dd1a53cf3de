"""N-Quads and TriG: one named graph an item, its time in the default graph (the W3C RSP group's model).

The statements of a graph stand together; its time may come before or after them. What the default graph says
beside times describes graphs, and is part of no item. Input without named graphs is one item, as Turtle is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, cast

import pyoxigraph

from obep.formats.input_limits import CHUNK, CutShort, Refused, Unmarked, whole
from obep.formats.long_lines import LongLine, UnclosedText, closed_texts, line_blocks
from obep.formats.nesting import Shallow
from obep.formats.rdf_text import parse_graph, syntax
from obep.formats.stream_reader import Reading, dead
from obep.formats.tables.alike_lines import AlikeGraphs, AlikeLines
from obep.formats.tables.graph_gathering import Found, Gathering, Together, make_item
from obep.formats.tables.quad_blocks import statements_of
from obep.formats.time_hints import hinted, likely_bytes
from obep.model import DeadLetter, Item

FORMATS = {"trig": pyoxigraph.RdfFormat.TRIG, "nquads": pyoxigraph.RdfFormat.N_QUADS}
TRIES = 1000
"""Errors in a row after which the rest of an input is given up."""
PARSED = 1 << 24
"""Bytes of one term beyond which the parser itself stops."""
Part = bytes | LongLine | Shallow | AlikeGraphs

AS_QUADS = "if a fourth term names the graph, it is N-Quads: such a file ends in .nq, standard input is -.nq"


def read_quads(file: BinaryIO, format: str, reading: Reading) -> Iterator[Item | DeadLetter]:
    """The items of a file in N-Quads or TriG."""
    return cast(Iterator["Item | DeadLetter"], read_quads_together(file, format, reading))


def read_quads_together(
    file: BinaryIO, format: str, reading: Reading, together: Together | None = None
) -> Found:
    """The same; graphs of N-Quads that are alike may come as a block.

    Statements that cannot be read spoil only their graph. A line of N-Quads that is too long is passed over.
    Of TriG the rest is not read: it is unknown where the next statement would begin.
    """
    gathering = Gathering(reading, together)
    unmarked = Unmarked(file)
    most = min(reading.limits.item_bytes, PARSED - CHUNK)
    shallow = Shallow(unmarked, reading.limits.nesting)
    growing = reading.growing and format == "nquads"
    left: list[str] = []
    leave = left.append if growing else None
    parts = line_blocks(unmarked, most, leave) if format == "nquads" else (shallow,)
    alike = AlikeLines(reading.time_property, most).parts if together is not None else None
    errors = 0
    try:
        for line, part in _with_alike(parts, alike):
            if isinstance(part, LongLine):
                yield from gathering.refuse(part.statement(), part.refused(most))
                continue
            if isinstance(part, AlikeGraphs):
                if (found := gathering.add_alike(part)) is not None:
                    yield from found
                    continue
                part = part.text
            if isinstance(part, bytes) and (statements := statements_of(part)) is not None:
                yield from gathering.add_block(statements)
                errors = 0
                continue
            for piece in closed_texts(part) if isinstance(part, bytes) else (part,):
                if isinstance(piece, UnclosedText):
                    errors += 1
                    gathering.spoil()
                    yield dead(piece.refused(), reading.stream, piece.line)
                    continue
                quads = pyoxigraph.parse(cast(BinaryIO, piece), FORMATS[format])
                while errors < TRIES:
                    try:
                        for quad in quads:
                            if complete := gathering.add(str(quad)):
                                yield from complete
                            errors = 0
                        break
                    except SyntaxError as error:
                        errors += 1
                        gathering.spoil()
                        reason = _in_file(syntax(error), line)
                        hint = likely_bytes(unmarked.head) or (
                            AS_QUADS if _four_terms(reason, format) else ""
                        )
                        yield dead(Refused("OBEP604", hinted(reason, hint)), reading.stream, b"")
                else:
                    raise Refused("OBEP604", "the rest was not read: too many errors in a row")
    except Refused as refused:  # nothing more can be read: a gzip bomb, a torn file
        if growing and isinstance(refused, CutShort):
            reading.leave("the compressed file")
            return
        gathering.cut()
        yield dead(refused, reading.stream, b"")
    except MemoryError as error:
        if str(PARSED) not in str(error):
            raise
        gathering.cut()
        reason = f"the rest was not read: a term or comment is over {PARSED} bytes, the limit for one in TriG"
        yield dead(Refused("OBEP605", reason), reading.stream, b"")
    if growing:
        yield from gathering.pause(left)
    else:
        yield from gathering.finish()


def _with_alike(
    parts: Iterable[Part], alike: Callable[[bytes], Iterable[Part]] | None
) -> Iterator[tuple[int, Part]]:
    """Parts of a file, each with the lines before its block; graphs that are alike are parts of their own."""
    line = 0
    for part in parts:
        if alike is not None and isinstance(part, bytes):
            for one in alike(part):
                yield line, one
        else:
            yield line, part
        line += part.count(b"\n") if isinstance(part, bytes) else 1


def _in_file(reason: str, line: int) -> str:
    """The reason of an error in a block that begins after so many lines."""
    place, colon, rest = reason.partition(": ")
    return re.sub(r"(?<=line )\d+", lambda number: str(int(number[0]) + line), place) + colon + rest


def _four_terms(reason: str, format: str) -> bool:
    """Whether what was to be TriG probably has statements of four terms."""
    return format == "trig" and "A dot is expected" in reason


def read_document(file: BinaryIO, format: str, reading: Reading) -> Iterator[Item | DeadLetter]:
    """The one item that a Turtle, N-Triples or JSON-LD document is."""
    data = b""
    try:
        data = whole(file, reading.limits.item_bytes)
        yield make_item(parse_graph(data, format, reading.limits), reading)
    except Refused as refused:
        hint = likely_bytes(data) if refused.code == "OBEP604" else ""
        yield dead(Refused(refused.code, hinted(refused.reason, hint)), reading.stream, data)
