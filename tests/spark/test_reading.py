"""Rows with a graph as items: N-Triples, Turtle, JSON-LD or an array of triples; the time as it may come."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from obep.model import DeadLetter, Item
from obep.spark.reading import read_graphs
from obep.spark.route import Columns

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
WANTED = (("<http://e/x>", f"<{TYPE}>", "<http://e/Alpha>"),)
TEXTS = {
    "N-Triples": f"<http://e/x> <{TYPE}> <http://e/Alpha> .",
    "Turtle": "@prefix : <http://e/> . :x a :Alpha .",
    "JSON-LD": '{"@context": {"@vocab": "http://e/"}, "@id": "http://e/x", "@type": "Alpha"}',
}
TRIPLE = pa.struct([("s", pa.string()), ("p", pa.string()), ("o", pa.string())])


def batch(graphs: Any, times: Any) -> Any:
    return pa.RecordBatch.from_pydict({"stream": ["s"] * len(graphs), "time": times, "graph": graphs})


def read(graphs: Any, times: Any) -> list[Item | DeadLetter]:
    """What the rows are, one by one, in the order of their instants."""
    found: list[Item | DeadLetter] = []
    for one in read_graphs(batch(graphs, times)):
        found.extend(one.items() if isinstance(one, Columns) else [one])
    return sorted(found, key=lambda one: one.at or 0)


@pytest.mark.parametrize("name", TEXTS)
def test_a_graph_may_be_written_in_any_of_these(name: str) -> None:
    [item] = read([TEXTS[name]], [3_000_000])
    assert isinstance(item, Item) and (item.stream, item.at, item.triples) == ("s", 3_000_000, WANTED)


@pytest.mark.parametrize("kind", [pa.list_(TRIPLE), pa.list_(pa.list_(pa.string()))])
def test_a_graph_may_be_an_array_of_triples(kind: Any) -> None:
    given = [dict(zip("spo", WANTED[0], strict=True))] if kind.value_type == TRIPLE else [list(WANTED[0])]
    [item] = read(pa.array([given], kind), [3_000_000])
    assert isinstance(item, Item) and item.triples == WANTED


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_a_time_may_be_a_timestamp(unit: str) -> None:
    times = pa.array([datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC)], pa.timestamp(unit, tz="UTC"))
    [item] = read([TEXTS["Turtle"]], times)
    assert isinstance(item, Item) and item.at == 3_000_000


def test_turtle_may_begin_with_a_blank_node() -> None:
    """As an array of JSON-LD does, too."""
    [turtle, json] = read(["[] a <http://e/Alpha> .", f"[{TEXTS['JSON-LD']}]"], [1, 2])
    assert isinstance(turtle, Item) and turtle.triples[0][1:] == WANTED[0][1:]
    assert isinstance(json, Item) and json.triples == WANTED


def test_what_is_no_item_is_a_dead_letter() -> None:
    found = read([TEXTS["Turtle"], "no graph", "{"], pa.array([None, 1, 2], pa.int64()))
    assert all(isinstance(one, DeadLetter) for one in found)
    assert [(one.code, one.at) for one in found] == [("OBEP602", None), ("OBEP604", 1), ("OBEP604", 2)]
