"""One run at a time: locks on the checkpoint and on the files and folders that a run writes.

The locks are the kernel's, so they end with the process, however it ends.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, Self

from obep.errors import ObepError, fail
from obep.run.checkpoint import make_folder
from obep.run.run_spec import Order, file_of

fcntl: Any
try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None

NAME = "run.lock"
"""The file that is locked in a checkpoint's folder; it says whose lock it is."""
HIDDEN = ".run.lock"
"""The one in a folder of Parquet: who reads the folder leaves out what begins with a dot."""
LOCKS = Path("/proc/locks")
"""Where Linux lists who holds which lock."""


class Locks:
    """The locks of a run, until they are released."""

    def __init__(self) -> None:
        self._held: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def take(self, order: Order) -> None:
        """Lock all that a run writes; raises OBEP591 if another run has something of it."""
        if order.checkpoint is not None:
            self.take_checkpoint(order.checkpoint)
        files = [file_of(target, order.config) for target in order.targets if target.form != "columns"]
        for path in (*files, order.dead_letters):
            if path is not None:
                self.take_output(path)

    def take_folders(self, order: Order) -> None:
        """Lock the folders of Parquet, too, which only a run on Spark writes."""
        for target in order.targets:
            path = file_of(target, order.config)
            if target.form == "columns" and path is not None:
                self.take_folder(path)

    def take_checkpoint(self, folder: Path) -> None:
        """Lock a checkpoint's folder."""
        make_folder(folder)
        number = self._take(folder / NAME, f"the checkpoint {folder}")
        if number is not None:
            os.ftruncate(number, 0)
            os.pwrite(number, f"{os.getpid()}\n".encode(), 0)

    def take_folder(self, folder: Path) -> None:
        """Lock a folder in which files are put."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise fail("OBEP554", f"{folder} cannot be written: {error.strerror}") from None
        self._take(folder / HIDDEN, str(folder))

    def take_output(self, path: Path) -> None:
        """Lock a file that is written; pipes and devices may be shared."""
        if not path.exists() or stat.S_ISREG(path.stat().st_mode):
            self._take(path, str(path))

    def release(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _take(self, path: Path, what: str) -> int | None:
        if fcntl is None:
            return None
        try:
            number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise fail("OBEP554", f"{path} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = _holder(number) or _written(path)
            os.close(number)
            raise _refusal(what, other) from None
        except OSError:  # a file system without locks
            os.close(number)
            return None
        self._held.append(number)
        return number


def _refusal(what: str, other: int | None) -> ObepError:
    who = f"process {other}" if other else "another process"
    return fail(
        "OBEP591",
        f"{what} is in use by {who}",
        reason="Two runs would write over each other's output and positions.",
        remedy=f"stop it (kill {other}), or give this run other folders and files"
        if other
        else "stop the other run, or give this one other folders and files",
    )


def _holder(number: int) -> int | None:
    """The process that holds the lock of an open file, where Linux lists it."""
    found = os.fstat(number)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    try:
        rows = [line.split() for line in LOCKS.read_text().splitlines()]
    except OSError:
        return None
    return next((int(row[4]) for row in rows if row[1:2] == ["FLOCK"] and row[5:6] == [place]), None)


def _written(path: Path) -> int | None:
    """The process that a lock file names."""
    try:
        text = path.read_bytes()[:20].strip() if path.name == NAME else b""
    except OSError:
        return None
    return int(text) if text.isdigit() else None
