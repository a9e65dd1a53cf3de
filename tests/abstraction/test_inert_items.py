"""An item whose triples set off no rule is passed without a look: the same as if it had been looked at."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

import obep
from obep.abstraction.matcher import Matcher
from obep.model import RDF_TYPE, Item

EX = "http://example.org/obep#"
QUERY = """
VOCAB <t.ttl>
FROM NAMED WINDOW <now> ON <points> [LATEST]
EVENT Hot AS :Sensor and :reads some :Heat
EVENT Seen AS :note some xsd:integer
STATE Warm(?x) AS { WINDOW <now> { ?x :degrees ?d ; :beside ?y } FILTER(?d > 2) }
EVENT Rising MATCH BEGIN Warm
RETURN Hot, Seen, Rising
"""
ONTOLOGY = f"""
@prefix : <{EX}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Sensor a owl:Class . :Heat a owl:Class ; owl:disjointWith :Cold . :Cold a owl:Class .
:reads a owl:ObjectProperty . :below a owl:ObjectProperty ; rdfs:domain :Cold .
:beside a owl:ObjectProperty . :note a owl:DatatypeProperty . :degrees a owl:DatatypeProperty .
"""
NAMES = st.sampled_from([f"<{EX}{name}>" for name in ("a", "b", "Sensor")])
LITERALS = st.sampled_from(['"1"^^<http://www.w3.org/2001/XMLSchema#integer>', '"x"'])
LINKS = st.sampled_from([f"<{EX}{name}>" for name in ("reads", "below", "beside", "strange")])
VALUES = st.sampled_from([f"<{EX}{name}>" for name in ("note", "degrees", "strange")])
CLASSES = st.sampled_from([f"<{EX}{name}>" for name in ("Sensor", "Heat", "Cold")])
TRIPLES = st.one_of(
    st.tuples(NAMES, LINKS, NAMES),
    st.tuples(NAMES, VALUES, LITERALS),
    st.tuples(NAMES, st.just(RDF_TYPE), CLASSES),
)


@cache
def matchers() -> tuple[Matcher, Matcher]:
    with TemporaryDirectory() as folder:
        Path(folder, "t.ttl").write_text(ONTOLOGY)
        query = obep.load(text=QUERY, folder=folder, java=False)
    quick, thorough = (Matcher(query.bundle, query.asks.all) for _ in range(2))
    assert quick._inert is not None
    thorough._inert = None
    return quick, thorough


def test_only_properties_that_no_rule_reads_are_inert() -> None:
    quick, _ = matchers()
    assert quick._inert is not None
    roles, data = quick._inert
    assert {f"<{EX}beside>"} == {name for name in roles if EX in name} - {f"<{EX}degrees>"}
    assert f"<{EX}degrees>" in data
    assert f"<{EX}note>" not in data


@given(st.lists(TRIPLES, max_size=4))
def test_an_item_gives_the_same_with_and_without_a_look(triples: list[tuple[str, str, str]]) -> None:
    quick, thorough = matchers()
    item = Item("points", 1, tuple(triples))
    before = quick.unknown, thorough.unknown
    assert repr(quick.match(item)) == repr(thorough.match(item))
    assert quick.unknown - before[0] == thorough.unknown - before[1]
