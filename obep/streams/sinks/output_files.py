"""The files that a run writes: their keys in a checkpoint, and where a resumed run continues them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import BinaryIO

from obep.errors import fail

JSON_ID = re.compile(rb'"id":"(urn:obep:[^"]+)"')
RDF_ID = re.compile(rb"<(urn:obep:[^>]+)>")
Warn = Callable[[str, str], object]
"""Takes a code and a message."""


def output_key(path: Path) -> str:
    """The key of a written file in a checkpoint: its path, not its number in the run."""
    return f"file:{path.resolve()}"


def continued_at(key: str, path: Path, known: Mapping[str, int] | None, warn: Warn) -> int:
    """Where a file goes on. `known` are the positions of the checkpoint; none for a run that begins.

    A file that is missing or empty was rotated by another program: it begins anew. One that
    the checkpoint does not know must not be cut off, and one that is shorter than it says is another one.
    """
    if known is None:
        return 0
    size = _size_of(path)
    start = known.get(key)
    if size is None:  # no regular file: nothing of it is taken back
        return start or 0
    if start is None and size:
        raise fail(
            "OBEP558",
            f"{path} is not empty, and the checkpoint does not record it",
            reason="The checkpoint was made without this output, which would be overwritten.",
            remedy=f"mv {path} elsewhere, or write to another file",
        )
    if not start:
        return 0
    if not size:
        warn(
            "OBEP558",
            f"{path} is gone or empty, and the checkpoint has written {start} bytes of it: it begins anew, "
            "from the checkpoint on",
        )
        return 0
    if size < start:
        raise fail(
            "OBEP558",
            f"{path} is shorter than the checkpoint says",
            reason=f"It has {size} bytes, and the checkpoint has written {start}: it is another file.",
            remedy=f"put the old file back, or mv {path} elsewhere to continue in a new one",
        )
    return start


class LeftFiles:
    """Where the files of a checkpoint stand that a run leaves alone.

    What stands in one beyond the checkpoint was found after it. The run that goes on finds it again and
    writes it elsewhere: from then on, and not before, nothing will come in its place.
    """

    def __init__(self, known: Mapping[str, int], present: Collection[str]) -> None:
        self._stand = dict(known)
        self._ends: dict[str, dict[bytes, int]] = {}
        """By file and occurrence, where its last whole line ends; by nothing what names no occurrence."""
        for key in known.keys() - set(present):
            scheme, _, path = key.partition(":")
            if scheme == "file" and _size_of(Path(path)):
                self._ends[key] = _ends_after(Path(path), known[key])

    def see(self, occurrence: str) -> None:
        """An occurrence is found."""
        for key, ends in self._ends.items():
            if end := ends.get(occurrence.encode()):
                self._stand[key] = max(self._stand[key], end)

    def see_all(self) -> None:
        """Called when everything beyond the checkpoint has been found again."""
        for key, ends in self._ends.items():
            self._stand[key] = max([self._stand[key], *ends.values()])

    def positions(self, begun: bool = False) -> dict[str, int]:
        """Where they stand now; `begun`: the run has taken something, so dead letters are found again."""
        unnamed = {key: ends[b""] for key, ends in self._ends.items() if begun and set(ends) == {b""}}
        return {**self._stand, **unnamed}


def _ends_after(path: Path, start: int) -> dict[bytes, int]:
    """The ends of `LeftFiles`, of one file."""
    found: dict[bytes, int] = {}
    id = b""
    with path.open("rb") as file:
        end = file.seek(min(start, file.seek(0, os.SEEK_END)))
        for line in file:
            if line.endswith(b"\n"):
                id, end = _id_in(line) or id, end + len(line)
                found[id] = end
    return found


def _id_in(line: bytes) -> bytes:
    """The occurrence that a line of an output is of; in RDF it is the subject, or else the graph."""
    if line.startswith(b"{"):
        return found[1] if (found := JSON_ID.search(line)) else b""
    ids = RDF_ID.findall(line)
    return b"" if not ids else bytes(ids[0 if line.startswith(b"<urn:obep:") else -1])


def _size_of(path: Path) -> int | None:
    """The size of a file, 0 if it is not there, None if it is a pipe or a device."""
    try:
        found = path.stat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def safe_position(file: BinaryIO) -> int:
    """The length of a file, once all of it is on disk; 0 for a pipe or a device."""
    file.flush()
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return 0
    os.fsync(file.fileno())
    return file.tell()


def open_output(path: Path, start: int) -> BinaryIO:
    """A file to be written from `start` on; what stands there is cut off."""
    try:
        file = path.open("r+b" if start else "wb")
        if _size_of(path) is not None:
            if start > file.seek(0, os.SEEK_END):
                raise fail("OBEP558", f"{path} is shorter than the checkpoint says")
            file.seek(start)
            file.truncate()
    except OSError as error:
        raise fail("OBEP554", f"{path} cannot be written: {error.strerror}") from None
    return file
