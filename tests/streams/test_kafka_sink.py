"""A Kafka sink keeps what it was given while no broker is there; no broker is needed to see it."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.streams import kafka
from obep.streams.kafka import KafkaSink, Said
from obep.streams.stream_uri import parse_address

pytest.importorskip("confluent_kafka")


class Producer:
    """A producer whose broker takes a message only now and then: as each step says, until all is taken."""

    def __init__(self, said: Said, steps: list[str]) -> None:
        self.said, self.steps, self.left = said, steps, 0

    def __len__(self) -> int:
        return self.left

    def produce(self, *given: object, **more: object) -> None:
        self.left += 1

    def poll(self, seconds: float) -> None: ...

    def flush(self, seconds: float) -> int:
        step = self.steps.pop(0) if self.steps else "taken"
        self.said.lost = "1/1 brokers are down" if step == "away" else ""
        self.left -= step == "taken"
        return self.left


def waiting_sink(monkeypatch: pytest.MonkeyPatch, steps: list[str]) -> KafkaSink:
    """A sink with two messages, and a clock that goes on by a third of its patience at each look."""
    clock = count(0, 31)

    def client(kind: object, settings: dict[str, Any], *more: object) -> Producer:
        assert settings["message.timeout.ms"] == 0, "a message does not grow too old"
        return Producer(settings["error_cb"].__self__, steps)

    monkeypatch.setattr(kafka, "client", client)
    monkeypatch.setattr(kafka, "_partitions", lambda *given, **more: [])
    monkeypatch.setattr(kafka, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(kafka, "TAKEN_S", 100)
    sink = KafkaSink(parse_address("kafka://h/t"), {}, Config(Path()))
    sink.send("urn:1", b"{}")
    sink.send("urn:2", b"{}")
    return sink


def test_a_sink_waits_for_a_broker_that_is_away_and_it_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = waiting_sink(monkeypatch, ["away"] * 20 + ["taken", "away", "away"])
    seen: list[str] = []
    sink.waits = lambda: seen.append(sink.lost)
    sink.flush()
    assert len(sink._producer) == 0
    assert [bool(one) for one in seen] == [True] * 20 + [False, True, True, False]


def test_a_broker_that_is_there_and_takes_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = waiting_sink(monkeypatch, ["nothing"] * 5)
    with pytest.raises(ObepError, match="OBEP555"):
        sink.flush()


def test_a_stop_does_not_wait_for_a_kafka_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = waiting_sink(monkeypatch, ["away"] * 1000)
    sink.hurry()
    with pytest.raises(ObepError, match="lost the connection, and has not taken all"):
        sink.flush()
    assert len(sink._producer.steps) == 999
