"""What ends a session before its time: kills, full disks, sources that break off, stops."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import BinaryIO

from obep.errors import fail

BROKEN = "OBEP550"
FULL = "OBEP554"


class Killed(BaseException):
    """The process is gone: nothing that it still would have done is done."""


class Fate:
    """Counts the steps of a session, and ends it after so many."""

    def __init__(self, kind: str, after: int, random: Random) -> None:
        self.kind = kind
        self.random = random
        self.met = False
        self.stop: Callable[[], None] = lambda: None
        self._left = after

    def touch(self, where: str) -> None:
        """A step of the kind `where`; some ends wait for a step at which they can happen."""
        self._left -= 1
        if self._left >= 0 or self.met or self.kind == "end":
            return
        if self.kind == "kill":
            self.met = True
            raise Killed(where)
        if self.kind == "full" and where in ("write", "flush", "checkpoint"):
            self.met = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.kind == "stop" and where == "turn":
            self.met = True
            self.stop()
        if self.kind == "break" and where == "source":
            self.met = True
            raise fail(BROKEN, "the connection broke off")


class SoakFile:
    """A file that is written through a buffer, of which a kill leaves any part behind."""

    def __init__(self, real: BinaryIO, fate: Fate) -> None:
        self._real = real
        self._fate = fate
        self._held = bytearray()
        self.name = real.name

    def write(self, data: bytes) -> int:
        self._held += data
        self._spill(self._fate.random.randint(0, len(self._held)) if len(self._held) > 300 else 0)
        self._fate.touch("write")
        return len(data)

    def flush(self) -> None:
        try:
            self._fate.touch("flush")
        except OSError:
            self.leave()
            raise
        self._spill(len(self._held))

    def tell(self) -> int:
        return os.lseek(self.fileno(), 0, os.SEEK_CUR) + len(self._held)

    def fileno(self) -> int:
        return self._real.fileno()

    def close(self) -> None:
        self._spill(len(self._held))
        self._real.close()

    def leave(self) -> None:
        """What a process leaves of it that does not come to close it."""
        if not self._real.closed:
            self._spill(self._fate.random.randint(0, len(self._held)))

    def abandon(self) -> None:
        self.leave()
        self._real.close()

    def _spill(self, size: int) -> None:
        while size:
            done = os.write(self.fileno(), self._held[:size])
            del self._held[:done]
            size -= done


class CheckpointDisk:
    """Stands for the module `os` where checkpoints are written: the new one is there, the old one stands."""

    O_RDONLY = os.O_RDONLY
    open, close = staticmethod(os.open), staticmethod(os.close)

    def __init__(self, fate: Fate) -> None:
        self._fate = fate

    def fsync(self, fd: int) -> None:
        try:
            self._fate.touch("checkpoint")
        except (Killed, OSError):
            if not stat.S_ISDIR(os.fstat(fd).st_mode):  # its folder is synchronised, too
                os.ftruncate(fd, self._fate.random.randint(0, os.fstat(fd).st_size))
            raise


def guarded_save(save: Callable[..., None], fate: Fate) -> Callable[..., None]:
    """`Checkpoint.save`, which a kill may meet before and after."""

    def saved(*given: object) -> None:
        fate.touch("before saving")
        save(*given)
        fate.touch("after saving")

    return saved


def whole_lines(path: Path) -> list[bytes]:
    """The lines of an output; one that is not there has none."""
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []
