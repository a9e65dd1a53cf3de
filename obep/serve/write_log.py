"""The log of a service: what came since its last snapshot, on disk before anything of it is acknowledged.

A frame is what one `append` was given: many requests share one write and one fsync. A frame that the end of
the process cut short was not acknowledged and is dropped; any other damage is refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from obep.engine.snapshots.sealed import SIZE, damaged, digest_of
from obep.errors import fail, stopped
from obep.run.checkpoint import sync_folder

MAGIC = b"obepL1"
HEAD = len(MAGIC) + 8 + 8 + SIZE
"""A frame begins with the magic, its number, the length of its body, and the digest of these."""
END = b"\n"
"""The last byte of a frame: not zero, as what a disk has not written is."""


HISTORY_BYTES = 1 << 30
"""So much is kept of what snapshots already hold, for queries that begin with history."""


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
        before = [path for path in paths if int(path.stem) <= start]
        for path in paths[max(0, len(before) - 1) :]:
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

    def cut(self, history_s: float = 0.0) -> None:
        """A snapshot holds all that was appended: begin a new file, and remove those that are too old.

        Files of the last `history_s` seconds stay, as far as they are not too long.
        """
        if self._file is not None:
            self._file.close()
        self._file, self._good, self.bytes = None, 0, 0
        room = HISTORY_BYTES
        for path in reversed(self._paths()):
            found = path.stat()
            room -= found.st_size
            if room < 0 or time.time() - found.st_mtime >= history_s:
                path.unlink(missing_ok=True)

    def history(self) -> Iterator[tuple[int, bytes]]:
        """All whole frames that are still there, the oldest first."""
        paths = self._paths()
        for path in paths:
            yield from _read(path, is_last=path is paths[-1])

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
        frame = _frame(data, at)
        if frame is None:
            if is_last and _is_cut_short(data, at):
                return
            raise damaged(str(path), f"A frame at byte {at} was changed.", _ANEW)
        number, body, at = frame
        yield number, body


def _length(data: bytes, at: int) -> int | None:
    """How long the frame at a place says that it is, if its head is whole."""
    head = data[at : at + HEAD]
    if not head.startswith(MAGIC) or digest_of(head[:-SIZE]) != head[-SIZE:]:
        return None
    body = int.from_bytes(head[len(MAGIC) + 8 : len(MAGIC) + 16], "big")
    return HEAD + SIZE + body + len(END)


def _frame(data: bytes, at: int) -> tuple[int, bytes, int] | None:
    """The number and the body of a frame that is whole, and where it ends."""
    length = _length(data, at)
    if length is None or at + length > len(data):
        return None
    start, end = at + HEAD + SIZE, at + length
    body = data[start : end - len(END)]
    if digest_of(body) != data[at + HEAD : start] or data[end - len(END) : end] != END:
        return None
    return int.from_bytes(data[at + len(MAGIC) : at + len(MAGIC) + 8], "big"), body, end


def _is_cut_short(data: bytes, at: int) -> bool:
    """Whether the end of a log was not written: bytes are missing there, or zero, and no frame follows."""
    length = _length(data, at)
    unwritten = length is not None and at + length > len(data)
    unwritten |= len(data) - at < HEAD and MAGIC[: len(data) - at] == data[at : at + len(MAGIC)]
    if not (unwritten or data[-1] == 0):
        return False
    later = data.find(MAGIC, at + 1)
    while later >= 0:
        if _length(data, later) is not None:
            return False
        later = data.find(MAGIC, later + 1)
    return True
