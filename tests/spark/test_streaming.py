"""On Spark as embedded: the same occurrences, in micro-batches or all at once, each item accounted for."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from spark_cases import QUERIES, Row, embedded, micros, query, rows, shown

pytestmark = pytest.mark.spark

SCHEMA = "stream string, time long, graph string"
LATENESS = 0.5


def write_files(folder: Path, batches: Sequence[Sequence[Row]]) -> Path:
    """A file of JSON lines for each micro-batch, in the order of their times of change."""
    folder.mkdir(parents=True)
    for number, batch in enumerate(batches):
        path = folder / f"{number}.jsonl"
        path.write_text(
            "".join(json.dumps(dict(zip(("stream", "time", "graph"), r, strict=True))) + "\n" for r in batch)
        )
        os.utime(path, (1000 + number, 1000 + number))
    return folder


def columns(found: Sequence[Any]) -> Counter[tuple[object, ...]]:
    return Counter((r.event, r.id, micros(r.start), micros(r.end), micros(r.detected)) for r in found)


def split(records: Sequence[Any]) -> dict[str, list[Any]]:
    kinds: dict[str, list[Any]] = {"occurrence": [], "letter": [], "progress": []}
    for row in records:
        kinds[row.kind].append(row)
    return kinds


def finish(stream: Any) -> list[Any]:
    """Wait for a query over all there is; its progress."""
    assert stream.awaitTermination(400)
    return list(stream.recentProgress)


def test_a_bounded_input_is_closed(spark: Any) -> None:
    from obep.spark import detect

    given = rows(240, seed=11)
    frame = spark.createDataFrame(given, SCHEMA).repartition(3)
    detection = detect([query(name) for name in QUERIES], frame, lateness=LATENESS)
    found = split(detection.records.collect())
    expected: Counter[tuple[object, ...]] = Counter()
    for name in QUERIES:
        expected += shown(embedded(name, given, close=True, lateness=LATENESS)[0])
    assert columns(found["occurrence"]) == expected
    assert found["letter"] == []


def test_it_composes_with_ordinary_spark(spark: Any, tmp_path: Path) -> None:
    """Transformed before, joined with another stream and aggregated after."""
    from pyspark.sql import functions as f

    from obep.spark import detect

    given = rows(160, seed=5)
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = source.json(str(write_files(tmp_path / "in", [given[:80], given[80:]])))
    names = tmp_path / "names"
    names.mkdir()
    (names / "0.json").write_text(
        "".join(json.dumps({"r": f"<http://e/x{n}>", "name": f"n{n % 2}"}) + "\n" for n in range(8))
    )
    other = spark.readStream.schema("r string, name string").json(str(names))

    pairs = detect(query("keyed"), items.where("stream != 'x'"), lateness=LATENESS).occurrences
    pairs = pairs.select("id", "detected", f.col("bindings")[0]["r"].alias("r"))
    counts = (
        pairs.join(other, "r")
        .withWatermark("detected", "0 seconds")
        .groupBy(f.window("detected", "2 seconds"), "name")
        .agg(f.approx_count_distinct("id").alias("some"), f.count("*").alias("pairs"))
        .select("window.start", "name", "pairs")
    )
    writer = counts.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    stream = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    finish(stream)
    found = {(micros(r.start), r.name): r.pairs for r in spark.read.parquet(str(tmp_path / "out")).collect()}

    expected: Counter[tuple[int, str]] = Counter()
    for one in embedded("keyed", given, close=False, lateness=LATENESS)[0]:
        number = int(one.bindings[0]["r"].removeprefix("<http://e/x").rstrip(">"))
        expected[one.detected // 2_000_000 * 2_000_000, f"n{number % 2}"] += 1
    last = max(start for start, _ in expected)
    assert found
    assert {key: n for key, n in found.items() if key[0] < last} == {
        key: n for key, n in expected.items() if key[0] < last
    }  # the last window may still be open


def test_items_need_their_columns(spark: Any) -> None:
    from obep.errors import ObepError
    from obep.spark import detect

    with pytest.raises(ObepError, match="OBEP652"):
        detect(query("keyed"), spark.range(3))
