"""What is remembered of a shape is what a second look would find."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from cases import bundle, found, item, linked, shown
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import axioms, graphs, name, ontology

import obep
from obep.abstraction.matcher import Matched, Matcher
from obep.abstraction.shapes import Memory
from obep.guards.block_queries import asks
from obep.model import DeadLetter, Item, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.runnable import Contradiction
from obep.ontology.owl import axioms as ax


def renamed(triples: list[Triple], suffix: str) -> tuple[Triple, ...]:
    """The same item with other names for i1 and i2."""

    def other(term: str) -> str:
        return f"{term[:-1]}{suffix}>" if term in (name("i1"), name("i2")) else term

    return tuple((other(s), p, other(o)) for s, p, o in triples)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(axioms, max_size=4), graphs, st.lists(graphs, min_size=2, max_size=6))
def test_remembered_answers_are_the_answers(
    some: list[ax.Axiom], k: list[Triple], items: list[list[Triple]]
) -> None:
    compiled = Bundle(
        linked("EVENT H AS C0 and r0 some Thing\nEVENT G AS d some number[>= 1]"), ontology(some), k
    )
    try:
        warm, fresh = Matcher(compiled), Matcher(compiled, remember=0)
    except Contradiction:
        return
    for suffix in ("", "x", "yy"):
        for triples in items:
            one = Item("s", 1, renamed(triples, suffix))
            first, second = warm.match(one), fresh.match(one)
            if isinstance(first, Matched) and isinstance(second, Matched):
                assert [(o.key, o.solutions) for o in first.occurrences] == [
                    (o.key, o.solutions) for o in second.occurrences
                ]
            else:
                assert first == second
    assert fresh.remembered == 0


def test_items_that_differ_in_their_own_names_share_a_shape() -> None:
    matcher = Matcher(bundle("", "EVENT H AS p some A", ":k a :A ."))
    for n in range(5):
        assert found(matcher, f":x{n} :p :k ; :p :y{n} . :y{n} a :A .") == {
            f"H(:x{n}) <= :k a :A ; :x{n} :p :k*",
            f"H(:x{n}) <= :x{n} :p :y{n}* ; :y{n} a :A*",
        }
    assert matcher.remembered == 1


def test_names_of_k_keep_shapes_apart() -> None:
    matcher = Matcher(bundle("", "EVENT H AS p some A", ":k a :A . :m a :B ."))
    assert found(matcher, ":x :p :k .")
    assert not found(matcher, ":x :p :m .")
    assert not found(matcher, ":x :p :n .")


def test_names_of_t_keep_shapes_apart() -> None:
    matcher = Matcher(bundle("", "EVENT H AS p value :a"))
    assert found(matcher, ":x :p :a .")
    assert not found(matcher, ":x :p :b .")


def test_literals_share_a_shape_where_they_are_only_compared_with_constants() -> None:
    matcher = Matcher(bundle(":t a owl:DatatypeProperty .", "EVENT H AS t some number[> 30]"))
    for n in range(20, 40):
        assert bool(found(matcher, f":x :t {n} .")) == (n > 30)
    assert matcher.remembered == 2


def test_literals_keep_shapes_apart_where_a_property_is_functional() -> None:
    """The counterexample: two literals of one cell, of which only one agrees with K."""
    matcher = Matcher(
        bundle(
            ":t a owl:DatatypeProperty , owl:FunctionalProperty .", "EVENT H AS t some number", ":x :t 5 ."
        )
    )
    assert isinstance(matcher.match(item(":x :t 6 .")), DeadLetter)
    assert found(matcher, ":x :t 5 .") == {'H(:x) <= :x :t "5"*'}
    assert isinstance(matcher.match(item(":y :t 6 , 7 .")), DeadLetter)
    assert found(matcher, ":y :t 6 , 6.0 .")


def test_a_blank_node_is_not_like_a_name_where_there_are_keys() -> None:
    """Keys speak of named individuals only."""
    matcher = Matcher(
        bundle(":P owl:hasKey ( :n ) . :n a owl:ObjectProperty .", "EVENT H AS Q", ":a a :P , :Q ; :n :k .")
    )
    assert found(matcher, ":b a :P ; :n :k .")
    assert not found(matcher, "_:b a :P ; :n :k .")


def test_solutions_are_remembered_with_the_items_own_names() -> None:
    query = linked(
        "EVENT H AS p some Thing\n"
        "EVENT G MATCH H AS h IF { EVENT h { ?this :p ?y . ?y :t ?v . FILTER(?v > 30) } }\nRETURN G"
    )
    compiled = Bundle(query, ontology([]), ())
    matcher = Matcher(compiled, asks(query).all)
    (ask,) = asks(query).all
    for n in (20, 31, 25, 40):
        answer = matcher.match(item(f":x{n} :p :y{n} . :y{n} :t {n} ."))
        assert isinstance(answer, Matched)
        (only,) = answer.occurrences
        if n > 30:
            values = dict(zip(ask.variables, only.solutions[ask.number][0], strict=True))
            assert values["y"] == name(f"y{n}")
            assert values["v"].startswith(f'"{n}"')
        else:
            assert only.solutions == {}
    assert matcher.remembered == 1


def test_a_term_that_a_guard_names_keeps_shapes_apart() -> None:
    query = linked(
        "EVENT H AS p some Thing\nEVENT G MATCH H AS h IF { EVENT h { ?this :q :special } }\nRETURN G"
    )
    matcher = Matcher(Bundle(query, ontology([]), ()), asks(query).all)
    counts = []
    for other in ("plain", "special", "plain"):
        answer = matcher.match(item(f":x :p :y ; :q :{other} ."))
        assert isinstance(answer, Matched)
        counts.append(len(answer.occurrences[0].solutions))
    assert counts == [0, 1, 0]


def test_memory_forgets_what_was_not_used() -> None:
    memory: Memory[int] = Memory(10)
    for n in range(100):
        memory.put(n, n)
        memory.get(0)
    assert memory.get(0) == 0
    assert memory.get(50) is None
    assert len(memory) <= 10


def test_shuffled_items_have_the_same_occurrences() -> None:
    matcher = Matcher(bundle("", "EVENT H AS p some (A and q some B)", ":b a :B ."))
    triples = list(item(":x :p :y . :y a :A ; :q :b . :z :p :y .").triples)
    rng = random.Random(3)
    wanted = None
    for _ in range(6):
        rng.shuffle(triples)
        answer = matcher.match(Item("s", 7, tuple(triples)))
        assert isinstance(answer, Matched)
        wanted = wanted or shown(answer.occurrences)
        assert shown(answer.occurrences) == wanted


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(2, 6)] * 3), min_size=2, max_size=8))
def test_values_that_are_equal_in_one_item_only_are_not_mixed_up(values: list[tuple[int, int, int]]) -> None:
    query = _with_key()
    warm, fresh = (Matcher(query.bundle, query.asks.all, **more) for more in ({}, {"remember": 0}))
    for n, (p, q, r) in enumerate(values):
        one = item(f":x{n} a :S ; :p {p} ; :q {q} ; :r {r} .")
        first, second = warm.match(one), fresh.match(one)
        assert isinstance(first, Matched) and isinstance(second, Matched)
        assert [(o.key, o.solutions) for o in first.occurrences] == [
            (o.key, o.solutions) for o in second.occurrences
        ]
        assert {row for o in first.occurrences for rows in o.solutions.values() for row in rows} == (
            {(f'"{q}"^^<http://www.w3.org/2001/XMLSchema#integer>',)} if p > 3 else set()
        )


@cache
def _with_key() -> obep.Query:
    with TemporaryDirectory() as place:
        (Path(place) / "t.ttl").write_text(
            "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
            ":S a owl:Class ; owl:hasKey (:q) . :p a owl:DatatypeProperty . :q a owl:DatatypeProperty .\n"
            ":r a owl:DatatypeProperty ."
        )
        text = (
            "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\n"
            "EVENT X AS (S and p some integer[> 3] and r some integer[>= 0])\n"
            "EVENT B(?v) MATCH X AS x IF { EVENT x { ?this :q ?v } }\nRETURN B"
        )
        return obep.load(text=text, folder=place, java=False, lints=False)
