"""Kafka against a real broker: messages in and out, and going on from a position."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_broker import NoKafka, kafka_broker

from obep.config import Config, load_config
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
    again, _ = take(open_source("doors", uri, config), 6, {})
    assert len(again) == 6, "without a checkpoint it begins at the start, whatever the group has committed"


def test_a_topic_or_broker_that_is_not_there_is_an_error(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obep.streams.kafka.ANSWER_S", 1.0)
    for uri in (f"kafka://{broker}/", "kafka://127.0.0.1:1/doors"):
        with pytest.raises(ObepError) as caught:
            open_source("", uri, Config(tmp_path))
        assert caught.value.code in ("OBEP512", "OBEP552")


def test_credentials_and_certificates_reach_the_client_and_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from obep.streams.address import parse_address
    from obep.streams.kafka import _settings

    monkeypatch.setenv("WORD", "hush-hush")
    (tmp_path / "ca.pem").write_text("")
    (tmp_path / "obep.toml").write_text("""
        [sources.s]
        uri = "kafka://broker.example.org:9093/smoke"
        tls = true
        username = "me"
        password = "${WORD}"
        ca = "ca.pem"
        options = { "sasl.mechanism" = "SCRAM-SHA-512" }
    """)
    config = load_config(None, tmp_path)
    given = config.sources["s"]
    found = _settings(parse_address(given["uri"].reveal()), given, config)
    assert found["security.protocol"] == "sasl_ssl"
    assert (found["sasl.username"], found["sasl.password"]) == ("me", "hush-hush")
    assert found["sasl.mechanism"] == "SCRAM-SHA-512"
    assert found["ssl.ca.location"] == str(tmp_path / "ca.pem")
    assert found["bootstrap.servers"] == "broker.example.org:9093"
    assert "hush-hush" not in repr(config) + repr(given)
    plain = _settings(parse_address("kafka://me:hush-hush@h/t"), {}, config)
    assert (plain["security.protocol"], plain["sasl.password"]) == ("sasl_plaintext", "hush-hush")
    assert "hush-hush" not in repr(parse_address("kafka://me:hush-hush@h/t"))
