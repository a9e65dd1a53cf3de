"""The log of a service: what came since its last snapshot, on disk before anything of it is acknowledged.

A frame is what one `append` was given: many requests share one write and one fsync. A frame that the end of
the process cut short was not acknowledged and is dropped; any other damage is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from obep.engine.sealed import SIZE, damaged, digest_of
from obep.errors import fail, stopped
from obep.run.checkpoint import sync_folder

MAGIC = b"obepL1"
HEAD = len(MAGIC) + 8 + 8 + SIZE
"""A frame begins with the magic, its number, the length of its body, and the digest of these."""
END = b"\n"
"""The last byte of a frame: not zero, as what a disk has not written is."""


class WriteLog:
    """Numbered frames in the files of a folder; the name of a file is the number of its first frame."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO | None = None
        self._good = 0
        self._broken = ""
        self.next = 0
        """The number of the next frame."""
        self.bytes = 0
        """How much was appended since the last cut."""

    def frames(self, start: int) -> Iterator[tuple[int, bytes]]:
        """The whole frames from the number `start` on; the next one to append comes after them."""
        self.next = start
        paths = self._paths()
        for path in paths:
            for number, body in _read(path, is_last=path is paths[-1]):
                if number < start:
                    continue
                if number != self.next:
                    reason = f"Frame {number} follows where {self.next} should."
                    raise damaged(str(path), reason, _ANEW)
                self.next = number + 1
                yield number, body

    def append(self, body: bytes) -> None:
        """Safely on disk when this returns; otherwise nothing of it is there."""
        if self._broken:
            raise stopped("OBEP856", f"the log cannot be written: {self._broken}", remedy=_RESTART)
        try:
            if self._file is None:
                self._begin()
            assert self._file is not None
            head = MAGIC + self.next.to_bytes(8, "big") + len(body).to_bytes(8, "big")
            self._write(head + digest_of(head) + digest_of(body) + body + END)
        except OSError as error:
            self._undo()
            raise fail("OBEP856", f"the log cannot be written: {error.strerror}", remedy=_ROOM) from None
        try:
            os.fsync(self._file.fileno())
        except OSError as error:  # what is on disk now is not known, and asking again does not tell
            self._broken = error.strerror or "the disk failed"
            raise stopped("OBEP856", f"the log cannot be written: {self._broken}", remedy=_RESTART) from None
        self.next += 1
        self._good = self._file.tell()
        self.bytes += len(body)

    def cut(self) -> None:
        """A snapshot holds all that was appended: begin a new file, and remove the old ones."""
        if self._file is not None:
            self._file.close()
        self._file, self._good, self.bytes = None, 0, 0
        for path in self._paths():
            if int(path.stem) < self.next:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob("*.log"))

    def _begin(self) -> None:
        path = self._folder / f"{self.next:020d}.log"
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # it is kept open
        self._good = 0
        sync_folder(self._folder)

    def _write(self, data: bytes) -> None:
        """Without a buffer a write may take only a part."""
        assert self._file is not None
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def _undo(self) -> None:
        """Takes back a frame that is half written."""
        if self._file is None:
            return
        try:
            os.ftruncate(self._file.fileno(), self._good)
            self._file.seek(self._good)
        except OSError as error:
            self._broken = error.strerror or "the disk failed"


_ANEW = "put a copy of the folder back, or remove it to begin anew"
_ROOM = "make room on the disk; nothing was acknowledged"
_RESTART = "see to the disk, then start the service again; nothing was acknowledged"


def _read(path: Path, *, is_last: bool) -> Iterator[tuple[int, bytes]]:
    """The frames of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise fail("OBEP573", f"{path} cannot be read: {error.strerror}") from None
    at = 0
    while at < len(data):
        head = data[at : at + HEAD]
        if is_last and (len(head) < HEAD or not any(data[at:])):
            return
        plain = head[:-SIZE]
        if not head.startswith(MAGIC) or digest_of(plain) != head[-SIZE:]:
            raise damaged(str(path), f"The head of a frame at byte {at} was changed.", _ANEW)
        number = int.from_bytes(plain[len(MAGIC) : len(MAGIC) + 8], "big")
        length = int.from_bytes(plain[len(MAGIC) + 8 :], "big")
        start = at + HEAD + SIZE
        end = start + length + len(END)
        if is_last and (end > len(data) or (end == len(data) and data[end - 1] == 0)):
            return  # cut short: it was not acknowledged
        body = data[start : end - 1]
        if digest_of(body) != data[at + HEAD : start] or data[end - 1 : end] != END:
            raise damaged(str(path), f"A frame at byte {at} was changed.", _ANEW)
        yield number, body
        at = end
