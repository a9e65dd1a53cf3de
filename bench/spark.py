"""W1 on Spark: A then B of the same room within 5 s, all pairs, Parquet to Parquet; and RDF items to JSON.

    python bench/spark.py                        W1, 2,000,000 events, local[2], three times
    python bench/spark.py --java-writes          the same, with Spark's own writer of Parquet
    python bench/spark.py --idle-rooms 100000    the same with rooms in the state that nothing comes from:
                                                 first such that are forgotten after 5 s, then such that wait
                                                 for an hour, in turn with the same query and no such rooms
    python bench/spark.py --rdf                  N-Triples in (two triples, no two alike), JSON lines out
    python bench/spark.py --cores                two cores against one, each pinned (Linux)
    python bench/spark.py --all                  all of these
    python bench/spark.py --where                where the time goes, from Spark's own log

Each run counts the pairs against a loop that shares nothing with obep. Rates are those of the micro-batches
after the first one, which starts the workers: their events over their time. The loop's own rate, measured
after each run, says how fast the machine was then.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import Figure
from figures import show as table

import obep

START = 1_700_000_000_000_000
ROOMS = 1_000
KINDS = ("Alpha", "Beta", "Gamma", "Delta")
WITHIN = 5_000_000
QUERY = """PREFIX : <http://e/>
FROM STREAM <rooms>
EVENT A AS Alpha
EVENT B AS Beta
EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s
RETURN AB AS EVENT STREAM
"""
WAITING = QUERY.replace(
    "EVENT AB", "EVENT Z AS Omega\nEVENT ZB(?r) MATCH Z(?r) SEQ B(?r) WITHIN 1 h\nEVENT AB"
).replace("RETURN AB", "RETURN AB, ZB")
"""With an event that idle rooms wait for."""
MAPPING = {"template": "<http://e/room{room}> a <http://e/{kind}> .", "time": "ts"}
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def columns(events: int, first: int = 0) -> dict[str, list[Any]]:
    """An event a millisecond, of a random kind in a random room."""
    rnd = random.Random(first)
    times = [START + 1000 * n for n in range(first, first + events)]
    rooms = [rnd.randrange(ROOMS) for _ in range(events)]
    return {"ts": times, "room": rooms, "kind": [rnd.choice(KINDS) for _ in range(events)]}


@dataclass(frozen=True)
class Kind:
    """What is measured: with how many idle rooms, which wait for an hour or for 5 s, or RDF items; and who
    writes Parquet, the executors (`to_parquet`) or Java."""

    idle: int = 0
    waiting: bool = False
    rdf: bool = False
    java_writes: bool = False


def write_files(folder: Path, events: int, files: int, kind: Kind) -> None:
    """Files of equal size; the first brings the rooms that stay idle."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    size = events // files
    for number in range(files):
        data = columns(size, number * size)
        if number == 0 and kind.idle:
            data["ts"] = [START] * kind.idle + data["ts"]
            data["room"] = [ROOMS + n for n in range(kind.idle)] + data["room"]
            data["kind"] = ["Omega" if kind.waiting else "Alpha"] * kind.idle + data["kind"]
        times = pa.array(data["ts"], pa.timestamp("us", tz="UTC"))
        if kind.rdf:
            rows = zip(range(number * size, (number + 1) * size), data["room"], data["kind"], strict=True)
            texts = [
                f"<http://e/room{r}> {RDF_TYPE} <http://e/{k}> .\n"
                f'<http://e/room{r}> <http://e/reading> "{n}"^^<{XSD}integer> .'
                for n, r, k in rows
            ]
            table = pa.table({"stream": ["rooms"] * len(texts), "time": times, "graph": texts})
        else:
            table = pa.table({"ts": times, "room": data["room"], "kind": data["kind"]})
        pq.write_table(table, folder / f"{number:03d}.parquet")


def expected(events: int, files: int) -> tuple[int, float]:
    """The number of pairs, by a loop that shares nothing with obep, and its events a second of CPU."""
    size = events // files
    every = [columns(size, number * size) for number in range(files)]
    open_: dict[int, deque[int]] = {}
    count = 0
    begun = time.process_time()
    for data in every:
        for at, room, kind in zip(data["ts"], data["room"], data["kind"], strict=True):
            waiting = open_.setdefault(room, deque())
            while waiting and at - waiting[0] >= WITHIN:
                waiting.popleft()
            if kind == "Alpha":
                waiting.append(at)
            elif kind == "Beta":
                count += len(waiting)
    return count, events / (time.process_time() - begun)


def run(spark: Any, folder: Path, given: argparse.Namespace, kind: Kind) -> tuple[float, float]:
    """One stream over all files: events a second, and those of the bare loop. The answer is counted."""
    from obep.spark import detect

    for name in ("out", "state"):
        shutil.rmtree(folder / name, ignore_errors=True)
    query = obep.load(text=WAITING if kind.waiting else QUERY, java=False)
    rdf = kind.rdf
    schema = "stream string, time timestamp, graph string" if rdf else "ts timestamp, room long, kind string"
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", given.files_per_trigger)
    rows = source.parquet(str(folder / "in"))
    if rdf:
        records = detect(query, rows, buckets=given.buckets, forms=("event",)).records
        lines = records.where("kind = 'occurrence'").selectExpr("rtrim('\n', texts[0]) as value")
        writer = lines.writeStream.format("text").option("path", str(folder / "out"))
    else:
        found = detect(query, rows, buckets=given.buckets, mapping=MAPPING)
        if kind.java_writes:
            writer = found.occurrences.writeStream.format("parquet").option("path", str(folder / "out"))
        else:
            writer = found.to_parquet(folder / "out")
    writer = writer.option("checkpointLocation", str(folder / "state"))
    stream = writer.trigger(availableNow=True).start()
    stream.awaitTermination()
    reader = spark.read.text if rdf else spark.read.parquet
    count, (right, bare) = reader(str(folder / "out")).count(), expected(given.events, given.files)
    assert count == right, f"{count} pairs, not {right}"
    return show([p for p in stream.recentProgress if p["numInputRows"]]), bare


def show(batches: list[dict[str, Any]]) -> float:
    """Prints the micro-batches; the events a second of those after the first."""
    for p in batches:
        took = p["durationMs"]["triggerExecution"]
        state = sum(one["memoryUsedBytes"] for one in p["stateOperators"])
        rate = p["numInputRows"] / took * 1000
        print(f"  {p['numInputRows']:>9,} events  {took:>7} ms  {rate:>10,.0f}/s  {state:,} B of state")
    later = batches[1:]
    return (
        sum(p["numInputRows"] for p in later) / sum(p["durationMs"]["triggerExecution"] for p in later) * 1000
    )


def where(log: Path) -> Iterator[str]:
    """Where the time of the micro-batches went: their stages, and what the tasks say of themselves."""
    names = {
        "time to execute Python code": "Python",
        "scan time": "scan",
        "time to commit changes": "state commit",
        "RocksDB: load - time taken to load the store": "state load",
    }
    told: dict[int, Counter[str]] = {}
    for file in sorted(
        path for path in log.rglob("*") if path.is_file() and path.name.startswith(("events", "local", "app"))
    ):
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd":
                sums = told.setdefault(event["Stage ID"], Counter())
                sums["JVM CPU"] += (event.get("Task Metrics") or {}).get("Executor CPU Time", 0) // 1_000_000
                for one in event["Task Info"]["Accumulables"]:
                    if one["Name"] in names:
                        sums[names[one["Name"]]] += int(one.get("Update", 0))
            elif event["Event"] == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                took = info["Completion Time"] - info["Submission Time"]
                sums = told.get(info["Stage ID"], Counter())
                parts = ", ".join(f"{name} {ms}" for name, ms in sums.items() if ms)
                tasks = info["Number of Tasks"]
                yield f"    stage {info['Stage ID']:>3}  {took:>6} ms, {tasks} tasks ({parts} ms in all)"
            elif event["Event"].endswith("QueryProgressEvent"):
                progress = event["progress"]
                times = progress["durationMs"]
                rest = {name: ms for name, ms in times.items() if name != "triggerExecution"}
                yield f"  batch {progress['batchId']}: {times['triggerExecution']} ms  {rest}"


def pinned(given: argparse.Namespace) -> Figure:
    """How much faster the same run is on two cores than on one; Java has compiled in the run before it."""
    rates: dict[int, float] = {}
    for cores in (1, 2):
        command = ["taskset", "-c", "0" if cores == 1 else "0,1", sys.executable, __file__]
        command += ["--events", str(given.events), "--files", str(given.files), "--runs", "2"]
        command += ["--master", f"local[{cores}]", "--buckets", str(given.buckets)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(said, end="", flush=True)
        rates[cores] = json.loads(said.splitlines()[-1])["per_second"][-1]
    return Figure(
        f"Spark: W1, two cores ({rates[2]:,.0f}/s) against one", (rates[2] / rates[1],), "times", 1.6
    )


def measure(spark: Any, folder: Path, given: argparse.Namespace, kind: Kind) -> Iterator[Figure]:
    """Some runs of one kind, and how fast the machine was."""
    write_files(folder / "in", given.events, given.files, kind)
    rates, bare = zip(*(run(spark, folder, given, kind) for _ in range(given.runs)), strict=True)
    shutil.rmtree(folder / "in")
    idle = f"W1, {kind.idle:,} rooms idle" if kind.idle else "W1, Parquet to Parquet"
    name = "N-Triples to JSON lines" if kind.rdf else idle
    if kind.java_writes:
        yield Figure(f"Spark: {name} by Spark's own writer", rates, "events/s")
    else:
        yield Figure(f"Spark: {name}", rates, "events/s", 60_000 if kind.rdf else 150_000)
    yield Figure("  the bare loop on one core in those minutes", bare, "events/s")


def waiting(spark: Any, folder: Path, given: argparse.Namespace, idle: int) -> Figure:
    """What rooms that stay in the state cost: the rate with them against that without, in turn."""
    kinds = Kind(waiting=True), Kind(idle, waiting=True)
    rates: list[list[float]] = [[], []]
    for number, kind in enumerate(kinds):
        write_files(folder / str(number) / "in", given.events, given.files, kind)
    for _ in range(given.runs):
        for number, kind in enumerate(kinds):
            rates[number].append(run(spark, folder / str(number), given, kind)[0])
    ratios = tuple(there / bare for bare, there in zip(*rates, strict=True))
    return Figure(f"Spark: W1, {idle:,} rooms that wait for an hour, against none", ratios, "times", 0.95)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--events", type=int, default=2_000_000)
    options.add_argument("--files", type=int, default=8)
    options.add_argument("--files-per-trigger", type=int, default=2)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--master", default="local[2]")
    options.add_argument("--buckets", type=int, default=2)
    options.add_argument("--idle-rooms", type=int, default=0)
    options.add_argument("--rdf", action="store_true")
    options.add_argument("--java-writes", action="store_true")
    options.add_argument("--cores", action="store_true")
    options.add_argument("--all", action="store_true")
    options.add_argument("--conf", action="append", default=[], help="a setting of Spark, key=value")
    options.add_argument("--where", action="store_true")
    given = options.parse_args()
    if given.cores:
        table([pinned(given)])
        return

    from obep.spark.driver.session import session

    folder = Path(tempfile.mkdtemp(prefix="obep-bench-"))
    settings = {"spark.sql.shuffle.partitions": str(given.buckets), "spark.driver.memory": "3g"}
    settings |= dict(one.split("=", 1) for one in given.conf)
    if given.where:
        (folder / "log").mkdir()
        settings |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": str(folder / "log")}
        settings |= {"spark.eventLog.compress": "false"}
    begun = time.monotonic()
    spark = session(given.master, settings, log=folder / "spark.log")
    print(f"session {time.monotonic() - begun:.1f} s on {given.master}", flush=True)
    idle = 100_000 if given.all else given.idle_rooms
    kinds = [Kind(idle, rdf=given.rdf, java_writes=given.java_writes)]
    if given.all:
        kinds = [Kind(), Kind(java_writes=True), Kind(idle), Kind(rdf=True)]
    figures = [figure for kind in kinds for figure in measure(spark, folder, given, kind)]
    if idle:
        figures.append(waiting(spark, folder, given, idle))
    spark.stop()
    if given.where:
        print("\n".join(where(folder / "log")))
    shutil.rmtree(folder, ignore_errors=True)
    if given.all and shutil.which("taskset"):
        figures.append(pinned(given))
    table(figures)
    print(json.dumps({"per_second": [round(rate) for rate in figures[0].values]}))


if __name__ == "__main__":
    main()
