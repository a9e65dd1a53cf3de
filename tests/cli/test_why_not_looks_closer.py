"""`obep why-not` looks at datatypes, at what the ontology defines, and at the instants of AND."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import hot, obep, reading

T = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Probe a owl:Class . :Pen a owl:Class . :oxygen a owl:DatatypeProperty . :has a owl:ObjectProperty .
:Hypoxic owl:equivalentClass [ owl:intersectionOf ( :Probe [ a owl:Restriction ; owl:onProperty :oxygen ;
  owl:someValuesFrom [ a rdfs:Datatype ; owl:onDatatype xsd:double ;
    owl:withRestrictions ( [ xsd:maxExclusive "5.0"^^xsd:double ] ) ] ] ) ] .
:Again owl:equivalentClass [ owl:intersectionOf ( :Probe
  [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :Again ] ) ] .
"""
K = "@prefix : <http://e/> . :p1 a :Probe . :p2 a :Probe . :pen a :Pen ; :has :p1 ."
HEAD = "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"


def oxygen(time: int, probe: str, value: str, datatype: str = "double") -> str:
    typed = f'"{value}"^^<http://www.w3.org/2001/XMLSchema#{datatype}>'
    return json.dumps({"time": time, "graph": f"<http://e/{probe}> <http://e/oxygen> {typed} ."}) + "\n"


def ask(folder: Path, definition: str, *items: str) -> str:
    (folder / "t.ttl").write_text(T)
    (folder / "k.ttl").write_text(K)
    (folder / "s.jsonl").write_text("".join(items))
    query = hot(folder, f"{HEAD}EVENT Low AS {definition}\nRETURN Low\n")
    said = obep("why-not", "Low", query, "--source", folder / "s.jsonl")
    assert said.status == 0, said.err
    return said.out


@pytest.mark.parametrize(
    ("wanted", "value", "datatype"),
    [
        ("oxygen some xsd:decimal[< 5.0]", "4.4", "double"),
        ("oxygen some number[< 5]", "4.4", "string"),
        ("oxygen some integer[< 5]", "4.4", "double"),
        ("oxygen some xsd:float", "4.4", "decimal"),
        ("oxygen value 5", "5.0", "double"),
    ],
)
def test_a_value_that_lacks_only_its_datatype_comes_nearest(
    tmp_path: Path, wanted: str, value: str, datatype: str
) -> None:
    others = [oxygen(time, "p1", "high", "string") for time in range(2, 40)]  # more than are looked at
    out = ask(tmp_path, f"(Probe and {wanted})", oxygen(1, "p2", value, datatype), *others)
    assert "\np2, in the item at 1, is the nearest:\n" in out
    assert f'\n    {wanted}: missing; it is "{value}", an xsd:{datatype}\n' in out


def test_a_value_that_does_not_fit_is_told_without_its_datatype(tmp_path: Path) -> None:
    out = ask(tmp_path, "(Probe and oxygen some xsd:decimal[< 5.0])", oxygen(1, "p1", "6.6"))
    assert '\n    oxygen some xsd:decimal[< 5.0]: missing; it is "6.6"\n' in out


def test_a_class_that_the_ontology_defines_is_unfolded(tmp_path: Path) -> None:
    out = ask(tmp_path, "Hypoxic", oxygen(1, "p1", "6.6"))
    assert out.endswith(
        "\np1, in the item at 1, is the nearest:\n"
        "  Hypoxic: missing\n"
        "    Probe: yes, known\n"
        '    oxygen some xsd:double[< 5.0]: missing; it is "6.6"\n'
    )


def test_a_defined_class_behind_a_property_is_unfolded(tmp_path: Path) -> None:
    out = ask(tmp_path, "(Pen and has some Hypoxic)", oxygen(1, "p1", "4.6", "decimal"))
    assert out.endswith(
        "      p1\n"
        "        Hypoxic: missing\n"
        "          Probe: yes, known\n"
        '          oxygen some xsd:double[< 5.0]: missing; it is "4.6", an xsd:decimal\n'
    )


def test_a_class_that_is_defined_by_itself_is_left_as_it_is(tmp_path: Path) -> None:
    out = ask(tmp_path, "Again", oxygen(1, "p1", "6.6"))
    assert "\n  Again: in no item\n" in out


def test_what_only_the_static_graph_has_is_said_to_be_there(tmp_path: Path) -> None:
    out = ask(tmp_path, "(Probe and oxygen some number[< 5])", oxygen(1, "p1", "6.6"))
    assert "\n  Probe: in no item, but in the static graph\n" in out
    assert "\n  oxygen: used in 1 of 1 items, with 6.6\n" in out


BOTH = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Cold AS (Sensor and celsius some number[< 5])
EVENT Both MATCH Hot AND Cold
RETURN Both
"""


def test_and_is_said_to_ask_for_the_same_instant(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 40) + reading(2, "a", 50) + reading(3, "a", 0))
    out = obep("why-not", "Both", hot(tmp_path, BOTH), "--source", tmp_path / "s.jsonl").out
    assert out.endswith(
        "\nWithout the same instant, which AND requires (JOIN accepts any order), "
        "it would have occurred 2 times.\n"
    )


OPEN = "what is not said is not false (docs/reasoning.md#what-is-not-said-is-not-false)"
HALF = """:FastPen a owl:Class ; rdfs:subClassOf [ owl:intersectionOf ( :Pen
  [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :Probe ] ) ] .
:Ponds a owl:Class . :Deep a owl:Class ; rdfs:subClassOf :Ponds .
:big a owl:FunctionalProperty , owl:ObjectProperty . :Told a owl:Class . :x a :Told ."""
LED = "nothing in the ontology leads to"


@pytest.mark.parametrize(
    ("part", "remark"),
    [
        ("not (oxygen some number[< 5])", f"missing; nothing states that it is not so; {OPEN}"),
        ("not (oxygen some number[> 5])", "missing; it is so"),
        ("has only Pen", f"missing; nothing states that there are no others; {OPEN}"),
        ("has max 1 Pen", f"missing; nothing states that there are no more; {OPEN}"),
        ("has min 2 Pen", "missing"),
        ('oxygen value "6"', 'missing; it is "6.6", an xsd:double'),
        (
            "FastPen",
            f"missing; {LED} FastPen (rdfs:subClassOf says only what a FastPen has): "
            "only an item or the static graph can state it; is owl:equivalentClass meant?",
        ),
        ("Deep", f"missing; {LED} Deep: only an item or the static graph can state it"),
        ("Ponds", "missing"),
        ("Told", "missing"),
    ],
)
def test_what_nobody_can_have_said_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, remark: str
) -> None:
    monkeypatch.setattr("test_why_not_looks_closer.T", T + HALF)
    out = ask(tmp_path, f"(Probe and {part})", oxygen(1, "p1", "6.6"))
    assert f"\n    {part}: {remark}\n" in out


def test_the_page_that_is_named_says_it() -> None:
    page = Path(__file__).parents[2] / "docs" / "reasoning.md"
    assert "\n## What is not said is not false\n\nOWL has an open world" in page.read_text()
