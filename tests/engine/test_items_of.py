"""What an occurrence was derived from (SPEC §8): its parts, and the items that it was found in."""

from __future__ import annotations

import re

from engine_cases import engine

import obep
from obep.engine.blocks import pack
from obep.formats import read_items
from obep.model import EagerOccurrence, Item, Occurrence, digest_of, item_name
from obep.operators.wire import carried

E = "http://e/#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
QUERY = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT H MATCH A SEQ B\nRETURN H"


def item(at: int, *facts: tuple[str, str]) -> Item:
    return Item("s", at * 1_000_000, tuple((f"<{E}{s}>", TYPE, f"<{E}{c}>") for s, c in facts))


def name(one: Item) -> str:
    return item_name(digest_of(one), one.at)


def sources(hit: Occurrence) -> set[str]:
    found = re.findall(
        r"<(\S+)> <http://www.w3.org/ns/prov#wasDerivedFrom> (<\S+>) \.", hit.to_rdf(format="nquads")
    )
    assert {subject for subject, _ in found} == {hit.id}
    return {source for _, source in found}


def test_an_occurrence_was_derived_from_its_parts_and_their_items():
    a, b = item(1, ("x", "ClassA"), ("z", "ClassC")), item(2, ("y", "ClassB"))
    [hit] = engine(QUERY).push_items([a, b])
    assert sources(hit) == {*(f"<{part.occurrence.id}>" for part in hit.parts), name(a), name(b)}
    assert len(sources(hit)) == 4


def test_a_logical_occurrence_was_derived_from_all_items_of_the_instant_that_show_it():
    one, two = item(1, ("x", "ClassA")), item(1, ("x", "ClassA"), ("y", "ClassC"))
    running = engine("EVENT A AS ClassA\nRETURN A")
    [hit] = running.push_items([one, two])
    running.close()
    assert sources(hit) == {name(one), name(two)}


def test_what_not_leaves_comes_from_its_item_too():
    rest = item(1, ("x", "ClassC"))
    running = engine("EVENT A AS ClassA\nEVENT H MATCH NOT A\nRETURN H")
    [hit] = [*running.push_items([rest]), *running.close()]
    assert sources(hit) == {name(rest)}


def test_names_of_items_go_through_a_snapshot():
    a, b = item(1, ("x", "ClassA")), item(2, ("y", "ClassB"))
    first, second = engine(QUERY), engine(QUERY)
    first.push_items([a])
    second.restore(first.snapshot())
    [hit] = second.push_items([b])
    assert {name(a), name(b)} < sources(hit)


def test_the_name_of_an_item_is_made_of_stream_instant_and_triples_in_any_order():
    one, other = item(1, ("x", "ClassA"), ("y", "ClassB")), item(1, ("y", "ClassB"), ("x", "ClassA"))
    assert name(one) == name(other)
    assert (
        len({name(one), name(item(2, ("x", "ClassA"), ("y", "ClassB"))), name(one._replace(stream="t"))}) == 3
    )


def test_a_block_carries_the_names_of_items():
    a = item(1, ("x", "ClassA"))
    found = EagerOccurrence(f"<{E}A>", f"<{E}x>", ((a.triples[0], a.at),), a.at, a.at, a.at, a.at)
    assert carried(a.at, pack(found, {}, digest_of(a))).items == (name(a),)


def test_in_a_window_an_occurrence_comes_from_the_items_that_it_needs():
    query = obep.load(
        text=f"""PREFIX : <{E}> FROM STREAM <s>
        FROM NAMED WINDOW <w> ON <s> [RANGE 5 s]
        EVENT W ON <w> AS (ClassA and ClassB)
        RETURN W"""
    )
    a, b, c = item(1, ("x", "ClassA")), item(2, ("x", "ClassB")), item(2, ("y", "ClassC"))
    running = query.engine()
    [hit] = [*running.push_items([a, b, c]), *running.close()]
    assert sources(hit) == {name(a), name(b)}


def test_what_is_found_in_an_occurrence_was_derived_from_it():
    query = obep.load(
        text=f"""PREFIX : <{E}> FROM STREAM <s>
        EVENT A AS ClassA
        EVENT H MATCH A SEQ (A AS again)
        EVENT G AS (H and concerns some Thing)
        EVENT K(?i) MATCH A(?i) SEQ A(?i) AS again CONSTRUCT {{ ?this :concerns ?i }}
        EVENT L AS (K and concerns some Thing)
        RETURN K, L"""
    )
    hits = query.engine().push_items([item(1, ("x", "ClassA")), item(2, ("x", "ClassA"))])
    [k], [found] = ([hit for hit in hits if hit.event == f"<{E}{e}>"] for e in "KL")
    assert sources(found) == {f"<{k.id}>"}


def test_with_its_sources_it_can_still_be_read_back():
    [hit] = engine(QUERY).push_items([item(1, ("x", "ClassA")), item(2, ("y", "ClassB"))])
    [again] = read_items(hit.to_rdf().encode(), "trig", "again")
    assert again.name == f"<{hit.id}>" and again.at == hit.detected
    assert len(again.triples) == 3
