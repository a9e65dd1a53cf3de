"""Messages on disk between a connection and a checkpoint: numbered, in files, until the checkpoint has them.

A broker may forget a message once it is acknowledged; so it is acknowledged when it is safely here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from obep.engine.snapshots.sealed import damaged, sealed, unsealed
from obep.errors import fail

Message = tuple[str, int, bytes]
"""Topic, arrival in microseconds, payload."""
NEXT = "next"
T = TypeVar("T")


def _decoded(path: Path, type: type[T]) -> T:
    """The content of a file of a spool."""
    anew = f"put a copy of it back, or rm {path}   to continue without the messages in it"
    body = unsealed(path.read_bytes(), str(path), anew)
    try:
        return msgspec.msgpack.decode(body, type=type)
    except (msgspec.MsgspecError, ValueError) as error:
        raise damaged(str(path), f"Something in it has another form ({error}).", anew) from None


class Spool:
    """Numbered messages in files of a folder; the name of a file is the number of its first message."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.next = self._find_next()

    def _find_next(self) -> int:
        mark = self._folder / NEXT
        marked = _decoded(mark, int) if mark.exists() else 0
        return max([marked, *(first + len(messages) for first, messages in self.files(0, None))])

    def append(self, messages: Sequence[Message]) -> None:
        """Safely on disk when this returns."""
        self._put(f"{self.next:020d}.spool", messages)
        self.next += len(messages)

    def files(self, start: int, end: int | None) -> Iterator[tuple[int, list[Message]]]:
        """The files that may hold messages from `start` up to (without) `end`, with their first numbers."""
        for path in sorted(self._folder.glob("*.spool")):
            first = int(path.stem)
            if end is not None and first >= end:
                return
            messages = _decoded(path, list[Message])
            if first + len(messages) > start:
                yield first, messages

    def forget(self, end: int) -> None:
        """The messages before `end` are not asked for any more."""
        self._put(NEXT, self.next)
        for path in sorted(self._folder.glob("*.spool")):
            messages = _decoded(path, list[Any])
            if int(path.stem) + len(messages) > end:
                return
            path.unlink()

    def _put(self, name: str, value: object) -> None:
        data = sealed(msgspec.msgpack.encode(value))
        whole = self._folder / f".{name}.tmp"
        try:
            with whole.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            whole.replace(self._folder / name)
        except OSError as error:
            raise fail("OBEP554", f"{self._folder / name} cannot be written: {error.strerror}") from None
