"""On Spark as embedded, for very many queries at once: by hand, at random, and every example.

All are one pipeline over one source, in five micro-batches that are cut inside instants.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from many_cases import (
    END,
    EXAMPLES,
    LATENESS,
    at_random,
    batches,
    by_hand,
    cut_inside_instants,
    examples,
    expected,
    members,
    plain,
)
from spark_cases import Row, rows
from test_streaming import SCHEMA, columns, finish, split, write_files

pytestmark = [pytest.mark.spark, pytest.mark.java]


def test_very_many_queries_are_one_pipeline(spark: Any, tmp_path: Path) -> None:
    from obep.spark import detect
    from obep.spark.driver.listener import Listener

    given = [*plain(rows(240)), *members([*by_hand(), *at_random(100)]), *examples()]
    assert len(given) > 200 and [m.name for m in given[-7:]] == [folder.name for folder in EXAMPLES]
    parts = batches(given)
    assert len(parts) == 5 and cut_inside_instants(parts) > 30
    late: Row = ("s", 1_000, "<http://e/x1> a <http://e/Alpha> .")
    broken: Row = ("t", 5_000_000, "this is no graph")
    unknown: Row = ("nobody's", 5_000_000, "")
    parts[2].append(broken)
    parts[3] += [late, unknown]
    wanted = expected(given, [*parts[:2], parts[2][:-1], parts[3][:-1], parts[4]])
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = source.json(str(write_files(tmp_path / "in", parts)))
    heard: list[dict[str, Any]] = []
    all_heard = Event()

    def hear(figures: dict[str, Any]) -> None:
        heard.append(figures)
        if len(heard) == len(parts):
            all_heard.set()

    listener = Listener("many", hear)
    spark.streams.addListener(listener)
    detection = detect([m.query for m in given], items, lateness=LATENESS, buckets=3, observe="many")
    writer = detection.records.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    stream = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    assert len([p for p in finish(stream) if p["numInputRows"]]) == len(parts)
    found = split(spark.read.parquet(str(tmp_path / "out")).collect())
    assert columns(found["occurrence"]) == wanted
    # every item in is accounted for: taken, or a dead letter
    progress = [json.loads(row.progress) for row in found["progress"]]
    processed = sum(one["processed"] for one in progress)
    refused = Counter(row.code for row in found["letter"])
    assert processed + sum(refused.values()) == sum(map(len, parts))
    # text that is no graph, a stream that nobody reads, a late item, and one that contradicts its ontology
    assert refused == {"OBEP604": 1, "OBEP616": 1, "OBEP640": 1, "OBEP620": 1}
    # one clock: all buckets agree at each micro-batch
    assert len({one["watermark"] for one in progress}) == len(parts)
    assert all_heard.wait(60)
    spark.streams.removeListener(listener)
    assert len(heard) == len(parts)
    assert listener.totals == {
        "items": sum(map(len, parts)) - 2,  # all but what could not be read, and what nobody reads
        "processed": processed,
        "occurrences": len(found["occurrence"]),
        "late": 1,
        "refused": 3,
    }
    assert listener.metrics()["watermark_seconds"] == END / 1e6 - LATENESS
