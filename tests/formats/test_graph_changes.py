"""Records that change the static graph: what they say, and what is refused by name."""

from __future__ import annotations

import io
import json

import pytest

from obep.formats.json_lines import read_json_lines
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter, Item, Triple

A: Triple = ("<urn:a>", "<urn:p>", "<urn:b>")
B: Triple = ("<urn:b>", "<urn:p>", '"x } ; # y"')


def read(**record: object) -> Item | DeadLetter:
    line = json.dumps({"time": 3, "stream": "m", **record}).encode()
    (found,) = read_json_lines(io.BytesIO(line), Reading())
    return found


def changed(**record: object) -> tuple[set[Triple], set[Triple]]:
    found = read(**record)
    assert isinstance(found, Item), found
    assert found.removed is not None
    assert (found.stream, found.at) == ("m", 3_000_000)
    return {*found.triples}, {*found.removed}


def test_added_and_removed_graphs_are_turtle() -> None:
    text = "@prefix : <urn:> . :a :p :b ."
    assert changed(insert=text) == ({A}, set())
    assert changed(delete=text, insert='<urn:b> <urn:p> "x } ; # y" .') == ({B}, {A})


@pytest.mark.parametrize(
    "text",
    [
        'PREFIX : <urn:> INSERT DATA { :b :p "x } ; # y" } ; DELETE DATA { :a :p :b . }',
        'BASE <http://e/x> PREFIX : <urn:>\ninsert data{<urn:b> :p "x } ; # y".# }\n};DELETE DATA {:a :p :b}',
        "DELETE DATA { <urn:a> <urn:p> <urn:b> } ; PREFIX : <urn:> INSERT DATA { :b :p '''x } ; # y''' } ;",
    ],
)
def test_insert_data_and_delete_data_are_read(text: str) -> None:
    assert changed(update=text) == ({B}, {A})


def test_literals_keep_their_language_and_datatype() -> None:
    come, _ = changed(update='INSERT DATA { <urn:a> <urn:p> "x"@en, "1"^^<urn:t>, 2.50 ; <urn:q> true }')
    assert {o for _, _, o in come} == {
        '"x"@en',
        '"1"^^<urn:t>',
        '"2.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
    }


def test_of_one_triple_the_last_operation_counts() -> None:
    one = "{ <urn:a> <urn:p> <urn:b> }"
    assert changed(update=f"INSERT DATA {one} ; DELETE DATA {one}") == (set(), {A})
    assert changed(update=f"DELETE DATA {one} ; INSERT DATA {one}") == ({A}, set())
    assert changed(update="INSERT DATA { }") == (set(), set())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("LOAD <http://e/x>", "neither INSERT DATA"),
        ("DELETE WHERE { ?x ?p ?o }", "neither INSERT DATA"),
        ("INSERT { <urn:a> <urn:p> 1 } WHERE { }", "neither INSERT DATA"),
        ("CLEAR ALL", "neither INSERT DATA"),
        ("INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> 1 } }", "a graph in the data"),
        ("INSERT DATA { <urn:a> <urn:p> 1", "no closing brace"),
        ("INSERT DATA { } DROP ALL", "neither INSERT DATA"),
        ("DELETE DATA { _:a <urn:p> 1 }", "a blank node"),
        ("rubbish", "neither INSERT DATA"),
    ],
)
def test_other_updates_are_refused(text: str, words: str) -> None:
    found = read(update=text)
    assert isinstance(found, DeadLetter)
    assert found.code == "OBEP821"
    assert words in found.reason


def test_what_is_no_triple_is_a_graph_that_cannot_be_read() -> None:
    found = read(update="INSERT DATA { ?x <urn:p> 1 }")
    assert isinstance(found, DeadLetter)
    assert found.code == "OBEP604"


def test_a_record_has_an_update_or_graphs() -> None:
    found = read(update="INSERT DATA { }", insert="")
    assert isinstance(found, DeadLetter)
    assert found.code == "OBEP821"


def test_a_record_that_says_nothing_is_no_change() -> None:
    found = read(other=1)
    assert isinstance(found, DeadLetter)
    assert found.code == "OBEP601"


def test_blank_nodes_that_come_are_private_to_their_change() -> None:
    first, second = (read(insert="_:a <urn:p> 1 .", time=at) for at in (1, 2))
    assert isinstance(first, Item) and isinstance(second, Item)
    assert first.triples[0][0] != second.triples[0][0]
