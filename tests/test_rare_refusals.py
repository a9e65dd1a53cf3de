"""Refusals that a user seldom meets: each is provoked once, and says its code, its reason and what to do."""

from __future__ import annotations

import sys
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import obep
from obep.engine.blocks import VERSION, Filling, decode_block
from obep.engine.query import Query
from obep.engine.segment import Segment
from obep.errors import ObepError

TWO = """PREFIX : <http://e/>
FROM STREAM <doors>
FROM STREAM <rooms>
EVENT A ON <doors> AS Alpha
RETURN A
"""


def refused(code: str) -> pytest.RaisesExc[ObepError]:
    """Expects a refusal with a code."""
    return pytest.RaisesExc(ObepError, check=lambda error: error.code == code)


@pytest.fixture(scope="module")
def query() -> Query:
    return obep.load(text=TWO, java=False)


def test_a_bundle_that_is_none() -> None:
    with refused("OBEP573") as caught:
        Query.from_bytes(b"no bundle")
    assert "same version of obep" in str(caught.value)


def test_a_bundle_that_names_a_function_of_ours(query: Query) -> None:
    """T stands third, its axioms last in it; only classes of axioms may be named there."""
    packed = msgspec.msgpack.decode(query.to_bundle()[16:])
    *rest, _ = msgspec.msgpack.decode(packed[2])
    packed[2] = msgspec.msgpack.encode([*rest, msgspec.msgpack.encode([{"inverse": ["<http://e/p>"]}])])
    data = msgspec.msgpack.encode(packed)
    with refused("OBEP573") as caught:
        Query.from_bytes(blake2b(data, digest_size=16).digest() + data)
    assert "inverse" in str(caught.value)


def test_a_bundle_that_is_damaged(query: Query) -> None:
    data = query.to_bundle()
    for place in range(0, len(data), 7):
        with refused("OBEP573"):
            Query.from_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def test_a_bundle_file_that_is_not_there(tmp_path: Path) -> None:
    with refused("OBEP573") as caught:
        Query.from_bundle(tmp_path / "gone")
    assert "No such file" in str(caught.value)


def test_a_block_of_another_version() -> None:
    block = msgspec.msgpack.decode(Filling().encode({}, {}))
    block[0] = VERSION + 1
    with refused("OBEP657") as caught:
        decode_block(msgspec.msgpack.encode(block))
    assert f"version {VERSION + 1}; this obep reads version {VERSION}" in str(caught.value)
    block[:2] = VERSION, "no groups"
    with pytest.raises(msgspec.ValidationError, match="Expected `array`"):
        decode_block(msgspec.msgpack.encode(block))


def test_a_segment_of_another_version(query: Query) -> None:
    state = msgspec.msgpack.decode(Segment(query.plan).dump(), strict=False)
    state[0] = VERSION - 1
    with refused("OBEP573") as caught:
        Segment(query.plan).load(msgspec.msgpack.encode(state))
    assert "new checkpoint" in str(caught.value)


@pytest.mark.parametrize(("stream", "nearest"), [("door", "doors"), (None, "doors"), ("romms", "rooms")])
def test_an_item_of_no_stream_of_the_query(query: Query, stream: str | None, nearest: str) -> None:
    with query.engine() as engine, refused("OBEP570") as caught:
        engine.push("<http://e/x> a <http://e/Alpha> .", at=1, stream=stream)
    assert f"stream={nearest!r}" in str(caught.value)


@pytest.mark.parametrize("at", ["yesterday", "2026-13-01T00:00:00Z", float("nan")])
def test_an_instant_that_cannot_be_read(query: Query, at: str | float) -> None:
    with query.engine() as engine, refused("OBEP570") as caught:
        engine.push("<http://e/x> a <http://e/Alpha> .", at=at, stream="doors")
    assert "2026-01-01T10:00:00Z" in str(caught.value)


def test_a_kafka_source_that_fails() -> None:
    """An error that the client does not mend by itself comes in place of a message."""
    pytest.importorskip("confluent_kafka")
    from obep.streams.kafka import KafkaSource

    error = SimpleNamespace(retriable=lambda: False, str=lambda: "Broker: Topic authorization failed")
    source = object.__new__(KafkaSource)  # without a broker to connect to
    source.name = "doors"
    with refused("OBEP550") as caught:
        source._batch([SimpleNamespace(error=lambda: error)])
    assert "doors: Broker: Topic authorization failed" in str(caught.value)


def test_spark_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from obep.spark.driver.session import require_pyspark

    monkeypatch.setitem(sys.modules, "pyspark", None)
    with refused("OBEP551") as caught:
        require_pyspark()
    assert "pip install 'obep[spark]'" in str(caught.value) and "--engine embedded" in str(caught.value)


def test_a_session_whose_store_cannot_hold_our_state() -> None:
    from obep.spark.driver.session import require_settings

    settings = {"spark.sql.streaming.stateStore.providerClass": "HDFSBackedStateStoreProvider"}
    with refused("OBEP651") as caught:
        require_settings(SimpleNamespace(conf=settings))  # type: ignore[arg-type]  # all that is asked of a session
    assert "spark.conf.set(" in str(caught.value) and "RocksDBStateStoreProvider" in str(caught.value)
    assert 'spark.conf.set("spark.sql.shuffle.partitions", ' in str(caught.value)


@pytest.mark.parametrize(
    ("master", "partitions", "said"),
    [("local[2]", 200, True), ("local[2]", 16, False), ("spark://h:7077", 200, False)],
)
def test_a_local_session_with_far_more_partitions_than_cores(
    master: str, partitions: int, said: bool, recwarn: pytest.WarningsRecorder
) -> None:
    from obep.spark.driver.session import PARTITIONS, ROCKSDB, STATE_PROVIDER, require_settings

    conf = {STATE_PROVIDER: ROCKSDB, "spark.master": master, PARTITIONS: str(partitions)}
    require_settings(SimpleNamespace(conf=conf))  # type: ignore[arg-type]  # all that is asked of a session
    told = [str(one.message) for one in recwarn.list]
    assert [text.startswith("OBEP665  warning: each micro-batch has 200 tasks") for text in told] == [
        True
    ] * said
    assert all('spark.conf.set("spark.sql.shuffle.partitions", "2")' in text for text in told)


def test_the_same_query_twice(query: Query) -> None:
    from obep.spark.driver.detection import require_returns

    require_returns([query])
    with refused("OBEP663") as caught:
        require_returns([query, obep.load(text=TWO, java=False)])
    assert "give each query once" in str(caught.value)


@pytest.mark.parametrize(("streams", "said"), [(("doors", "rooms"), "doors, rooms"), ((), "any stream")])
def test_a_mapping_without_a_stream(streams: tuple[str, ...], said: str) -> None:
    from obep.spark.driver.arguments import only_stream

    with refused("OBEP663") as caught:
        only_stream(streams)
    assert said in str(caught.value) and 'stream="' in str(caught.value)
