"""Guarded events that differ in a constant: the index that chooses among them changes no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obep
from obep.abstraction import hit_groups
from obep.model import Occurrence

HEAD = "PREFIX : <http://e/#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> FROM STREAM <s>\n"
OPERATORS = st.sampled_from(("=", "<", ">", "<=", ">=", "!="))
CONSTANTS = st.sampled_from(("0", "1", "2.0", "2.5", "3e0", '"1"', '"a"', ":n", "true", '"x"^^xsd:int'))
VALUES = st.sampled_from((*"0123", "2.0", "2.50", "1.0e0", '"a"', '"1"', ":n", "true", '"z"^^<http://e/#t>'))
FILTERS = st.builds("FILTER(?v {0} {1})".format, OPERATORS, CONSTANTS) | st.builds(
    "FILTER({1} {0} ?v && ?v != 1)".format, OPERATORS, CONSTANTS
)


def answers(filters: list[str], items: list[str]) -> list[tuple[object, ...]]:
    events = "".join(
        f"EVENT E{n} AS (A or B) IF {{ ?this :v ?v . {one} }}\n" for n, one in enumerate(filters)
    )
    engine = obep.load(text=f"{HEAD}{events}RETURN ALL", java=False).engine()
    hits: list[Occurrence] = []
    for at, item in enumerate(items):
        hits += engine.push(f"@prefix : <http://e/#> . {item}", at=at // 2)
    return [(hit.event, hit.individual, hit.explanation, hit.bindings) for hit in [*hits, *engine.close()]]


@pytest.mark.slow
@given(
    st.lists(FILTERS, min_size=4, max_size=9),
    st.lists(
        st.builds(":{} a :{} ; :v {} .".format, st.sampled_from("xyz"), st.sampled_from("AB"), VALUES),
        max_size=6,
    ),
)
def test_an_index_of_guards_changes_no_answer(filters: list[str], items: list[str]) -> None:
    with_index = answers(filters, items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hit_groups, "WORTH_AN_INDEX", 1000)
        assert with_index == answers(filters, items)


def test_only_those_are_made_that_may_pass() -> None:
    """Otherwise a hundred rules over one stream cost a hundred times one."""
    events = "".join(f"EVENT E{n} AS A IF {{ ?this :v ?v . FILTER(?v > {n}) }}\n" for n in range(100))
    engine = obep.load(text=f"{HEAD}{events}RETURN ALL", java=False).engine()
    matcher = engine.running.matcher
    item = obep.model.Item("", 1, (
        ("<http://e/#x>", obep.model.RDF_TYPE, "<http://e/#A>"),
        ("<http://e/#x>", "<http://e/#v>", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ))  # fmt: skip
    assert len(matcher.match(item).occurrences) == 3
    assert len(matcher.match(item, every=True).occurrences) == 100


def test_why_not_knows_what_an_index_has_left_out() -> None:
    events = "".join(f"EVENT E{n} AS A IF {{ ?this :v ?v . FILTER(?v > {n}) }}\n" for n in range(10))
    engine = obep.load(text=f"{HEAD}{events}RETURN ALL", java=False).engine()
    engine.push("@prefix : <http://e/#> . :x a :A ; :v 3 .", at=1)
    (refusal,) = engine.why_not("E7").refusals
    assert refusal.parts[0].occurrence.individual == "<http://e/#x>"
    assert not engine.why_not("E2").refusals
