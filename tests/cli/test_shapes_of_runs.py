"""Validation by SHACL shapes: of K by `obep check --shapes`, of items by `validate` under a source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import Said, obep

NS = "http://example.org/m#"
SHAPES = f"""@prefix : <{NS}> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:SensorShape a sh:NodeShape ; sh:targetClass :Sensor ;
  sh:property [ sh:path :reading ; sh:maxInclusive 100 ; sh:message "a sensor reads at most 100" ] ;
  sh:property [ sh:path :reading ; sh:maxCount 1 ] .
"""
T = f"""@prefix : <{NS}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Sensor a owl:Class . :Thermometer a owl:Class ; rdfs:subClassOf :Sensor . :reading a owl:DatatypeProperty .
"""


def project(folder: Path, k: str = ":s a :Thermometer .", validate: str = "shapes.ttl", t: str = T) -> Path:
    (folder / "t.ttl").write_text(t)
    (folder / "shapes.ttl").write_text(SHAPES)
    (folder / "k.ttl").write_text(f"@prefix : <{NS}> . {k}")
    source = f'[sources.s]\nuri = "s.jsonl"\nvalidate = "{validate}"\n'
    (folder / "obep.toml").write_text(source)
    head = f"PREFIX : <{NS}> VOCAB <t.ttl> FROM GRAPH <k.ttl> FROM STREAM <s>"
    (folder / "q.obep").write_text(f"{head} EVENT E AS (reading some number) RETURN E")
    graphs = [":s :reading 20 .", ":s :reading 101 .", ":s :reading 1, 2 .", ":other :reading 500 ."]
    lines = [json.dumps({"time": n, "graph": f"@prefix : <{NS}> . {g}"}) for n, g in enumerate(graphs)]
    (folder / "s.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "q.obep"


def embedded(query: Path, *options: object) -> Said:
    return obep("run", query, "--engine", "embedded", *options)


def test_an_item_that_does_not_conform_is_a_dead_letter_with_the_message_of_the_shape(tmp_path: Path) -> None:
    said = embedded(project(tmp_path), "--dead-letters", tmp_path / "dead.jsonl")
    letters = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert [one["code"] for one in letters] == ["OBEP806", "OBEP806"]
    assert letters[0]["reason"].startswith("a sensor reads at most 100")
    assert "sh:maxCount" in letters[1]["reason"]
    assert len(said.records) == 2


def test_k_is_validated_by_the_shapes_of_the_model(tmp_path: Path) -> None:
    query = project(
        tmp_path, k=":s a :Thermometer ; :reading 200 . :u a :Sensor ; :reading 3 .", t=T + SHAPES
    )
    said = obep("check", query, "--shapes")
    assert said.status == 2
    assert "OBEP805" in said.err
    assert "a sensor reads at most 100" in said.err
    assert f"{NS}u" not in said.err
    assert obep("check", query).status == 0


def test_a_k_that_conforms_is_said_to_have_no_errors(tmp_path: Path) -> None:
    said = obep("check", project(tmp_path, t=T + SHAPES), "--shapes")
    assert said.status == 0
    assert "no errors" in said.out


def test_a_shape_that_cannot_be_checked_is_named(tmp_path: Path) -> None:
    more = ':J a sh:NodeShape ; sh:targetClass :Sensor ; sh:js [ sh:jsFunctionName "f" ] .'
    said = obep("check", project(tmp_path, t=T + SHAPES + more), "--shapes")
    assert said.status == 0
    assert "OBEP804" in said.err
    project(tmp_path)
    (tmp_path / "shapes.ttl").write_text(SHAPES + more)
    refused = embedded(tmp_path / "q.obep")
    assert refused.status == 2
    assert "OBEP804" in refused.err


@pytest.mark.parametrize(
    "select", ["SELECT $this WERE { $this ?p ?o }", "SELECT $this WHERE { $this un:p ?o }"]
)
def test_a_shape_whose_sparql_is_wrong_is_named(tmp_path: Path, select: str) -> None:
    more = f':J a sh:NodeShape ; sh:targetClass :Sensor ; sh:sparql [ sh:select "{select}" ] .'
    said = obep("check", project(tmp_path, t=T + SHAPES + more), "--shapes")
    assert said.status == 0
    assert f"<{NS}J> is not checked" in said.err


def test_messages_in_sparql_have_the_values_of_the_solution(tmp_path: Path) -> None:
    """Found with Brick's shape of deprecated classes, which said {?depver}."""

    def constraint(select: str, message: str = "") -> str:
        said = f'; sh:message "{message}"' if message else ""
        return f'sh:sparql [ sh:select "SELECT $this {select}" {said} ]'

    over = "?value WHERE { $this <http://example.org/m#reading> ?value FILTER (?value > 100) }"
    own = "?message WHERE { $this a ?kind BIND(CONCAT('own of ', STR(?kind)) AS ?message) }"
    constraints = [
        constraint("WHERE { }", "{$this} is bad, {?nothing}"),
        constraint(over, "{$this} reads {?value}"),
        constraint(own, "not this"),
    ]
    more = f":J a sh:NodeShape ; sh:targetNode :s ; {' ; '.join(constraints)} ."
    said = obep(
        "check", project(tmp_path, k=":s a :Sensor ; :reading 200 .", t=T + SHAPES + more), "--shapes"
    )
    words = " ".join(said.err.split())
    assert f"<{NS}s> is bad, {{?nothing}}" in words
    assert f"<{NS}s> reads 200" in words
    assert f"own of {NS}Sensor" in words
    assert "not this" not in words


@pytest.mark.parametrize(("path", "code"), [("none.ttl", "OBEP301"), ("../x.ttl", "OBEP505")])
def test_shapes_that_cannot_be_read_are_refused(tmp_path: Path, path: str, code: str) -> None:
    said = embedded(project(tmp_path, validate=path))
    assert said.status == 2
    assert code in said.err


def test_a_shape_that_cannot_be_checked_is_refused_before_spark_starts(tmp_path: Path) -> None:
    query = project(tmp_path)
    more = ':J a sh:NodeShape ; sh:targetClass :Sensor ; sh:js [ sh:jsFunctionName "f" ] .'
    (tmp_path / "shapes.ttl").write_text(SHAPES + more)
    said = obep("run", query, "--engine", "spark")
    assert said.status == 2
    assert "OBEP804" in said.err


def test_a_shape_without_a_name_is_named_by_its_path_and_the_shape_around_it(tmp_path: Path) -> None:
    query = project(tmp_path, k=":s a :Thermometer ; :reading 1, 2 .", t=T + SHAPES)
    said = obep("check", query, "--shapes")
    assert f"of the shape for <{NS}reading>, in <{NS}SensorShape>" in " ".join(said.err.split())
    assert "_:" not in said.err
