"""The pipeline on another kind of session: `elsewhere_driver.py KIND FOLDER`, KIND a master or `sc://…`.

Writes what a stream of several micro-batches gives, as JSON, and on Connect what a bounded input gives. On a
cluster the Python workers do not outlive their tasks, so nothing is warm from one micro-batch to the next.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from class_archive import to_be_written
from conftest import FAST
from many_cases import LATENESS, Member, at_random, examples, members, plain
from spark_cases import micros, rows

from obep.spark import detect
from obep.spark.driver.session import session
from obep.spark.driver.spark_run import SLOW_START

SCHEMA = "stream string, time long, graph string"
DRIVER = "spark.driver.extraJavaOptions"
COLD = {"spark.python.worker.reuse": "false"}


def connects(kind: str) -> bool:
    """Whether it is the address of a session, by Spark Connect."""
    return kind.startswith("sc://")


def chosen(kind: str) -> list[Member]:
    """The queries of a kind of session: on a cluster every example, and some random ones."""
    given = plain(rows(150, seed=3))
    return given if connects(kind) else [*given, *members(at_random(5)), *examples()]


def start(kind: str, folder: Path) -> Any:
    if not connects(kind):
        driver = {DRIVER: FAST[DRIVER] + to_be_written(folder)}
        return session(kind, {**FAST, **COLD, **driver}, quiet=True)
    from pyspark.sql import SparkSession

    return SparkSession.builder.remote(kind).getOrCreate()


def told(found: list[Any]) -> list[list[object]]:
    return [[r.event, r.id, micros(r.start), micros(r.end), micros(r.detected)] for r in found]


def main(kind: str, folder: Path) -> None:
    spark = start(kind, folder)
    queries = [member.query for member in chosen(kind)]
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = reader.json(str(folder / "in"))
    writer = detect(queries, items, lateness=LATENESS, buckets=3).occurrences.writeStream.format("parquet")
    writer = writer.option("path", str(folder / "out")).option("checkpointLocation", str(folder / "state"))
    for left in (2, 1, 0):
        try:
            writer.trigger(availableNow=True).start().awaitTermination()
            break
        except Exception as error:
            if not left or SLOW_START not in str(error):
                raise
    streamed = told(spark.read.parquet(str(folder / "out")).collect())
    found = {"streamed": streamed}
    if connects(kind):  # a cluster has nothing of its own there, and cold workers take their time
        bounded = spark.read.schema(SCHEMA).json(str(folder / "in"))
        found["bounded"] = told(detect(queries, bounded, lateness=LATENESS, buckets=3).occurrences.collect())
    (folder / "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
