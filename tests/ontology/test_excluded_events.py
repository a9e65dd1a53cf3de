"""Events that the static graph rules out are warned of; it may change, so they are no errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep

PREFIXES = """@prefix : <http://e/#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
LED_TO = """:p a owl:ObjectProperty ; rdfs:range :Open .
:Closed a owl:Class ; owl:disjointWith :Open . :Open a owl:Class .
"""
ONE_OF_TWO = """:C0 a owl:Class ; owl:disjointUnionOf ( :C4 :C2 ) . :p a owl:ObjectProperty .
:C4 a owl:Class ; owl:equivalentClass
  [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .
:C2 a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :a2 ) ] .
"""


def load(folder: Path, t: str, k: str, events: str, *, java: bool = False) -> obep.Query:
    (folder / "t.ttl").write_text(PREFIXES + t, "utf-8")
    (folder / "k.ttl").write_text(PREFIXES + k, "utf-8")
    text = f"PREFIX : <http://e/#>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n{events}\nRETURN ALL"
    (folder / "query.obep").write_text(text, "utf-8")
    return obep.load(folder / "query.obep", java=java, cache_dir=str(folder / "cache"))


def said(query: obep.Query) -> list[tuple[str, str, str]]:
    return [(one.code, one.message, one.reason) for one in query.warnings]


EXCLUDED = "{} can never happen while the static graph stays as it is"
BECAUSE = "The ontology and the static graph exclude it:\n  {}"


def test_an_event_that_the_static_graph_excludes_is_warned_of_by_the_rules(tmp_path: Path) -> None:
    events = "EVENT H AS (p value a)\nEVENT G AS (p value b)"
    k = ":a a :Closed . :c a :Closed . :b a :Open ."
    assert said(load(tmp_path, LED_TO, k, events)) == [
        ("OBEP219", EXCLUDED.format("H"), BECAUSE.format("a is a Closed"))
    ]


@pytest.mark.java
def test_an_event_that_the_static_graph_excludes_is_warned_of_by_the_reasoner(tmp_path: Path) -> None:
    """World 6003/534: a C2 is a2, which has a p, so it is a C4, and no C2."""
    events = "EVENT H AS C2\nEVENT G AS C4"
    for _ in ("asked", "remembered"):
        query = load(tmp_path, ONE_OF_TWO, ":a2 :p :a0 . :a1 :p :a0 .", events, java=True)
        assert said(query) == [("OBEP219", EXCLUDED.format("H"), BECAUSE.format("a2 p a0"))]


@pytest.mark.java
def test_an_event_that_may_happen_beside_the_static_graph_is_not_warned_of(tmp_path: Path) -> None:
    query = load(tmp_path, ONE_OF_TWO, ":a1 :p :a0 .", "EVENT H AS C2\nEVENT G AS C4", java=True)
    assert said(query) == []
