"""The commands on queries of each language, as somebody would type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import obep

EXAMPLES = Path(__file__).parents[2] / "examples"
QUERIES = sorted(
    path
    for folder in ("09-languages", "10-milan")
    for path in (EXAMPLES / folder).rglob("query.*")
    if path.suffix != ".obep"
)
TIMED = """PREFIX : <http://example.org/>
SELECT ?x ?y { { ?x :p ?y } SEQ { ?y :q ?x } FILTER(getDURATION() < 5 s) }
"""


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: f"{path.parent.name}{path.suffix}")
def test_check_and_explain_speak_of_queries(path: Path) -> None:
    checked = obep("check", path)
    assert checked.status == 0
    assert "no errors" in checked.out
    explained = obep("explain", path)
    number = path.read_text().count("WHERE")
    first = explained.out.splitlines()[0]
    assert first == f"{path}: {number} {'query' if number == 1 else 'queries'}"


def test_a_query_without_an_ending_is_read_in_the_language_of_dialect(tmp_path: Path) -> None:
    path = tmp_path / "query.txt"
    path.write_text(TIMED)
    for command in ("check", "explain", "translate"):
        assert obep(command, path, "--dialect", "epsparql").status == 0


def test_translate_writes_obep_that_runs_with_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "q.epsparql").write_text(TIMED)
    items = [(1, ":a :p :b ."), (3, ":b :q :a ."), (9, ":b :q :a .")]
    head = "@prefix : <http://example.org/> . "
    lines = [json.dumps({"stream": "s", "time": at, "graph": head + graph}) for at, graph in items]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    (tmp_path / "q.obep").write_text(obep("translate", tmp_path / "q.epsparql").out)
    rows = []
    for name in ("q.epsparql", "q.obep"):
        ran = obep("run", tmp_path / name, "--engine", "embedded", "--source", tmp_path / "s.jsonl")
        found = [json.loads(line) for line in ran.out.splitlines()]
        rows.append([(one["start"], one["end"], one["row"]) for one in found])
    a, b = "<http://example.org/a>", "<http://example.org/b>"
    assert rows == [[(1, 3, {"x": a, "y": b})]] * 2


def test_translate_says_what_obep_cannot_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "q.epsparql").write_text("SELECT DISTINCT ?x { ?x :p ?y . ?y :q ?z }")
    said = obep("translate", tmp_path / "q.epsparql")
    assert (said.status, said.out) == (2, "")
    assert said.err.count("OBEP765") == 2


def test_test_writes_what_is_found_for_a_query_of_any_language(tmp_path: Path) -> None:
    (tmp_path / "query.epsparql").write_text(TIMED)
    graph = "@prefix : <http://example.org/> . :a :p :b ."
    (tmp_path / "stream.jsonl").write_text(json.dumps({"stream": "s", "time": 1, "graph": graph}))
    assert obep("test", tmp_path, "--update").status == 0
    assert (tmp_path / "expected.jsonl").read_text() == ""


def test_rows_of_select_are_refused_as_rdf_and_taken_as_rows(tmp_path: Path) -> None:
    (tmp_path / "q.epsparql").write_text(TIMED)
    (tmp_path / "s.jsonl").write_text("")
    run = ("run", tmp_path / "q.epsparql", "--engine", "embedded", "--source", tmp_path / "s.jsonl", "--as")
    refused = obep(*run, "rdf")
    assert (refused.status, refused.out, refused.err[:7]) == (2, "", "OBEP513")
    assert "q1 is a SELECT" in refused.err
    assert "OBEP513" not in obep(*run, "rows").err


def test_why_says_that_rows_have_no_id(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text('{"query":"q1","at":3,"row":{}}\n')
    said = obep("why", "q1", tmp_path / "out.jsonl")
    assert said.status == 2
    assert "rows of a query have no id" in said.err
