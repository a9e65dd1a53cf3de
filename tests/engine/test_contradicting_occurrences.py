"""An occurrence whose explanation joins what cannot hold at once is found, but it is no item."""

from __future__ import annotations

from pathlib import Path

import obep
from obep.model import DeadLetter

ONTOLOGY = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:v a owl:DatatypeProperty, owl:FunctionalProperty . :stop a owl:DatatypeProperty .
"""
QUERY = """PREFIX : <http://e/>
VOCAB <t.ttl>
FROM STREAM <s>
EVENT A AS (v some number[< 5])
EVENT B AS (v some number[>= 5])
EVENT C AS (stop value true)
EVENT E(?x) MATCH A(?x) SEQ B(?x) WITHIN 1 min
EVENT D(?x) MATCH E(?x) SEQ C(?x) WITHIN 1 min
EVENT Flat(?x) MATCH (A(?x) SEQ B(?x) SEQ C(?x)) WITHIN 1 min
RETURN E, D, Flat
"""


def test_its_dead_letter_names_the_event(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(ONTOLOGY)
    (tmp_path / "q.obep").write_text(QUERY)
    letters: list[DeadLetter] = []
    with obep.load(tmp_path / "q.obep").engine(on_dead_letter=letters.append) as engine:
        found = [
            *engine.push("<http://e/p> <http://e/v> 4 .", at=1),
            *engine.push("<http://e/p> <http://e/v> 6 .", at=2),
            *engine.push("<http://e/p> <http://e/stop> true .", at=3),
            *engine.close(),
        ]
    assert sorted(one.event for one in found) == ["<http://e/E>", "<http://e/Flat>"]
    [letter] = letters
    assert (letter.code, letter.at) == ("OBEP620", 2_000_000)
    assert letter.reason == (
        'E, taken as an item: contradicts the ontology: p v "4" (xsd:integer), p v "6" (xsd:integer): '
        "v has at most one value"
    )
