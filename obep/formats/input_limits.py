"""What untrusted input may cost: sizes that are checked before memory is spent.

A record over a limit becomes a dead letter; the records after it are read as if it had not been there.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from typing import Any, BinaryIO

CHUNK = 1 << 16
MARK = b"\xef\xbb\xbf"
"""The byte order mark that some programs put before UTF-8; it is no part of the text."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one item, its nesting, a file read whole, and a compressed file may be."""

    item_bytes: int = 4 << 20
    nesting: int = 100
    file_bytes: int = 1 << 30
    gzip_ratio: int = 200
    gzip_free_bytes: int = 16 << 20
    """Below this much output the ratio is not looked at: small files may be very regular."""


class Refused(Exception):
    """A record that cannot be taken: a code of 600-649, and the reason for people."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class CutShort(Refused):
    """A file that ends in the midst of something: it may be written just now."""


def lines(file: BinaryIO, most: int) -> Iterator[bytes | Refused]:
    """The lines of a file; one longer than `most` is skipped without being held, and refused."""
    readline = file.readline
    line = readline(most + 1).removeprefix(MARK)
    while line:
        if len(line) <= most or line.endswith(b"\n"):
            yield line
        else:
            length = len(line)
            while (rest := readline(CHUNK)) and not rest.endswith(b"\n"):
                length += len(rest)
            length += len(rest)
            yield Refused("OBEP605", f"a line of {length} bytes is over the limit of {most} bytes")
        line = readline(most + 1)


def whole(file: BinaryIO, most: int) -> bytes:
    """All of a file that is read at once, if it is not too large."""
    data = file.read(most + 1)
    if len(data) > most:
        raise Refused("OBEP605", f"more than {most} bytes, the limit for something that is read as one")
    return data.removeprefix(MARK)


class Unmarked:
    """A file without the byte order mark that it may begin with, for parsers that read blocks.

    A block is what is there: a file that is torn later gives what it has until then.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._read = getattr(file, "read1", file.read)
        self._begun = False
        self.head = b""
        """The beginning of the file, after the byte order mark."""

    def read(self, n: int = -1, /) -> bytes:
        if self._begun:
            return self._read(n)
        self._begun = True
        head = b""
        while len(head) < len(MARK) and MARK.startswith(head) and (more := self._read(len(MARK))):
            head += more
        self.head = head.removeprefix(MARK)
        return self.head or self._read(n)


_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{(]|[\]})]', re.DOTALL)


def check_nesting(data: bytes, most: int) -> None:
    """Refuses text whose brackets nest too deeply (JSON, Turtle)."""
    if data.count(b"[") + data.count(b"{") + data.count(b"(") <= most:
        return
    depth = 0
    for match in _BRACKETS.finditer(data):
        first = data[match.start()]
        if first in b"[{(":
            depth += 1
            if depth > most:
                raise Refused("OBEP606", f"brackets are nested more than {most} deep")
        elif first != 0x22:
            depth -= 1


class Inflated(RawIOBase):
    """A gzip file being unpacked, which stops when it grows out of proportion."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self._unpack = zlib.decompressobj(wbits=31)
        self._rest = b""
        self._read = 0
        self._written = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        while True:
            if self._unpack.eof:
                if not (more := self._unpack.unused_data or self._feed()).strip(b"\0"):
                    return 0
                self._unpack, self._rest = zlib.decompressobj(wbits=31), more
            data = self._rest or self._feed()
            if not data:
                raise CutShort("OBEP608", "the compressed file ends too early")
            try:
                out = self._unpack.decompress(data, len(view))
            except zlib.error as error:
                raise Refused("OBEP608", f"not a gzip file, or a damaged one ({error})") from None
            self._rest = self._unpack.unconsumed_tail
            if out:
                self._written += len(out)
                self._check()
                view[: len(out)] = out
                return len(out)

    def _feed(self) -> bytes:
        data = self._file.read(CHUNK)
        self._read += len(data)
        return data

    def _check(self) -> None:
        limits = self._limits
        if self._written > limits.gzip_free_bytes and self._written > limits.gzip_ratio * self._read:
            raise Refused(
                "OBEP608",
                f"{self._read} compressed bytes gave {self._written}: more than {limits.gzip_ratio} to one",
            )


def inflate(file: BinaryIO, limits: Limits) -> BinaryIO:
    """A gzip file as a file of what is in it."""
    return BufferedReader(Inflated(file, limits), CHUNK)
