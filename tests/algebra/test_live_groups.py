"""A live group has the rows that evaluating anew gives, after any additions and removals."""

from __future__ import annotations

import os

import pytest
from hypothesis import assume, given, settings
from live_changes import differences, random_query
from memory_dataset import ListedGraph
from random_groups import PROPERTIES, STATES, VARIABLES, Choices, choices, name, seeded, typed
from sparql_text import select_text

from obep.algebra import evaluation
from obep.algebra.live.fact_source import DEFAULT_GRAPH, atom_source, window_graph
from obep.algebra.live.live_group import LiveGroup, is_incremental
from obep.algebra.translate import translate
from obep.formats.input_limits import Refused
from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "0"))
X, Y, Z, W = VARIABLES
P, Q = PROPERTIES
A, B = name("a").iri, name("b").iri


def integer(number: int) -> Term:
    return term_of(typed(str(number), "integer"))


@pytest.mark.slow
@settings(max_examples=max(100, EXAMPLES))
@given(choices())
def test_a_live_group_is_the_group_evaluated_anew(c: Choices) -> None:
    query = random_query(c)
    assume(is_incremental(translate(query)) is None)
    assert differences(c, query) == "", select_text(query, {one.iri: [] for one in STATES})


@pytest.mark.slow
@settings(max_examples=max(50, EXAMPLES))
@given(choices())
def test_a_graph_that_does_not_change_is_looked_up(c: Choices) -> None:
    query = random_query(c)
    assume(is_incremental(translate(query), {DEFAULT_GRAPH: ListedGraph()}) is None)
    assert differences(c, query, static=True) == "", select_text(query, {one.iri: [] for one in STATES})


def test_most_random_groups_are_incremental() -> None:
    """The properties above are about something."""
    kept = [is_incremental(translate(random_query(seeded(seed)))) is None for seed in range(200)]
    assert sum(kept) > 140


def window(text: str, *patterns: tuple[object, object, object]) -> ast.WindowGroup:
    return ast.WindowGroup(text, ast.Group((bgp(*patterns),)))


def bgp(*patterns: tuple[object, object, object]) -> ast.Bgp:
    return ast.Bgp(tuple(ast.TriplePattern(*pattern) for pattern in patterns))  # type: ignore[arg-type]


TOO_HOT = ast.Group(
    (
        window("now", (X, P, Y)),
        window("set", (X, Q, Z)),
        ast.Filter(ast.Comparison(">", Y, ast.Arithmetic("+", Z, typed("2", "integer")))),
    )
)


def test_two_windows_compare_and_only_what_changed_is_given_back() -> None:
    live = LiveGroup(translate(TOO_HOT))
    now, set_ = live.graph(window_graph("now")), live.graph(window_graph("set"))
    set_.add((A, Q.iri, integer(20)))
    now.add((A, P.iri, integer(21)))
    assert live.changes() == {}
    now.remove((A, P.iri, integer(21)))
    now.add((A, P.iri, integer(25)))
    assert live.changes() == {(A, integer(25), integer(20)): 1}
    set_.remove((A, Q.iri, integer(20)))
    set_.add((A, Q.iri, integer(24)))
    assert live.changes() == {(A, integer(25), integer(20)): -1}
    assert live.rows == {}


def test_a_count_of_no_rows_is_there_from_the_beginning() -> None:
    counted = ast.Select((ast.Projection(Z, ast.Aggregate("COUNT")),), ast.Group((bgp((X, P, Y)),)))
    live = LiveGroup(translate(counted))
    assert live.changes() == {(integer(0),): 1}
    live.graph(DEFAULT_GRAPH).add((A, P.iri, B))
    assert live.changes() == {(integer(0),): -1, (integer(1),): 1}


def test_a_state_that_begins_to_hold_takes_away_what_must_not_be() -> None:
    """`{ ?x :p ?y FILTER NOT EXISTS { S(?x) } }`."""
    absent = ast.Exists(ast.Group((ast.Atom(name("S"), (X,)),)), negated=True)
    live = LiveGroup(translate(ast.Group((bgp((X, P, Y)), ast.Filter(absent)))))
    live.graph(DEFAULT_GRAPH).add((A, P.iri, B))
    assert live.changes() == {(A, B): 1}
    state = live.atom(atom_source(name("S").iri))
    state.add((A,))
    assert live.changes() == {(A, B): -1}
    state.remove((A,))
    assert live.changes() == {(A, B): 1}


def test_too_many_rows_are_refused_and_the_last_answer_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MOST_SOLUTIONS", 2)
    live = LiveGroup(translate(ast.Group((bgp((X, P, Y)),))))
    feed = live.graph(DEFAULT_GRAPH)
    for number in range(3):
        feed.add((A, P.iri, integer(number)))
    with pytest.raises(Refused) as refused:
        live.changes()
    assert (refused.value.code, live.rows) == ("OBEP645", {})
    feed.remove((A, P.iri, integer(0)))
    assert live.changes() == {(A, integer(1)): 1, (A, integer(2)): 1}


def test_far_too_many_rows_end_a_live_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns that share no variable: each fact of one meets all of the other."""
    monkeypatch.setattr(evaluation, "MOST_SOLUTIONS", 2)
    live = LiveGroup(translate(ast.Group((bgp((X, P, Y), (Z, Q, W)),))))
    feed = live.graph(DEFAULT_GRAPH)
    with pytest.raises(Refused):
        for number in range(20):
            feed.add((A, P.iri, integer(number)))
            feed.add((A, Q.iri, integer(number)))
    with pytest.raises(Refused) as refused:
        live.changes()
    assert refused.value.code == "OBEP645"


PATH = ast.Bgp((ast.PathPattern(X, ast.PathRepeat(P, "+"), Y),))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (ast.Group((PATH,)), "a path"),
        (ast.Select((), ast.Group((bgp((X, P, Y)),)), limit=3), "LIMIT"),
        (ast.Group((ast.GraphGroup(Z, ast.Group((bgp((X, P, Y)),))),)), "GRAPH"),
        (ast.Group((ast.Bind(ast.Call("NOW", ()), X),)), "evaluation time"),
        (ast.Group((ast.Filter(ast.Negation("!", ast.Exists(ast.Group(())))),)), "EXISTS"),
    ],
)
def test_what_is_evaluated_anew_has_a_reason(query: ast.Group | ast.Select, reason: str) -> None:
    assert reason in (is_incremental(translate(query)) or "")
