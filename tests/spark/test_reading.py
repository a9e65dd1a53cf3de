"""Rows with a graph as items: N-Triples, Turtle, JSON-LD or an array of triples; the time as it may come."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from obep.model import DeadLetter, Item
from obep.spark.readers.item_rows import GraphsRead, read_graphs
from obep.spark.stages.route import Columns
from obep.spark.stages.stream_notes import notice, warnings_of

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


def test_a_time_may_be_a_number_of_32_bits() -> None:
    [item] = read([TEXTS["Turtle"]], pa.array([3_000_000], pa.int32()))
    assert isinstance(item, Item) and item.at == 3_000_000
    [columns] = list(read_graphs(batch([TEXTS["N-Triples"]], pa.array([3], pa.int32()))))
    assert isinstance(columns, Columns) and columns.times.dtype == np.int64


def test_a_time_beyond_all_years_is_a_dead_letter() -> None:
    """Nanoseconds, which would be microseconds of the year 57972."""
    [letter] = read([TEXTS["N-Triples"]], [1_767_261_600_000_000_000])
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP603"
    assert "timestamp_micros(time div 1000)" in letter.reason


@pytest.mark.parametrize(("factor", "made"), [(1, "timestamp_seconds"), (1000, "timestamp_millis")])
def test_numbers_that_are_no_microseconds_are_warned_of(
    factor: int, made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the worker, and in the progress, also of several queries."""
    monkeypatch.setattr("obep.spark.readers.column_doubts._said", set())
    times = [(1_767_261_600 + n) * factor for n in (0, 0, 1)]
    reader = GraphsRead()
    with pytest.warns(UserWarning, match="OBEP566") as caught:
        items = list(reader(batch([TEXTS["N-Triples"]] * 3, times)))
    assert f"{made}(time)" in str(caught[0].message) and "it would be 2026-01-01" in str(caught[0].message)
    [told] = warnings_of([notice(("first", "second"), items, reader.notes)])
    assert told == str(caught[0].message)
    assert "1970-01-" in told


@pytest.mark.parametrize("times", [[0, 1, 2], [1_767_261_600_000_000] * 3, [1_767_261_600, 0, 9]])
def test_other_numbers_are_not_warned_of(times: list[int], recwarn: pytest.WarningsRecorder) -> None:
    reader = GraphsRead()
    list(reader(batch([TEXTS["N-Triples"]] * 3, times)))
    assert not reader.notes.doubts and not recwarn.list


@pytest.mark.parametrize("kind", [pa.string(), pa.list_(TRIPLE), pa.list_(pa.list_(pa.string()))])
def test_a_graph_that_is_null_is_a_dead_letter(kind: Any) -> None:
    [letter] = read(pa.array([None], kind), [1])
    assert isinstance(letter, DeadLetter) and (letter.code, letter.at) == ("OBEP601", 1)
    assert letter.reason == "graph: it is NULL" and letter.raw == ""


@pytest.mark.parametrize(
    ("graph", "code", "said"),
    [
        ([None], "OBEP601", "triple 1 of the array is NULL"),
        (
            [  # two of them would be one triple, and the third two: three in all
                ["<http://e/a>", "<http://e/p>", '"""long'],
                ["<http://e/b>", "<http://e/p>", '"""'],
                ["<http://e/a>", "<http://e/p>", "<http://e/b> , <http://e/c>"],
            ],
            "OBEP604",
            "in triple 1 of the array is no term as N-Triples writes it",
        ),
        ([list(WANTED[0]), ["<http://e/x>", None, "<http://e/y>"]], "OBEP601", "a term of triple 2"),
        ([["<http://e/x>", "<http://e/y>"]], "OBEP601", "has 2 terms, not three"),
        ([[TEXTS["N-Triples"]]], "OBEP601", "has 1 terms, not three"),
        ([["http://e/x", "<http://e/p>", "<http://e/y>"]], "OBEP604", "'http://e/x' in triple 1"),
        ([["<http://e/x>", "<http://e/p>", '"a\nb"']], "OBEP604", "no term as N-Triples writes it"),
        ([["<http://e/x>", "<http://e/p>", "<http://e/y> . <e:a> <e:b> <e:c>"]], "OBEP604", "in triple 1"),
        ([["<http://e/x>", "<http://e/p>", '"5"^^<integer']], "OBEP604", ""),
    ],
)
def test_an_array_that_holds_no_triples_is_a_dead_letter(graph: Any, code: str, said: str) -> None:
    [item, letter] = read(pa.array([[list(WANTED[0])], graph], pa.list_(pa.list_(pa.string()))), [1, 2])
    assert isinstance(item, Item) and item.triples == WANTED
    assert isinstance(letter, DeadLetter) and (letter.code, letter.at) == (code, 2)
    assert said in letter.reason


def test_a_stream_may_stand_in_place_of_its_column() -> None:
    rows = batch([TEXTS["N-Triples"]], [1]).drop_columns("stream")
    [columns] = GraphsRead("trams")(rows)
    assert isinstance(columns, Columns) and columns.stream == "trams"
