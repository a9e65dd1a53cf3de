"""Kafka against a real broker: messages in and out, going on from a position, TLS and passwords."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Event

import pytest
from kafka_broker import USER, WORD, KafkaBroker, NoKafka, kafka_broker, produce

from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.streams.kafka import Said
from obep.streams.sinks.open_sinks import open_sink
from obep.streams.sources.batches import Batch, Position, Source
from obep.streams.sources.open_sources import open_source

pytestmark = pytest.mark.slow
confluent_kafka = pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def server() -> Iterator[KafkaBroker]:
    try:
        with kafka_broker() as started:
            yield started
    except NoKafka as reason:
        pytest.skip(str(reason))


@pytest.fixture
def broker(server: KafkaBroker) -> str:
    return server.address


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


def test_the_offsets_of_the_group_follow_the_checkpoint_while_another_thread_reads(
    broker: str, tmp_path: Path
) -> None:
    config, uri = Config(tmp_path), f"kafka://{broker}/followed"
    sink = open_sink(uri, {}, config)
    source = open_source("doors", uri, config)
    read: Queue[Batch] = Queue()
    position: dict[str, int] = {}
    with ThreadPoolExecutor(2) as threads:
        reader = threads.submit(lambda: [read.put(batch) for batch in source.batches({})])
        for n in range(4):
            sink.send(f"urn:{n}", b'{"time": %d, "graph": ""}' % n)
            sink.flush()
            position |= read.get(timeout=30).position
            threads.submit(source.committed, dict(position)).result(30)
        source.stop()
        reader.result(30)
    sink.close()
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker, "group.id": "obep"})
    there = consumer.committed([confluent_kafka.TopicPartition("followed", int(p)) for p in position], 30)
    consumer.close()
    assert {str(one.partition): one.offset for one in there} == position


def test_a_topic_or_broker_that_is_not_there_is_an_error(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obep.streams.kafka.ANSWER_S", 1.0)
    for uri in (f"kafka://{broker}/", "kafka://127.0.0.1:1/doors"):
        with pytest.raises(ObepError) as caught:
            open_source("", uri, Config(tmp_path))
        assert caught.value.code in ("OBEP512", "OBEP552")


def secured(folder: Path, server: KafkaBroker, more: str = "", word: str = WORD, ca: bool = True) -> Config:
    """A source and a sink called `s` behind TLS and a password."""
    common = f"""
        uri = "kafka://{server.secured}/guarded"
        tls = true
        username = "{USER}"
        password = '{word}'
        {f'ca = "{server.ca}"' if ca else ""}
        {more}
    """
    (folder / "obep.toml").write_text(f"[sources.s]\n{common}\n[sinks.s]\n{common}")
    return load_config(None, folder, (server.ca.parent,))


@pytest.mark.parametrize("more", ["", 'options = { "sasl.mechanism" = "SCRAM-SHA-512" }'])
def test_tls_and_a_password_let_a_sink_and_a_source_in(
    server: KafkaBroker, tmp_path: Path, more: str
) -> None:
    config = secured(tmp_path, server, more)
    uri = config.sources["s"]["uri"].reveal()
    sink = open_sink(uri, config.sinks["s"], config)
    for n in range(3):
        sink.send(f"urn:{n}", b'{"time": %d, "graph": ""}' % n)
    sink.close()
    records, _ = take(open_source("s", uri, config), 3, {})
    assert {r.at for r in records} == {0, 1_000_000, 2_000_000}


@pytest.mark.parametrize(
    ("word", "ca", "why", "remedy"),
    [
        ("wrong-word", True, "Invalid username or password", 'password = "${VARIABLE}"'),
        (WORD, False, "certificate verify failed", 'ca = "FILE.pem"'),
    ],
)
def test_who_is_not_let_in_hears_why_and_what_to_do(
    server: KafkaBroker, tmp_path: Path, word: str, ca: bool, why: str, remedy: str
) -> None:
    config = secured(tmp_path, server, word=word, ca=ca)
    uri = config.sources["s"]["uri"].reveal()
    for opened in (
        lambda: open_source("s", uri, config),
        lambda: open_sink(uri, config.sinks["s"], config),
    ):
        with pytest.raises(ObepError) as caught:
            opened()
        assert caught.value.code == "OBEP552"
        assert why in str(caught.value) and remedy in str(caught.value)
        assert word not in str(caught.value)


def test_credentials_and_certificates_reach_the_client_and_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from obep.streams.kafka import _settings
    from obep.streams.stream_uri import parse_address

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


def test_a_broker_is_back_when_the_statistics_say_so_though_nothing_is_sent() -> None:
    said = Said()
    up, down = (
        json.dumps({"brokers": {"a": {"state": one}, "b": {"state": "TRY"}}}) for one in ("UP", "INIT")
    )
    said.look(up)
    assert said.lost == ""
    said.hear(Down())
    assert said.lost == "1/1 brokers are down"
    said.look(down)
    assert said.lost == "1/1 brokers are down"
    said.look(up)
    assert said.lost == ""


class Down:
    """As much of an error of librdkafka as is looked at."""

    def name(self) -> str:
        return "_ALL_BROKERS_DOWN"

    def str(self) -> str:
        return "1/1 brokers are down"


def test_a_broker_that_is_killed_is_away_until_another_has_started(tmp_path: Path) -> None:
    """It says so by itself: no message is sent after the first."""
    try:
        with kafka_broker() as started:
            produce(started.address, "doors", [b'{"time": 1, "graph": ""}'])
            source = open_source("doors", f"kafka://{started.address}/doors", Config(tmp_path))
            read: Queue[Batch] = Queue()
            pause = Event()
            with ThreadPoolExecutor(1) as threads:
                reader = threads.submit(lambda: [read.put(batch) for batch in source.batches({})])
                read.get(timeout=60)
                assert source.lost == ""
                started.kill()
                while not source.lost:
                    pause.wait(0.01)
                started.start()
                while source.lost:
                    pause.wait(0.01)
                assert read.empty()
                source.stop()
                reader.result(60)
    except NoKafka as reason:
        pytest.skip(str(reason))
