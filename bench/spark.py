"""W1 on Spark: A then B of the same room within 5 s, all pairs, Parquet to Parquet; and RDF items to JSON.

    python bench/spark.py [--events 200000] [--master local[2]] [--idle-rooms 100000] [--rdf]

Prints the events a second of each micro-batch and their median after the first one, which starts the workers.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import obep

START = 1_700_000_000_000_000
ROOMS = 1_000
KINDS = ("Alpha", "Beta", "Gamma", "Delta")
QUERY = """PREFIX : <http://e/>
FROM STREAM <rooms>
EVENT A AS Alpha
EVENT B AS Beta
EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s
RETURN AB AS EVENT STREAM
"""
MAPPING = {"template": "<http://e/room{room}> a <http://e/{kind}> .", "time": "ts"}


def columns(events: int, first: int = 0) -> dict[str, list[Any]]:
    """An event a millisecond, of a random kind in a random room."""
    rnd = random.Random(first)
    times = [START + 1000 * n for n in range(first, first + events)]
    rooms = [rnd.randrange(ROOMS) for _ in range(events)]
    return {"ts": times, "room": rooms, "kind": [rnd.choice(KINDS) for _ in range(events)]}


def write_files(folder: Path, events: int, files: int, idle: int, rdf: bool) -> None:
    """Files of equal size, one a micro-batch; the first brings the rooms that stay idle."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    size = events // files
    for number in range(files):
        data = columns(size, number * size)
        if number == 0 and idle:
            data["ts"] = [START] * idle + data["ts"]
            data["room"] = [ROOMS + n for n in range(idle)] + data["room"]
            data["kind"] = ["Alpha"] * idle + data["kind"]
        times = pa.array(data["ts"], pa.timestamp("us", tz="UTC"))
        if rdf:
            texts = [
                f"<http://e/room{r}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/{k}> ."
                for r, k in zip(data["room"], data["kind"], strict=True)
            ]
            table = pa.table({"stream": ["rooms"] * len(texts), "time": times, "graph": texts})
        else:
            table = pa.table({"ts": times, "room": data["room"], "kind": data["kind"]})
        pq.write_table(table, folder / f"{number:03d}.parquet")


def expected(events: int, files: int) -> int:
    """The number of pairs, by a loop that shares nothing with obep."""
    from collections import deque

    size = events // files
    open_: dict[int, deque[int]] = {}
    count = 0
    for number in range(files):
        data = columns(size, number * size)
        for at, room, kind in zip(data["ts"], data["room"], data["kind"], strict=True):
            waiting = open_.setdefault(room, deque())
            while waiting and at - waiting[0] >= 5_000_000:
                waiting.popleft()
            if kind == "Alpha":
                waiting.append(at)
            elif kind == "Beta":
                count += len(waiting)
    return count


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--events", type=int, default=400_000)
    options.add_argument("--files", type=int, default=8)
    options.add_argument("--master", default="local[2]")
    options.add_argument("--buckets", type=int, default=2)
    options.add_argument("--idle-rooms", type=int, default=0)
    options.add_argument("--rdf", action="store_true")
    given = options.parse_args()

    from obep.spark.detect import detect
    from obep.spark.session import session

    folder = Path(tempfile.mkdtemp(prefix="obep-bench-"))
    write_files(folder / "in", given.events, given.files, given.idle_rooms, given.rdf)
    settings = {"spark.sql.shuffle.partitions": str(given.buckets), "spark.driver.memory": "2g"}
    begun = time.monotonic()
    spark = session(given.master, settings, log=folder / "spark.log")
    print(f"session {time.monotonic() - begun:.1f} s")
    query = obep.load(text=QUERY, java=False)
    schema = (
        "stream string, time timestamp, graph string" if given.rdf else "ts timestamp, room long, kind string"
    )
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    if given.rdf:
        found = detect(query, rows, buckets=given.buckets, forms=("event",)).records.selectExpr(
            "texts[0] as value"
        )
        writer = found.where("value is not null").writeStream.format("text")
    else:
        found = detect(query, rows, buckets=given.buckets, mapping=MAPPING).occurrences.drop("rdf")
        writer = found.writeStream.format("parquet")
    writer = writer.option("path", str(folder / "out")).option("checkpointLocation", str(folder / "state"))
    stream = writer.trigger(availableNow=True).start()
    stream.awaitTermination()
    batches = [p for p in stream.recentProgress if p["numInputRows"]]
    rates = [p["numInputRows"] / p["durationMs"]["triggerExecution"] * 1000 for p in batches]
    for p, rate in zip(batches, rates, strict=True):
        state = sum(one["memoryUsedBytes"] for one in p["stateOperators"])
        took = p["durationMs"]["triggerExecution"]
        print(f"  {p['numInputRows']:>9,} events  {took:>7} ms  {rate:>10,.0f}/s  {state:,} B of state")
    median = statistics.median(rates[1:])
    reader = spark.read.text if given.rdf else spark.read.parquet
    count = reader(str(folder / "out")).count()
    right = expected(given.events, given.files)
    assert count == right, f"{count} pairs, not {right}"
    said = {"bench": "spark-rdf" if given.rdf else "spark-w1", "events": given.events, "pairs": count}
    print(json.dumps({**said, "idle_rooms": given.idle_rooms, "median_per_second": round(median)}))
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
