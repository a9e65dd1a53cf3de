"""What a service has found, refused and been asked to do, in an SQLite file: numbered, by event, by id.

The log is what a service goes on from. The journal can be made again from a snapshot's numbers on, so its
rows need not be safe before the next snapshot.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from obep.engine.snapshots.sealed import damaged
from obep.errors import fail

TABLES = ("events", "letters", "actions")
SCHEMA = """
CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, event TEXT NOT NULL, id TEXT NOT NULL,
  kind TEXT NOT NULL, at INTEGER NOT NULL, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_of ON events (event, seq);
CREATE INDEX IF NOT EXISTS events_by_id ON events (id);
CREATE INDEX IF NOT EXISTS events_at ON events (at);
CREATE TABLE IF NOT EXISTS letters (seq INTEGER PRIMARY KEY, code TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS actions (seq INTEGER PRIMARY KEY, alert TEXT NOT NULL, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS actions_of ON actions (alert, seq);
CREATE TABLE IF NOT EXISTS safe (one INTEGER PRIMARY KEY, numbers TEXT NOT NULL);
"""
EVENTS = """
WITH RECURSIVE names (event) AS (SELECT min(event) FROM events
  UNION ALL SELECT (SELECT min(event) FROM events WHERE event > names.event) FROM names
  WHERE names.event IS NOT NULL)
SELECT event FROM names WHERE event IS NOT NULL
"""
"""Goes from name to name by the index; DISTINCT would read all rows."""
_ANEW = "put a copy of the folder back, or remove it to begin anew"


class Found(NamedTuple):
    """An occurrence, alert or answer as it was reported; `seq` is its number in this service."""

    seq: int
    event: str
    id: str
    kind: str
    at: int
    record: str


class Journal:
    """The journal of a folder. One thread adds; any thread may read."""

    def __init__(self, path: Path, numbers: Sequence[int], keep: int) -> None:
        """`numbers` are the last ones of a snapshot, of each table; what came after them is made again."""
        self._path = path
        self._keep = keep
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._waiting: list[tuple[str, tuple[object, ...]]] = []
        try:
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.executescript(SCHEMA)
            if self._writer.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("its pages do not fit each other")
            self._require(numbers)
            for table, number in zip(TABLES, numbers, strict=True):
                self._writer.execute(f"DELETE FROM {table} WHERE seq > ?", (number,))
            self._writer.commit()
        except sqlite3.OperationalError as error:
            raise fail("OBEP554", f"{path} cannot be written: {error}") from None
        except sqlite3.DatabaseError as error:
            raise damaged(str(path), f"SQLite says: {error}", _ANEW) from None
        self.numbers = list(numbers)
        self.visible = numbers[0]
        """The last number of what was found that readers can see; `numbers` are ahead until `flush`."""

    def add_found(self, event: str, id: str, kind: str, at: int, record: str) -> Found:
        """One more that was found; it is read after `flush`."""
        self.numbers[0] += 1
        row = Found(self.numbers[0], event, id, kind, at, record)
        self._waiting.append(("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?)", row))
        return row

    def add_letter(self, code: str, record: str) -> None:
        """One more dead letter."""
        self.numbers[1] += 1
        self._waiting.append(
            ("INSERT OR REPLACE INTO letters VALUES (?, ?, ?)", (self.numbers[1], code, record))
        )

    def add_action(self, alert: str, record: str) -> None:
        """Add an action of a user on an alert."""
        self.numbers[2] += 1
        self._waiting.append(
            ("INSERT OR REPLACE INTO actions VALUES (?, ?, ?)", (self.numbers[2], alert, record))
        )

    def flush(self) -> None:
        """Lets readers see what was added. Raises OBEP856 if there is no room; nothing is forgotten then."""
        if not self._waiting:
            return
        try:
            for statement, row in self._waiting:
                self._writer.execute(statement, row)
            self._writer.commit()
        except sqlite3.Error as error:
            self._writer.rollback()
            raise fail("OBEP856", f"the journal cannot be written: {error}", remedy="make room") from None
        self._waiting.clear()
        self.visible = self.numbers[0]

    def secure(self) -> None:
        """All rows are safely on disk when this returns; the oldest ones beyond what is kept are gone."""
        self.flush()
        try:
            self._writer.execute("PRAGMA synchronous = FULL")
            for table, number in zip(TABLES, self.numbers, strict=True):
                self._writer.execute(f"DELETE FROM {table} WHERE seq <= ?", (number - self._keep,))
            said = " ".join(map(str, self.numbers))
            self._writer.execute("INSERT OR REPLACE INTO safe VALUES (0, ?)", (said,))
            self._writer.commit()
            self._writer.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error as error:
            self._writer.rollback()
            raise fail("OBEP856", f"the journal cannot be written: {error}", remedy="make room") from None

    def found(
        self,
        since: int,
        limit: int,
        *,
        events: Iterable[str] = (),
        kinds: Iterable[str] = (),
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> list[Found]:
        """What was found after the number `since`, oldest first; of some events, kinds and instants."""
        where, values = ["seq > ?"], [since]
        arguments: list[object] = list(values)
        for column, wanted in (("event", tuple(events)), ("kind", tuple(kinds))):
            if wanted:
                where.append(f"{column} IN ({', '.join('?' * len(wanted))})")
                arguments.extend(wanted)
        if at_least is not None:
            where.append("at >= ?")
            arguments.append(at_least)
        if at_most is not None:
            where.append("at <= ?")
            arguments.append(at_most)
        sql = f"SELECT * FROM events WHERE {' AND '.join(where)} ORDER BY seq LIMIT ?"
        return [Found(*row) for row in self._read(sql, *arguments, limit)]

    def events(self) -> list[str]:
        """The IRIs of all that was found, each once."""
        return [event for (event,) in self._read(EVENTS)]

    def latest(self, kind: str, limit: int) -> list[Found]:
        """The latest of a kind, newest first."""
        sql = "SELECT * FROM events WHERE kind = ? ORDER BY seq DESC LIMIT ?"
        return [Found(*row) for row in self._read(sql, kind, limit)]

    def with_id(self, id: str) -> list[Found]:
        """What was found with an id; an alert has two."""
        return [Found(*row) for row in self._read("SELECT * FROM events WHERE id = ? ORDER BY seq", id)]

    def letters(self, since: int, limit: int) -> list[tuple[int, str, str]]:
        """Dead letters after a number: number, code, record."""
        return self._read("SELECT * FROM letters WHERE seq > ? ORDER BY seq LIMIT ?", since, limit)

    def actions(self, alert: str | None = None) -> list[tuple[int, str, str]]:
        """What was done with an alert, or with all of them: number, alert, record."""
        if alert is None:
            return self._read("SELECT * FROM actions ORDER BY seq")
        return self._read("SELECT * FROM actions WHERE alert = ? ORDER BY seq", alert)

    def first(self) -> int:
        """The number of the oldest that is kept."""
        rows = self._read("SELECT min(seq) FROM events")
        return rows[0][0] or self.numbers[0] + 1

    def close(self) -> None:
        for connection in self._open:
            connection.close()

    def _require(self, numbers: Sequence[int]) -> None:
        """The rows that a snapshot counts on are there."""
        kept = self._writer.execute("SELECT numbers FROM safe").fetchone()
        there = [int(one) for one in kept[0].split()] if kept else [0] * len(TABLES)
        if any(have < want for have, want in zip(there, numbers, strict=True)):
            raise sqlite3.DatabaseError("it ends before the snapshot beside it")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, check_same_thread=False)
        connection.execute("PRAGMA synchronous = NORMAL")
        self._open.append(connection)
        return connection

    def _read(self, sql: str, *values: object) -> list[Any]:
        if getattr(self._local, "reader", None) is None:
            self._local.reader = self._connect()
        rows: list[Any] = self._local.reader.execute(sql, values).fetchall()
        return rows
