"""Messages between a connection and Spark: in a spool, until the micro-batch that read them is done.

Spark asks one long-lived process for offsets and others for the data, so the spool lies on disk between them.
A message leaves it when the micro-batch that read it is committed: after a restart the numbers go on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from obep.spark.connectors.connection_status import report_connection
from obep.streams.spool import NEXT, Message, Spool

SCHEMA = "topic string, arrived long, data binary"


class Range(InputPartition):
    """Messages from one number up to (without) another."""

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class SpooledReader(DataSourceStreamReader):
    """Listens from the first offset that is asked for; the instances that only read do not.

    What `listen` hands to `take` waits in memory, is written to the spool when Spark asks how far it may
    read, and is then acknowledged.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._folder = Path(options["spool"])
        self._spool: Spool | None = None
        self._waiting: list[tuple[Message, Any]] = []
        self._lock: Any = None

    def listen(self) -> None:
        """Connect, and `take` from then on what comes."""
        raise NotImplementedError

    def acknowledge(self, tokens: Sequence[Any]) -> None:
        """These are safe now."""

    def take(self, topic: str, data: bytes, token: Any = None) -> None:
        """A message has come."""
        message = (topic, time.time_ns() // 1000, data)
        with self._lock:
            self._waiting.append((message, token))

    def report_connection(self, why: str) -> None:
        """Note that the connection is lost, with the reason; an empty reason: it is there."""
        report_connection(self._folder, why)

    def initialOffset(self) -> dict[str, int]:
        spool = self._open()
        first = next((number for number, _ in spool.files(0, None)), spool.next)
        return {NEXT: first}

    def latestOffset(self) -> dict[str, int]:  # type: ignore[override]  # all that has come, without a limit
        spool = self._open()
        with self._lock:
            taken, self._waiting = self._waiting, []
        if taken:
            spool.append([message for message, _ in taken])
            self.acknowledge([token for _, token in taken])
        return {NEXT: spool.next}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [Range(start[NEXT], end[NEXT])]

    def read(self, partition: Any) -> Iterator[Any]:
        for first, messages in Spool(self._folder).files(partition.start, partition.end):
            for number, (topic, arrived, data) in enumerate(messages, first):
                if partition.start <= number < partition.end:
                    yield (topic, arrived, data)

    def commit(self, end: dict[str, int]) -> None:
        self._open().forget(end[NEXT])

    def _open(self) -> Spool:
        if self._spool is None:
            self._lock = Lock()
            self.listen()
            self._spool = Spool(self._folder)
        return self._spool
