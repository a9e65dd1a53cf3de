"""The spool between an MQTT broker and Spark: what is in it survives, what is committed leaves it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from obep.spark.mqtt_source import MqttReader, Range, Spool


def test_messages_keep_their_numbers_over_a_restart(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", 1, b"0"), ("a", 2, b"1")])
    spool.append([("b", 3, b"2")])
    again = Spool(tmp_path)
    assert again.next == 3
    again.append([("b", 4, b"3")])
    assert [first for first, _ in again.files(0, None)] == [0, 2, 3]


def test_readers_get_exactly_their_range(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", n, str(n).encode()) for n in range(5)])
    spool.append([("a", n, str(n).encode()) for n in range(5, 8)])
    reader = MqttReader({"spool": str(tmp_path), "uri": "mqtt://127.0.0.1/a"})
    assert [data for _, _, data in reader.read(Range(3, 6))] == [b"3", b"4", b"5"]


def test_what_is_committed_leaves_and_numbers_go_on(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", 0, b"0"), ("a", 0, b"1")])
    spool.append([("a", 0, b"2")])
    spool.forget(1)  # the first file is still needed
    assert [first for first, _ in spool.files(0, None)] == [0, 2]
    spool.forget(3)
    assert list(spool.files(0, None)) == []
    assert Spool(tmp_path).next == 3


def test_a_torn_write_is_no_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", 0, b"0")])
    (tmp_path / ".00000000000000000001.spool.tmp").write_bytes(b"half")
    assert Spool(tmp_path).next == 1
