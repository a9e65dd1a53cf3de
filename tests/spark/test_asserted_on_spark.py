"""What an item asserts of events that have other explanations, too, is kept: stage 2 without a JVM."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from test_detecting import Buckets

import obep
from obep.formats import read_graph
from obep.model import Item

HEAD = """PREFIX : <http://e/>
VOCAB <t.ttl>
FROM STREAM <s>
EVENT A AS Alpha
EVENT B AS Beta
EVENT C AS Gamma
"""
T = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Alpha a owl:Class . :Beta a owl:Class . :Gamma a owl:Class . :heat a owl:DatatypeProperty .
:Delta <http://www.w3.org/2000/01/rdf-schema#subClassOf> :AB .
"""
CASES = {
    "a class that a composite constructs, too": (
        "EVENT S MATCH A(?x) SEQ B WITHIN 9 s CONSTRUCT { ?x a :Gamma }\n"
        "EVENT U MATCH C(?x) SEQ A(?x) WITHIN 9 s\nRETURN C, U",
        [":a a :Alpha", ":b a :Beta", ":a a :Gamma", ":a a :Alpha"],
        {"C": 2, "U": 2},
    ),
    "a composite by T, in one bucket": (
        "EVENT AB MATCH A SEQ B WITHIN 9 s EVENT ABC MATCH AB SEQ C WITHIN 9 s\nRETURN AB, ABC",
        [":d a :Delta", ":c a :Gamma"],
        {"AB": 1, "ABC": 1},
    ),
    "a composite by T, split by a key": (
        "EVENT AB MATCH A(?x) SEQ B(?x) WITHIN 9 s\nRETURN AB",
        [":d a :Delta", ":e a :Delta", ":a a :Alpha", ":a a :Beta"],
        {"AB": 3},
    ),
    "a composite by itself, whose parameters are read above it": (
        "EVENT AB(?x) MATCH A(?x) SEQ B(?x) WITHIN 9 s EVENT ABC(?x) MATCH AB(?x) SEQ C(?x) WITHIN 9 s\n"
        "RETURN AB, ABC",
        [":a a :Alpha", ":a a :Beta", ":d a :AB", ":e a :Delta", ":a a :Gamma", ":d a :Gamma"],
        {"AB": 3, "ABC": 1},  # of those that were only said nobody knows whom they happened to
    ),
    "a guarded event": (
        "EVENT Hot AS Alpha IF { ?this :heat ?h FILTER(?h > 3) }\nRETURN Hot",
        [":a a :Hot", ":a a :Alpha ; :heat 5", ":a a :Alpha ; :heat 2"],
        {"Hot": 2},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_item_says_of_an_event_counts_on_spark_as_embedded(tmp_path: Path, name: str) -> None:
    text, graphs, expected = CASES[name]
    (tmp_path / "t.ttl").write_text(T)
    query = obep.load(text=HEAD + text, folder=tmp_path, java=False)
    said = [*graphs, ":later :heat 0"]
    items = [
        Item("s", 1_000_000 * (n if n < len(graphs) else 1000), _triples(graph))
        for n, graph in enumerate(said)
    ]
    embedded = [(one.event.strip("<>"), one.id) for one in query.engine().push_items(items)]
    found = [(one["event"], one["id"]) for one in Buckets(tmp_path, query).records(items)]
    assert sorted(found) == sorted(embedded)
    assert {event.rsplit("/", 1)[-1]: [e for e, _ in found].count(event) for event, _ in found} == expected


PAIR = "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 9 s\n"
SPLIT = {
    "stacked": PAIR + "EVENT ABC(?r) MATCH AB(?r) SEQ C(?r) WITHIN 9 s\nRETURN AB, ABC",
    "absent": PAIR + "EVENT No(?r) MATCH C(?r) NOT FOLLOWED BY AB(?r) WITHIN 3 s\nRETURN AB, No",
    "without": PAIR + "EVENT W(?r) MATCH (C(?r) SEQ A(?r) WITHIN 9 s) WITHOUT AB(?r)\nRETURN W",
    "optional": PAIR + "EVENT O(?r) MATCH OPTIONAL(AB(?r)) SEQ C(?r) WITHIN 9 s\nRETURN O",
    "either": PAIR + "EVENT O(?r) MATCH (AB(?r) OR B(?r)) SEQ C(?r) WITHIN 9 s\nRETURN O",
    "partitioned": "EVENT AB(?q) MATCH A SEQ B WITHIN 9 s PARTITION BY ?q\n"
    "IF { EVENT A { ?x :in ?q } EVENT B { ?y :in ?q } }\n"
    "EVENT ABC MATCH AB(?q) SEQ C WITHIN 9 s PARTITION BY ?q IF { EVENT C { ?z :in ?q } }\nRETURN AB, ABC",
}


@pytest.mark.parametrize("name", SPLIT)
def test_what_items_say_of_composites_that_are_split_by_a_key_counts_as_embedded(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "t.ttl").write_text(T + ":in a owl:ObjectProperty .")
    query = obep.load(text=HEAD + SPLIT[name], folder=tmp_path, java=False)
    rnd = random.Random(name)
    kinds = (":Alpha", ":Beta", ":Gamma", ":AB", ":Delta", ":Alpha, :AB")
    items = [
        Item("s", n // 2 * 1_000_000, _triples(f":x{rnd.randrange(3)} a {kind} ; :in :r{rnd.randrange(3)}"))
        for n, kind in enumerate(rnd.choices(kinds, k=120))
    ]
    items.append(Item("s", 1_000_000_000, _triples(":later :heat 0")))
    embedded = [(one.event.strip("<>"), one.id) for one in query.engine().push_items(items)]
    buckets = Buckets(tmp_path, query, buckets=3)
    assert all(component.keyed for component in buckets.layout.components)
    found = [
        (one["event"], one["id"])
        for start in range(0, len(items), 17)
        for one in buckets.records(items[start : start + 17])
    ]
    assert sorted(found) == sorted(embedded)
    assert len(found) > 10


def _triples(graph: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(read_graph(f"@prefix : <http://e/> . {graph} .".encode(), "turtle"))
