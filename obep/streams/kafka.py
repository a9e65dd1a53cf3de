"""Kafka topics as sources and sinks, by confluent-kafka (`kafka://host:9092/topic`)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from obep.config.toml_file import Config, secret_of
from obep.errors import fail
from obep.formats import format_named, read_items_of
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter, Item
from obep.streams.kafka_options import client, harmless
from obep.streams.login_refused import refused
from obep.streams.sources.batches import SIZE, Batch, Position
from obep.streams.stream_uri import Address

PORT = 9092
ANSWER_S = 10.0
LOOK_MS = 1000
"""How often librdkafka reports the state of its brokers."""
TAKEN_S = 30.0
"""How long a connected broker may accept nothing."""
WAITED_S = 0.5
ASKED_S = 0.5
"""How long one request for a topic may take before errors of the broker are checked."""
CREATED_S = 0.05
"""How long to wait before asking again for a topic that the broker creates."""


class KafkaSource:
    """The messages of a topic; without a time of their own they have the broker's.

    A position is `partition -> next offset`. Without one it begins at the start of the topic (`start =
    "latest"`: at its end), so that the same topic gives the same answers.
    """

    live = True
    ends = False

    def __init__(
        self,
        name: str,
        address: Address,
        reading: Reading,
        settings: Mapping[str, Any],
        config: Config,
        format: str = "",
    ) -> None:
        kafka = _kafka()
        self.name = name
        self._kafka = kafka
        self._reading = reading
        self._topic = topic_of(address)
        self._format = format_named(format or address.option("format", "json"))
        self._stopped = False
        self._committed: Position = {}
        self._arrival = reading.arrival
        reset = settings.get("start", address.option("start", "earliest"))
        self._first = kafka.OFFSET_END if reset == "latest" else kafka.OFFSET_BEGINNING
        self._said = said = Said()
        self._consumer = client(
            kafka.Consumer,
            {
                "error_cb": said.hear,
                "stats_cb": said.look,
                "statistics.interval.ms": LOOK_MS,
                "group.id": settings.get("client_id") or "obep",
                "auto.offset.reset": reset,
                "enable.auto.commit": False,
                "enable.partition.eof": False,
                **_settings(address, settings, config),
            },
            settings,
            config,
        )
        self._partitions = _partitions(self._consumer, self._topic, address, said)

    @property
    def lost(self) -> str:
        return self._said.lost

    def batches(self, start: Position) -> Iterator[Batch]:
        self._consumer.assign(
            [
                # Never the group's offset: another run of the same group would decide what this one reads.
                self._kafka.TopicPartition(self._topic, p, start.get(str(p), self._first))
                for p in self._partitions
            ]
        )
        try:
            while not self._stopped:
                self._follow()
                messages = self._consumer.consume(SIZE, 0.2)
                if messages:
                    yield self._batch(messages)
            self._follow()
        finally:
            self._consumer.close()

    def committed(self, position: Position) -> None:
        """Remembered for the thread that reads: with two in it the client would wait for ever."""
        self._committed = dict(position)

    def _follow(self) -> None:
        """Commit the group's offsets, for tools that show its lag; obep uses its own checkpoint."""
        position, self._committed = self._committed, {}
        offsets = [self._kafka.TopicPartition(self._topic, int(p), offset) for p, offset in position.items()]
        if offsets:
            self._consumer.commit(offsets=offsets, asynchronous=True)

    def stop(self) -> None:
        self._stopped = True

    def _batch(self, messages: list[Any]) -> Batch:
        records: list[Item | DeadLetter] = []
        position: dict[str, int] = {}
        for message in messages:
            error = message.error()
            if error is not None and error.retriable():
                continue  # the client tries again by itself
            if error is not None:
                raise fail("OBEP550", f"{self.name}: {error.str()}")
            key = message.key()
            extra = {"_topic": self._topic, "_key": key.decode("utf-8", "replace") if key else None}
            kind, millis = message.timestamp()
            arrival = self._arrival
            if arrival is not None and kind != self._kafka.TIMESTAMP_NOT_AVAILABLE:
                arrival = _fixed(millis * 1000)
            reading = replace(self._reading, extra=extra, arrival=arrival)
            records.extend(read_items_of(message.value() or b"", self._format, reading))
            position[str(message.partition())] = message.offset() + 1
        return Batch(records, position)


class KafkaSink:
    """Produces each occurrence as one message, its id as key; while no broker is there, messages wait."""

    def __init__(self, address: Address, settings: Mapping[str, Any], config: Config) -> None:
        self.name = address.shown
        self.waits: Callable[[], None] = lambda: None
        """Called now and then while it waits."""
        self._address = address
        self._topic = topic_of(address)
        self._failure = ""
        self._hurried = False
        self._said = said = Said()
        self._producer = client(
            _kafka().Producer,
            {
                "enable.idempotence": True,
                "message.timeout.ms": 0,  # a message is tried again until it is taken
                "error_cb": said.hear,
                "stats_cb": said.look,
                "statistics.interval.ms": LOOK_MS,
                **_settings(address, settings, config),
            },
            settings,
            config,
        )
        _partitions(self._producer, self._topic, address, said, must_exist=False)

    @property
    def lost(self) -> str:
        return self._said.lost

    def send(self, id: str, payload: bytes) -> None:
        while True:
            try:
                self._producer.produce(self._topic, payload, id.encode(), on_delivery=self._delivered)
                break
            except BufferError:
                self._wait(len(self._producer) - 1)
        self._producer.poll(0)

    def flush(self) -> None:
        """Returns when the brokers have everything; waits while none is there."""
        self._wait(0)

    def hurry(self) -> None:
        """Stop waiting for disconnected brokers. May be called from a signal."""
        self._hurried = True

    def _wait(self, most: int) -> None:
        """Returns when no more than so many messages wait; one that is there and takes none is an error."""
        left, patient = len(self._producer), time.monotonic() + TAKEN_S
        while left > most and not self._failure:
            if self._hurried and self.lost:
                raise fail(
                    "OBEP555", f"{self._address.shown} lost the connection, and has not taken all messages"
                )
            if time.monotonic() > patient:
                self._failure = "no answer"
                break
            before, left = left, self._producer.flush(WAITED_S)
            self.waits()
            if left != before or self.lost:
                patient = time.monotonic() + TAKEN_S
        if self._failure:
            raise fail("OBEP555", f"{self._address.shown} takes no more messages: {self._failure}")

    def position(self) -> int:
        return 0

    def close(self) -> None:
        self.flush()

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._failure = error.str()


def _kafka() -> Any:
    try:
        import confluent_kafka
    except ImportError:
        raise fail("OBEP551", "Kafka needs confluent-kafka", remedy='pip install "obep[kafka]"') from None
    return confluent_kafka


def brokers_of(address: Address) -> str:
    """The brokers that an address names, each with its port, as all clients of Kafka want them.

    >>> from obep.streams.stream_uri import parse_address
    >>> [brokers_of(parse_address(f"kafka://{host}/t")) for host in ("", "a", "a,b:9093", "[::1]:9093")]
    ['localhost:9092', 'a:9092', 'a:9092,b:9093', '[::1]:9093']
    """
    if "," in address.host:
        return ",".join(one if ":" in one else f"{one}:{PORT}" for one in address.host.split(","))
    host = f"[{address.host}]" if ":" in address.host else address.host or "localhost"
    return f"{host}:{address.port or PORT}"


def topic_of(address: Address) -> str:
    """The topic that an address names; refused if it names none."""
    if not address.path:
        raise fail("OBEP512", f"{address.shown}: a topic is needed", remedy="kafka://host:9092/topic")
    return address.path


def _settings(address: Address, settings: Mapping[str, Any], config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {"bootstrap.servers": brokers_of(address), "log_level": 3, "logger": _silent()}
    username = secret_of(settings.get("username")) or address.username
    secure = settings.get("tls", False)
    if username:
        password = secret_of(settings.get("password")) or address.password
        found |= {"sasl.mechanism": "PLAIN", "sasl.username": username, "sasl.password": password}
    found["security.protocol"] = ("sasl_" if username else "") + ("ssl" if secure else "plaintext")
    for name, key in (
        ("ca", "ssl.ca.location"),
        ("certificate", "ssl.certificate.location"),
        ("key", "ssl.key.location"),
    ):
        if name in settings:
            found[key] = str(config.file(settings[name]))
    return found | harmless(settings, config)


class Said:
    """Messages that librdkafka logs while it retries: why a broker refuses the connection."""

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self.lost = ""
        """Why no broker is connected; empty when one is."""

    def hear(self, error: Any) -> None:
        if error.name() == "_ALL_BROKERS_DOWN":
            self.lost = error.str()
        if error.name() in ("_AUTHENTICATION", "_SSL"):
            reason = re.sub(r" \(after \d+ms in state .*\)$", "", error.str())
            self.refusals.setdefault(error.name(), reason.split(": ", 1)[-1])

    def look(self, statistics: str) -> None:
        """No event reports that a broker is back; the statistics do."""
        if self.lost and any(one["state"] == "UP" for one in json.loads(statistics)["brokers"].values()):
            self.lost = ""


def _partitions(client: Any, topic: str, address: Address, said: Said, must_exist: bool = True) -> list[int]:
    """The partitions of a topic; a broker that does not answer, or refuses, is an error.

    A producer's question makes a broker create the topic, which takes a moment. The producer waits for it,
    so that a consumer that is opened next finds the topic.
    """
    kafka = _kafka()
    end = time.monotonic() + ANSWER_S
    while True:
        try:
            found = client.list_topics(topic, min(ASKED_S, ANSWER_S)).topics.get(topic)
        except kafka.KafkaException as error:
            client.poll(0)  # deliver the callbacks that are due
            for name, reason in said.refusals.items():
                raise refused(address.shown, reason, certificate=name == "_SSL") from None
            if time.monotonic() > end:
                raise fail("OBEP552", f"{address.shown} does not answer: {error.args[0].str()}") from None
            continue
        state = None if found is None else found.error
        being_created = state is not None and (not must_exist or state.name() == "LEADER_NOT_AVAILABLE")
        if not being_created or time.monotonic() > end:
            break
        client.poll(CREATED_S)
    if found is None or (found.error is not None and must_exist):
        raise fail("OBEP552", f"{address.shown}: there is no topic {topic}")
    return sorted(found.partitions)


def _silent() -> Any:
    """librdkafka's own log goes nowhere: what matters comes back as errors."""
    import logging

    logger = logging.Logger("obep.kafka")
    logger.addHandler(logging.NullHandler())
    return logger


def _fixed(at: int) -> Any:
    return lambda: at
