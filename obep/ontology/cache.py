"""What is remembered on disk: one small file for each answer, under a hash of what was asked.

Two processes may write the same entry at once: each writes a file of its own and puts it in place in one
step, so a reader finds a whole entry or none. An entry is JSON after a line with a digest of its key and
content: one that is damaged, or was put there under another key, is as good as none.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec

from obep.ontology.axioms import Axioms

FORMAT = "obep-2"
"""Changes whenever what is remembered changes its meaning."""
MOST = 200_000
"""Entries that one process writes into one folder."""
Record = TypeVar("Record")


def cache_dir() -> Path:
    """Where things are remembered: OBEP_CACHE, or obep in XDG_CACHE_HOME or ~/.cache.

    A user without a home that can be written (a worker of a cluster) has a folder of his own in /tmp.
    """
    if chosen := os.environ.get("OBEP_CACHE"):
        return Path(chosen)
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "obep"
    except RuntimeError:  # nobody knows where this user is at home
        return _in_tmp()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    return folder if os.access(there, os.W_OK) else _in_tmp()


def _in_tmp() -> Path:
    """A folder that is this user's alone; where somebody else has made it, nothing is remembered."""
    user = os.getuid()
    folder = Path(tempfile.gettempdir()) / f"obep-{user}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077:
            return folder
    return Path(os.devnull)


def content_hash(content: object) -> str:
    """A name for what is asked; equal values of our dataclasses, tuples and strings have equal names.

    >>> content_hash(("a", 1)) == content_hash(("a", 1)) != content_hash(("a", 2))
    True
    """
    return blake2b(f"{FORMAT}\n{content!r}".encode(), digest_size=20).hexdigest()


def axioms_hash(axioms: Axioms) -> str:
    """A name for T, whatever the order of its axioms."""
    names = (sorted(getattr(axioms, field.name), key=repr) for field in fields(axioms)[1:])
    return content_hash((sorted(set(map(repr, axioms.axioms))), *names))


class Folder:
    """The entries of one kind. Nothing here fails: without a place to write, nothing is remembered."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written = 0

    def read(self, key: str, kind: type[Record]) -> Record | None:
        """The entry under a key, if there is a whole one of that kind."""
        try:
            digest, _, content = self._file(key).read_bytes().partition(b"\n")
            return msgspec.json.decode(content, type=kind) if digest == _digest(key, content) else None
        except (OSError, msgspec.DecodeError):
            return None

    def write(self, key: str, record: object) -> None:
        """Puts an entry in place, in one step."""
        if self._written >= MOST:
            return
        self._written += 1
        target, content = self._file(key), msgspec.json.encode(record)
        with suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(key, content) + b"\n" + content)
                os.replace(name, target)
            except OSError:
                with suppress(OSError):
                    os.unlink(name)

    def _file(self, key: str) -> Path:
        return self.path / key[:2] / f"{key}.json"


def _digest(key: str, content: bytes) -> bytes:
    return blake2b(f"{FORMAT}\n{key}\n".encode() + content, digest_size=20).hexdigest().encode()
