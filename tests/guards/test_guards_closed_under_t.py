"""What guards read is closed under T (SPEC D7), also where the rules alone do not see it."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
CASES = """
:Detection rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :Human :Pet ) ] .
:Indoors rdfs:subClassOf [ a owl:Class ; owl:complementOf :Pet ] .
:Human a owl:Class . :Pet a owl:Class . :Room a owl:Class . :by a owl:ObjectProperty .
:Lone rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :Left :Right ) ] .
:Left rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :to ; owl:hasValue :door ] .
:Right rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :to ; owl:hasValue :door ] .
:to a owl:ObjectProperty .
"""


def bindings(folder: Path, t: str, query: str, *graphs: str, java: bool = False) -> list[dict[str, str]]:
    """The bindings of all that is returned, with the local names of the terms."""
    (folder / "t.ttl").write_text(PREFIXES + t)
    text = f"PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\n{query}"
    found = []
    with obep.load(text=text, folder=folder, java=java).engine() as engine:
        for at, graph in enumerate(graphs, 1):
            found += engine.push(f"{PREFIXES}{graph}", at=at)
        found += engine.close()
    rows = [
        {name: term.rstrip(">").rsplit("/", 1)[-1] for name, term in row.items()}
        for hit in found
        for row in hit.bindings
    ]
    return sorted(rows, key=lambda row: sorted(row.items()))


SEEN = """EVENT Seen AS Room and by some Thing
EVENT H MATCH Seen WITHIN 5 s IF { EVENT Seen { ?room :by ?x . ?x a :Human . } }
RETURN H
"""
ITEM = ":r a :Room ; :by :y , :z . :y a :Detection , :Indoors . :z a :Detection ."


@pytest.mark.java
def test_a_class_that_only_case_analysis_finds_is_read_by_a_guard(tmp_path: Path) -> None:
    found = bindings(tmp_path, CASES, SEEN, ITEM, java=True)
    assert found == [{"room": "r", "x": "y"}]  # z may be a pet


@pytest.mark.java
def test_a_property_that_only_case_analysis_finds_is_read_by_a_guard(tmp_path: Path) -> None:
    query = "EVENT L AS Lone\nEVENT H MATCH L WITHIN 5 s IF { EVENT L { ?this :to ?x . } }\nRETURN H"
    assert bindings(tmp_path, CASES, query, ":a a :Lone .", java=True) == [{"x": "door"}]


def test_without_java_such_a_guard_is_named_and_what_it_decides_is_flagged(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(PREFIXES + CASES)
    text = f"PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\n{SEEN}"
    query = obep.load(text=text, folder=tmp_path, java=False)
    [warning] = [one for one in query.warnings if one.code == "OBEP241"]
    assert warning.message == (
        "H has a guard that needs the reasoner for Detection is a Human or a Pet: case analysis, "
        "and there is no Java"
    )
    engine = query.engine()
    assert engine.push(PREFIXES + ITEM, at=1) + engine.advance(2) == []
    assert engine.counters["undecided"] == 1
    [hit] = engine.push(PREFIXES + ":r a :Room ; :by :y . :y a :Human .", at=3) + engine.close()
    assert hit.bounded
    with pytest.raises(obep.ObepError) as error:
        obep.load(text=text, folder=tmp_path, java=False, require_complete=True)
    assert "OBEP340" in [one.code for one in error.value.diagnostics]


def test_a_guard_that_asks_for_nothing_open_needs_no_java(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(PREFIXES + CASES)
    text = f"PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\n{SEEN.replace(':Human', ':Room')}"
    warnings = obep.load(text=text, folder=tmp_path, java=False).warnings
    assert "OBEP241" not in [one.code for one in warnings]


def test_what_everything_is_and_has_is_in_the_graph(tmp_path: Path) -> None:
    t = ":knows a owl:ObjectProperty , owl:ReflexiveProperty . :A a owl:Class ."
    t += "owl:Thing rdfs:subClassOf :Being . :Being a owl:Class ."
    query = """EVENT L AS A
EVENT H MATCH L WITHIN 5 s IF { EVENT L { ?this :knows ?x . ?x a :Being . } }
RETURN H
"""
    assert bindings(tmp_path, t, query, ":a a :A ; :knows :b .") == [{"x": "a"}, {"x": "b"}]


def test_what_an_asserted_event_means_is_in_the_graph(tmp_path: Path) -> None:
    t = ":Nurse a owl:Class . :visits a owl:ObjectProperty . :Alarm a owl:Class ."
    query = """EVENT Visit AS Nurse and visits value bed IF { ?this a :Nurse . }
EVENT Rings AS Alarm
EVENT Made MATCH Rings WITHIN 5 s IF { EVENT Rings { ?this a :Alarm . } } CONSTRUCT { ?this a :Visit . }
EVENT H MATCH Made WITHIN 5 s IF { EVENT Made { ?x :visits ?bed . } }
RETURN H
"""
    rows = bindings(tmp_path, t, query, ":a a :Alarm .")
    assert [row["bed"] for row in rows] == ["bed"]


def test_explain_says_that_a_guard_needs_the_reasoner(tmp_path: Path) -> None:
    from cli.shell import obep as shell

    (tmp_path / "t.ttl").write_text(PREFIXES + CASES)
    (tmp_path / "q.obep").write_text(f"PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\n{SEEN}")
    said = shell("explain", tmp_path / "q.obep").out
    assert "  H   composite, closing, has a guard that needs the reasoner\n" in said
    assert "    left to the reasoner: Detection is a Human or a Pet: case analysis\n" in said
    assert "  Seen   logical, prompt, exact\n" in said
