"""What can be pushed, and what comes out: forms of graphs, JSON, RDF, why."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime, timedelta, timezone

import pytest
from engine_cases import E, engine, ttl

import obep
from obep.engine.engine import Engine
from obep.errors import ObepError
from obep.formats import read_items
from obep.model import Item

QUERY = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 10 s\nRETURN H"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
ALPHA = "PREFIX : <http://e/>\nEVENT A AS Alpha\nRETURN A"
N_TRIPLES = f"<{E}x> <{TYPE}> <{E}ClassA> ."


def rdflib_graph():
    from rdflib import Graph

    return Graph().parse(data=ttl(":x a :ClassA ."), format="turtle")


FORMS = {
    "Turtle": lambda: ttl(":x a :ClassA ."),
    "N-Triples": lambda: N_TRIPLES,
    "bytes": lambda: N_TRIPLES.encode(),
    "JSON-LD text": lambda: f'{{"@id": "{E}x", "@type": "{E}ClassA"}}',
    "a JSON-LD dict": lambda: {"@id": f"{E}x", "@type": f"{E}ClassA"},
    "triples": lambda: [(f"<{E}x>", f"<{TYPE}>", f"<{E}ClassA>")],
    "an rdflib graph": rdflib_graph,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_in_any_form(form: str):
    running = engine(QUERY)
    running.push(FORMS[form](), at=0)
    assert len(running.push(ttl(":x a :ClassB ."), at=1)) == 1


def test_terms_of_rdflib_become_those_of_n_triples():
    from rdflib import Graph

    from obep.engine.pushed_values import triples_of

    text = ttl(':x :p 5, "line\\nbreak", "ja"@DE, 1.5, true, [] .')
    graph = Graph().parse(data=text, format="turtle")
    ours = {triple for triple in triples_of(graph, "s", 0) if not triple[2].startswith("_")}
    theirs = {triple for triple in triples_of(text, "s", 0) if not triple[2].startswith("_")}
    assert ours == theirs


def test_blank_nodes_are_private_to_their_item():
    running = engine(QUERY)
    running.push(ttl("_:b a :ClassA ."), at=0)
    assert running.push(ttl("_:b a :ClassB ."), at=1) == []


@pytest.mark.parametrize("graph", [42, [("a", "b")], [("x", "y", "z")], "this is no Turtle", {"temp": 3}])
def test_what_is_no_graph_is_refused(graph: object):
    with pytest.raises(ObepError) as error:
        engine(QUERY).push(graph, at=0)
    assert error.value.code in ("OBEP570", "OBEP604")


def test_a_query_without_return_cannot_run():
    with pytest.raises(ObepError) as error:
        engine(QUERY.replace("RETURN H", ""))
    assert error.value.code == "OBEP572"


def hit(running: Engine, at: str | int = 3):
    running.push(ttl(":x a :ClassA ."), at=0 if isinstance(at, int) else "2026-01-01T10:00:00Z")
    [found] = running.push(ttl(":x a :ClassB ."), at=at)
    return found


def test_instants_print_as_they_came_in():
    assert hit(engine(QUERY)).to_json()["end"] == 3
    later = hit(engine(QUERY), "2026-01-01T10:00:03.5Z")
    assert later.to_json()["end"] == "2026-01-01T10:00:03.5Z"
    assert later.to_json("integer")["end"] == 1_767_261_603.5


@pytest.mark.parametrize("format", ["trig", "nquads"])
def test_an_rdf_stream_can_be_read_back_as_an_input(format: str):
    found = hit(engine(QUERY))
    text = found.to_rdf(format=format)
    [item] = read_items(text.encode(), format, "again")
    assert item.at == found.detected and item.name == f"<{found.id}>"
    assert set(item.triples) == {
        (f"<{E}x>", f"<{TYPE}>", f"<{E}ClassA>"),
        (f"<{E}x>", f"<{TYPE}>", f"<{E}ClassB>"),
        (f"<{found.id}>", f"<{TYPE}>", f"<{E}H>"),
    }
    assert "wasDerivedFrom" in text and "https://w3id.org/obep#start" in text


def test_why_is_a_readable_tree():
    assert hit(engine(QUERY)).why().splitlines() == [
        "H from 0 to 3",
        "  with ?x = x",
        "  A at 0 of x",
        "    x type ClassA  (seen at 0)",
        "  B at 3 of x",
        "    x type ClassB  (seen at 3)",
    ]


def test_apush_is_push():
    async def both():
        running = engine(QUERY)
        await running.apush(ttl(":x a :ClassA ."), at=0)
        return await running.apush(ttl(":x a :ClassB ."), at=1)

    assert len(asyncio.run(both())) == 1


def test_callbacks_run_outside_of_the_lock():
    letters = []

    def told(letter):
        letters.append(letter)
        running.push(ttl(":y a :ClassA ."), at=9)  # would wait for itself

    running = engine(QUERY, on_dead_letter=told)
    running.push(ttl(":x a :ClassA ."), at=5)
    running.push(ttl(":x a :ClassA ."), at=4)
    assert len(letters) == 1 and running.counters["items"] == 3


def test_an_engine_goes_on_from_a_snapshot_in_another():
    first, second = engine(QUERY), engine(QUERY)
    first.push(ttl(":x a :ClassA ."), at=0)
    second.restore(first.snapshot())
    assert len(second.push(ttl(":x a :ClassB ."), at=1)) == 1
    with pytest.raises(ObepError) as error:
        engine(QUERY.replace("10 s", "11 s")).restore(b"nonsense")
    assert error.value.code == "OBEP573"


def test_a_logical_event_can_be_returned_itself():
    running = engine("EVENT A AS ClassA\nRETURN A")
    [found] = running.push(ttl(":x a :ClassA ."), at=0)
    record = found.to_json()
    assert record["because"][0]["individual"] == f"{E}x" and record["bindings"] == []
    assert running.push(ttl(":x a :ClassA . :y a :ClassC ."), at=0) == []  # the same sighting (SPEC D1)


def test_the_record_of_an_item_is_not_kept_with_it():
    """Only a dead letter shows it: neither a window nor NOT may hold it for as long as they look back."""
    running = obep.load(
        text="PREFIX : <http://e/#>\nFROM STREAM <s>\n"
        "FROM NAMED WINDOW <w> ON <s> [RANGE 100 s]\nEVENT A ON <w> AS ClassA and ClassB\nEVENT C AS ClassC\n"
        "EVENT N MATCH (NOT C) SEQ C WITHIN 100 s\nRETURN A, N",
        java=False,
    ).engine()
    record = b"what was " + str(id(running)).encode()
    before = sys.getrefcount(record)
    triples = ((f"<{E}x>", f"<{TYPE}>", f"<{E}ClassA>"),)
    running.push_items(Item("s", at * 1_000_000, triples, sent=record) for at in range(3))
    assert running.remembered == 4  # two items, and what NOT leaves of each; the third instant is open
    assert sys.getrefcount(record) == before


def test_an_instant_may_be_a_datetime() -> None:
    """Without a zone it is UTC; with one it is the same instant as in UTC."""
    told = []
    for at in (
        "2026-01-01T10:00:00Z",
        datetime(2026, 1, 1, 10),
        datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
    ):
        with obep.load(
            text="PREFIX : <http://e/>\nEVENT A AS Alpha\nRETURN A", java=False
        ).engine() as running:
            [hit] = running.push("<http://e/x> a <http://e/Alpha> .", at=at)
            told.append((hit.start, hit.style))
            assert running.advance(datetime(2026, 1, 2)) == []
    assert told == [(1_767_261_600_000_000, "iso")] * 3


def test_a_number_that_is_no_second_is_told_what_it_would_be() -> None:
    with obep.load(text=ALPHA, java=False).engine() as running:
        with pytest.raises(ObepError) as error:
            running.push("<http://e/x> a <http://e/Alpha> .", at=1_767_261_600_000)
        assert "in ms it would be 2026-01-01T10:00:00Z" in str(error.value)
