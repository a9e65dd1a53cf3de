"""Where an embedded run stands, in one file: the engine's state, and the positions of sources and sinks.

It is replaced as a whole, so there is always a complete one; a run that is killed goes on from the last.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from obep.errors import fail
from obep.formats.instants import Style
from obep.streams.sinks import writing

VERSION = 1
NAME = "embedded.checkpoint"


class Standing(msgspec.Struct):
    """What a checkpoint holds. `query` is the hash of the query it belongs to."""

    query: str
    state: bytes
    sources: dict[str, dict[str, int]]
    sinks: dict[str, int]
    letters: int = 0
    style: Style | None = None
    version: int = VERSION


class Checkpoint:
    """The checkpoint of a folder."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise fail("OBEP554", f"{folder} cannot be a checkpoint: {error.strerror}") from None
        self._path = folder / NAME

    def load(self, query: str) -> Standing | None:
        """What the last run of the query left here, if there was one."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise fail("OBEP558", f"{self._path} cannot be read: {error.strerror}") from None
        try:
            standing = msgspec.msgpack.decode(data, type=Standing)
        except msgspec.DecodeError as error:
            raise fail("OBEP558", f"{self._path} is damaged: {error}", remedy=f"rm {self._path}") from None
        if standing.version != VERSION or standing.query != query:
            what = "format" if standing.version != VERSION else "query, ontology or data"
            raise fail(
                "OBEP558",
                f"{self._path} belongs to another {what}",
                reason="What was seen so far was kept for what the query was then.",
                remedy=f"rm {self._path}   to start from the beginning, or another --checkpoint folder",
            )
        return standing

    def save(self, standing: Standing) -> None:
        """Replaces the checkpoint; after a crash there is the old one or the new one."""
        beside = self._path.with_suffix(".new")
        with writing(beside), beside.open("wb") as file:
            file.write(msgspec.msgpack.encode(standing))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
