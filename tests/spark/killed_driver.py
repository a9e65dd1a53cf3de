"""A driver that is meant to be killed: `killed_driver.py FOLDER` runs two streams over FOLDER/in.

One writes Parquet through Spark's own sink, one JSON lines through ours; each has its checkpoint.
"""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import FAST
from spark_cases import query

from obep.config import Config
from obep.spark.compose import SparkRun
from obep.spark.detect import detect
from obep.spark.session import session
from obep.streams.order import Order, Target

QUERIES = ("keyed", "deadlines", "unkeyed")
SCHEMA = "stream string, time long, graph string"
LATENESS = 0.5


def main(folder: Path) -> None:
    spark = session("local[2]", {**FAST, "spark.sql.shuffle.partitions": "2"}, quiet=True)
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = source.json(str(folder / "in"))
    records = detect([query(name) for name in QUERIES], items, lateness=LATENESS).records
    target = Target("out", str(folder / "out.jsonl"), True, form="event")
    order = Order(Path("-"), Config(folder), (), (target,), checkpoint=folder / "lines")
    run = SparkRun(order, query(QUERIES[1]))
    texts = detect(query(QUERIES[1]), items, lateness=LATENESS, forms=run.delivery.forms()).records
    (folder / "lines").mkdir(exist_ok=True)
    streams = [
        records.writeStream.format("parquet").option("path", str(folder / "out")),
        texts.writeStream.foreachBatch(run.deliver),
    ]
    started = [
        writer.option("checkpointLocation", str(folder / place)).trigger(availableNow=True).start()
        for writer, place in zip(streams, ("table", "lines/spark"), strict=True)
    ]
    for stream in started:
        stream.awaitTermination()
    run.close()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
