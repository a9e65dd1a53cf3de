"""MQTT as a streaming source of Spark (`obep-mqtt`): messages are spooled to files, then acknowledged.

Spark asks one long-lived process for offsets and others for the data, so the spool lies on disk between them.
A message is acknowledged to the broker when it is safely in the spool, and leaves the spool when the
micro-batch that read it is committed: nothing acknowledged is lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event, Lock
from typing import Any

import msgspec
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from obep.errors import fail

SCHEMA = "topic string, arrived long, data binary"
Message = tuple[str, int, bytes]
"""Topic, arrival in microseconds, payload."""
NEXT = "next"


class Spool:
    """Numbered messages in files of a folder; the name of a file is the number of its first message."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.next = self._find_next()

    def _find_next(self) -> int:
        mark = self._folder / NEXT
        marked = int(mark.read_text()) if mark.exists() else 0
        return max([marked, *(first + len(messages) for first, messages in self.files(0, None))])

    def append(self, messages: Sequence[Message]) -> None:
        """Safely on disk when this returns."""
        self._put(f"{self.next:020d}.spool", msgspec.msgpack.encode(messages))
        self.next += len(messages)

    def files(self, start: int, end: int | None) -> Iterator[tuple[int, list[Message]]]:
        """The files that may hold messages from `start` up to (without) `end`, with their first numbers."""
        for path in sorted(self._folder.glob("*.spool")):
            first = int(path.stem)
            if end is not None and first >= end:
                return
            messages = msgspec.msgpack.decode(path.read_bytes(), type=list[Message])
            if first + len(messages) > start:
                yield first, messages

    def forget(self, end: int) -> None:
        """The messages before `end` are not asked for any more."""
        self._put(NEXT, str(self.next).encode())
        for path in sorted(self._folder.glob("*.spool")):
            messages = msgspec.msgpack.decode(path.read_bytes(), type=list[Any])
            if int(path.stem) + len(messages) > end:
                return
            path.unlink()

    def _put(self, name: str, data: bytes) -> None:
        whole = self._folder / f".{name}.tmp"
        with whole.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        whole.replace(self._folder / name)


class MqttDataSource(DataSource):
    """`spark.readStream.format("obep-mqtt").option("uri", "mqtt://host/topic").option("spool", FOLDER)`."""

    @classmethod
    def name(cls) -> str:
        return "obep-mqtt"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return MqttReader(dict(self.options))


class Range(InputPartition):
    """Messages from one number up to (without) another."""

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class MqttReader(DataSourceStreamReader):
    """Connects when the first offset is asked for; the instances that only read do not."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._folder = Path(options["spool"])
        self._spool: Spool | None = None
        self._client: Any = None
        self._waiting: list[tuple[Message, int, int]] = []
        self._lock: Any = None

    def initialOffset(self) -> dict[str, int]:
        spool = self._open()
        first = next((number for number, _ in spool.files(0, None)), spool.next)
        return {NEXT: first}

    def latestOffset(self) -> dict[str, int]:  # type: ignore[override]
        spool = self._open()
        with self._lock:
            taken, self._waiting = self._waiting, []
        if taken:
            spool.append([message for message, _, _ in taken])
            for _, number, qos in taken:
                self._client.ack(number, qos)
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

    def stop(self) -> None:
        if self._client is not None:
            self._client.disconnect()
            self._client.loop_stop()

    def _open(self) -> Spool:
        if self._spool is None:
            self._lock = Lock()
            self._connect()
            self._spool = Spool(self._folder)
        return self._spool

    def _connect(self) -> None:
        """By obep's own connection, which knows TLS and passwords; acknowledged by hand."""
        from obep.config import Config
        from obep.streams.address import parse_address
        from obep.streams.mqtt import Connection

        reader = self

        class Spooling(Connection):
            def ready(self) -> None:
                self.client.subscribe(self.topic, self.qos)

        settings: dict[str, Any] = {
            name: self._options[name]
            for name in ("username", "password", "client_id", "ca", "certificate", "key")
            if name in self._options
        }
        settings["qos"] = int(self._options.get("qos", "1"))
        settings["tls"] = self._options.get("tls", "False") == "True"
        connection = Spooling(parse_address(self._options["uri"]), settings, Config(Path("/")))
        self._client = connection.client
        self._client.manual_ack_set(True)

        def arrived(client: Any, userdata: Any, message: Any) -> None:
            kept = (message.topic, time.time_ns() // 1000, bytes(message.payload))
            with reader._lock:
                reader._waiting.append((kept, message.mid, message.qos))

        subscribed = Event()
        self._client.on_message = arrived
        self._client.on_subscribe = lambda *rest: subscribed.set()
        connection.open()
        if not subscribed.wait(10):  # from here on the broker keeps what comes for us
            raise fail("OBEP552", f"{connection.address.shown} does not confirm the subscription")
