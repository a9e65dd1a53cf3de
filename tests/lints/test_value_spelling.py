"""Values that are asked for and never come, since items write them in another way, are warned of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.shell import embedded, hot
from lints.stream_cases import findings_in

ONTOLOGY = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Bay a owl:Class . :state a owl:DatatypeProperty . :occupied a owl:DatatypeProperty .
:inner rdfs:subPropertyOf :state ; a owl:DatatypeProperty .
:Broken owl:equivalentClass [ a owl:Restriction ; owl:onProperty :state ; owl:hasValue "faulted" ] .
"""
HEAD = "PREFIX : <http://e/#>\nVOCAB <o.ttl>\nFROM STREAM <s>\n"
FAULTED = 'EVENT A AS (Bay and state value "faulted")'
OCCUPIED = "EVENT A AS (Bay and occupied value true)"


def said(folder: Path, events: str, *told: str, static: str = "") -> str:
    """What is said where items have these."""
    (folder / "o.ttl").write_text(ONTOLOGY)
    (folder / "k.ttl").write_text(static)
    head = HEAD + ("FROM GRAPH <k.ttl>\n" if static else "")
    graphs = [f"@prefix : <http://e/#> . :x a :Bay ; {one} ." for one in told]
    return findings_in(folder, f"{head}{events}\nRETURN ALL\n", graphs)


@pytest.mark.parametrize(
    "events",
    [
        FAULTED,
        'EVENT A AS (Bay and state some {"faulted", "broken"})',
        'EVENT A AS Bay IF { ?this :state "faulted" }',
        "EVENT A AS Broken",
        FAULTED + "\nEVENT B AS (Bay and state some xsd:string)",  # B takes it, A never does
    ],
)
def test_text_of_another_case_is_warned_of(tmp_path: Path, events: str) -> None:
    told = [':state "Faulted"', ':state "ok"', ':state "ok"', ':state "Faulted"']
    assert said(tmp_path, events, *told) == (
        'OBEP582  warning: s: http://e/#state never is "faulted", as the ontology or the query asks, but '
        '2 of 4 times "Faulted"   (values differ if their case, spaces or datatypes do)\n'
    )


@pytest.mark.parametrize("written", ['"faulted "', '"faul ted"', '"faulted"@en', '"FAULTED"'])
def test_so_are_spaces_and_languages(tmp_path: Path, written: str) -> None:
    assert "OBEP582" in said(tmp_path, FAULTED, *[f":state {written}"] * 3)
    assert "OBEP582" in said(tmp_path, FAULTED, *[f":inner {written}"] * 3)


def test_texts_where_true_is_asked_for_are_warned_of(tmp_path: Path) -> None:
    start = "OBEP582  warning: s: http://e/#occupied never is true, as the ontology or the query asks, but "
    texts = said(tmp_path, OCCUPIED, *[':occupied "yes"'] * 3, ':occupied "no"')
    assert texts == f'{start}4 of 4 times "yes"   (value "yes" in the query)\n'
    true = said(tmp_path, OCCUPIED, *[':occupied "true"'] * 2, ':occupied "false"')
    boolean = "({field:boolean} in the mapping, or no quotes in the records)"
    assert true == f'{start}2 of 3 times "true"   {boolean}\n'


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (FAULTED, (':state "ok"', ':state "ready"', ':state "away"')),  # it did not happen
        (FAULTED, (':state "faulted"', ':state "Faulted"', ':state "Faulted"')),  # it came
        (FAULTED, (':state "Faulted"', ':state "ok"')),  # too few to see
        (f'{FAULTED}\nEVENT B AS (state value "Faulted")', (':state "Faulted"',) * 3),  # somebody asks for it
        (FAULTED, (':occupied "Faulted"',) * 3),
        (FAULTED, (":state 1",) * 3),
        (OCCUPIED, (":occupied false",) * 3),
        (OCCUPIED, (":occupied true", ':occupied "true"', ':occupied "true"')),
        (OCCUPIED, (":occupied false", ':occupied "yes"', ':occupied "no"')),  # not only texts
        (OCCUPIED, (":occupied 0", ":occupied 1", ":occupied 1")),
    ],
)
def test_values_that_did_not_happen_are_not_warned_of(
    tmp_path: Path, events: str, told: tuple[str, ...]
) -> None:
    assert "OBEP582" not in said(tmp_path, events, *told)


def test_what_the_static_graph_says_is_not_asked_of_items(tmp_path: Path) -> None:
    static = '<http://e/#x> <http://e/#state> "faulted" .'
    assert "OBEP582" not in said(tmp_path, FAULTED, *[':state "Faulted"'] * 3, static=static)


def test_a_value_that_comes_in_another_stream_is_not_warned_of(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    lines = [
        json.dumps({"stream": s, "time": n, "graph": f'<http://e/#x> <http://e/#state> "{word}" .'})
        for n, (s, word) in enumerate([("s", "Faulted")] * 3 + [("t", "faulted")])
    ]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    query = f'{HEAD}FROM STREAM <t>\nEVENT A AS (state value "faulted")\nRETURN A\n'
    assert embedded(hot(tmp_path, query), "--source", tmp_path / "all.jsonl").err == ""
    alone = query.replace("EVENT A AS", "EVENT A ON <s> AS")
    assert "OBEP582" in embedded(hot(tmp_path, alone), "--source", tmp_path / "all.jsonl").err
