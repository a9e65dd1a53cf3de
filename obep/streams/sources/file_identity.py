"""What identifies a file that is read in several runs: how it begins, as far as it was read.

A file that only grew begins as before. One that was rotated, replaced or cut and written anew does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, cast

from obep.formats import read_blocks, read_file
from obep.formats.input_limits import inflate
from obep.formats.stream_reader import Reading
from obep.formats.tables.record_blocks import Records
from obep.model import DeadLetter, Item

BYTES, DIGEST = "bytes", "digest"
"""In a position: how much of a file has been read, and the digest of it."""
CHUNK = 1 << 20
WHOLE = frozenset(("json", "ntriples", "turtle", "jsonld", "trig", "parquet"))
"""Formats that are read as one document: a file that grew is another document."""


class Watched:
    """A file that remembers what was taken from it.

    A line counts once it is whole, or something follows it: a reader may leave half a line at the end for
    another day. A block counts at once, since a position may lie in its midst.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held = self._torn = b""
        self._digest = _new_digest()
        self._size = 0

    def readline(self, most: int = -1, /) -> bytes:
        line, self._held = self._torn + self._held, self._file.readline(most)
        if self._held or line.endswith(b"\n"):
            self._torn = b""
            self._count(line)
        else:
            self._torn = line
        return self._held

    def read(self, n: int = -1, /) -> bytes:
        block = self._file.read(n)
        self._count(block)
        return block

    def seekable(self) -> bool:
        return False

    def _count(self, data: bytes) -> None:
        self._digest.update(data)
        self._size += len(data)

    def position(self) -> dict[str, int]:
        """The current identity of the file."""
        whole = self._held if self._held.endswith(b"\n") else b""
        digest = self._digest.copy()
        digest.update(whole)
        return {BYTES: self._size + len(whole), DIGEST: _number(digest)}


class Tracked:
    """The records of an open file, with what identifies it by what was read so far."""

    def __init__(self, file: BinaryIO, format: str, packed: bool, reading: Reading) -> None:
        self._file, self._format, self._packed, self._reading = file, format, packed, reading
        self._watched = Watched(file)
        self._whole = _position_after(file, None) if format in WHOLE else None

    def records(self) -> Iterator[Item | DeadLetter]:
        return read_file(self._inside(), self._format, self._reading)

    def blocks(self, size: int) -> Iterator[Records]:
        """The same in blocks, as `read_blocks` has them."""
        return read_blocks(self._inside(), self._format, self._reading, size)

    def _inside(self) -> BinaryIO:
        file = self._file if self._whole is not None else cast(BinaryIO, self._watched)
        return inflate(file, self._reading.limits) if self._packed else file

    def position(self) -> dict[str, int]:
        """The current identity of the file."""
        return self._watched.position() if self._whole is None else self._whole


def is_same(file: BinaryIO, position: Mapping[str, int], *, whole: bool) -> bool:
    """Whether a file is the one that a position is in; `whole`: it must not even have grown.

    The file is read, and then stands at its beginning again.
    """
    if DIGEST not in position:
        return True
    found = _position_after(file, None if whole else position[BYTES])
    return all(found[name] == position[name] for name in (BYTES, DIGEST))


def _position_after(file: BinaryIO, size: int | None) -> dict[str, int]:
    """The position after n bytes, or after all of them."""
    digest, count = _new_digest(), 0
    while data := file.read(CHUNK if size is None else min(CHUNK, size - count)):
        digest.update(data)
        count += len(data)
    file.seek(0)
    return {BYTES: count, DIGEST: _number(digest)}


def replaced(path: Path, records: int) -> tuple[str, str]:
    """The warning about a file that is not the one of which so many records have been read."""
    return (
        "OBEP558",
        f"{path} is not the file of which {records} records have been read before "
        "(rotated, replaced or written anew): it is read from its beginning",
    )


def _new_digest() -> blake2b:
    return blake2b(digest_size=7)


def _number(digest: blake2b) -> int:
    """A digest as a number that every format can keep."""
    return int.from_bytes(digest.copy().digest(), "big")
