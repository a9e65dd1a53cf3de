"""Several queries in one pipeline, without a JVM: an item that some of them refuse is one dead letter."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.tws_tester import TwsTester
from spark_cases import micros
from test_detecting import Buckets

import obep
from obep.spark.readers.item_rows import read_graphs
from obep.spark.stages.record_batches import unwrapped
from obep.spark.stages.stage1 import STAMP, abstracting
from obep.spark.stages.stage2 import Detecting

OWL = "http://www.w3.org/2002/07/owl#"
HEAD = "PREFIX : <http://e/>\nVOCAB <{}>\nFROM STREAM <s>\nEVENT A AS Alpha\n"
APART = f"<http://e/Alpha> <{OWL}disjointWith> <http://e/Beta> ."
FREE = f"<http://e/Alpha> a <{OWL}Class> . <http://e/Beta> a <{OWL}Class> ."
STRICT = f"{APART} <http://e/Alpha> <{OWL}disjointWith> <http://e/Gamma> ."


def found(folder: Path, files: dict[str, str], graphs: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What the queries of these files make of items at the seconds 1, 2, …, by kind."""
    for ontology, text in (("apart.ttl", APART), ("free.ttl", FREE), ("strict.ttl", STRICT)):
        (folder / ontology).write_text(text)
    jobs = []
    for name, ontology in files.items():
        own = f"EVENT X{len(jobs)} AS Beta\n"  # so that no two are the same
        (folder / name).write_text(HEAD.format(ontology) + own + "RETURN A\n")
        jobs.append(Buckets(folder, obep.load(folder / name, java=False)).job)
    numbers = tuple(range(sum(len(job.numbers) for job in jobs)))
    bundles, widths = (job.bundles[0] for job in jobs), (job.widths[0] for job in jobs)
    job = replace(jobs[0], bundles=tuple(bundles), widths=tuple(widths), numbers=numbers, bounded=True)
    given = {"stream": ["s"] * len(graphs), "time": [n + 1 for n in range(len(graphs))], "graph": graphs}
    stamp = pa.array([7] * len(graphs), pa.timestamp("us", tz="UTC"))
    [blocks] = abstracting(job, read_graphs)(iter([pa.RecordBatch.from_pydict({**given, STAMP: stamp})]))
    tester = TwsTester(Detecting(job))
    kinds: dict[str, list[dict[str, Any]]] = {"occurrence": [], "letter": [], "progress": []}
    for row in blocks.to_pylist():
        for one in tester.test(row["bucket"], [SparkRow(**row)]):
            for record in [record for batch in unwrapped([one.payload]) for record in batch.to_pylist()]:
                kinds[record["kind"]].append(record)
    return kinds


BOTH = "<http://e/x> a <http://e/Alpha> , <http://e/Beta> ."
ALPHA = "<http://e/x> a <http://e/Alpha> ."
BLANK = "[] a <http://e/Alpha> , <http://e/Beta> ."


@pytest.mark.parametrize("accounting", ["apart.ttl", "free.ttl"])
@pytest.mark.parametrize("wrong", [BOTH, BLANK])
def test_an_item_that_several_refuse_is_one_letter_that_names_them(
    tmp_path: Path, accounting: str, wrong: str
) -> None:
    """Whether the query that counts the items refuses it or not, and whether items come as columns or not."""
    other = "free.ttl" if accounting == "apart.ttl" else "apart.ttl"
    files = {"a.obep": accounting, "b.obep": other, "c.obep": "apart.ttl"}
    said = found(tmp_path, files, [ALPHA, wrong, wrong, ALPHA])
    refusing = "a.obep, c.obep" if accounting == "apart.ttl" else "b.obep, c.obep"
    assert [(micros(one["at"]), one["code"]) for one in said["letter"]] == [(2, "OBEP620"), (3, "OBEP620")]
    assert all(one["reason"].endswith(f" ({refusing})") for one in said["letter"])
    progress = [json.loads(one["progress"]) for one in said["progress"]]
    assert sum(one["processed"] for one in progress) == 2
    assert sum(one["refused"] for one in progress) == 2
    # the query that finds nothing wrong takes all four, the others two
    assert Counter(micros(one["start"]) for one in said["occurrence"]) == {1: 3, 2: 1, 3: 1, 4: 3}


def test_reasons_that_differ_are_all_said(tmp_path: Path) -> None:
    three = "<http://e/x> a <http://e/Alpha> , <http://e/Beta> , <http://e/Gamma> ."
    files = {"a.obep": "apart.ttl", "b.obep": "strict.ttl"}
    [letter] = found(tmp_path, files, [three])["letter"]
    assert "(a.obep" in letter["reason"] and "b.obep)" in letter["reason"]


def test_one_query_alone_is_not_named(tmp_path: Path) -> None:
    [letter] = found(tmp_path, {"a.obep": "apart.ttl"}, [BOTH])["letter"]
    assert "a.obep" not in letter["reason"]


def test_both_engines_say_why_in_the_same_words(tmp_path: Path) -> None:
    xsd, rdfs = "http://www.w3.org/2001/XMLSchema#", "http://www.w3.org/2000/01/rdf-schema#"
    ranged = f"<http://e/kW> a <{OWL}DatatypeProperty> ; <{rdfs}range> <{xsd}decimal> ."
    single = f"<http://e/v> a <{OWL}DatatypeProperty> , <{OWL}FunctionalProperty> ."
    (tmp_path / "t.ttl").write_text(f"{APART} {ranged} {single}")
    graphs = [BOTH, "<http://e/x> <http://e/kW> 0.0e0 .", "<http://e/x> <http://e/v> 4 , 6 ."]
    letters = found(tmp_path, {"a.obep": "t.ttl"}, graphs)["letter"]
    on_spark = [one["reason"] for one in sorted(letters, key=lambda one: micros(one["at"]))]
    embedded: list[str] = []
    query = obep.load(tmp_path / "a.obep", java=False)
    with query.engine(on_dead_letter=lambda letter: embedded.append(letter.reason)) as engine:
        for at, graph in enumerate(graphs):
            engine.push(graph, at=at + 1)
    assert on_spark == embedded
    assert [reason.removeprefix("contradicts the ontology: ") for reason in embedded] == [
        "x is a Alpha, x is a Beta: Alpha and Beta are disjoint",
        'x kW "0.0e0" (xsd:double): a value of kW is xsd:decimal',
        'x v "4" (xsd:integer), x v "6" (xsd:integer): v has at most one value',
    ]
