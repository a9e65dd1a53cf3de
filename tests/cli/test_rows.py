"""RETURN … AS ROWS: a JSON object for each solution, CSV, SPARQL results; in runs, cases and programs."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from shell import embedded, hot, obep
from test_checkpoint import STEP

import obep as package
from obep.model import Answer
from obep.output.row_writer import Row, RowIds, result_document, row_line
from obep.run.cases import run_case
from obep.streams.sinks.open_sinks import CallSink

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT On AS (says value "on")
EVENT Told(?who) AS { ?who :says ?word }
EVENT Pair(?a, ?b) MATCH On(?a) SEQ On(?b) WITHIN 5 s
EVENT Bare MATCH On SEQ On
STATE Running(?who) FROM On(?who) TO Told(?who) LIMIT 1 d
"""


def line(at: int, *words: str, who: str = "f1") -> str:
    said = ", ".join(json.dumps(word) for word in words)
    return (
        json.dumps({"stream": "s", "time": at, "graph": f"<http://e/{who}> <http://e/says> {said} ."}) + "\n"
    )


def run(folder: Path, returned: str, *options: str | Path) -> Any:
    hot(folder, QUERY + returned)
    (folder / "s.jsonl").write_text(line(1, "on", 'hot "tub", é') + line(3, "on", who="f2"))
    return embedded(folder / "q.obep", "--source", f"s={folder}/s.jsonl", "-q", *options)


F1, F2 = "<http://e/f1>", "<http://e/f2>"
TOLD = [
    {
        "query": "http://e/Told",
        "at": 1,
        "row": {"who": F1, "word": '"hot \\"tub\\", é"'},
        "start": 1,
        "end": 1,
    },
    {"query": "http://e/Told", "at": 1, "row": {"who": F1, "word": '"on"'}, "start": 1, "end": 1},
    {"query": "http://e/Told", "at": 3, "row": {"who": F2, "word": '"on"'}, "start": 3, "end": 3},
]


def test_a_graph_event_has_a_row_for_each_solution(tmp_path: Path) -> None:
    assert run(tmp_path, "RETURN Told AS ROWS").records == TOLD


def test_rows_of_logical_and_composite_events_have_individuals_parameters_and_intervals(
    tmp_path: Path,
) -> None:
    rows = run(tmp_path, "RETURN On, Pair, Bare AS ROWS").records
    assert [row["row"] for row in rows if row["query"] == "http://e/On"] == [{"this": F1}, {"this": F2}]
    assert [row for row in rows if row["query"] == "http://e/Pair"] == [
        {"query": "http://e/Pair", "at": 3, "row": {"a": F1, "b": F2}, "start": 1, "end": 3}
    ]
    assert [row["row"] for row in rows if row["query"] == "http://e/Bare"] == [{}]


def test_what_is_asked_for_decides_before_return(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    for returned, options, key in (
        ("RETURN Told AS ROWS", (), "query"),
        ("RETURN Told AS ROWS", ("--as", "event"), "event"),
        ("RETURN Told", ("--as", "rows"), "query"),
        ("RETURN Told AS RDF STREAM", ("--as", "sparql-json"), "head"),
    ):
        assert run(tmp_path, returned, "--sink", out, *options).status == 0
        assert all(key in json.loads(line) for line in out.read_text().splitlines()), (returned, options)


def test_csv_has_one_header_and_values_without_their_signs(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    said = run(tmp_path, "RETURN Told", "--sink", out)
    assert said.status == 0, said.err
    with out.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["at", "who", "word"],
            ["1", "http://e/f1", 'hot "tub", é'],
            ["1", "http://e/f1", "on"],
            ["3", "http://e/f2", "on"],
        ]
    assert run(tmp_path, "RETURN On", "--as", "csv").out.splitlines() == [
        "at,this",
        "1,http://e/f1",
        "3,http://e/f2",
    ]


def test_sparql_json_is_a_document_for_each_occurrence_that_rdflib_reads(tmp_path: Path) -> None:
    from io import BytesIO

    from rdflib import Literal, URIRef
    from rdflib.query import Result

    documents = run(tmp_path, "RETURN Told", "--as", "sparql-json").out.splitlines()
    assert [json.loads(one)["at"] for one in documents] == [1, 3]
    read = Result.parse(BytesIO(documents[0].encode()), format="json")
    assert {tuple(row) for row in read} == {
        (URIRef("http://e/f1"), Literal("on")),
        (URIRef("http://e/f1"), Literal('hot "tub", é')),
    }


def test_a_document_has_blank_nodes_languages_and_datatypes() -> None:
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    row = Row("q1", 2_500_000, {"b": "_:x", "l": '"chat"@fr-BE', "n": f'"05"^^<{integer}>'}, op="+")
    at = row.at
    answer = Answer("<q1>", "", (), at, at, at, at, bindings=(dict(row.row),), _id="urn:a", op="+")
    assert json.loads(result_document(answer, ["b", "l", "n", "u"], "integer")) == {
        "query": "q1",
        "at": 2.5,
        "head": {"vars": ["b", "l", "n", "u"]},
        "results": {
            "bindings": [
                {
                    "b": {"type": "bnode", "value": "x"},
                    "l": {"type": "literal", "value": "chat", "xml:lang": "fr-BE"},
                    "n": {"type": "literal", "value": "05", "datatype": integer},
                }
            ]
        },
    }
    assert json.loads(row_line(row, "iso")) == {
        "query": "q1",
        "at": "1970-01-01T00:00:02.5Z",
        "row": dict(row.row),
        "op": "+",
    }


@pytest.mark.parametrize(
    ("report", "told", "empty"),
    [
        ("", [1, 2, 4, 5, 8], [4, 5]),
        ("REPORT all", [1, 2, 3, 4, 5, 6, 7, 8], [3, 4, 5, 6, 7]),
        ("REPORT change", [1, 3, 4, 6, 8], [3, 4, 6]),
    ],
)
def test_an_answer_that_is_reported_without_rows_has_its_document(
    tmp_path: Path, report: str, told: list[int], empty: list[int]
) -> None:
    """The window (t - 2 s, t] has something hot at 1, 2 and 8, and what is cold at 4 and 5."""
    query = tmp_path / "q.rspql"
    query.write_text(
        f"PREFIX : <http://e/> {report} REGISTER RSTREAM <q> AS SELECT ?r ?h "
        "FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 1 s] WHERE { WINDOW <w> { ?r :hot ?h } }"
    )
    said = {1: "hot", 4: "cold", 8: "hot"}
    lines = [
        {"stream": "s", "time": at, "graph": f"<http://e/a> <http://e/{how}> 3 ."} for at, how in said.items()
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))

    def out(form: str) -> list[str]:
        done = embedded(query, "--source", f"s={tmp_path}/s.jsonl", "-q", "--as", form)
        assert done.status == 0, done.err
        return done.out.splitlines()

    documents = [json.loads(one) for one in out("sparql-json")]
    assert [one["at"] for one in documents] == told
    assert [one["at"] for one in documents if not one["results"]["bindings"]] == empty
    assert all(one["head"] == {"vars": ["r", "h"]} and one["query"].endswith("q") for one in documents)
    full = [at for at in told if at not in empty]
    assert [json.loads(one)["at"] for one in out("rows")] == full
    assert [json.loads(one)["at"] for one in out("event")] == full
    assert [one.split(",")[0] for one in out("csv")] == ["at", *map(str, full)]
    assert len(out("ids")) == len(full)
    items = [package.Item("s", at * 1_000_000, graph) for at, graph in _graphs(said).items()]
    assert len(package.run(package.load(query), items)) == len(full), "a program gets what has rows"


def _graphs(said: dict[int, str]) -> dict[int, tuple[tuple[str, str, str], ...]]:
    three = '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return {at: (("<http://e/a>", f"<http://e/{how}>", three),) for at, how in said.items()}


@pytest.mark.parametrize(
    ("returned", "options", "code", "said"),
    [
        ("RETURN Told, On", ("--as", "csv"), "OBEP513", "On and Told"),
        ("RETURN Running", ("--as", "csv"), "OBEP513", "Running is a state"),
        ("RETURN Running, On", ("--as", "sparql-json"), "OBEP513", "Running is a state"),
        ("RETURN On", ("--as", "csv", "--sink", "mqtt://h/t"), "OBEP513", "header"),
        ("RETURN On", ("--as", "rows", "--sink", "out.csv"), "OBEP513", "csv"),
        (
            "REGISTER RSTREAM <g> AS CONSTRUCT { ?r a :Seen } WHERE { Running(?r) }\nRETURN On",
            ("--as", "sparql-json"),
            "OBEP513",
            "g is a CONSTRUCT, and a graph has no rows",
        ),
        ("RETURN Running AS ROWS", (), "OBEP134", "Running is a state"),
        ("RETURN Told, On", ("--engine", "spark", "--as", "csv"), "OBEP513", "On and Told"),
    ],
)
def test_what_has_no_rows_is_refused(
    tmp_path: Path, returned: str, options: tuple[str, ...], code: str, said: str
) -> None:
    if "spark" in options:
        pytest.importorskip("pyspark")
    found = run(tmp_path, returned, *options)
    assert found.status == 2
    assert code in found.err and said in found.err


def test_the_id_of_a_row_is_a_hash_of_its_line_and_its_number_among_equal_ones() -> None:
    def digest(line: str) -> str:
        return blake2b(line.encode(), digest_size=16).hexdigest()

    ids, first, second = RowIds(), object(), object()
    one = ids.of(first, 1, ["a", "b", "a"])
    assert one == [f"urn:obep:row:{digest(text)}:{n}" for text, n in (("a", 1), ("b", 1), ("a", 2))]
    assert ids.of(first, 1, ["a", "b", "a"]) == one, "another sink gets the same"
    assert ids.of(second, 1, ["a"]) == [f"urn:obep:row:{digest('a')}:3"]
    again = RowIds()
    again.load(ids.dump())
    assert again.of(object(), 1, ["a"]) == [f"urn:obep:row:{digest('a')}:4"], "a checkpoint within an instant"
    assert again.of(object(), 2, ["a"]) == [f"urn:obep:row:{digest('a')}:1"]


@pytest.mark.slow
def test_rows_of_a_killed_run_are_those_of_an_unbroken_one(tmp_path: Path) -> None:
    hot(tmp_path, QUERY + "RETURN Told AS ROWS")
    (tmp_path / "s.jsonl").write_text("".join(line(n // 3, "on", str(n % 2)) for n in range(700)))
    words = ("--source", f"s={tmp_path}/s.jsonl", "-q")
    for name, kills in (("whole", ()), ("broken", (1, 2, 1))):
        sinks = ("--sink", f"{tmp_path}/{name}.jsonl", "--sink", f"{tmp_path}/{name}.csv")
        kept = ("--checkpoint", f"{tmp_path}/{name}")
        given = ("run", tmp_path / "q.obep", "--engine", "embedded", *words, *sinks, *kept)
        for kill_at in kills:
            killed = subprocess.run(
                [sys.executable, "-c", STEP, str(kill_at), *map(str, given)],
                env=os.environ,
                capture_output=True,
                timeout=120,
            )
            assert killed.returncode == -signal.SIGKILL, killed.stderr
        said = obep(*given)
        assert said.status == 0, said.err
    for ending in ("jsonl", "csv"):
        assert (tmp_path / f"broken.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
    assert len((tmp_path / "whole.csv").read_text().splitlines()) > 1


def test_a_case_expects_rows(tmp_path: Path) -> None:
    hot(tmp_path, QUERY + "RETURN Told AS ROWS").rename(tmp_path / "query.obep")
    (tmp_path / "stream.jsonl").write_text(line(1, "on"))
    expected = tmp_path / "expected.jsonl"
    expected.write_text('{"query": "Told", "at": 1}\n')
    assert run_case(tmp_path).difference == []
    expected.write_text('{"query": "Told", "row": {"who": "<http://e/f1>", "word": "\\"off\\""}}\n')
    assert run_case(tmp_path).difference != []
    assert obep("test", tmp_path, "--update").status == 0
    assert json.loads(expected.read_text())["row"] == {"who": F1, "word": '"on"'}
    assert run_case(tmp_path).difference == []


def test_a_program_gets_rows_of_any_occurrence() -> None:
    engine = package.load(text=QUERY + "RETURN Told AS ROWS").engine()
    found = engine.push('<http://e/f1> <http://e/says> "on" .', at=1, stream="s")
    assert [one.to_rows() for one in (*found, *engine.close())] == [
        [{"query": "http://e/Told", "at": 1, "row": {"who": F1, "word": '"on"'}, "start": 1, "end": 1}]
    ]


def test_each_row_goes_to_a_sink_with_an_id_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import obep.run.outlets as outlets

    sent: list[tuple[str, bytes]] = []
    monkeypatch.setattr(
        outlets, "open_sink", lambda *_: CallSink(lambda id, payload: sent.append((id, payload)))
    )
    run(tmp_path, "RETURN Told AS ROWS")
    assert [json.loads(payload) for _, payload in sent] == TOLD
    assert len({id for id, _ in sent}) == 3


def test_ids_alone_are_those_of_the_lines(tmp_path: Path) -> None:
    returned = "RETURN Pair, Told, Running"
    done = run(tmp_path, returned, "--sink", tmp_path / "whole.jsonl")
    assert done.status == 0, done.err
    whole = [json.loads(one) for one in (tmp_path / "whole.jsonl").read_text().splitlines()]
    done = run(tmp_path, returned, "--as", "ids", "--sink", tmp_path / "ids.jsonl")
    assert done.status == 0, done.err
    ids = [json.loads(one) for one in (tmp_path / "ids.jsonl").read_text().splitlines()]
    assert ids == [f"{one['id']}:{one['status']}" if "alert" in one else one["id"] for one in whole]
    assert {one.split(":")[2] for one in ids} == {"Pair", "Told", "Running"}
