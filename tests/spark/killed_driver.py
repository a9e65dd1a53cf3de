"""A driver that is meant to be killed: `killed_driver.py FOLDER [BROKER/TOPIC]`, two streams over FOLDER/in.

One writes Parquet through Spark's own sink, one JSON lines, Parquet and (where there is a broker) to Kafka
through ours; each has its checkpoint. Its executors are processes of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import FAST
from spark_cases import HEAD, query

import obep
from obep.config.toml_file import Config
from obep.run.run_spec import Order, Target
from obep.spark import detect
from obep.spark.driver.session import session
from obep.spark.driver.spark_run import SparkRun

QUERIES = ("keyed", "deadlines", "unkeyed")
PENDING = """EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s
EVENT Lonely(?r) MATCH A(?r) NOT FOLLOWED BY B(?r) WITHIN 900 ms
RETURN AB, Lonely AS EVENT STREAM"""
"""What our own sinks get: some deadlines are pending whenever it is killed."""
SCHEMA = "stream string, time long, graph string"
LATENESS = 0.5
MASTER = "local-cluster[2,1,1024]"
TOPIC = "found"


def main(folder: Path, topic: str = "") -> None:
    spark = session(MASTER, {**FAST, "spark.sql.shuffle.partitions": "2"}, quiet=True)
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    items = source.json(str(folder / "in"))
    records = detect([query(name) for name in QUERIES], items, lateness=LATENESS).records
    targets = [
        Target("out", str(folder / "out.jsonl"), True, form="event"),
        Target("columns", str(folder / "out.parquet"), True, form="columns"),
    ]
    if topic:
        targets.append(Target("topic", f"kafka://{topic}", True, form="event"))
    order = Order(Path("-"), Config(folder), (), tuple(targets), checkpoint=folder / "lines")
    pending = obep.load(text=HEAD + PENDING, java=False)
    run = SparkRun(order, pending)
    found = detect(pending, items, lateness=LATENESS, forms=run.delivery.forms()).payloads
    assert found is not None
    (folder / "lines").mkdir(exist_ok=True)
    streams = [
        records.writeStream.format("parquet").option("path", str(folder / "out")),
        found.writeStream.foreachBatch(run.deliver),
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
    main(Path(sys.argv[1]), *sys.argv[2:])
