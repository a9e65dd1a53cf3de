"""Guards as they are written: from the text of a query to asks, solutions and filters for the plan."""

from __future__ import annotations

import pytest
from guard_nodes import TwoGraphs, facts, iri, occurrence

from obep.errors import ObepError
from obep.guards.block_queries import Asks, asks, filters_over
from obep.lints.check_query import check
from obep.model import Occurrence, body_of
from obep.query.free_variables import variables
from obep.query.link import Linked, link
from obep.query.parse.parser import parse

PROLOGUE = """
PREFIX : <http://example.org/>
EVENT A AS Thing
EVENT B AS Thing
EVENT C AS Thing
"""


def read(text: str) -> tuple[Linked, Asks]:
    linked = link(parse(PROLOGUE + text))
    return linked, asks(linked)


def solutions(text: str, alias: str, found: Occurrence, graphs: TwoGraphs) -> list[dict[str, str]]:
    """The visible solutions of an alias of the event H."""
    ask = read(text)[1].of(iri("H"), alias)
    rows = ask.solve(found, graphs)
    return [dict(zip(ask.variables, row, strict=True)) for row in rows]  # type: ignore[arg-type]


ROOMS = """
EVENT H MATCH A SEQ B WITHIN (5 min)
IF { EVENT A { ?room :armedWith ?sensor . }
     EVENT B { ?room :armedWith ?sensor . } }
"""


def test_the_guard_of_the_paper_asks_both_aliases_the_same() -> None:
    _, found = read(ROOMS)
    a, b = found.of(iri("H"), "A"), found.of(iri("H"), "B")
    assert a.variables == b.variables == ("room", "sensor")
    assert a is not b  # of different events
    graphs = TwoGraphs(rest=facts("r1 armedWith s1 . r2 armedWith s2"))
    assert a.solve(occurrence("A", "r1"), graphs) == ((iri("r1"), iri("s1")), (iri("r2"), iri("s2")))


def test_the_explanation_tells_which_room() -> None:
    """D7: with :armedWith in the definition's vocabulary only the explanation's room is meant."""
    graphs = TwoGraphs(facts("r1 armedWith s1"), facts("r2 armedWith s2"), frozenset({iri("armedWith")}))
    assert solutions(ROOMS, "A", occurrence("A", "r1"), graphs) == [{"room": iri("r1"), "sensor": iri("s1")}]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("?this :value ?v . FILTER(?v > 20)", ["25", "30"]),
        ("?this :value ?v . FILTER(?v > 20 && ?v < 30)", ["25"]),
        ("?this :value ?v . FILTER(?v > 20) FILTER(?v < 30)", ["25"]),
        ("?this :value ?v . FILTER(STR(?v) = \"25\")", ["25"]),
        ("?this :value ?v . FILTER(?v IN (10, 30.0))", ["10", "30"]),
        ("?this :value ?v FILTER(?v < 20 && getENDTIME(A) = \"1970-01-01T00:00:07\"^^xsd:dateTime)", ["10"]),
        ("?this :value ?v . FILTER(getDURATION(A) > 5 s)", []),
        ("?this :value ?v . FILTER(?this = :a1 && ?v < 20)", ["10"]),
        ("?this :value ?v . FILTER(?v > :x)", []),
        ("?this :value 25 . ?this :value ?v", ["10", "25", "30"]),
        ("?this :value 26 . ?this :value ?v", []),
        ("?this :value ?v, 25 ; :unit :C", ["10", "25", "30"]),
        ("?this :near [ :value ?v ]", ["25"]),
        ("_:x :value ?v . ?this :near _:x", ["25"]),
    ],
)  # fmt: skip
def test_a_block_finds_its_solutions(block: str, expected: list[str]) -> None:
    graphs = TwoGraphs(
        rest=facts("a1 value 10 . a1 value 25 . a1 value 30 . a1 unit C . a1 near b1 . b1 value 25")
    )
    text = f"EVENT H MATCH A SEQ B WITHIN 5 s IF {{ EVENT A {{ {block} }} }}"
    found = solutions(text, "A", occurrence("A", "a1", 5_000_000, 7_000_000), graphs)
    assert [row["v"].split('"')[1] for row in found] == expected


def test_blocks_for_several_aliases_for_all_and_several_for_one() -> None:
    _, found = read("""EVENT H MATCH A SEQ B SEQ C WITHIN 5 s
        IF { EVENT A, B { ?this :in ?room . } EVENT * { ?this :by ?who . } EVENT C { ?this :p ?q . } }""")
    assert found.of(iri("H"), "A").variables == ("room", "who")
    assert found.of(iri("H"), "B").variables == ("room", "who")
    assert found.of(iri("H"), "C").variables == ("q", "who")


def test_a_filter_over_one_alias_is_decided_with_its_block_wherever_it_stands() -> None:
    inside = read("EVENT H MATCH A SEQ B WITHIN 5 s IF { EVENT A { ?this :v ?x . FILTER(?x > 1) } }")[1]
    outside = read("EVENT H MATCH A SEQ B WITHIN 5 s IF { EVENT A { ?this :v ?x . } FILTER(?x > 1) }")[1]
    assert inside.of(iri("H"), "A") == outside.of(iri("H"), "A")
    assert inside.filters(iri("H")) == outside.filters(iri("H")) == ()


def test_filters_over_several_aliases_are_left_to_the_plan() -> None:
    linked, found = read("""EVENT H MATCH A AS x SEQ A AS y WITHIN 5 s
        IF { EVENT x { ?this :v ?a . } EVENT y { ?this :v ?b . FILTER(?this != :z && ?b > ?a) }
             FILTER(?a > 1) FILTER(getSTARTTIME(y) - getENDTIME(x) > 1 s) FILTER(getDURATION() < 4 s) }""")
    over = filters_over(linked.events[iri("H")], found)
    assert [sorted(cross.aliases) for cross in over] == [["x", "y"], ["x", "y"], []]
    assert [cross.whole for cross in over] == [False, False, True]
    assert over[0].variables == ("b", "a", "_:this(y)")
    assert set(over[0].variables) == set(variables(over[0].condition))  # type: ignore[arg-type]
    assert found.of(iri("H"), "y").variables == ("_:this(y)", "b")
    assert len(found.of(iri("H"), "x").filters) == 1


def test_the_guard_of_a_logical_event() -> None:
    text = "EVENT H AS A IF { ?this :value ?v . FILTER(?v > 20 && getDURATION() = 0 s) }"
    _, found = read(text)
    ask = found.of(iri("H"), "")
    assert ask.event == body_of(iri("H"))
    graphs = TwoGraphs(rest=facts("a1 value 10 . a1 value 25"))
    assert ask.solve(occurrence("H", "a1"), graphs) == (
        ('"25"^^<http://www.w3.org/2001/XMLSchema#integer>',),
    )


def test_a_parameter_that_a_branch_left_unbound_asks_nothing_of_a_filter() -> None:
    """D8, one stratum up: the branch that would have bound it did not take part."""
    text = """EVENT Inner(?x, ?y) MATCH A(?x) OR B(?y)
              EVENT H MATCH Inner(?p, ?q) SEQ C WITHIN 5 s IF { FILTER(?p != :a1) }"""
    one = occurrence("Inner", "c", bindings=({"x": iri("a1")}, {"x": iri("a2")}, {"y": iri("b1")}))
    ask = read(text)[1].of(iri("H"), "Inner")
    assert ask.solve(one, TwoGraphs()) == ((None, iri("b1")), (iri("a2"), None))


def test_a_block_may_read_a_parameter() -> None:
    text = """EVENT Inner(?x) MATCH A(?x) SEQ B WITHIN 5 s
              EVENT H MATCH Inner(?p) SEQ C WITHIN 5 s IF { EVENT Inner { ?p :in ?room . } }"""
    one = occurrence("Inner", "c", bindings=({"x": iri("a1")}, {"x": iri("a2")}))
    graphs = TwoGraphs(rest=facts("a1 in r1 . a3 in r3"))
    assert solutions(text, "Inner", one, graphs) == [{"p": iri("a1"), "room": iri("r1")}]


def test_the_patterns_of_a_block_are_ordered_so_that_the_join_is_cheap() -> None:
    asked: list[tuple[str | None, ...]] = []

    class Watched(TwoGraphs):
        def wide(self, s: str | None, p: str | None, o: str | None) -> list[tuple[str, str, str]]:
            asked.append((s, p, o))
            return list(super().wide(s, p, o))

    text = "EVENT H MATCH A SEQ B WITHIN 5 s IF { EVENT A { ?z a :C . ?y :q ?z . ?this :p ?y . } }"
    graphs = Watched(rest=facts("a1 p b . b q c . c a C . d a C . e q d"))
    assert solutions(text, "A", occurrence("A", "a1"), graphs) == [{"y": iri("b"), "z": iri("c")}]
    assert [s for s, _, _ in asked] == [iri("a1"), iri("b"), iri("c")]


def test_a_wrong_function_is_reported_by_check_with_its_place() -> None:
    linked, _ = read(
        "EVENT H MATCH A SEQ B WITHIN 5 s IF { EVENT A { ?this :v ?x . FILTER(STRLENN(?x) > 1) } }"
    )
    [found] = [said for said in check(linked) if said.severity == "error"]
    assert found.code == "OBEP190"
    assert "did you mean STRLEN?" in str(found)
    assert "^^^^^^^" in str(found)


@pytest.mark.parametrize("text", ["NOW() > 5", 'REGEX(?x, "(")', "COUNT(?x) > 1"])
def test_what_check_refuses_cannot_be_run_either(text: str) -> None:
    _, found = read(f"EVENT H MATCH A SEQ B WITHIN 5 s IF {{ EVENT A {{ ?this :v ?x . FILTER({text}) }} }}")
    with pytest.raises(ObepError):
        found.of(iri("H"), "A").solve(occurrence("A", "a1"), TwoGraphs())
