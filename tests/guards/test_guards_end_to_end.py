"""Guards with the real ontology, matcher and engine: what a user writes, and what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep

E = "http://example.org/building#"

ONTOLOGY = """
@prefix : <http://example.org/building#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Room a owl:Class . :Sensor a owl:Class . :Observation a owl:Class .
:armedWith a owl:ObjectProperty ; rdfs:subPropertyOf :equippedWith . :equippedWith a owl:ObjectProperty .
:observesPerson a owl:ObjectProperty . :observesNobody a owl:ObjectProperty . :nextTo a owl:ObjectProperty .
:hasSimpleResult a owl:DatatypeProperty . :madeBy a owl:ObjectProperty . :floor a owl:DatatypeProperty .
"""
STATIC = """
@prefix : <http://example.org/building#> .
:r1 a :Room ; :armedWith :s1 ; :floor 1 . :s1 a :Sensor .
:r2 a :Room ; :armedWith :s2 ; :floor 2 . :s2 a :Sensor .
"""
PROLOGUE = """
PREFIX : <http://example.org/building#>
VOCAB <ontology.ttl>
FROM GRAPH <static.ttl>
FROM STREAM <s>
EVENT Busy AS (Room and armedWith some (Sensor and observesPerson some Thing))
EVENT Free AS (Room and armedWith some (Sensor and observesNobody some Thing))
EVENT Reading AS (Observation and madeBy some Sensor)
"""

Hit = tuple[int, int, list[dict[str, str]]]


def run(folder: Path, text: str, items: list[tuple[int, str]]) -> list[Hit]:
    """The occurrences of H: start, end (seconds) and bindings, with names cut to their local part."""
    (folder / "ontology.ttl").write_text(ONTOLOGY)
    (folder / "static.ttl").write_text(STATIC)
    query = obep.load(text=f"{PROLOGUE}{text}\nRETURN H", folder=folder, java=False)
    hits = []
    with query.engine() as engine:
        for at, graph in items:
            hits += engine.push(f"@prefix : <{E}> . {graph}", at=at, stream="s")
        hits += engine.close()
    return [
        (
            hit.start // 1_000_000,
            hit.end // 1_000_000,
            sorted(
                ({name: _local(term) for name, term in row.items()} for row in hit.bindings),
                key=lambda row: sorted(row.items()),
            ),
        )
        for hit in hits
    ]


def _local(term: str) -> str:
    return term.split('"')[1] if term.startswith('"') else term.removesuffix(">").rsplit("#", 1)[-1]


FREE1, FREE2 = ":s1 :observesNobody :n .", ":s2 :observesNobody :n ."
BUSY1, BUSY2 = ":s1 :observesPerson :bob .", ":s2 :observesPerson :bob ."


def test_the_guard_of_the_paper_keeps_rooms_apart(tmp_path: Path) -> None:
    text = """EVENT H MATCH Free SEQ Busy WITHIN (5 min)
              IF { EVENT Free { ?room :armedWith ?sensor . } EVENT Busy { ?room :armedWith ?sensor . } }"""
    assert run(tmp_path, text, [(1, FREE1), (2, BUSY2), (3, BUSY1)]) == [
        (1, 3, [{"room": "r1", "sensor": "s1"}])
    ]


def test_two_explanations_of_one_item_stay_apart(tmp_path: Path) -> None:
    """D7: :armedWith is of the definition, so each room's block sees its own sensor, not the item's two."""
    text = """EVENT H MATCH Free SEQ Busy WITHIN 5 min
              IF { EVENT Free { ?x :armedWith ?f } EVENT Busy { ?y :armedWith ?b } FILTER(?f = ?b) }"""
    hits = run(tmp_path, text, [(1, f"{FREE1} {FREE2}"), (2, BUSY1)])
    assert hits == [(1, 2, [{"x": "r1", "f": "s1", "y": "r1", "b": "s1"}])]


def test_a_super_property_of_the_definition_reads_the_explanation_too(tmp_path: Path) -> None:
    text = """EVENT H MATCH Free SEQ Busy WITHIN 5 min IF { EVENT Busy { ?r :equippedWith ?b . } }"""
    assert run(tmp_path, text, [(1, FREE1), (2, f"{BUSY1} {BUSY2}")]) == [
        (1, 2, [{"r": "r1", "b": "s1"}]),
        (1, 2, [{"r": "r2", "b": "s2"}]),
    ]


def test_a_block_reads_the_item_and_the_static_graph(tmp_path: Path) -> None:
    text = """EVENT H MATCH Free(?r) SEQ Busy(?r) WITHIN 5 min
              IF { EVENT Busy { ?this :floor ?floor . FILTER(?floor >= 2) } }"""
    items = [(1, f"{FREE1} {FREE2}"), (2, f"{BUSY1} {BUSY2}")]
    assert run(tmp_path, text, items) == [(1, 2, [{"r": "r2", "floor": "2"}])]


READINGS = [
    (1, ":o1 a :Observation ; :madeBy :s1 ; :hasSimpleResult 20.5 ."),
    (2, ":o2 a :Observation ; :madeBy :s1 ; :hasSimpleResult 31 ."),
    (9, ":o3 a :Observation ; :madeBy :s1 ; :hasSimpleResult 4.0e1 ."),
    (9, ':o4 a :Observation ; :madeBy :s2 ; :hasSimpleResult "broken" .'),
]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("?b > ?a + 10", [(1, 2), (1, 9)]),
        ("?b - ?a < 10", [(2, 9)]),
        ("(?b - ?a) / seconds(getSTARTTIME(y) - getSTARTTIME(x)) > 10", [(1, 2)]),
        ("getSTARTTIME(y) - getENDTIME(x) > 5 s && ?b > 0", [(1, 9), (2, 9)]),
        ("getDURATION() < 2 s && ?b > 0", [(1, 2)]),
        ("!(?b > ?a)", []),
    ],
)
def test_a_filter_over_two_readings(tmp_path: Path, condition: str, expected: list[tuple[int, int]]) -> None:
    """The broken reading is in no answer: a type error is not true, and neither is its negation."""
    text = f"""EVENT H MATCH Reading AS x SEQ Reading AS y WITHIN 1 min
               IF {{ EVENT x {{ ?this :hasSimpleResult ?a . }} EVENT y {{ ?this :hasSimpleResult ?b . }}
                     FILTER({condition}) }}"""
    assert sorted((start, end) for start, end, _ in run(tmp_path, text, READINGS)) == expected


def test_the_guard_of_a_logical_event_and_a_composite_over_it(tmp_path: Path) -> None:
    text = """EVENT Hot AS Reading IF { ?this :hasSimpleResult ?v . FILTER(?v > 30) }
              EVENT H MATCH Hot SEQ Hot WITHIN 1 min"""
    assert [hit[:2] for hit in run(tmp_path, text, READINGS)] == [(2, 9)]


def test_the_parameters_of_a_composite_are_read_where_it_is_used(tmp_path: Path) -> None:
    text = """EVENT Left(?r) MATCH Busy(?r) SEQ Free(?r) WITHIN 1 min
              EVENT H MATCH Left(?x) SEQ Busy(?x) WITHIN 1 min IF { FILTER(?x != :r2) }"""
    items = [(1, f"{BUSY1} {BUSY2}"), (2, f"{FREE1} {FREE2}"), (3, f"{BUSY1} {BUSY2}")]
    assert run(tmp_path, text, items) == [(1, 3, [{"x": "r1"}])]


def test_a_parameter_that_a_not_leaves_unbound_asks_nothing(tmp_path: Path) -> None:
    """D8: at 1 only the NOT takes part in Quiet, so that ?r has no value there, and Free gives it one."""
    text = """EVENT Quiet(?r) MATCH (NOT Reading) OR Busy(?r)
              EVENT H MATCH Quiet(?r) SEQ Free(?r) WITHIN 1 min"""
    assert run(tmp_path, text, [(1, ":x :nextTo :y ."), (3, FREE1)]) == [(1, 3, [{"r": "r1"}])]


def test_the_individual_of_one_alias_in_a_filter_over_two(tmp_path: Path) -> None:
    """`?this` of a block reaches a filter that needs another alias too, and shows in no binding."""
    text = """EVENT H MATCH Busy(?a) SEQ Free WITHIN 1 min IF { EVENT Free { FILTER(?this != ?a) } }"""
    assert run(tmp_path, text, [(1, BUSY1), (2, f"{FREE1} {FREE2}")]) == [(1, 2, [{"a": "r1"}])]


@pytest.mark.parametrize(("condition", "expected"), [("1 = 1", [(1, 2, [])]), ("1 = 2", [])])
def test_a_filter_over_nothing_decides_as_well(tmp_path: Path, condition: str, expected: list[Hit]) -> None:
    items = [(1, ":r1 :armedWith :s1 . :s1 :observesPerson :p ."), (2, ":s1 :observesNobody :p .")]
    assert run(tmp_path, f"EVENT H MATCH Busy SEQ Free IF {{ FILTER({condition}) }}", items) == expected
