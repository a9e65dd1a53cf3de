"""The files of watched folders that Spark has read, as its checkpoint lists them.

Spark reads a file once, by its path. One that was put in the place of another, or written on, is not read
again: a run that goes on says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from obep.errors import fail

_LOG = re.compile(r"\d+(\.compact)?")
"""A file of Spark's list: of one micro-batch, or of all up to it."""


class Seen(msgspec.Struct):
    """A file in Spark's list, and when it had been changed last, in milliseconds."""

    path: str
    timestamp: int


def require_as_read(checkpoint: Path, folders: Iterable[Path]) -> None:
    """Refuse to go on if a file of a folder has been changed since Spark has listed it for reading."""
    seen = _seen(checkpoint / "spark" / "sources")
    for folder in folders:
        for path in sorted(folder.iterdir()):
            changed = seen.get(str(path.resolve()))
            if changed is not None and path.stat().st_mtime_ns // 1_000_000 != changed:
                raise fail(
                    "OBEP558",
                    f"{path} was replaced or written on since it was read",
                    reason="Spark reads a file once, so what is new in it would never be read.",
                    remedy="put the new records into a file of another name, and remove this one",
                )


def _seen(logs: Path) -> dict[str, int]:
    """The files by their paths."""
    found: dict[str, int] = {}
    there = [path for path in logs.glob("*/*") if _LOG.fullmatch(path.name)]
    for log in sorted(there, key=lambda path: (path.parent, int(path.stem), path.suffix)):
        for line in log.read_bytes().splitlines()[1:]:  # the first one says the version
            try:
                one = msgspec.json.decode(line, type=Seen)
            except msgspec.MsgspecError:  # of another kind of source, whose offsets these are
                continue
            parts = urlsplit(one.path)
            if parts.scheme == "file":
                found[str(Path(unquote(parts.path)).resolve())] = one.timestamp
    return found
