"""A name of the static graph that is unknown, though it should be known, is warned of."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from obep.errors import Diagnostic
from obep.lints.check_project import examine
from obep.query.link import link
from obep.query.nearest_name import misspelt
from obep.query.parse.parser import parse

PREFIXES = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix o: <http://other/#> .
"""
T = ":Valve a owl:Class . :Room a owl:Class . :partOf a owl:ObjectProperty . :Plan a owl:AnnotationProperty ."
QUERY = "EVENT H AS Valve and partOf some Room"


def said(
    folder: Path, k: str, events: str = QUERY, vocab: str = "VOCAB <t.ttl>", code: str = "OBEP242"
) -> list[Diagnostic]:
    (folder / "t.ttl").write_text(PREFIXES + T)
    (folder / "k.ttl").write_text(PREFIXES + k)
    text = f"PREFIX : <http://e/#>\n{vocab}\nFROM GRAPH <k.ttl>\n{events}\n"
    found = examine(link(parse(text), folder), {}, java=False)
    about = [one for one in found.diagnostics if one.code == code]
    return [one for one in about if not one.message.startswith("nothing looks at")]  # of the graph as a whole


@pytest.mark.parametrize(
    ("k", "names", "remedy"),
    [
        (":v a :RoofVent .", ":RoofVent", "check the spelling, or declare it in a VOCAB file"),
        (":v a :Vlave .", ":Vlave", ":Valve instead of :Vlave"),
        (":v :partof :r .", ":partof", ":partOf instead of :partof"),
        (":v a :Awning ; :partOff :r .", ":partOff and :Awning", ":partOf instead of :partOff"),
    ],
)
def test_an_unknown_name_is_warned_of_at_its_clause(tmp_path: Path, k: str, names: str, remedy: str) -> None:
    (only,) = said(tmp_path, k)
    assert only.message == f"the static graph uses {names}, which neither the ontology nor the query has"
    assert only.remedy == remedy
    assert only.severity == "warning"
    assert only.line_text == "FROM GRAPH <k.ttl>"


@pytest.mark.parametrize(
    "k",
    [
        ":v a :Valve, owl:NamedIndividual ; :partOf :r ; :Plan 3 ; rdfs:label 'v' .",
        ":v a o:Vlave ; o:partOff :r .",  # another vocabulary
        ":RoofVent a owl:Class . :v a :RoofVent .",  # declared here (OBEP243 is another matter)
        ":serial rdfs:domain :Valve . :v :serial 5 .",  # and so is this
        ":v a :H .",
    ],
)
def test_what_may_well_be_right_is_not_spoken_of(tmp_path: Path, k: str) -> None:
    assert said(tmp_path, k) == []


def test_what_the_query_looks_at_is_known(tmp_path: Path) -> None:
    guard = "EVENT H AS Valve IF { ?x :serial ?n . ?x a :RoofVent FILTER(?n > 3) }"
    assert said(tmp_path, ":v a :RoofVent ; :serial 5 .", guard) == []
    assert said(tmp_path, ":v a :RoofVent ; :serial 5 .") != []
    everything = "EVENT H AS Valve IF { ?x ?p ?n FILTER(?n > 3) }"
    assert said(tmp_path, ":v :serial 5 .", everything) == []


def test_without_vocab_only_slips_are_spoken_of(tmp_path: Path) -> None:
    assert said(tmp_path, ":v a :RoofVent .", vocab="") == []
    assert len(said(tmp_path, ":v a :Vlave .", vocab="")) == 1


@pytest.mark.parametrize(
    ("events", "under_caret", "remedy"),
    [
        ("EVENT H AS Valve and {bay1, bayy2}", "bayy2", "bay2"),
        ("EVENT H AS partOf value :Bay1", ":Bay1", ":bay1"),
        ("EVENT H AS partOf some {roof-est}", "roof-est", "roof-east"),
    ],
)
def test_a_misspelt_individual_of_a_definition_is_warned_of(
    tmp_path: Path, events: str, under_caret: str, remedy: str
) -> None:
    k = ":bay1 a :Room . :bay2 :partOf :roof-east ."
    (only,) = said(tmp_path, k, events, code="OBEP242")
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert (only.remedy, only.severity) == (remedy, "warning")


@pytest.mark.parametrize("members", ["bay1, bay2", "bay1, bay3", "attic", "Roon"])
def test_individuals_that_may_come_in_items_are_not_spoken_of(tmp_path: Path, members: str) -> None:
    k = ":bay1 a :Room . :bay2 :partOf :bay1 ."  # Room is a class, and no individual
    assert said(tmp_path, k, f"EVENT H AS Valve and {{{members}}}", code="OBEP242") == []


PENS = ":PenA a :Room . :PenB :partOf :PenA . :north-tank :partOf :PenA . :H :partOf :PenB ."
PAIR = "EVENT H AS Valve EVENT G MATCH H(?p) AS a SEQ H(?p) AS b WITHIN 1 h IF {{ {} }}"


@pytest.mark.parametrize(
    ("guard", "under_caret", "remedy"),
    [
        ("FILTER(?p = :penA)", ":penA", ":PenA"),
        ("FILTER(:PennA != ?p)", ":PennA", ":PenA"),
        ("FILTER(?p IN (:PenA, :PenBB))", ":PenBB", ":PenB"),
        ("FILTER(?p NOT IN (:PenA, :pena))", ":pena", ":PenA"),
        ("FILTER(sameTerm(?p, :north-tnak))", ":north-tnak", ":north-tank"),
        ("EVENT a { ?p :partOf :penA }", ":penA", ":PenA"),
        ("EVENT b { :penA :partOf ?p . :penA :partOf ?x } FILTER(?x = :penA)", ":penA", ":PenA"),
        ("EVENT a { ?p :partOf penA }", "penA", "PenA"),
    ],
)
def test_a_misspelt_individual_of_a_guard_is_warned_of(
    tmp_path: Path, guard: str, under_caret: str, remedy: str
) -> None:
    (only,) = said(tmp_path, PENS, PAIR.format(guard), code="OBEP242")
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert (only.remedy, only.severity) == (remedy, "warning")
    assert only.message == f"{under_caret} is unknown"


def test_the_guard_of_a_logical_event_is_looked_at_too(tmp_path: Path) -> None:
    (only,) = said(tmp_path, PENS, "EVENT H AS Valve IF { ?this :partOf :penA }", code="OBEP242")
    assert only.remedy == ":PenA"


@pytest.mark.parametrize(
    "guard",
    [
        "FILTER(?p = :PenA || ?p IN (:PenB, :north-tank))",
        "FILTER(?p = :PenC)",  # one more of the same kind, which comes in items
        "FILTER(?p = :PenA2)",
        "FILTER(?p = :south-tank || ?p = :north-tanks-2 || ?p = :north)",
        "FILTER(?p = <http://other/#penA>)",  # another namespace
        "FILTER(?p = :G)",  # an event, and no individual
        "EVENT a { ?p a ?kind . FILTER(?kind IN (:Room, :Valve, :H)) }",
        "EVENT a { ?p ?how :Valve . FILTER(?how = :partOf) }",
        'FILTER(datatype(?p) = <http://www.w3.org/2001/XMLSchema#string> || STR(?p) = ":penA")',
        'FILTER(STRSTARTS(STR(?p), "http://e/#penA"))',
    ],
)
def test_individuals_of_a_guard_that_may_well_be_right_are_not_spoken_of(tmp_path: Path, guard: str) -> None:
    assert said(tmp_path, PENS, PAIR.format(guard), code="OBEP242") == []


def test_an_individual_that_a_lower_event_constructs_is_known(tmp_path: Path) -> None:
    events = """EVENT H AS Valve IF { ?this :partOf ?x } CONSTRUCT { ?this :partOf :penA . ?x :partOf ?this }
EVENT G MATCH H AS a IF { EVENT a { ?this :partOf :penA } }"""
    assert said(tmp_path, PENS, events, code="OBEP242") == []


def test_a_class_that_is_spelt_almost_as_an_individual_is_known(tmp_path: Path) -> None:
    k = ":room a :Room . :valve a :Valve ."
    guard = PAIR.format("EVENT a { ?p a ?kind . FILTER(?kind = :Room) }")
    assert said(tmp_path, k, guard, code="OBEP242") == []


def test_of_very_many_individuals_those_that_differ_in_capitals_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others would have to be compared letter by letter with each name of the query."""
    compared: list[int] = []

    def watched(word: str, known: Collection[str]) -> str | None:
        compared.append(len(known))
        return misspelt(word, known)

    monkeypatch.setattr("obep.lints.analysis.static_names.misspelt", watched)
    k = f"{PENS} {' '.join(f':x{n} a :Room .' for n in range(20_000))}"
    guard = PAIR.format("FILTER(?p IN (:penA, :nroth-tank))")
    (only,) = said(tmp_path, k, guard, code="OBEP242")
    assert only.remedy == ":PenA"
    assert compared == [1, 1]


def test_a_letter_more_makes_another_word_of_a_short_one(tmp_path: Path) -> None:
    k = ":state-ok a :Room . :fan-on a :Room . :north-tank a :Room ."
    guard = PAIR.format("FILTER(?p IN (:state-nok, :fan-one, :north-tnk))")
    assert [one.remedy for one in said(tmp_path, k, guard, code="OBEP242")] == [":north-tank"]
