"""The files that a run writes: what a checkpoint calls them, and where a run that goes on continues them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import BinaryIO

from obep.errors import fail

Warn = Callable[[str, str], object]
"""Takes a code and a message."""


def output_key(path: Path) -> str:
    """What a checkpoint calls a file that is written: which one it is, not the how-manieth of the run."""
    return f"file:{path.resolve()}"


def continued_at(key: str, path: Path, known: Mapping[str, int] | None, warn: Warn) -> int:
    """Where a file goes on. `known` are the positions of the checkpoint; none for a run that begins.

    A file that is gone or empty was taken away, as programs that rotate files do: it begins anew. One that
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
            f"{path} holds something, and the checkpoint does not know it",
            reason="The checkpoint was made without this output, which would be overwritten.",
            remedy=f"mv {path} elsewhere, or write to another file",
        )
    if not start:
        return 0
    if not size:
        warn(
            "OBEP590",
            f"{path} is gone or empty, and the checkpoint has written {start} bytes of it: it begins anew, "
            "from the checkpoint on",
        )
        return 0
    if size < start:
        raise fail(
            "OBEP558",
            f"{path} is shorter than the checkpoint says",
            reason=f"It has {size} bytes, and the checkpoint has written {start}: it is another file.",
            remedy=f"put the old file back, or mv {path} elsewhere to go on in a new one",
        )
    return start


def left_at(known: Mapping[str, int], present: Collection[str]) -> dict[str, int]:
    """Where files stand that a run leaves alone, up to the last whole line.

    What stands there beyond the checkpoint was found at the end of the last run. The run that goes on finds
    it again and writes it elsewhere, so nothing will come in its place.
    """
    found = dict(known)
    for key in known.keys() - set(present):
        scheme, _, path = key.partition(":")
        if scheme == "file" and _size_of(Path(path)):
            with Path(path).open("rb") as file:
                file.seek(min(known[key], file.seek(0, os.SEEK_END)))
                found[key] = file.tell() + file.read().rfind(b"\n") + 1
    return found


def _size_of(path: Path) -> int | None:
    """The size of a file, 0 if it is not there, None if it is a pipe or a device."""
    try:
        found = path.stat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def safe_position(file: BinaryIO) -> int:
    """How far a file is written, once all of that is on the disk; 0 for a pipe or a device."""
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
