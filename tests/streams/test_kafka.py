"""Kafka against a real broker: messages in and out, and going on from a position."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_broker import NoKafka, kafka_broker

from obep.config import Config
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.streams.batches import Position, Source
from obep.streams.sinks import open_sink
from obep.streams.sources import open_source

pytestmark = pytest.mark.slow
pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    try:
        with kafka_broker() as address:
            yield address
    except NoKafka as reason:
        pytest.skip(str(reason))


def take(source: Source, count: int, start: Position) -> tuple[list[Item | DeadLetter], dict[str, int]]:
    found: list[Item | DeadLetter] = []
    position = dict(start)
    for batch in source.batches(start):
        found.extend(batch.records)
        position |= batch.position
        if len(found) >= count:
            source.committed(position)
            source.stop()
            break
    return found, position


def test_what_a_sink_produces_a_source_reads_and_goes_on_from_its_position(
    broker: str, tmp_path: Path
) -> None:
    config = Config(tmp_path)
    uri = f"kafka://{broker}/doors"
    sink = open_sink(uri, {}, config)
    for n in range(3):
        sink.send(f"urn:{n}", b'{"time": %d, "graph": ""}' % n)
    sink.send("urn:x", b"broken")
    sink.send("urn:y", b'{"graph": ""}')
    sink.flush()
    records, position = take(open_source("doors", uri, config), 5, {})
    assert sorted(r.at for r in records if isinstance(r, Item))[:3] == [0, 1_000_000, 2_000_000]
    assert [r.code for r in records if isinstance(r, DeadLetter)] == ["OBEP600"]
    assert max(r.at for r in records if isinstance(r, Item)) > 1_700_000_000_000_000, "the broker's time"
    sink.send("urn:3", b'{"time": 7, "graph": ""}')
    sink.close()
    rest, _ = take(open_source("doors", uri, config), 1, position)
    assert [r.at for r in rest] == [7_000_000]


def test_a_topic_or_broker_that_is_not_there_is_an_error(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obep.streams.kafka.ANSWER_S", 1.0)
    for uri in (f"kafka://{broker}/", "kafka://127.0.0.1:1/doors"):
        with pytest.raises(ObepError) as caught:
            open_source("", uri, Config(tmp_path))
        assert caught.value.code in ("OBEP512", "OBEP552")
