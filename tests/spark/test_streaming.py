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


def test_all_cases_in_micro_batches(spark: Any, tmp_path: Path) -> None:
    """Nine queries in one pipeline, four micro-batches cut inside instants, late and unreadable items."""
    from obep.spark.detect import detect
    from obep.spark.listener import Listener

    given = rows(240)
    late: list[Row] = [
        ("s", 1_000, "<http://e/x1> a <http://e/Alpha> ."),
        ("t", 0, "<http://e/x2> a <http://e/B> ."),
    ]
    broken: Row = ("s", 5_000_000, "this is no graph")
    batches = [given[:61], given[61:119], [*given[119:181], broken], [*given[181:], *late]]
    assert given[60][1] == given[61][1] or given[118][1] == given[119][1] or given[180][1] == given[181][1]
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = source.json(str(write_files(tmp_path / "in", batches)))
    heard: list[dict[str, Any]] = []
    listener = Listener("cases", heard.append)
    spark.streams.addListener(listener)
    queries = [query(name) for name in QUERIES]
    detection = detect(queries, items, lateness=LATENESS, buckets=3, observe="cases")
    writer = detection.records.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    stream = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    assert len([p for p in finish(stream) if p["numInputRows"]]) == 4
    found = split(spark.read.parquet(str(tmp_path / "out")).collect())

    expected: Counter[tuple[object, ...]] = Counter()
    for name in QUERIES:
        occurrences, letters = embedded(name, [*given, *late], close=False, lateness=LATENESS)
        assert [letter.code for letter in letters] == ["OBEP640"] * 2
        assert occurrences, name
        expected += shown(occurrences)
    assert columns(found["occurrence"]) == expected

    assert sorted(row.code for row in found["letter"]) == ["OBEP604", "OBEP640", "OBEP640"]
    progress = [json.loads(row.progress) for row in found["progress"]]
    processed = sum(one["processed"] for one in progress)
    assert processed + len(found["letter"]) == sum(map(len, batches))
    assert len({one["watermark"] for one in progress}) == 4  # one clock: all buckets agree at each batch

    spark.streams.removeListener(listener)
    assert len(heard) == 4
    assert listener.totals == {
        "processed": processed,
        "occurrences": len(found["occurrence"]),
        "late": 2,
        "refused": 1,
    }
    slowest = min(max(at for stream, at, _ in given if stream == name) for name in "st")
    assert listener.metrics()["watermark_seconds"] == slowest / 1e6 - LATENESS


def test_a_bounded_input_is_closed(spark: Any) -> None:
    from obep.spark.detect import detect

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

    from obep.spark.detect import detect

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
    from obep.spark.detect import detect

    with pytest.raises(ObepError, match="OBEP652"):
        detect(query("keyed"), spark.range(3))
