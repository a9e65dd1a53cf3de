"""OBEP565: values that are no numbers, of a property that a state by rows computes with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, hot

QUERY = """PREFIX : <http://e/#>
FROM STREAM <s>
EVENT Reading AS Sensor
STATE High(?s) OVER Reading(?s) AS r WITHIN 10 s IF {{ EVENT r {{ ?s :value ?v }} {filter} }}
AGGREGATE ({aggregate} AS ?figure) (COUNT(*) AS ?n) HAVING (?n >= 1)
RETURN High AS ALERTS
"""


@pytest.mark.parametrize(
    ("aggregate", "filter", "values", "said"),
    [
        ("AVG(?v)", "", ["1", "2", '"n/a"', "4"], "1 of 4 values of http://e/#value are no numbers"),
        ("AVG(?v)", "", ['"1"', '"2"', '"4"'], "the values of http://e/#value are text, and the query asks"),
        ("AVG(?v)", "", ["1", "2.5", "3e0"], ""),
        ("AVG(?v)", "FILTER(isNumeric(?v))", ["1", '"n/a"'], ""),
        ("COUNT(?v)", "", ["1", '"n/a"'], ""),
        ("MAX(?v)", "", ['"a"', '"b"'], ""),
    ],
)
def test_values_that_spoil_an_aggregate_are_said(
    tmp_path: Path, aggregate: str, filter: str, values: list[str], said: str
) -> None:
    _run(tmp_path, QUERY.format(aggregate=aggregate, filter=filter), values, said)


def _run(tmp_path: Path, text: str, values: list[str], said: str) -> None:
    lines = [
        json.dumps({"time": at, "graph": f"<http://e/#a> a <http://e/#Sensor> ; <http://e/#value> {value} ."})
        for at, value in enumerate(values)
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    query = hot(tmp_path, text)
    done = embedded(query, "--source", tmp_path / "s.jsonl")
    assert done.status == 0
    assert ("OBEP565" in done.err) == bool(said)
    assert said in done.err


@pytest.mark.parametrize(
    ("event", "values", "said"),
    [
        (":value some number", ["1", '"warm"', "4"], ""),
        ("Sensor and (:value some integer)", ["1", '"warm"', "4"], ""),
        (":value some number", ["1", '3, "warm"', "4"], "1 of 4 values of http://e/#value are no numbers"),
        ("Sensor or (:value some number)", ["1", '"warm"', "4"], "1 of 3 values of"),
    ],
)
def test_only_values_of_rows_spoil_an_aggregate(
    tmp_path: Path, event: str, values: list[str], said: str
) -> None:
    query = QUERY.replace("AS Sensor", f"AS ({event})").format(aggregate="AVG(?v)", filter="")
    _run(tmp_path, query, values, said)
