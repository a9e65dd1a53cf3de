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


SETTINGS = """
[query]
vocab = ["t.ttl"]
graph = ["k.ttl"]
report = "all"
closed = "left"
streams = { "http://e/points" = "points" }
"""


def test_settings_of_obep_toml_are_those_of_lines_before_the_query(tmp_path: Path) -> None:
    """What the query says itself counts more; queries in OBEP have none of these."""
    query = (
        "PREFIX : <http://e/>\n"
        "REGISTER RSTREAM <hot> AS SELECT ?x FROM NAMED WINDOW <w> ON <http://e/points> [RANGE 2 s STEP 1 s] "
        "WHERE { ?x a :Known . WINDOW <w> { ?x a :Hot } }"
    )
    lines = "VOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nREPORT all\nCLOSED left\nSTREAM <http://e/points> IS points\n"
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":VeryHot a <http://www.w3.org/2002/07/owl#Class> ; rdfs:subClassOf :Hot ."
    )
    (tmp_path / "k.ttl").write_text("<http://e/a> a <http://e/Known> .")
    items = [(1, "<http://e/a> a <http://e/VeryHot> ."), (9, "<http://e/b> a <http://e/VeryHot> .")]
    (tmp_path / "s.jsonl").write_text(
        "".join(json.dumps({"stream": "points", "time": at, "graph": text}) + "\n" for at, text in items)
    )

    def answers(text: str, settings: str) -> list[object]:
        (tmp_path / "q.rspql").write_text(text)
        (tmp_path / "obep.toml").write_text(settings)
        said = obep("run", tmp_path / "q.rspql", "--source", tmp_path / "s.jsonl", "--engine", "embedded")
        assert said.status == 0, said.err
        return [json.loads(line)["at"] for line in said.out.splitlines()]

    assert answers(query, SETTINGS) == answers(lines + query, "") == [2, 3]
    assert answers(f"CLOSED right\n{query}", SETTINGS) == [1, 2]
    (tmp_path / "q.obep").write_text("PREFIX : <http://e/>\nEVENT Warm AS VeryHot\nRETURN Warm")
    (tmp_path / "obep.toml").write_text(SETTINGS)
    assert obep("check", tmp_path / "q.obep").status == 0
    for wrong, said in (('report = "never"', "never"), ('policy = "odd"', "odd"), ("windows = 1", "windows")):
        (tmp_path / "obep.toml").write_text(f"[query]\n{wrong}\n")
        done = obep("check", tmp_path / "q.rspql")
        assert done.status == 2
        assert "query." in done.err and said in done.err


def test_explain_says_which_parts_are_incremental_and_shows_whole_queries(tmp_path: Path) -> None:
    (tmp_path / "q.obep").write_text(
        "PREFIX : <http://e/>\nFROM STREAM <s>\nFROM NAMED WINDOW <w> ON <s> [RANGE 1 min STEP 30 s]\n"
        "EVENT G(?x) AS { ?x :p ?y . FILTER(?y > 3) }\n"
        "EVENT W(?x) ON <w> AS { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x HAVING (?n > 3) }\n"
        "REGISTER ISTREAM <m> AS SELECT ?x (AVG(?t) AS ?y) WHERE { WINDOW <w> { ?x :t ?t } } "
        "GROUP BY ?x HAVING (AVG(?t) > 3)\n"
        "REGISTER <o> AS SELECT ?x WHERE { WINDOW <w> { ?x :t ?t } } ORDER BY ?x LIMIT 3\nRETURN G, W"
    )
    said = obep("explain", tmp_path / "q.obep").out
    for line in (
        "  G(?x)   graph event, evaluated for each item\n    { ?x :p ?y . FILTER(?y > 3) }",
        "  W(?x)   graph event, incremental\n"
        "    keeps <w>: its items, RANGE 1 min STEP 30 s\n    { SELECT ?x",
        "  m   ISTREAM, incremental, every 30 s\n",
        "GROUP BY ?x HAVING (AVG(?t) > 3)",
        "  o   RSTREAM, evaluated anew (ORDER BY), every 30 s\n",
        "\non Spark\n",
        "  m   split by ?x",
    ):
        assert line in said
    stocks = Path(__file__).parents[2] / "examples" / "09-languages" / "stocks" / "query.epsparql"
    said = obep("explain", stocks).out
    assert "q1   a pattern over timed triples, incremental, answered when it is matched, lasts less" in said
    assert "q3   a rule over timed triples" in said


def test_translate_checks_the_query_first(tmp_path: Path) -> None:
    (tmp_path / "q.rsepql").write_text(
        "PREFIX : <http://e/>\nSELECT ?z FROM NAMED :s WIN [RANGE 5] AS :w\n"
        "EVENT ON :w { ?x :p ?z } AS E WHERE { MATCH { E SEQ E1 } }"
    )
    said = obep("translate", tmp_path / "q.rsepql")
    assert (said.status, said.out) == (2, "")
    assert "OBEP100  there is no event E1" in said.err
