"""Queries of all languages on Spark, and what is returned AS ROWS: the rows of the embedded engine."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cli.shell import obep as shell
from spark_cases import HEAD, Row, item, micros
from test_detecting import Buckets, in_four
from test_streaming import SCHEMA, write_files

import obep
from obep.engine.blocks import STYLES
from obep.engine.query import Query
from obep.model import Occurrence
from obep.output.form_texts import Found, records_of
from obep.output.json_writer import to_line
from obep.output.row_writer import RowIds, result_document, rows_of
from obep.query.ast import Language
from obep.spark.driver.joined_answers import joined_answers
from obep.spark.stages import stage2
from obep.spark.stages.worker import components_of

TIMES = ("start", "end", "detected")
PREFIX = "PREFIX : <http://e/>\n"
RSPQL = "FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 500 ms] WHERE { WINDOW <w> { ?r :heat ?h } }"
QUERIES: dict[str, tuple[Language, str]] = {
    "a mean of each": (
        "rspql",
        f"REGISTER RSTREAM <m> AS SELECT ?r (AVG(?h) AS ?mean) {RSPQL} GROUP BY ?r",
    ),
    "what comes": ("rspql", f"REGISTER ISTREAM <m> AS SELECT ?r ?h {RSPQL}"),
    "what goes": ("rspql", f"REGISTER DSTREAM <m> AS SELECT ?r ?h {RSPQL}"),
    "in an order": ("rspql", f"REGISTER RSTREAM <m> AS SELECT ?h ?r {RSPQL} ORDER BY DESC(?h) ?r LIMIT 3"),
    "a truth": ("rspql", f"REGISTER RSTREAM <m> AS ASK {RSPQL}"),
    "an answer of an answer": (
        "csparql",
        "REGISTER STREAM hot COMPUTE EVERY 1 s AS CONSTRUCT { ?r :was ?h } "
        "FROM STREAM <s> [RANGE 1 s STEP 1 s] WHERE { ?r :heat ?h FILTER(?h > 5) }\n"
        "REGISTER QUERY often COMPUTE EVERY 1 s AS SELECT ?r (COUNT(*) AS ?n) "
        "FROM STREAM <hot> [RANGE 3 s STEP 1 s] WHERE { ?r :was ?h } GROUP BY ?r",
    ),
    "a rule and its readers": (
        "epsparql",
        "CONSTRUCT { ?r :rose ?b } WHERE { { ?r :heat ?a } SEQ { ?r :heat ?b } FILTER(?b > ?a + 4 && "
        'getDURATION() < "PT1S"^^xsd:duration) }\n'
        "SELECT ?r ?b WHERE { { ?r :rose ?b } SEQ { ?r a :Gamma } "
        'FILTER(getDURATION() < "PT2S"^^xsd:duration) }',
    ),
    "a pattern of triples": ("sparkwave", "SELECT * { ?r a :Alpha . ?r :heat 7 . TIMEWINDOW (800) }"),
    "matches over windows": (
        "rsepql",
        "SELECT ?r ?h FROM NAMED <s> WIN [RANGE 1] AS <w> FROM NAMED <t> WIN [RANGE 2] AS <v> "
        "EVENT ON <w> { ?r a :Alpha } AS E EVENT ON <v> { ?r a :Beta } AS F "
        "WHERE { MATCH { E SEQ F } WINDOW <v> { ?r :heat ?h } }",
    ),
    "queries beside events and states": (
        "obep",
        f"{HEAD[len(PREFIX) :]}STATE Active(?r) FROM A(?r) TO B(?r) TIMEOUT 2 s\n"
        "EVENT Off(?r) MATCH END Active(?r)\n"
        "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 2 s\n"
        "REGISTER ISTREAM <active> AS SELECT ?r ?h WHERE { WINDOW <steps> { ?r :heat ?h } Active(?r) }\n"
        "REGISTER RSTREAM <told> AS SELECT ?r WHERE { WINDOW <told> { ?r a :B } }\n"
        "REGISTER RSTREAM <counted> AS SELECT ?r (COUNT(*) AS ?n) WHERE { WINDOW <told> { B(?r) } } "
        "GROUP BY ?r\n"
        "RETURN Off AS EVENT STREAM\nRETURN AB AS ROWS",
    ),
    "what goes, of some": (
        "rspql",
        "REGISTER DSTREAM <m> AS SELECT DISTINCT ?r FROM NAMED WINDOW <w> ON <s> [RANGE 2 s] "
        "WHERE { WINDOW <w> { ?r :heat ?h MINUS { ?r a :Beta } FILTER NOT EXISTS { ?r a :Gamma } } }",
    ),
    "a default graph": (
        "csparql",
        "REGISTER QUERY m AS SELECT ?r (COUNT(*) AS ?n) (SUM(?h) AS ?sum) FROM STREAM <s> "
        "[RANGE 3 s STEP 1 s] WHERE { ?r a :Alpha . OPTIONAL { ?r :heat ?h } } GROUP BY ?r",
    ),
    "two windows": (
        "rspql",
        "REGISTER ISTREAM <m> AS SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 500 ms] "
        "FROM NAMED WINDOW <v> ON <t> [RANGE 1 s STEP 1 s] WHERE { WINDOW <w> { ?r :heat ?h } "
        "WINDOW <v> { ?r :heat ?g } }",
    ),
    "timed patterns of one subject": (
        "epsparql",
        "SELECT ?r ?a ?c WHERE { { { ?r :heat ?a } OPTIONALSEQ { ?r :heat ?b } } SEQ "
        "{ ?r :heat ?c } MINUS { ?r a :Gamma } FILTER(getDURATION() < 2 s && ?c > ?b) }\n"
        "SELECT ?r (COUNT(*) AS ?n) WHERE { { ?r a :Alpha } SEQ { ?r a :Beta } "
        "FILTER(getDURATION() < 1 s) } GROUP BY ?r",
    ),
    "a pattern within ranges": (
        "csparql",
        "REGISTER QUERY m AS SELECT ?r ?h FROM STREAM <s> [RANGE 1 s] FROM STREAM <t> [RANGE 2 s] "
        "WHERE { ?r a :Alpha . ?r :heat ?h }",
    ),
    "leaves on windows": (
        "obep",
        f"FROM NAMED WINDOW <a> ON EVENT A [RANGE 1 s]\n{HEAD[len(PREFIX) :]}"
        "EVENT Near(?r) MATCH A(?r) IN <a> SEQ B(?r) IN <told>\n"
        "RETURN Near AS ROWS",
    ),
}

SPLIT = {
    "a mean of each": "r",
    "what comes": "r",
    "what goes": "r",
    "what goes, of some": "r",
    "a default graph": "r",
    "two windows": "r",
    "timed patterns of one subject": "r",
    "a pattern of triples": "r",
    "a pattern within ranges": "r",
}
"""By which variable those queries are split that are; DIALECTS 11."""
WHOLE: dict[str, tuple[Language, str]] = {
    "T may lead from one subject to another": (
        "rspql",
        f"VOCAB <t.ttl>\nREGISTER RSTREAM <m> AS SELECT ?r {RSPQL}",
    ),
    "only the rows of SELECT can be split": ("rspql", f"REGISTER RSTREAM <m> AS ASK {RSPQL}"),
    "ORDER BY, LIMIT and OFFSET look at all rows": (
        "rspql",
        f"REGISTER RSTREAM <m> AS SELECT ?r {RSPQL} ORDER BY ?r",
    ),
    "no variable is in all patterns and rows of the query": (
        "rspql",
        f"REGISTER RSTREAM <m> AS SELECT (COUNT(*) AS ?n) {RSPQL}",
    ),
    "REPORT change looks at all items": (
        "rspql",
        f"REPORT change\nREGISTER RSTREAM <m> AS SELECT ?r {RSPQL}",
    ),
    "POLICY looks at all solutions": (
        "epsparql",
        "POLICY recent\nSELECT ?r WHERE { { ?r :a ?x } SEQ { ?r :b ?y } FILTER(getDURATION() < 2 s) }",
    ),
    "without STEP, RSTREAM answers whenever an item comes": (
        "rspql",
        "REGISTER RSTREAM <m> AS SELECT ?r FROM NAMED WINDOW <w> ON <s> [RANGE 2 s] "
        "WHERE { WINDOW <w> { ?r :heat ?h } }",
    ),
    "a rule feeds all statements": (
        "epsparql",
        "CONSTRUCT { ?r :b ?x } WHERE { ?r :a ?x }\nSELECT ?r WHERE { ?r :b ?x }",
    ),
    "the static graph is a part of its default graph": (
        "csparql",
        "FROM GRAPH <k.ttl>\nREGISTER QUERY m AS SELECT ?r FROM STREAM <s> [RANGE 2 s STEP 1 s] "
        "WHERE { ?r :heat ?h }",
    ),
}


def query(name: str) -> Query:
    language, text = QUERIES[name]
    return obep.load(text=PREFIX + text, java=False, dialect=language)


def given() -> list[Row]:
    return [row for batch in in_four() for row in batch]


def shown(found: list[Occurrence]) -> Counter[tuple[object, ...]]:
    """The rows of what the embedded engine has found, as records of Spark."""
    rows = (row for one in found for row in rows_of(one))
    return Counter(
        (row.query, row.at, row.start, row.end, row.op, tuple(sorted(row.row.items()))) for row in rows
    )


def told(record: Any) -> tuple[object, ...]:
    """A record of the kind `row`, or a row of `.rows`."""
    start, end, at = (record[name] and micros(record[name]) for name in ("start", "end", "at"))
    name = record["query" if "query" in record else "event"]
    return (name, at, start, end, record["op"] or "", tuple(sorted(dict(record["row"]).items())))


@pytest.mark.parametrize("name", QUERIES)
def test_answers_are_those_of_the_embedded_engine(tmp_path: Path, name: str) -> None:
    """Lines and columns, through a state that another process goes on from after each micro-batch."""
    asked = query(name)
    buckets = Buckets(tmp_path, asked, forms=("event", "columns"))
    records: list[dict[str, Any]] = []
    for batch in in_four():
        records += buckets.records(map(item, batch), style=STYLES.index("integer"))
        stage2._warm.clear()
    right = asked.engine(lateness=0.5).push_items([item(row) for row in given()])
    texts = [one["texts"][0] for one in records if one["kind"] not in ("row", "part")]
    parts = [_in_micros(one) for one in records if one["kind"] == "part"]
    texts += [one.texts["event"] for one in joined_answers(parts, asked.plan, ["event"])]
    assert texts and Counter(texts) == Counter(to_line(one, "integer") + "\n" for one in right)
    as_rows = [one for one in right if asked.plan.returned.get(one.event) == "rows"]
    assert Counter(told(one) for one in records if one["kind"] == "row") == shown(as_rows)
    assert as_rows


@pytest.mark.parametrize(("report", "where"), [("", ":heat"), ("REPORT all", ":heat"), ("", ":none")])
def test_an_answer_of_several_buckets_without_rows_is_one_document(
    tmp_path: Path, report: str, where: str
) -> None:
    text = f"{PREFIX}{report} REGISTER RSTREAM <m> AS SELECT ?r {RSPQL.replace(':heat', where)}"
    text = text.replace("?h }", "?h FILTER(?h > 2) }")
    asked = obep.load(text=text, java=False, dialect="rspql")
    assert [one.split for one in components_of(asked)] == ["split by ?r"]
    plain, found = Buckets(tmp_path, asked, forms=("rows",)), []
    buckets = Buckets(tmp_path, asked, forms=("csv", "sparql-json"))
    written: list[Found] = []
    for batch in in_four():
        parts = buckets.records(map(item, batch), style=STYLES.index("integer"))
        written += joined_answers(map(_in_micros, parts), asked.plan, ["csv", "sparql-json"])
        found += plain.records(map(item, batch), style=STYLES.index("integer"))
    engine = asked.engine(lateness=0.5, gives_empty=True)
    right = engine.push_items([item(row) for row in given()])
    documents = [result_document(one, ("r",), "integer") + "\n" for one in right]
    assert [one.texts["sparql-json"] for one in sorted(written, key=lambda one: one.detected)] == documents
    assert any(not one.bindings for one in right)
    assert sum(len(list(records_of(one, "csv", RowIds()))) for one in written) == sum(
        bool(one.bindings) for one in right
    )
    assert len({one["id"] for one in found}) == sum(bool(one.bindings) for one in right)


def _in_micros(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, **dict(zip(TIMES, map(micros, map(record.get, TIMES)), strict=True))}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_split_by_a_variable_of_all_that_decides_it(name: str) -> None:
    asked = query(name)
    for component in components_of(asked):
        if component.queries and name in SPLIT:
            assert component.split == f"split by ?{SPLIT[name]}"
            assert component.keyed and not component.whole and component.segments == 1
        elif component.queries:
            assert component.split.startswith("in one bucket: ")
            assert component.whole and component.streams is None
    assert {one for component in components_of(asked) for one in component.queries} == {
        one.iri for one in asked.plan.queries
    }


@pytest.mark.parametrize("reason", WHOLE)
def test_a_query_that_looks_further_has_one_bucket_and_says_why(tmp_path: Path, reason: str) -> None:
    language, text = WHOLE[reason]
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":heat a owl:ObjectProperty, owl:TransitiveProperty ."
    )
    (tmp_path / "k.ttl").write_text("@prefix : <http://e/> . :r1 :heat 9 .")
    asked = obep.load(text=PREFIX + text, java=False, dialect=language, folder=tmp_path)
    assert [one.split for one in components_of(asked)] == [f"in one bucket: {reason}"]


@pytest.mark.spark
def test_detect_gives_the_rows_of_several_languages(spark: Any) -> None:
    from obep.spark import detect

    names = ("what goes", "a rule and its readers", "queries beside events and states")
    asked = [query(name) for name in names]
    detection = detect(asked, spark.createDataFrame(given(), SCHEMA), lateness=0.5)
    right: Counter[tuple[object, ...]] = Counter()
    for one in asked:
        engine = one.engine(lateness=0.5)
        found = [*engine.push_items([item(row) for row in given()]), *engine.close()]
        right += shown([hit for hit in found if one.plan.returned.get(hit.event) == "rows"])
    assert Counter(told(row.asDict()) for row in detection.rows.collect()) == right
    assert len({name for name, *_ in right}) == 6


@pytest.mark.spark
def test_a_run_writes_the_rows_csv_and_graphs_of_the_embedded_engine(spark: Any, tmp_path: Path) -> None:
    from pyarrow import parquet

    _, text = QUERIES["in an order"]
    graph = f"REGISTER RSTREAM <g> AS CONSTRUCT {{ ?r :was ?h }} {RSPQL}"
    (tmp_path / "q.rspql").write_text(f"{PREFIX}{text}\n{graph}")
    (tmp_path / "obep.toml").write_text(
        '[sinks.csv]\nuri = "ENGINE.csv"\nevents = ["m"]\n[sinks.rdf]\nuri = "ENGINE.nq"\nevents = ["g"]\n'
    )
    source = write_files(tmp_path / "in", [sorted(given(), key=lambda row: row[1])]) / "0.jsonl"
    toml = (tmp_path / "obep.toml").read_text()
    said = {}
    for engine in ("embedded", "spark"):
        (tmp_path / "obep.toml").write_text(toml.replace("ENGINE", engine))
        sinks = ["-", "csv", "rdf", *([tmp_path / "spark.parquet"] if engine == "spark" else [])]
        arguments = [part for sink in sinks for part in ("--sink", sink)]
        more = ("--source", source, "--engine", engine, "--lateness", "500ms")
        said[engine] = shell("run", tmp_path / "q.rspql", *more, *arguments)
        assert said[engine].status == 0, said[engine].err
    assert said["spark"].out == said["embedded"].out != ""
    for ending in ("csv", "nq"):
        there, here = ((tmp_path / f"{engine}.{ending}").read_text() for engine in said)
        assert there == here != ""
    written = parquet.read_table(tmp_path / "spark.parquet").to_pylist()
    rows = [json.loads(line) for line in said["spark"].out.splitlines() if line.startswith("{")]
    assert [dict(one["row"]) for one in written if one["row"] is not None] == [one["row"] for one in rows]
    assert len(written) > len(rows), "the graphs are there, too"
