"""N-Quads in blocks of whole lines; a line over the limit is passed over, and only what it is of is kept.

A line is a statement of its own, so those after a long one are read as if it had not been there, and so are
the graphs beside the one that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol

import pyoxigraph

from obep.formats.input_limits import CHUNK, Refused

BLOCK = 1 << 19
"""Bytes that are read at once, if a line may be so long."""
KEPT = 1 << 16
"""Bytes of a long line that are kept: its terms without what stands in its texts."""

_END = re.compile(rb"[\r\n]")
_BLANKS = re.compile(rb"[ \t]+")
_RUNS = {
    b"": re.compile(rb'[^"<#]*+'),
    b"<": re.compile(rb"[^>]*+"),
    b'"': re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL),
    b"#": re.compile(rb".*", re.DOTALL),
}
"""The text inside terms, an IRI, a string and a comment, by the character that begins it."""

_UNCLOSED = re.compile(
    rb'^(?:[^"<#\r\n]++|<[^>\r\n]*+>|"(?:[^"\\\r\n]++|\\[^\r\n])*+")*+(")[^\r\n]*+', re.MULTILINE
)
"""A line with a text that no quote closes; the group is where that text begins."""


class Blocks(Protocol):
    """A reader of at most n bytes; empty at the end."""

    def read(self, n: int = -1, /) -> bytes: ...


class LongLine:
    """A line that is not held: how long it is, and its statement with empty texts."""

    def __init__(self) -> None:
        self._length = 0
        self._kept = bytearray()
        self._within = b""
        self._escape = b""

    def add(self, piece: bytes) -> None:
        """Takes the next bytes of the line."""
        self._length += len(piece)
        data, at, self._escape = self._escape + piece, 0, b""
        if self._within == b'"' and b'"' not in data and b"\\" not in data:
            return  # most of a gigabyte
        while at < len(data) and len(self._kept) <= KEPT:
            run = _RUNS[self._within].match(data, at)
            assert run is not None, "each may be empty"
            sign = data[run.end() : run.end() + 1]
            if sign == b"\\":  # the character that it is for is in the next piece
                self._escape = sign
                return
            if self._within in (b"", b"<"):
                self._kept += _BLANKS.sub(b" ", run[0])
            if sign:
                self._kept += sign.replace(b"#", b"")
                self._within = b"" if self._within else sign
            at = run.end() + 1

    def statement(self) -> str | None:
        """The statement as it prints, nothing for a comment; None if it cannot be read."""
        if len(self._kept) > KEPT:
            return None
        try:
            return " ".join(map(str, pyoxigraph.parse(bytes(self._kept), pyoxigraph.RdfFormat.N_QUADS)))
        except SyntaxError:
            return None

    def refused(self, most: int) -> Refused:
        """Why it is not taken."""
        return Refused("OBEP605", f"a line of {self._length} bytes is over the limit of {most} bytes")


def line_blocks(
    file: Blocks, most: int, leave: Callable[[str], object] | None = None
) -> Iterator[bytes | LongLine]:
    """The lines of a file, many at once; one longer than `most` (and than a block) is not held.

    `leave` is called in place of giving a last line without its end.
    """
    held = bytearray()
    long: LongLine | None = None
    size = BLOCK if most >= BLOCK else CHUNK
    while block := file.read(size):
        first = _END.search(block)
        head = block[: first.end()] if first else block
        if long is None and len(held) + len(head) > max(most, CHUNK):
            long = LongLine()
            long.add(bytes(held))
            held.clear()
        if long is not None:
            long.add(head)
            block = block[len(head) :]
            if first:
                yield long
                long = None
        if end := max(block.rfind(b"\n"), block.rfind(b"\r")) + 1:
            yield bytes(held) + block[:end]
            held.clear()
        held += block[end:]
    if leave is not None:
        if held or long is not None:
            leave("the last line")
    elif long is not None:
        yield long
    elif held:
        yield bytes(held)


class UnclosedText:
    """A line with a text that no quote closes."""

    def __init__(self, line: bytes, text: bytes) -> None:
        self.line = line
        self._text = text

    def refused(self) -> Refused:
        """Why it is not taken."""
        shown = self._text[:80].decode("utf-8", "replace")
        return Refused("OBEP604", f"a text has no closing quote: {shown}")


def closed_texts(block: bytes) -> Iterator[bytes | UnclosedText]:
    """A block without the lines whose texts are not closed, and these lines between.

    The parser would take the next quote, lines later, for the missing one, and all texts after it for what
    stands between texts. Each part begins with as many line breaks as stand before it, for its line numbers.
    """
    at = 0
    for match in _UNCLOSED.finditer(block):
        yield b"\n" * block.count(b"\n", 0, at) + block[at : match.start()]
        yield UnclosedText(match[0], block[match.start(1) : match.end()])
        at = match.end()
    yield b"\n" * block.count(b"\n", 0, at) + block[at:]
