"""Stage 2 without a JVM: what an item says itself of events that also come about otherwise is not lost."""

from __future__ import annotations

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


def _triples(graph: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(read_graph(f"@prefix : <http://e/> . {graph} .".encode(), "turtle"))
