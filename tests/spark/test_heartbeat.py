"""With `idle` a stream has a heartbeat: deadlines fall due in silence, and what there is still ends."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from spark_cases import query
from test_detecting import Buckets
from test_streaming import SCHEMA, finish, write_files

from obep.errors import ObepError
from obep.spark import detect, reason
from obep.spark.connectors.heartbeat import AVAILABLE_NOW, BEAT
from obep.spark.driver.manifest import manifest, require_same
from obep.spark.stages.stage1 import STAMP, abstracting

ALPHA = "<http://e/x{}> a <http://e/Alpha> ."


def found_in(spark: Any, folder: Path) -> list[str]:
    rows = spark.read.schema("because array<struct<individual: string>>").parquet(str(folder)).collect()
    return sorted(row.because[0].individual for row in rows)


@pytest.mark.spark
def test_deadlines_fall_due_in_silence_and_what_there_is_ends(spark: Any, tmp_path: Path) -> None:
    """A backlog in micro-batches; then silence, from the same checkpoint; then the same without idle."""
    source = write_files(tmp_path / "in", [[("s", 1000 * n, ALPHA.format(n))] for n in range(3)])

    def start(idle: str | None, **trigger: bool) -> Any:
        items = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(source))
        writer = detect(query("deadlines"), items, idle=idle).to_parquet(tmp_path / "out")
        writer = writer.option("checkpointLocation", str(tmp_path / "state"))
        return (writer.trigger(**trigger) if trigger else writer).start()

    files = [p["sources"][0]["numInputRows"] for p in finish(start("1 s", availableNow=True))]
    assert [count for count in files if count] == [1, 1, 1]
    assert found_in(spark, tmp_path / "out") == []
    stream = start("1 s")
    until = time.monotonic() + 200
    while not (found := found_in(spark, tmp_path / "out")) and time.monotonic() < until:
        stream.awaitTermination(0.2)  # one that fails says so
    stream.stop()
    assert found == ["http://e/x0", "http://e/x1", "http://e/x2"]
    with pytest.raises(Exception, match=r"There are \[2\] sources in the checkpoint offsets") as caught:
        finish(start(None, availableNow=True))
    said = reason(caught.value)
    assert said is not None and said.code == "OBEP558" and "idle" in str(said)


@pytest.mark.spark
def test_a_session_that_would_take_a_backlog_at_once_is_refused(spark: Any) -> None:
    own = spark.newSession()
    own.conf.set(AVAILABLE_NOW, "false")
    rate = own.readStream.format("rate").load()
    mapping = {"template": ALPHA.format("{value}"), "time": "timestamp"}
    with pytest.raises(ObepError, match="OBEP651") as caught:
        detect(query("deadlines"), rate, mapping=mapping, stream="s", idle="1 s")
    assert AVAILABLE_NOW in str(caught.value)
    detect(query("deadlines"), rate, mapping=mapping, stream="s")


def test_the_time_between_two_starts_is_nobodys_silence(tmp_path: Path) -> None:
    """As on the embedded engine: who was down for an hour has not heard that nobody spoke."""
    rows = [("s", 0, ALPHA.format(1)), ("t", 0, ALPHA.format(1)), ("s", 20_000_000, "")]
    first = Buckets(tmp_path, query("deadlines"), idle=10_000_000, begun="first")
    assert first.run(rows, now=1_000_000) == []
    kept = first.kept()
    for begun, silent in (("first", 1), ("second", 0)):
        again = Buckets(tmp_path, query("deadlines"), idle=10_000_000, begun=begun)
        again.resume(kept)
        assert len(again.run([], now=3_600_000_000)) == silent
    assert len(again.run([], now=3_611_000_000)) == 1


def test_nobody_reads_beats(tmp_path: Path) -> None:
    """They have no columns but their own, and a reader of the user's would stumble over them."""
    job = Buckets(tmp_path, query("deadlines"), idle=10_000_000).job
    read: list[list[int]] = []

    def reads(batch: pa.RecordBatch) -> list[Any]:
        assert batch.schema.names == ["n"]
        read.append(batch.column("n").to_pylist())
        return []

    def rows(numbers: list[int | None]) -> pa.RecordBatch:
        stamp = pa.array([7] * len(numbers), pa.timestamp("us", tz="UTC"))
        beats = [number is None for number in numbers]
        return pa.RecordBatch.from_pydict({"n": pa.array(numbers, pa.int64()), BEAT: beats, STAMP: stamp})

    made = list(abstracting(job, reads)(iter([rows([None, None]), rows([1, None, 2])])))
    assert read == [[1, 2]]
    assert len(made) == 2  # each tells the buckets what time it is


def test_a_checkpoint_made_without_idle_is_refused_before_spark_is_asked() -> None:
    of = query("deadlines")
    made = {beats: manifest(of, 2, 2, ["s"], beats) for beats in (True, False)}
    for before, word in ((True, "made with idle"), (False, "made without idle")):
        require_same(made[before], made[before])
        with pytest.raises(ObepError, match=f"OBEP558.*{word}"):
            require_same(made[before], made[not before])
