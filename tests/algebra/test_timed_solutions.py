"""Timed solutions (DIALECTS 3, 4): each expected answer is worked out by hand from its table."""

from __future__ import annotations

import pytest
from memory_dataset import ListedDataset

import obep
from obep.algebra.timed.timed_program import TimedProgram
from obep.errors import ObepError
from obep.formats.input_limits import Refused
from obep.model import Triple
from obep.query import ast

EX = "http://example.org/obep#"
Stream = dict[int, str]
"""Instant: `s p o` triples, separated by commas."""
Rows = list[tuple[int, int | None, int | None, dict[str, str]]]


def group(text: str) -> ast.Group:
    """A group of OBEP's own syntax, which has no timed joins."""
    query = obep.load(text=f"EVENT H AS {{ {text} }}\nRETURN H", java=False)
    [event] = query.linked.events.values()
    assert isinstance(event, ast.GraphEvent) and isinstance(event.group, ast.Group)
    return event.group


def timed(operator: str, left: str | ast.TimedJoin, right: str | ast.TimedJoin) -> ast.TimedJoin:
    sides = [group(one) if isinstance(one, str) else one for one in (left, right)]
    return ast.TimedJoin(operator, *sides)  # type: ignore[arg-type]


def where(*elements: ast.GroupElement) -> ast.Select:
    return ast.Select((), ast.Group(elements))


def triples(text: str) -> list[Triple]:
    def term(word: str) -> str:
        return word if word[0] == '"' else f"<{EX}{word}>"

    return [tuple(map(term, one.split())) for one in text.split(",")]  # type: ignore[misc]


def run(
    select: ast.Select, stream: Stream, k: str = "", rules: dict[str, ast.ConstructQuery] | None = None
) -> Rows:
    program = TimedProgram(
        [*(rules or {}).items(), ("q", select)],
        ListedDataset(triples(k) if k else []),
        lambda name: {name},
        lambda triple: [triple],
    )
    found: Rows = []
    for at, text in stream.items():
        for answer in program.take(at, dict.fromkeys(triples(text), 0)):
            found += [(at, row.start, row.end, shown(row.values)) for row in answer.rows]
    return found


def shown(values: dict[str, str]) -> dict[str, str]:
    return {name: value.removeprefix(f"<{EX}").removesuffix(">") for name, value in values.items()}


def construct(template: str, *elements: ast.GroupElement) -> ast.ConstructQuery:
    [bgp] = group(template).elements
    assert isinstance(bgp, ast.Bgp)
    assert all(isinstance(one, ast.TriplePattern) for one in bgp.patterns)
    return ast.ConstructQuery(bgp.patterns, where(*elements))  # type: ignore[arg-type]


def test_triple_patterns_are_matched_at_any_times() -> None:
    asked = where(*group("?x :p ?y . ?y :q ?z").elements)
    assert run(asked, {1: "a p b", 4: "b q c, b q d", 6: "a p b"}) == [
        (4, 1, 4, {"x": "a", "y": "b", "z": "c"}),
        (4, 1, 4, {"x": "a", "y": "b", "z": "d"}),
        (6, 4, 6, {"x": "a", "y": "b", "z": "c"}),
        (6, 4, 6, {"x": "a", "y": "b", "z": "d"}),
    ]


def test_triples_of_the_static_graph_bring_no_interval() -> None:
    asked = where(*group("?x :p ?y . ?y :q ?z").elements)
    assert run(asked, {5: "a p b"}, k="b q c, a p b") == [(5, 5, 5, {"x": "a", "y": "b", "z": "c"})]


def test_seq_wants_the_end_before_the_start() -> None:
    asked = where(timed("SEQ", "?x :p ?y", "?x :q ?z"))
    stream = {1: "a p b, a q b", 3: "a q c, c q d", 4: "a p d"}
    assert run(asked, stream) == [(3, 1, 3, {"x": "a", "y": "b", "z": "c"})]


def test_equals_wants_the_same_interval() -> None:
    asked = where(timed("EQUALS", "?x :p ?y", "?x :q ?z"))
    assert run(asked, {1: "a p b", 2: "a q c, a p d"}) == [(2, 2, 2, {"x": "a", "y": "d", "z": "c"})]


def test_optionalseq_has_what_came_before_or_the_right_alone() -> None:
    asked = where(timed("OPTIONALSEQ", "?x :p ?y", "?x :q ?z"))
    assert run(asked, {1: "a p b", 2: "a q c, d q c", 3: "d p b"}) == [
        (2, 1, 2, {"x": "a", "y": "b", "z": "c"}),
        (2, 2, 2, {"x": "d", "z": "c"}),
    ]


def test_the_filter_of_an_optional_group_sees_the_times_of_both() -> None:
    asked = where(timed("OPTIONALSEQ", "?x :p ?y FILTER(getDURATION() < 3 s)", "?x :q ?z"))
    stream = {1_000_000: "a p b", 3_000_000: "a q c", 4_000_000: "a q d"}
    assert run(asked, stream) == [
        (3_000_000, 1_000_000, 3_000_000, {"x": "a", "y": "b", "z": "c"}),
        (4_000_000, 4_000_000, 4_000_000, {"x": "a", "z": "d"}),
    ]


def test_equalsoptional_has_what_is_there_at_the_same_time() -> None:
    asked = where(timed("EQUALSOPTIONAL", "?x :p ?y", "?x :q ?z"))
    assert run(asked, {1: "a p b, a q c", 2: "a p d"}) == [
        (1, 1, 1, {"x": "a", "y": "b", "z": "c"}),
        (2, 2, 2, {"x": "a", "y": "d"}),
    ]


def test_optional_takes_what_ends_no_later() -> None:
    asked = where(*group("?x :p ?y OPTIONAL { ?x :q ?z }").elements)
    assert run(asked, {1: "a q b", 2: "a p c", 3: "d p c, d q e", 4: "a q f"}) == [
        (2, 1, 2, {"x": "a", "y": "c", "z": "b"}),
        (3, 3, 3, {"x": "d", "y": "c", "z": "e"}),
    ]


def test_minus_and_not_exists_look_at_what_ends_no_later() -> None:
    stream = {1: "a q b", 2: "a p c, d p c", 3: "d q e"}
    for text in ("?x :p ?y MINUS { ?x :q ?z }", "?x :p ?y FILTER NOT EXISTS { ?x :q ?z }"):
        assert run(where(*group(text).elements), stream) == [(2, 2, 2, {"x": "d", "y": "c"})]
    exists = where(*group("?x :p ?y FILTER EXISTS { ?x :q ?z FILTER(?z != ?y) }").elements)
    assert run(exists, stream) == [(2, 2, 2, {"x": "a", "y": "c"})]


def test_a_filter_that_bounds_the_duration_bounds_what_is_remembered() -> None:
    inner = timed("SEQ", "?x :p ?y", "?x :q ?z")
    asked = where(inner, *group("FILTER(getDURATION() < 3 s)").elements)
    stream = {1_000_000: "a p b", 3_000_000: "a q c", 4_000_000: "a q d"}
    assert run(asked, stream) == [(3_000_000, 1_000_000, 3_000_000, {"x": "a", "y": "b", "z": "c"})]


def test_rules_feed_each_other_within_an_instant_and_over_time() -> None:
    rules = {
        "base": construct("?x :reaches ?y", *group("?x :next ?y").elements),
        "step": construct("?x :reaches ?z", *group("?x :reaches ?y . ?y :next ?z").elements),
    }
    asked = where(*group(":a :reaches ?y").elements)
    assert run(asked, {1: "a next b", 2: "b next c", 3: "c next d, d next a"}, rules=rules) == [
        (1, 1, 1, {"y": "b"}),
        (2, 1, 2, {"y": "c"}),
        (3, 1, 3, {"y": "a"}),
        (3, 1, 3, {"y": "b"}),
        (3, 1, 3, {"y": "c"}),
        (3, 1, 3, {"y": "d"}),
    ]


def test_a_cycle_through_a_negation_of_the_same_instant_is_refused() -> None:
    denied = construct("?x :q ?y", *group("?x :p ?y FILTER NOT EXISTS { ?x :q ?z }").elements)
    with pytest.raises(ObepError, match="OBEP714"):
        run(where(*group("?x :q ?y").elements), {1: "a p b"}, rules={"denied": denied})
    before = construct("?x :q ?y", timed("OPTIONALSEQ", "?x :q ?z", "?x :p ?y"))
    assert run(where(*group("?x :q ?y").elements), {1: "a p b"}, rules={"before": before}) == [
        (1, 1, 1, {"x": "a", "y": "b"})
    ]


@pytest.mark.slow
def test_more_triples_than_an_instant_may_derive_are_none() -> None:
    endless = construct("?x :p ?z", *group("?x :p ?y BIND(?y + 1 AS ?z)").elements)
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    with pytest.raises(Refused) as refused:
        run(where(*group("?x :p ?y").elements), {1: f"a p {one}"}, rules={"endless": endless})
    assert refused.value.code == "OBEP648"
