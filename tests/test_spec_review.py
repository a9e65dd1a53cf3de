"""SPEC.md sentence by sentence, tried by hand through the public surface: what did not hold once."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.engine.query import Query
from obep.model import SECOND, Occurrence

PREFIXES = (
    "@prefix : <http://x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
)
NAMES = (
    ":near a owl:ObjectProperty . :leads a owl:ObjectProperty . :value a owl:DatatypeProperty . "
    ":A0 a owl:Class . :B0 a owl:Class . :C0 a owl:Class . :D0 a owl:Class . "
)
LEAVES = "EVENT A AS A0 EVENT B AS B0 EVENT C AS C0\n"


@pytest.fixture
def load(tmp_path: Path):
    """A query over a small ontology, by rules alone."""

    def loaded(query: str, ontology: str = "", static: str = "", **settings: object) -> Query:
        (tmp_path / "t.ttl").write_text(PREFIXES + NAMES + ontology)
        (tmp_path / "k.ttl").write_text(PREFIXES + static)
        head = "PREFIX : <http://x/>\nVOCAB <t.ttl>\nFROM GRAPH <k.ttl>\n"
        return obep.load(text=head + query, folder=tmp_path, java=False, **settings)  # type: ignore[arg-type]

    return loaded


def run(query: Query, *items: tuple[float, str] | tuple[float, str, str]) -> list[Occurrence]:
    """All reports for (second, Turtle[, stream])."""
    engine = query.engine()
    hits = [hit for at, graph, *stream in items for hit in engine.push(PREFIXES + graph, at, *stream)]
    return hits + engine.close()


def told(hits: list[Occurrence]) -> list[str]:
    """Event, interval and what is bound, short."""
    return sorted(
        f"{name(hit.event)} [{hit.start / SECOND:g},{hit.end / SECOND:g}]"
        + "".join(f" {key}={name(value)}" for row in hit.bindings for key, value in sorted(row.items()))
        for hit in hits
    )


def name(term: str) -> str:
    return term.split("^^")[0].strip('<>"').rsplit("/", 1)[-1]


# --- §5 D7: the vocabulary of a definition is the names in B -----------------------------------------------


def test_what_an_event_constructs_does_not_hide_the_item_from_its_own_guard(load):
    """D7: `value` is not in B, so the guard reads it off the whole item, whatever CONSTRUCT says of it."""
    guard = "IF { ?this :value ?v FILTER(?v > 3) }"
    query = load(f"EVENT H AS A0 {guard} CONSTRUCT {{ ?this :leads [ :value ?v ] }}\nRETURN H")
    assert told(run(query, (1, ":a a :A0 ; :value 5 ."))) == ["H [1,1] v=5"]
