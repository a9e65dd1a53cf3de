"""One graph: its triples, and the labels of its blank nodes."""

from __future__ import annotations

import pytest

from obep.errors import ObepError
from obep.formats import read_graph, read_items
from obep.model import Item

E = "http://e/"
A_B_C = ("<http://e/a>", "<http://e/b>", "<http://e/c>")


@pytest.mark.parametrize(
    ("data", "format"),
    [
        ("<http://e/a> <http://e/b> <http://e/c> .", "ntriples"),
        (b"@prefix : <http://e/> . :a :b :c, :c .", "turtle"),
        ({"@context": {"b": {"@id": E + "b", "@type": "@id"}}, "@id": E + "a", "b": E + "c"}, "jsonld"),
        ('{"@id": "http://e/a", "http://e/b": {"@id": "http://e/c"}}', "jsonld"),
    ],
)
def test_every_format_gives_the_same_triple_once(data: str, format: str) -> None:
    assert read_graph(data, format) == (A_B_C,)


def test_literals_are_n_triples_terms() -> None:
    triples = read_graph('@prefix : <http://e/> . :a :b 5, 1.5, true, "x"@EN, "a\\n\\"b" .')
    assert [o for _, _, o in triples] == [
        '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
        '"x"@en',
        '"a\\n\\"b"',
    ]


def test_blank_nodes_of_two_readings_agree() -> None:
    text = "@prefix : <http://e/> . [] :b [ :c _:x ], _:x ."
    first, second = read_graph(text), read_graph(text)
    assert first == second
    assert len({t for triple in first for t in triple if t.startswith("_:")}) == 3


@pytest.mark.parametrize(
    ("data", "format", "code"),
    [
        ("<a> <b> 1 .", "turtle", "OBEP604"),
        (":a :b :c .", "turtle", "OBEP604"),
        ('{"@context": "https://schema.org/", "name": "x"}', "jsonld", "OBEP607"),
        ({"id": 7, "temp": 21.5}, "jsonld", "OBEP604"),
        ([{"@id": "http://e/a"}, {"temp": 21.5}], "jsonld", "OBEP604"),
        ({"@context": {"t": "http://e/t"}, "temp": 21.5}, "jsonld", "OBEP604"),
        ('{"@context": {"@import": "https://schema.org/"}, "name": "x"}', "jsonld", "OBEP607"),
        ("<http://e/a> <http://e/b> <<( <http://e/a> <http://e/b> 1 )>> .", "turtle", "OBEP604"),
        ("", "rdfxml", "OBEP510"),
        ("", "csv", "OBEP510"),
    ],
)
def test_what_is_no_graph_is_an_error_with_its_code(data: str, format: str, code: str) -> None:
    with pytest.raises(ObepError) as caught:
        read_graph(data, format)
    assert caught.value.code == code


def only(data: bytes, format: str, **settings: object) -> Item:
    [item] = read_items(data, format, **settings)
    assert isinstance(item, Item), item
    return item


def test_blank_nodes_are_private_to_stream_instant_and_message() -> None:
    def label(stream: str, time: int, graph: str) -> str:
        line = f'{{"stream": "{stream}", "time": {time}, "graph": "{graph}"}}'.encode()
        return only(line, "jsonl").triples[0][0]

    same = label("s", 1, "[] <http://e/p> 1 .")
    assert same == label("s", 1, "[] <http://e/p> 1 .")
    assert len({same, label("t", 1, "[] <http://e/p> 1 ."), label("s", 2, "[] <http://e/p> 1 .")}) == 3
    assert same != label("s", 1, "[] <http://e/p> 2 .")


def test_blank_nodes_of_trig_agree_between_readings() -> None:
    data = (
        b'@prefix : <http://e/> . :g { [] :p [ :q 1 ] } :g <http://www.w3.org/ns/prov#generatedAtTime> "3" .'
    )
    assert only(data, "trig", stream="s") == only(data, "trig", stream="s")


@pytest.mark.parametrize("document", [{}, [], {"@context": {"t": "http://e/t"}}, {"@id": "http://e/a"}])
def test_json_ld_that_says_nothing_is_an_empty_graph(document: dict[str, object] | list[object]) -> None:
    assert read_graph(document, "jsonld") == ()
