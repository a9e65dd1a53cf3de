"""A block that asks explanations for a class that they never say is warned of (OBEP247, SPEC D7).

Each case is run as well: what is warned of finds nothing, and what the warning says finds it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import obep

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
T = """
:Pen a owl:Class . :Nursery rdfs:subClassOf :Pen . :Probe a owl:Class . :Fry a owl:Class .
:Nursery a owl:Class . :Fish a owl:Class . :has a owl:ObjectProperty . :keeps a owl:ObjectProperty .
:in a owl:ObjectProperty ; owl:inverseOf :has . :oxygen a owl:DatatypeProperty . :low a owl:Class .
:FryPen owl:equivalentClass [ owl:intersectionOf ( :Pen
  [ a owl:Restriction ; owl:onProperty :keeps ; owl:someValuesFrom :Fry ] ) ] .
:Watched owl:equivalentClass [ owl:intersectionOf ( :Pen
  [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :Probe ] ) ] .
"""
K = ":p a :Nursery ; :keeps :f ; :has :o . :f a :Fry . :o a :Probe . "
RANGE = ":in rdfs:range :Pen . "
LOW = "EVENT Low AS (Pen and has some (Probe and oxygen some number[< 5]))"
DIRECT = "EVENT Low AS (Pen and oxygen some number[< 5])"
READING = ":o :oxygen 4 . "


def asked(name: str, how: str = "") -> str:
    how = how or f"?p a :{name} ."
    return f"EVENT H MATCH Low(?p) IF {{ EVENT Low {{ {how} }} }}\nRETURN H"


def load(folder: Path, definition: str, guard: str, t: str, k: str) -> obep.Query:
    (folder / "t.ttl").write_text(PREFIXES + T + t)
    (folder / "k.ttl").write_text(PREFIXES + k)
    head = "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\nFROM STREAM <s>\n"
    return obep.load(text=f"{head}{definition}\n{guard}", folder=folder, java=False)


def warned(query: obep.Query) -> list[str]:
    return [one.message for one in query.warnings if one.code == "OBEP247"]


def found(query: obep.Query, item: str) -> int:
    with query.engine() as engine:
        return len([*engine.push(PREFIXES + item, at=1), *engine.close()])


@pytest.mark.parametrize(
    ("definition", "name", "t", "item"),
    [
        (LOW, "Nursery", RANGE, READING),  # that :o is in :p makes it a pen
        (DIRECT, "Nursery", ":oxygen rdfs:domain :Pen .", ":p :oxygen 4 ."),
        (DIRECT, "FryPen", "", ":p :oxygen 4 ."),  # what :p keeps has no part in Low
    ],
)
def test_a_class_that_no_explanation_says_is_warned_of(
    tmp_path: Path, definition: str, name: str, t: str, item: str
) -> None:
    query = load(tmp_path, definition, asked(name), t, K)
    assert warned(query) == [f"?p a :{name} is matched against the explanation of Low alone"]
    assert found(query, item) == 0
    (remedy,) = [one.remedy for one in query.warnings if one.code == "OBEP247"]
    mended = load(tmp_path, definition, asked(name, remedy.split("   (")[0]), t, K)
    assert warned(mended) == []
    assert found(mended, item) == 1


@pytest.mark.parametrize(
    ("definition", "name", "t", "item"),
    [
        (LOW, "Nursery", "", READING),  # only its being a nursery makes it a pen
        (DIRECT, "Nursery", "", ":p :oxygen 4 ."),
        (LOW, "Pen", RANGE, READING),  # named in the definition
        (  # the nursery alone gives what makes it a pen
            "EVENT Low AS (Pen and zone value z1)",
            "Nursery",
            ":zone a owl:ObjectProperty ; rdfs:domain :Pen . :z1 a owl:NamedIndividual . "
            ":Nursery rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :zone ; owl:hasValue :z1 ] .",
            ":q a :Nursery .",
        ),
        (LOW, "Watched", RANGE, READING),  # it follows from what the explanation has
        (DIRECT.replace("Pen", "Nursery"), "Nursery", ":oxygen rdfs:domain :Pen .", ":p :oxygen 4 ."),
    ],
)
def test_a_class_that_explanations_do_say_is_not_spoken_of(
    tmp_path: Path, definition: str, name: str, t: str, item: str
) -> None:
    query = load(tmp_path, definition, asked(name), t, K)
    assert warned(query) == []
    assert found(query, item) == 1


def test_a_defined_class_that_the_static_graph_says_itself_is_not_spoken_of(tmp_path: Path) -> None:
    query = load(tmp_path, DIRECT, asked("FryPen"), "", ":p a :FryPen .")
    assert warned(query) == []
    assert found(query, ":p :oxygen 4 .") == 1


def test_the_guard_of_a_logical_event_is_looked_at_too(tmp_path: Path) -> None:
    guarded = f"{LOW} IF {{ ?this a :Nursery . }}\nRETURN Low"
    query = load(tmp_path, guarded, "", RANGE, K)
    assert warned(query) == ["?this a :Nursery is matched against the explanation of Low alone"]
    assert found(query, READING) == 0
