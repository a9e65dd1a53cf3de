"""What a DataFrame of items may look like: plain columns, graphs as texts or arrays; and RDF that returns."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
from cli.shell import obep
from pyarrow import parquet
from spark_cases import embedded, query, shown
from test_streaming import columns, finish, split

import obep as library
from obep.spark import detect
from obep.spark.driver.listener import Listener

pytestmark = pytest.mark.spark

KINDS = ("Alpha", "Beta", "Gamma")
CUTS = (0, 1, 45, 90)
TEMPLATE = "<http://e/x{room}> a <http://e/{kind}> ."


def test_plain_columns_are_items_by_a_mapping(spark: Any, tmp_path: Path) -> None:
    """Three files of Parquet, a micro-batch each; one row has no time, one is of the year 2500.

    In the first nothing is found: a listener hears of it all the same.
    """
    folder = tmp_path / "in"
    folder.mkdir()
    told = [(n * 300_000, n % 5, KINDS[n * 7 % 3]) for n in range(90)]
    for number in range(3):
        rows: list[tuple[int | None, int, str]] = [*told[CUTS[number] : CUTS[number + 1]]]
        if number == 1:
            rows += [(None, 1, "Alpha"), (16_725_225_600_000_000, 1, "Alpha")]
        times, rooms, kinds = zip(*rows, strict=True)
        table = {"ts": pa.array(times, pa.timestamp("us", tz="UTC")), "room": rooms, "kind": kinds}
        parquet.write_table(pa.table(table), folder / f"{number}.parquet")
        os.utime(folder / f"{number}.parquet", (1000 + number, 1000 + number))  # Spark reads the oldest first
    frame = spark.readStream.schema("ts timestamp, room long, kind string").option("maxFilesPerTrigger", 1)
    mapping = {"template": TEMPLATE, "time": "ts"}
    found = detect(
        query("keyed"),
        frame.parquet(str(folder)),
        mapping=mapping,
        stream="s",
        future="1 d",
        lateness="1 s",
        observe="columns",
    )
    heard: list[dict[str, Any]] = []
    all_heard = Event()

    def hear(figures: dict[str, Any]) -> None:
        heard.append(figures)
        if len(heard) == 3:
            all_heard.set()

    listener = Listener("columns", hear)
    spark.streams.addListener(listener)
    writer = found.records.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    stream = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    assert len([p for p in finish(stream) if p["numInputRows"]]) == 3
    assert all_heard.wait(60)
    spark.streams.removeListener(listener)
    kinds_found = split(spark.read.parquet(str(tmp_path / "out")).collect())
    given = [("s", at, f"<http://e/x{room}> a <http://e/{kind}> .") for at, room, kind in told]
    expected = shown(embedded("keyed", given, close=False, lateness=1)[0])
    assert columns(kinds_found["occurrence"]) == expected != Counter()
    assert Counter(row.code for row in kinds_found["letter"]) == {"OBEP602": 1, "OBEP641": 1}
    processed = sum(json.loads(row.progress)["processed"] for row in kinds_found["progress"])
    assert processed == len(told)
    assert [one["processed"] for one in heard] == [1, 44, 45]
    assert heard[0]["occurrences"] == 0 and heard[0]["skew"] is None
    assert sum(one["occurrences"] for one in heard) == expected.total()


def test_a_stream_into_parquet_has_everything_once(spark: Any, tmp_path: Path) -> None:
    """Occurrences and dead letters of one run; its last micro-batch, which Spark runs again as after a death,
    replaces what it wrote. Whoever observes hears of it."""
    (tmp_path / "in").mkdir()
    given = [("s", n * 300_000, f"<http://e/x{n % 5}> a <http://e/{KINDS[n * 7 % 3]}> .") for n in range(90)]
    for number, rows in enumerate(
        (given[:45], [*given[45:], ("other", 1, ""), ("s", 27_000_000, "no graph")])
    ):
        lines = [json.dumps({"stream": stream, "time": at, "graph": graph}) for stream, at, graph in rows]
        (tmp_path / "in" / f"{number}.json").write_text("\n".join(lines))
        os.utime(tmp_path / "in" / f"{number}.json", (1000 + number, 1000 + number))

    def run() -> list[dict[str, Any]]:
        frame = spark.readStream.schema("stream string, time long, graph string")
        items = frame.option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
        found = detect(query("keyed"), items, lateness="1 s", observe="once")
        writer = found.to_parquet(tmp_path / "out", dead_letters=tmp_path / "refused")
        writer = writer.option("checkpointLocation", str(tmp_path / "state"))
        return [p for p in finish(writer.trigger(availableNow=True).start()) if p["numInputRows"]]

    told = run()
    assert [p["observedMetrics"]["once"]["processed"] for p in told] == [45, 45]
    (tmp_path / "state" / "commits" / "1").unlink()
    (tmp_path / "state" / "commits" / ".1.crc").unlink()
    (tmp_path / "out" / ".part-left.tmp").write_text("of a task that was killed")
    assert [p["batchId"] for p in run()] == [1]
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    expected = shown(embedded("keyed", given, close=False, lateness=1)[0])
    assert columns(found) == expected != Counter()
    assert not list((tmp_path / "out").glob(".part-*"))
    letters = parquet.read_table(tmp_path / "refused")
    assert letters.column_names == ["stream", "at", "code", "reason", "raw", "line"]
    assert sorted(letters.column("code").to_pylist()) == ["OBEP604", "OBEP616"]
    assert letters.column("line").to_pylist() == [None, None]


GRAPHS = (
    "<http://e/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Alpha> .",
    "@prefix : <http://e/> . :x a :Beta .",
    '{"@context": {"@vocab": "http://e/"}, "@id": "http://e/x", "@type": "Gamma"}',
)
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def test_graphs_may_be_texts_or_arrays_and_come_back_as_rdf(spark: Any, tmp_path: Path) -> None:
    """A text of each kind, the same as triples, with times as timestamps; what is found can be read again."""
    instants = [datetime.fromtimestamp(n, UTC) for n in range(3)]
    texts = [("s", at, graph) for at, graph in zip(instants, GRAPHS, strict=True)]
    arrays = [
        ("s", at, [("<http://e/x>", TYPE, f"<http://e/{k}>")]) for at, k in zip(instants, KINDS, strict=True)
    ]
    frames = [
        spark.createDataFrame(texts, "stream string, time timestamp, graph string"),
        spark.createDataFrame(
            arrays, "stream string, time timestamp, graph array<struct<s: string, p: string, o: string>>"
        ),
    ]
    found = [detect(query("stacked"), frame, rdf=True).occurrences.collect() for frame in frames]
    # Alpha at 0, Beta at 1, Gamma at 2: AB is [0, 1], and ABC [0, 2]
    for rows in found:
        assert {(row.event, row.start.second, row.end.second) for row in rows} == {
            ("http://e/AB", 0, 1),
            ("http://e/ABC", 0, 2),
        }
    assert {row.id for row in found[0]} == {row.id for row in found[1]}
    (tmp_path / "found.trig").write_text("".join(row.rdf for row in found[0]))
    (tmp_path / "next.obep").write_text(
        "PREFIX : <http://e/>\nFROM STREAM <s>\nEVENT Pair AS AB\nEVENT Triple AS ABC\n"
        "EVENT Then MATCH Pair SEQ Triple WITHIN 9 s\nRETURN Then\n"
    )
    said = obep("run", tmp_path / "next.obep", "--source", f"s={tmp_path}/found.trig", "--master", "local[2]")
    assert said.status == 0, said.err
    [then] = said.records
    individuals = [part["individual"] for part in then["because"]]
    assert set(individuals) == {row.id for row in found[0]}


def test_a_query_of_any_stream_takes_all_of_them(spark: Any) -> None:
    anybody = library.load(text="PREFIX : <http://e/>\nEVENT A AS Alpha\nRETURN A", java=False)
    rows = [(stream, n, GRAPHS[0]) for n, stream in enumerate(("s", "t", "u"))]
    frame = spark.createDataFrame(rows, "stream string, time long, graph string")
    assert detect(anybody, frame).occurrences.count() == 3


def test_rows_that_are_no_items_are_dead_letters_and_other_units_are_told_of(spark: Any) -> None:
    """Seconds of 32 bits are microseconds of 1970; a graph is NULL, one has a term too few."""
    one = ["<http://e/x>", TYPE, "<http://e/Alpha>"]
    rows = [(1_767_261_600 + n, graph) for n, graph in enumerate(([one], None, [one[:2]], [None], [one]))]
    frame = spark.createDataFrame(rows, "time int, graph array<array<string>>").coalesce(1)
    detection = detect(query("logical"), frame, stream="s")
    found = split(detection.records.collect())
    assert {row.line for row in detection.dead_letters.collect()} == {None}
    assert len(found["occurrence"]) == 2
    assert [row.code for row in found["letter"]] == ["OBEP601"] * 3
    [told] = {text for row in found["progress"] for text in json.loads(row.progress)["warnings"]}
    assert told.startswith("OBEP566  warning: s: time is a number of microseconds") and "2026-01-01" in told
    assert 'Try:  items.withColumn("time", f.expr("timestamp_seconds(time)"))' in told
