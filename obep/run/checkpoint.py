"""Where an embedded run stands, in one file: the engine's state, and the positions of sources and sinks.

It is replaced as a whole, so there is always a complete one; a run that is killed goes on from the last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from obep.engine.snapshots.sealed import damaged, sealed, unsealed
from obep.errors import ObepError, fail
from obep.formats.timestamps import Style
from obep.run.run_spec import Inlet, origin_of
from obep.streams.sinks.open_sinks import writing

VERSION = 2
NAME = "embedded.checkpoint"


class Standing(msgspec.Struct):
    """The content of a checkpoint. `query` is the hash of its query."""

    query: str
    state: bytes
    sources: dict[str, dict[str, int]]
    outputs: dict[str, int]
    """Where sinks and dead letters stand, by what they are; also those that the last run did not have."""
    origins: dict[str, str] = {}
    """The kind of each source, by its key."""
    style: Style | None = None
    rows: tuple[int | None, dict[str, int]] = (None, {})
    """The numbers of equal rows at the last instant (`RowIds`)."""
    beside: bytes = b""
    """Additional state of a service."""
    version: int = VERSION


class Version(msgspec.Struct):
    """As much of a checkpoint as can be read in every version."""

    version: int


def make_folder(folder: Path) -> None:
    """Make the folder of a checkpoint, if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise fail("OBEP554", f"{folder} cannot be a checkpoint: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """The names of its files are safely on disk, too, where a folder can be synchronised."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    except OSError:  # not a file system that does this
        pass
    finally:
        os.close(number)


def require_same_sources(standing: Standing, inlets: Iterable[Inlet]) -> None:
    """Refuse sources whose positions the checkpoint cannot have; another file is no such one."""
    now = {inlet.key: origin_of(inlet) for inlet in inlets}
    if gone := sorted(set(standing.sources) - set(now)):
        raise fail(
            "OBEP558", f"the checkpoint also read {', '.join(gone)}", remedy="give the same sources again"
        )
    for key, origin in standing.origins.items():
        if now.get(key, origin) != origin:
            raise fail(
                "OBEP558",
                f"the checkpoint read {key} from {origin}, and now it is {now[key]}",
                reason="A position in one is not a position in the other.",
                remedy="give the same source again, or another --checkpoint folder",
            )


class Checkpoint:
    """The checkpoint of a folder."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        self._path = folder / NAME

    def load(self, query: str) -> Standing | None:
        """The checkpoint of the last run of the query, if there is one."""
        standing = self.read()
        if standing is not None and standing.query != query:
            raise self._other("query, ontology or data")
        return standing

    def read(self) -> Standing | None:
        """The checkpoint of the last run, of any query."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise fail("OBEP558", f"{self._path} cannot be read: {error.strerror}") from None
        anew = f"rm {self._path}   to start from the beginning, or put a copy of it back"
        body = unsealed(data, str(self._path), anew)
        try:
            version = msgspec.msgpack.decode(body, type=Version).version
            standing = msgspec.msgpack.decode(body, type=Standing) if version == VERSION else None
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise damaged(str(self._path), f"Something in it has another form ({error}).", anew) from None
        if standing is None:
            raise self._other("format")
        return standing

    def _other(self, what: str) -> ObepError:
        return fail(
            "OBEP558",
            f"{self._path} belongs to another {what}",
            reason="The state belongs to the query as it was then.",
            remedy=f"rm {self._path}   to start from the beginning, or another --checkpoint folder",
        )

    def save(self, standing: Standing) -> None:
        """Replaces the checkpoint; after a crash there is the old one or the new one."""
        beside = self._path.with_suffix(".new")
        with writing(beside), beside.open("wb") as file:
            file.write(sealed(msgspec.msgpack.encode(standing)))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
        sync_folder(self._path.parent)
