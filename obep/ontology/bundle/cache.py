"""What is remembered on disk: a small file for each answer, under a hash of what was asked; large ones for K.

Two processes may write the same entry at once: each writes a file of its own and puts it in place in one
step, so a reader finds a whole entry or none. An entry is JSON after a line with a digest of its key and
content: one that is damaged, or was put there under another key, is as good as none. A large file is sealed
in the same way, and mapped into memory, so that processes share it.
"""

from __future__ import annotations

import mmap
import os
import stat
import tempfile
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeVar

import msgspec

from obep.ontology.owl.axiom_set import Axioms

FORMAT = "obep-3"
"""Changes whenever what is remembered changes its meaning."""
MOST = 200_000
"""Entries that one process writes into one folder."""
Record = TypeVar("Record")
Data: TypeAlias = "bytes | bytearray | memoryview | array[int]"


def cache_dir() -> Path:
    """Where things are remembered: OBEP_CACHE, or obep in XDG_CACHE_HOME or ~/.cache.

    A user without a home that can be written (a worker of a cluster) has a folder of his own in /tmp.
    """
    if chosen := os.environ.get("OBEP_CACHE"):
        return Path(chosen)
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "obep"
    except RuntimeError:  # this user has no home folder
        return _in_tmp()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    return folder if os.access(there, os.W_OK) else _in_tmp()


def _in_tmp() -> Path:
    """A folder that is this user's alone; where another user has made it, nothing is cached."""
    user = os.getuid()
    folder = Path(tempfile.gettempdir()) / f"obep-{user}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077:
            return folder
    return Path(os.devnull)


def content_hash(content: object) -> str:
    """A name for what is asked; equal values of our classes, tuples and strings have equal names.

    >>> content_hash(("a", 1)) == content_hash(("a", 1)) != content_hash(("a", 2))
    True
    """
    return blake2b(f"{FORMAT}\n{content!r}".encode(), digest_size=20).hexdigest()


def digest_of(data: bytes) -> str:
    """A name for the content of a file."""
    return blake2b(data, digest_size=20).hexdigest()


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
        content = msgspec.json.encode(record)
        with suppress(OSError):
            _put(self._file(key), (_digest(key, content), b"\n", content))

    def _file(self, key: str) -> Path:
        return self.path / key[:2] / f"{key}.json"


def _digest(key: str, content: bytes) -> bytes:
    return blake2b(f"{FORMAT}\n{key}\n".encode() + content, digest_size=20).hexdigest().encode()


def _put(path: Path, pieces: Iterable[Data]) -> None:
    """Puts a file in place, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise


# --- large files

FILES = 16
"""Large files that are kept in a folder; the one that was used longest ago goes first."""
_SEAL = 16


def seal(path: Path, magic: bytes, pieces: Sequence[Data]) -> None:
    """Writes a large file after a digest of it; where nothing can be written, nothing is."""
    digest = blake2b(magic, digest_size=_SEAL)
    for piece in pieces:
        digest.update(piece)
    with suppress(OSError):
        _put(path, (magic, digest.digest(), *pieces))
        by_use = sorted((file.stat().st_mtime, file) for file in path.parent.glob(f"*{path.suffix}"))
        for _, file in by_use[:-FILES]:  # who has one of them mapped keeps what he has
            file.unlink(missing_ok=True)


def unseal(path: Path, magic: bytes) -> memoryview | None:
    """What was sealed, mapped; nothing if it is not as it was written."""
    try:
        with path.open("rb") as file:
            if not _whole(file, magic):
                return None
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        os.utime(path)
    except (OSError, ValueError):
        return None
    return data[len(magic) + _SEAL :]


def _whole(file: BinaryIO, magic: bytes) -> bool:
    """Read piece by piece, so that it does not count as memory of this process."""
    if file.read(len(magic)) != magic:
        return False
    written, digest = file.read(_SEAL), blake2b(magic, digest_size=_SEAL)
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.digest() == written
