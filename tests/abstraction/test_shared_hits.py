"""What items of one shape share: each occurrence is the one that is found in its item alone, and is small."""

from __future__ import annotations

import gc
import os
import tracemalloc
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obep
import obep.output
from obep.abstraction.decided_occurrences import Decided
from obep.abstraction.matcher import Matched, Matcher
from obep.engine.query import Query
from obep.engine.reporter import stamp_of
from obep.formats.record_mapping import make_mapping
from obep.formats.tables.record_blocks import RecordBlock
from obep.formats.triple_template import Template
from obep.model import RDF_TYPE, DeadLetter, EagerOccurrence, Item, Occurrence
from obep.output.json_writer import written_cause

E = "http://e/#"
DOUBLE = "^^<http://www.w3.org/2001/XMLSchema#double>"
ONTOLOGY = f"""@prefix : <{E}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Hot a owl:Class ; rdfs:subClassOf :Warm . :Cold a owl:Class ; owl:disjointWith :Hot . :Warm a owl:Class .
:Lab a owl:Class . :room a owl:ObjectProperty . :near a owl:ObjectProperty . :value a owl:DatatypeProperty .
:note a owl:DatatypeProperty ."""
STATIC = f"@prefix : <{E}> . :r1 a :Lab ; :near :r2 . :r2 :near :r1 . :e0 :room :r1 ."
QUERY = f"""PREFIX : <{E}>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
FROM STREAM <other>
EVENT W AS Warm
EVENT L AS (Warm and (room some Lab))
EVENT S AS (Warm and (room some Warm))
EVENT V AS (:value some xsd:double[> 20.0])
EVENT N AS (note some xsd:string) IF {{ ?this :note ?n . FILTER(STRLEN(?n) < 4) }}
EVENT C ON <s> AS Cold
EVENT H(?r) MATCH W AS a SEQ V AS b SEQ L AS c SEQ S AS d SEQ C AS e WITHIN 5 s
IF {{ EVENT a {{ ?this :room ?r . }} EVENT b {{ ?this :value ?v . FILTER(?v < 90) }}
     EVENT c {{ ?this :room ?r . }} }}
RETURN H, N
"""
LOCAL = ("a", "b", "c", "r1", "e0", "Warm", "room", 'q"q', "Odd")
NAMES = (*[f"<{E}{name}>" for name in LOCAL], "_:x", "_:y")
TRIPLES = st.one_of(
    st.tuples(
        st.sampled_from(NAMES),
        st.just(RDF_TYPE),
        st.sampled_from([f"<{E}{name}>" for name in ("Warm", "Hot", "Cold", "Lab", "Odd", "a")]),
    ),
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from([f"<{E}room>", f"<{E}near>", f"<{E}odd>"]),
        st.sampled_from(NAMES),
    ),
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from([f"<{E}value>", f"<{E}note>"]),
        st.sampled_from(
            [f'"{n}"{DOUBLE}' for n in (1, 25, 50, 99)] + ['"x"', '"say \\\\"no\\\\""', '"long text"']
        ),
    ),
)
ITEMS = st.tuples(
    st.sampled_from(("s", "other")),
    st.integers(0, 3),
    st.lists(TRIPLES, max_size=5).map(tuple),
    st.sampled_from(("", "", "<urn:g1>", "<urn:g2>")),
).map(lambda fields: Item(*fields))


@cache
def loaded() -> Query:
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "t.ttl").write_text(ONTOLOGY)
        (folder / "k.ttl").write_text(STATIC)
        return obep.load(text=QUERY, folder=folder, java=False, lints=False)


def fields(one: Occurrence) -> list[Any]:
    """All that anybody may read of an occurrence."""
    times = one.start, one.end, one.detected, one.since
    said = one.to_json("integer"), one.why(), written_cause(one, "integer"), stamp_of(one)
    solved = {ask: one._rows_of(ask) for ask in range(8)}
    return [
        *(one.event, one.individual, one.explanation, times, one.solutions, solved, one.parts, one.bindings),
        *(one.partition, one.constructed, one.bounded, one.items, one.id, one.key, said),
    ]


def renamed(item: Item) -> Item:
    """An item like another one, with other names of its own."""
    other = {f"<{E}a>": f"<{E}b2>", f"<{E}b>": f"<{E}a2>", f"<{E}c>": f"<{E}c2>", "_:x": "_:y2"}
    return item._replace(triples=tuple([(other.get(s, s), p, other.get(o, o)) for s, p, o in item.triples]))


@settings(max_examples=max(60, int(os.environ.get("OBEP_EXAMPLES", "0"))), deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=4))
def test_items_of_one_shape_have_the_occurrences_of_each_alone(items: list[Item]) -> None:
    query = loaded()
    alone = Matcher(query.bundle, query.asks.all, remember=0)
    shared = Matcher(query.bundle, query.asks.all)
    for item in (*items, *map(renamed, items), *items):
        expected, got = alone.match(item), shared.match(item)
        if isinstance(expected, DeadLetter):
            assert got == expected
            continue
        assert isinstance(got, Matched)
        assert list(map(fields, got.occurrences)) == list(map(fields, expected.occurrences))


def test_the_second_item_of_a_shape_shares() -> None:
    query = loaded()
    matcher = Matcher(query.bundle, query.asks.all)
    kinds = []
    for name in "abc":
        triples = ((f"<{E}{name}>", RDF_TYPE, f"<{E}Warm>"), (f"<{E}{name}>", f"<{E}room>", f"<{E}r1>"))
        matched = matcher.match(Item("s", 1, triples))
        assert isinstance(matched, Matched)
        kinds.append({type(one) for one in matched.occurrences})
    assert kinds == [{EagerOccurrence}, {Decided}, {Decided}]


SMALL = """PREFIX : <http://e/#>
FROM STREAM <s>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?r) MATCH A AS a SEQ B AS b WITHIN 5 s
IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }
RETURN H
"""
MOST = 400
"""Bytes of a live occurrence (issue 19)."""


def live_block(first: int, count: int) -> RecordBlock:
    """Mapped records of A in 100 rooms. No two of them share a text."""
    setting = {"prefixes": {"": E}, "template": ":e{n} a :Class{kind} ; :room :{room} ."}
    template = make_mapping(setting, "mapping").triples
    assert isinstance(template, Template)
    span = range(first, first + count)
    columns = {
        "n": [f"<{E}e{n}>" for n in span],
        "kind": [f"<{E}ClassA>"] * count,
        "room": [f"<{E}room{n % 100}>" for n in span],
    }
    order = [slot.places[0].path for slot in template.slots]
    return RecordBlock("s", template, list(span), [[*columns[path]] for path in order], [b""] * count)


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped records", "parsed items"])
def test_a_live_occurrence_takes_few_bytes(mapped: bool) -> None:
    engine = obep.load(text=SMALL, java=False).engine(remember=0)

    def push(first: int, count: int) -> None:
        block = live_block(first, count)
        engine.push_items(block if mapped else [one.item() for one in block])

    push(10, 2000)
    gc.collect()
    before = engine.remembered
    tracemalloc.start()
    try:
        for first in range(10_000, 20_000, 1000):
            push(first, 1000)
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    live = engine.remembered - before
    assert live == 10_000
    assert taken / live <= MOST


def test_hits_that_read_one_value_remember_its_rows_together() -> None:
    events = "\n".join(
        f"EVENT V{n} AS (:value some xsd:integer[> {n}])\n"
        f"EVENT P{n} MATCH V{n} AS a SEQ V{n} AS b WITHIN 5 s\n"
        "IF { EVENT a { ?this :value ?v } EVENT b { ?this :value ?w } }"
        for n in range(20)
    )
    returned = ", ".join(f"P{n}" for n in range(20))
    query = obep.load(text=f"PREFIX : <{E}>\n{events}\nRETURN {returned}", java=False)
    matcher = Matcher(query.bundle, query.asks.all)
    for n in range(2):
        value = f'"{n + 90}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        matched = matcher.match(Item("", n, ((f"<{E}a{n}>", f"<{E}value>", value),)))
    assert isinstance(matched, Matched) and len(matched.occurrences) == 20
    makers = set()
    for one in matched.occurrences:
        assert isinstance(one, Decided)
        _ = one.solutions
        makers |= {id(make) for make in one.by.makers.values() if make is not None}
    assert len(makers) == 1, "each remembers the values of thousands of items"
