"""A stream into Parquet by `to_parquet`: what is refused, what a second start does, and Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyarrow import compute
from pyarrow import parquet as pq
from spark_cases import embedded, query, rows

from obep.errors import ObepError
from obep.spark import detect
from obep.spark.driver.parquet import Putting
from obep.spark.stages.found_columns import occurrences_payload
from obep.spark.stages.record_batches import COLUMNS, row_of

HERE = Path(__file__).parent


class Told:
    """As much of a micro-batch as is asked for: its tasks tell of these occurrences, and of a dead letter."""

    def __init__(self, putting: Putting, found: list[Any]) -> None:
        self._putting, self._found = putting, found
        self._kinds: list[str] = []
        self.collected: list[str] = []

    def where(self, condition: str) -> Told:
        """`kind IN ('a', 'b')`."""
        self._kinds = condition.removeprefix("kind IN (").removesuffix(")").replace("'", "").split(", ")
        return self

    def toArrow(self) -> pa.Table:
        """Now the tasks run."""
        payloads = pa.array([occurrences_payload(self._found, False, (COLUMNS,))], pa.binary())
        given = pa.RecordBatch.from_arrays([payloads], ["payload"])
        batches = list(self._putting.writing()(iter([given])))
        letter = row_of("letter", "").select(batches[0].schema.names)
        rows = pa.Table.from_batches([*batches, letter])
        rows = rows.filter(compute.is_in(rows.column("kind"), pa.array(self._kinds)))
        self.collected = rows.column("kind").to_pylist()
        return rows


def ids(folder: Path) -> list[str]:
    found: list[str] = pq.read_table(folder).column("id").to_pylist()
    return found


def test_a_writer_that_is_started_again_begins_where_its_checkpoint_does(tmp_path: Path) -> None:
    found, _ = embedded("keyed", rows(60), close=True)
    putting = Putting(tmp_path / "out", None)
    for batch, part in enumerate((found[:2], found[2:4], found[4:6])):
        put(putting, part, batch)
    put(putting, found[2:3], 1)  # from the same checkpoint: it had the first one
    assert ids(tmp_path / "out") == [one.id for one in found[:3]]
    put(putting, found[5:6], 0)  # from a new one
    assert ids(tmp_path / "out") == [found[5].id]


def put(putting: Putting, found: list[Any], batch: int) -> Told:
    told = Told(putting, found)
    putting(cast("Any", told), batch)
    return told


def test_dead_letters_are_collected_where_somebody_wants_them(tmp_path: Path) -> None:
    found, _ = embedded("keyed", rows(60), close=True)
    assert put(Putting(tmp_path / "out", None), found, 0).collected == ["written"]
    both = put(Putting(tmp_path / "out", tmp_path / "refused"), found, 0)
    assert sorted(both.collected) == ["letter", "written"]


@pytest.mark.parametrize("letters", ["out", "./out", "other/../out"])
def test_one_folder_for_both_is_refused(tmp_path: Path, letters: str) -> None:
    """The dead letters of a micro-batch would replace its occurrences."""
    with pytest.raises(ObepError, match="OBEP568"):
        Putting(tmp_path / "out", f"{tmp_path}/{letters}")


@pytest.mark.parametrize("folder", ["s3a://bucket/out", "hdfs:///out", "file:///tmp/out", "dbfs:/out"])
def test_a_file_system_of_spark_is_refused(folder: str) -> None:
    """It would be a folder of that name here."""
    with pytest.raises(ObepError, match="OBEP554"):
        Putting(folder, None)
    with pytest.raises(ObepError, match="OBEP554"):
        Putting("out", folder)


def test_a_folder_of_sparks_own_sink_is_refused(tmp_path: Path) -> None:
    """Spark would read what its log lists, and nothing that we put there."""
    (tmp_path / "out" / "_spark_metadata").mkdir(parents=True)
    (tmp_path / "out" / "part-00000000-0000.parquet").write_bytes(b"")
    with pytest.raises(ObepError, match="OBEP554"):
        Putting(tmp_path / "out", None)(None, 0)  # type: ignore[arg-type]  # it does not come to that
    assert (tmp_path / "out" / "part-00000000-0000.parquet").exists()


@pytest.mark.spark
def test_columns_of_what_is_found_are_those_of_its_dataframes(spark: Any) -> None:
    """`found.records` is one DataFrame, however often it is named."""
    items = spark.createDataFrame(rows(60), "stream string, time long, graph string")
    for observe in "", "named":
        found = detect(query("keyed"), items, observe=observe)
        assert found.records.where(found.records.kind == "occurrence").count() > 0
        assert found.occurrences.where(found.occurrences.id != "").count() > 0


@pytest.mark.spark
def test_a_connect_session_writes_parquet(connect: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    given = rows(60)
    lines = [json.dumps({"stream": stream, "time": at, "graph": graph}) for stream, at, graph in given]
    (tmp_path / "in" / "0.json").write_text(
        "\n".join([*lines, '{"stream": "other", "time": 1, "graph": ""}'])
    )
    done = subprocess.run(
        [sys.executable, HERE / "connect_parquet.py", connect, tmp_path],
        env={**os.environ, "PYTHONPATH": f"{HERE}:{HERE.parent}:{HERE.parent.parent}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    expected, _ = embedded("keyed", given, close=False, lateness=1)
    assert sorted(ids(tmp_path / "out")) == sorted(one.id for one in expected)
    assert pq.read_table(tmp_path / "refused").column("code").to_pylist() == ["OBEP616"]
