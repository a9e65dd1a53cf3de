"""Many joins over one property are looked up together; that changes no answer and no explanation."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import obep
from obep.ontology.rules import rule_tables

T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:r a owl:ObjectProperty , owl:TransitiveProperty . :s rdfs:subPropertyOf :r . :s a owl:ObjectProperty .
""" + "".join(
    f":C{n} a owl:Class . :C{n + 2} rdfs:subClassOf :C{n} ; rdfs:subClassOf"
    f" [ a owl:Restriction ; owl:onProperty :s ; owl:someValuesFrom :C{n} ] .\n"
    for n in range(6)
)
EVENTS = "".join(
    f"EVENT E{n} AS (r some C{n})\nEVENT F{n} AS (inverse r some C{n} and C{7 - n})\n" for n in range(8)
)
TRIPLES = st.builds(
    ":{} :{} :{} .".format, st.sampled_from("abc"), st.sampled_from("rs"), st.sampled_from("abck")
)
TYPES = st.builds(":{} a :C{} .".format, st.sampled_from("abck"), st.integers(0, 7))


def answers(item: str, searched: int) -> list[tuple[object, ...]]:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule_tables, "_SEARCHED", searched)
        Path(folder, "t.ttl").write_text(T)
        Path(folder, "k.ttl").write_text("@prefix : <http://e/#> . :k :r :m . :m a :C3 . :n :s :k .")
        text = f"PREFIX : <http://e/#> VOCAB <t.ttl> FROM GRAPH <k.ttl> FROM STREAM <s>\n{EVENTS}RETURN ALL"
        engine = obep.load(text=text, folder=folder, java=False, cache_dir=folder).engine()
        hits = engine.push(f"@prefix : <http://e/#> . {item}", at=1)
        return sorted((hit.event, hit.individual, hit.explanation, hit.bounded) for hit in hits)


@settings(max_examples=8)
@given(st.lists(TRIPLES | TYPES, min_size=1, max_size=6).map(" ".join))
def test_joins_together_find_what_joins_one_by_one_find(item: str) -> None:
    assert answers(item, searched=0) == answers(item, searched=1000)


def test_what_lies_above_the_other_end_is_found() -> None:
    """C7 is below C5, C3 and C1."""
    found = answers(":a :r :b . :b a :C7 .", searched=0)
    assert [event for event, *_ in found] == [f"<http://e/#E{n}>" for n in (1, 3, 5, 7)]
