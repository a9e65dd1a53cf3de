"""The compiled queries that the state of a service is of, each with its ontology and static graphs.

A snapshot or an entry of the log is read by the query that it is of, also where a file that this query was
made of has changed since, or is gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from obep.engine.query import Query
from obep.engine.snapshots.sealed import damaged, sealed, unsealed
from obep.errors import ObepError, fail
from obep.run.checkpoint import sync_folder

ENDING = ".query"
_BACK = "put a copy of it back, or obep serve --state ANOTHER-FOLDER to begin anew"


class KeptQueries:
    """Queries in the files of a folder; the name of a file is the hash of its query."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, query: Query) -> None:
        """Safely on disk when this returns; raises OBEP856 if there is no room."""
        path = self._path(query.hash)
        if path.exists():
            return
        beside = path.with_suffix(".new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as file:
                file.write(sealed(query.to_bundle()))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise fail(
                "OBEP856", f"the query cannot be written: {error.strerror}", remedy="make room"
            ) from None
        sync_folder(self._folder)
        sync_folder(self._folder.parent)

    def find(self, hash: str) -> Query | None:
        """The query with a hash; none, if it is not there or another version of obep wrote it."""
        path = self._path(hash)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise fail("OBEP558", f"{path} cannot be read: {error.strerror}") from None
        body = unsealed(data, str(path), _BACK)
        try:
            query = Query.from_bytes(body)
        except ObepError:
            return None
        if query.hash != hash:
            raise damaged(str(path), "It holds another query than its name says.", _BACK)
        return query

    def drop_others(self, hashes: Iterable[str]) -> None:
        """Remove all but these."""
        kept = {self._path(hash) for hash in hashes}
        for path in self._folder.glob("*"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _path(self, hash: str) -> Path:
        return self._folder / f"{Path(hash).name}{ENDING}"
