"""What groups mean where SPARQL leaves a choice (D16 to D18, D31), and their limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from memory_dataset import ListedDataset, ListedGraph
from random_groups import EX, PROPERTIES, VARIABLES, name, typed

from obep.algebra import evaluation
from obep.algebra.live.live_group import is_incremental
from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.errors import ObepError
from obep.formats.input_limits import Refused
from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast

X, Y, Z, W = VARIABLES
P, Q = PROPERTIES
A, B = name("a").iri, name("b").iri
ONE, ZERO_ONE = term_of(typed("1", "integer")), term_of(typed("01", "integer"))


def bgp(*patterns: tuple[object, object, object]) -> ast.Bgp:
    return ast.Bgp(tuple(ast.TriplePattern(*pattern) for pattern in patterns))  # type: ignore[arg-type]


def answers(query: ast.Group | ast.Select, data: ListedDataset, now: int = 0) -> list[dict[str, Term]]:
    node = translate(query)
    rows = evaluate(node, data, now, "test")
    return [{n: v for n, v in zip(node.columns, row, strict=True) if v is not None} for row in rows]


def group(*elements: ast.GroupElement) -> ast.Group:
    return ast.Group(elements)


NUMBERS = ListedDataset([(A, P.iri, ONE), (B, Q.iri, ZERO_ONE), (B, Q.iri, ONE)])


def test_joins_compare_terms_and_filters_compare_values() -> None:
    joined = group(bgp((X, P, Z), (Y, Q, Z)))
    assert answers(joined, NUMBERS) == [{"x": A, "z": ONE, "y": B}]
    compared = group(bgp((X, P, Z), (Y, Q, W)), ast.Filter(ast.Comparison("=", Z, W)))
    assert sorted(row["w"] for row in answers(compared, NUMBERS)) == [ZERO_ONE, ONE]


def test_bind_keeps_a_term_as_it_is_written() -> None:
    rows = answers(group(bgp((Z, Q, X)), ast.Bind(X, Y)), NUMBERS)
    assert all(row["x"] == row["y"] for row in rows)
    assert {row["y"] for row in rows} == {ONE, ZERO_ONE}


def test_having_and_later_columns_see_the_aliases_of_a_select() -> None:
    counted = ast.Select(
        (
            ast.Projection(Z),
            ast.Projection(X, ast.Aggregate("COUNT")),
            ast.Projection(Y, ast.Arithmetic("+", X, typed("1", "integer"))),
        ),
        group(bgp((Z, Q, W))),
        group_by=(ast.Projection(Z),),
        having=(ast.Comparison(">", X, typed("1", "integer")),),
    )
    two, three = (term_of(typed(text, "integer")) for text in "23")
    assert answers(counted, NUMBERS) == [{"z": B, "x": two, "y": three}]


def test_blank_nodes_and_the_inside_of_paths_make_no_solution_different() -> None:
    two = ListedDataset([(A, P.iri, ONE), (A, P.iri, ZERO_ONE), (ONE, Q.iri, B), (ZERO_ONE, Q.iri, B)])
    by_path = ast.Bgp((ast.PathPattern(X, ast.PathSequence((P, Q)), Y),))
    by_blank = bgp((X, P, ast.Var("_:o")))
    for pattern in (by_path, by_blank):
        count = ast.Projection(Z, ast.Aggregate("COUNT", None, distinct=True))
        assert answers(ast.Select((count,), group(pattern)), two) == [{"z": ONE}]


def test_what_makes_something_new_depends_on_solution_time_and_place_alone() -> None:
    made = group(
        bgp((Z, Q, W)),
        ast.Bind(ast.Call("UUID", ()), X),
        ast.Bind(ast.Call("UUID", ()), Y),
        ast.Bind(ast.Call("RAND", ()), ast.Var("r")),
        ast.Bind(ast.Call("BNODE", ()), ast.Var("b")),
    )
    rows = answers(made, NUMBERS, now=5)
    assert rows == answers(made, NUMBERS, now=5)
    assert len({row[n] for row in rows for n in ("x", "y")}) == 4
    assert {row["x"] for row in rows}.isdisjoint(row["x"] for row in answers(made, NUMBERS, now=6))
    assert all(row["x"].startswith("<urn:uuid:") and row["b"].startswith("_:") for row in rows)


def test_now_is_the_evaluation_time() -> None:
    [row] = answers(group(ast.Bind(ast.Call("NOW", ()), X)), NUMBERS, now=1_000_000)
    assert row["x"] == term_of(typed("1970-01-01T00:00:01Z", "dateTime"))


def test_a_limit_without_an_order_takes_the_first_rows_by_their_terms() -> None:
    data = ListedDataset([(A, P.iri, term_of(typed(text, "integer"))) for text in "312"])
    first = ast.Select((), group(bgp((X, P, Y))), limit=1, offset=1)
    again = ListedDataset(data.triples[::-1])
    assert answers(first, data) == answers(first, again) == [{"x": A, "y": term_of(typed("2", "integer"))}]


def test_rows_of_equal_keys_are_ordered_by_their_terms() -> None:
    ordered = ast.Select((), group(bgp((X, Q, Y))), order_by=(ast.OrderKey(Y, descending=True),), limit=1)
    assert answers(ordered, NUMBERS) == answers(ordered, ListedDataset(NUMBERS.triples[::-1]))


def test_a_window_is_found_by_its_name_and_bound_to_it() -> None:
    data = ListedDataset(windowed={"w1": ListedGraph([(A, P.iri, ONE)]), f"{EX}w2": ListedGraph([])})
    assert answers(group(ast.WindowGroup("w1", group(bgp((X, P, Y))))), data) == [{"x": A, "y": ONE}]
    each = group(ast.WindowGroup(W, group(bgp((X, P, Y)))))
    assert answers(each, data) == [{"w": "<w1>", "x": A, "y": ONE}]
    assert answers(group(ast.WindowGroup("w3", group())), data) == []


def test_the_columns_of_a_state_join_by_name() -> None:
    data = ListedDataset([(A, P.iri, ONE)], atoms={f"<{EX}S>": [(A, ONE), (A, ZERO_ONE), (B, ONE)]})
    query = translate(group(ast.Atom(name("S"), (X,)), bgp((X, P, Y))), {f"<{EX}S>": ("y",)})
    assert (query.columns, evaluate(query, data)) == (("x", "y"), [(A, ONE)])


def test_too_many_solutions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MOST_SOLUTIONS", 9)
    data = ListedDataset([(A, P.iri, term_of(typed(str(n), "integer"))) for n in range(4)])
    with pytest.raises(Refused) as refused:
        answers(group(bgp((X, P, Y), (Z, P, W))), data)
    assert refused.value.code == "OBEP645"


def test_a_path_with_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MOST_STEPS", 5)
    chain = [name(f"n{n}").iri for n in range(8)]
    data = ListedDataset([(chain[n], P.iri, chain[n + 1]) for n in range(7)])
    path = ast.PathPattern(name("n0"), ast.PathRepeat(P, "+"), X)
    with pytest.raises(Refused) as refused:
        answers(group(ast.Bgp((path,))), data)
    assert refused.value.code == "OBEP645"


@pytest.mark.parametrize("exists", [False, True])
def test_groups_nest_a_hundred_times(exists: bool) -> None:
    def nested(depth: int) -> ast.Group:
        inner = group()
        for _ in range(depth - 1):
            inner = group(ast.Filter(ast.Exists(inner)) if exists else inner)
        return inner

    assert answers(nested(100), NUMBERS) == [{}]
    with pytest.raises(ObepError) as error:
        translate(nested(101))
    assert error.value.code == "OBEP005"


def test_an_aggregate_in_a_filter_is_an_error() -> None:
    with pytest.raises(ObepError) as error:
        translate(group(ast.Filter(ast.Comparison(">", ast.Aggregate("COUNT"), typed("1", "integer")))))
    assert error.value.code == "OBEP153"


def test_minus_in_exists_looks_at_the_variables_of_its_two_sides_alone() -> None:
    """`?y` is bound outside and on neither side of the MINUS: it is no reason to take anything away."""
    data = ListedDataset([(A, P.iri, ONE), (B, Q.iri, ONE)])
    inner = group(bgp((X, P, Z)), ast.GroupMinus(group(bgp((W, Q, ast.Var("o"))))))
    assert len(answers(group(bgp((Y, P, Z)), ast.Filter(ast.Exists(inner))), data)) == 1


DEEP = ListedDataset([(A, P.iri, ONE), (B, P.iri, A), (A, Q.iri, ONE), (B, Q.iri, B)])
INNER = {
    "a filter": group(bgp((X, Q, Z)), ast.Filter(ast.Comparison("=", Z, Y))),
    "an OPTIONAL": group(
        bgp((X, Q, W)),
        ast.GroupOptional(group(bgp((Z, Q, Y)))),
        ast.Filter(ast.Negation("!", ast.Call("BOUND", (Z,)))),
    ),
    "a MINUS": group(bgp((X, Q, W)), ast.GroupMinus(group(bgp((X, Q, Y))))),
}


@pytest.mark.parametrize("kind", INNER)
def test_the_row_that_exists_tests_reaches_into_the_groups_in_it(kind: str) -> None:
    """So such an EXISTS is no join with what its inside finds alone, and it is evaluated anew.

    Each row of `{ ?x :p ?y }` is put into the inside and that evaluated by itself, as the reference.
    """
    query = group(bgp((X, P, Y)), ast.Filter(ast.Exists(group(bgp((X, P, ast.Var("v"))), INNER[kind]))))
    expected = [
        row for row in answers(group(bgp((X, P, Y))), DEEP) if answers(_with_values(INNER[kind], row), DEEP)
    ]
    assert answers(query, DEEP) == expected
    assert 0 < len(expected) < 2
    assert is_incremental(translate(query)) is not None


def _with_values(node: ast.Group, row: dict[str, Term]) -> ast.Group:
    """A group that begins, and whose groups begin, with the values of a row."""
    values = ast.Values(tuple(map(ast.Var, row)), (tuple(_constant(one) for one in row.values()),))
    elements = [
        replace(one, group=_with_values(one.group, row))
        if isinstance(one, ast.GroupOptional | ast.GroupMinus)
        else one
        for one in node.elements
    ]
    return group(values, *elements)


def _constant(term: Term) -> ast.Name | ast.Literal:
    return ast.Name("", term) if term[0] == "<" else typed("1", "integer")


def test_an_aggregate_in_a_graph_with_a_variable_is_one_for_each_graph() -> None:
    data = ListedDataset(named={A: ListedGraph([(A, P.iri, ONE)]), B: ListedGraph()})
    counted = ast.Select((ast.Projection(Z, ast.Aggregate("COUNT")),), group(bgp((X, P, Y))))
    zero = term_of(typed("0", "integer"))
    assert answers(group(ast.GraphGroup(W, group(counted))), data) == [
        {"w": A, "z": ONE},
        {"w": B, "z": zero},
    ]
