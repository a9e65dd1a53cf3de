"""Read a pipe or socket as its bytes arrive: lines are returned at once, with whether more are there."""

from __future__ import annotations

from typing import Protocol

CHUNK = 1 << 16


class Raw(Protocol):
    """A reader of the available bytes, at most n; empty at the end."""

    def read(self, n: int, /) -> bytes | None: ...


class Arriving:
    """Lines and blocks of a raw file; `pending` says whether a whole line is already here."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._held = bytearray()

    @property
    def pending(self) -> bool:
        return b"\n" in self._held

    def readline(self, most: int) -> bytes:
        """The next line, or `most` bytes of a longer one; nothing at the end."""
        held, searched = self._held, 0
        while True:
            end = held.find(b"\n", searched)
            if end >= 0 or len(held) >= most:
                size = min(end + 1 if end >= 0 else most, most)
                break
            searched = len(held)
            if not (data := self._raw.read(CHUNK)):
                size = len(held)
                break
            held += data
        line = bytes(held[:size])
        del held[:size]
        return line

    def read(self, n: int = -1) -> bytes:
        """The bytes that there are, at most n; all until the end if n is negative."""
        if n < 0:
            pieces = [bytes(self._held)]
            self._held.clear()
            while data := self._raw.read(CHUNK):
                pieces.append(data)
            return b"".join(pieces)
        if not self._held:
            return self._raw.read(n) or b""
        block = bytes(self._held[:n])
        del self._held[: len(block)]
        return block

    def seekable(self) -> bool:
        return False
