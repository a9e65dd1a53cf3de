"""The pipeline on another kind of session: `elsewhere_driver.py KIND FOLDER`, KIND a master or `connect`.

Writes what a stream of three micro-batches and a bounded input give, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from conftest import FAST
from spark_cases import micros, query

from obep.spark.compose import SLOW_START
from obep.spark.detect import detect
from obep.spark.session import SETTINGS, session

NAMES = ("keyed", "deadlines", "stacked")
SCHEMA = "stream string, time long, graph string"


def start(kind: str) -> Any:
    if kind != "connect":
        return session(kind, FAST, quiet=True)
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.remote("local[2]")
    for key, value in {**SETTINGS, **FAST}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def plain(rows: list[Any]) -> list[list[object]]:
    return [[r.event, r.id, micros(r.start), micros(r.end), micros(r.detected)] for r in rows]


def main(kind: str, folder: Path) -> None:
    spark = start(kind)
    queries = [query(name) for name in NAMES]
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = reader.json(str(folder / "in"))
    writer = detect(queries, items, lateness=0.5).occurrences.writeStream.format("parquet")
    writer = writer.option("path", str(folder / "out")).option("checkpointLocation", str(folder / "state"))
    for left in (2, 1, 0):
        try:
            writer.trigger(availableNow=True).start().awaitTermination()
            break
        except Exception as error:
            if not left or SLOW_START not in str(error):
                raise
    streamed = plain(spark.read.parquet(str(folder / "out")).collect())
    bounded = plain(
        detect(
            queries, spark.read.schema(SCHEMA).json(str(folder / "in")), lateness=0.5
        ).occurrences.collect()
    )
    (folder / "found.json").write_text(json.dumps({"streamed": streamed, "bounded": bounded}))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
