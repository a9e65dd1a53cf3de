"""The oracle on patterns over states and on graph events, worked out by hand (STATES 3, DIALECTS 8)."""

from __future__ import annotations

import pytest

from obep.model import SECOND
from obep.query import ast
from oracle.pattern_cases import iri
from oracle.state_cases import (
    agg,
    as_,
    begin,
    block,
    cmp,
    composite,
    end,
    episode,
    found,
    group,
    latest,
    leaf,
    n,
    run,
    s,
    triples,
    use,
    v,
)

T = ast.EventState(n("T"), v("x"), leaf("A", "x"), leaf("B", "x"))
C, D = leaf("C", "x"), leaf("D", "x")
C_THEN_D = ast.Seq((leaf("C"), leaf("D")))


def while_(left: ast.Pattern, names: str = "x") -> ast.While:
    return ast.While(left, use("T", names))


def unless(left: ast.Pattern, names: str = "x") -> ast.Unless:
    return ast.Unless(left, use("T", names))


def repeated(until: ast.Pattern | None = None, at_most: int | None = None) -> ast.Repeated:
    return ast.Repeated(C, s(2), until, at_most)


BE = begin("T", "x")
PATTERNS = {
    "BEGIN": (BE, "A1x B4x A5x", ["[1,1]@1 x=x", "[5,5]@5 x=x"]),
    "END": (end("T", "x"), "A1x B4x A5x |9", ["[4,4]@4 x=x"]),
    "END FOR: lasted exactly d": (end("T", "x", 3), "A1x B4x", ["[4,4]@4 x=x"]),
    "END FOR: too short": (end("T", "x", 4), "A1x B4x", []),
    "S": (episode("T", "x"), "A1x B4x A5x |9", ["[1,4]@4 x=x"]),
    "S FOR: an end at the deadline comes too late": (episode("T", "x", 3), "A1x B4x", ["[1,4]@4 x=x"]),
    "S FOR: an end before it": (episode("T", "x", 3), "A1x B3x |9", []),
    "S FOR: once for each episode": (
        episode("T", "x", 2),
        "A1x A2x B6x A7x |20",
        ["[1,3]@3 x=x", "[7,9]@9 x=x"],
    ),
    "S FOR: beyond the end it is pending": (episode("T", "x", 3), "A1x |3", []),
    "DURING has one at x": (ast.Allen("DURING", leaf("C"), episode("T", "x")), "A1x C4 B4x", ["[4,4]@4 x=x"]),
    "WHILE has none at x": (while_(leaf("C")), "A1x C4 B4x", []),
    "WHILE has one at b": (while_(leaf("C")), "A1x C1 B4x", ["[1,1]@1 x=x"]),
    "WHILE joins": (while_(C), "A1x C2x C2y", ["[2,2]@2 x=x"]),
    "WHILE: a solution for each k": (while_(leaf("C")), "A1x A1y C2", ["[2,2]@2 x=x; x=y"]),
    "WHILE from start to end": (while_(C_THEN_D), "C0 A1x C2 D3 B4x D5", ["[2,3]@3 x=x"]),
    "WHILE is decided with e": (while_(leaf("C")), "A1x C2 |9", ["[2,2]@2 x=x"]),
    "UNLESS": (unless(C), "A1x C2x C2y B4x C4x", ["[2,2]@2 x=y", "[4,4]@4 x=x"]),
    "UNLESS looks at e.end alone": (unless(C_THEN_D, "x"), "A1x C2 B4x D5", ["[2,5]@5"]),
    "UNLESS at b": (unless(C), "A1x C1x", []),
    "WHILE inside WITHIN knows the whole stream": (
        ast.Within(while_(leaf("C")), s(2)),
        "A1x C9",
        ["[9,9]@9 x=x"],
    ),
    "BEGIN inside WITHIN counts from its start": (
        ast.Within(ast.Seq((BE, leaf("C"))), s(3)),
        "A1x C3 C4",
        ["[1,3]@3 x=x"],
    ),
    "UNLESS below FIRST": (ast.First(unless(C)), "A1x C2x C3y C4z", ["[3,3]@3 x=y"]),
    "REPEATED AT MOST": (
        repeated(at_most=3),
        "C1x |20",
        ["[1,3]@3 x=x", "[1,5]@5 x=x", "[1,7]@7 x=x"],
    ),
    "REPEATED UNTIL": (repeated(D), "C1x D4x |20", ["[1,3]@3 x=x"]),
    "REPEATED: a u at the deadline is too late": (repeated(D), "C1x D5x |20", ["[1,3]@3 x=x", "[1,5]@5 x=x"]),
    "REPEATED: a u at e.end is not": (repeated(D), "C1x D1x |20", []),
    "REPEATED UNTIL joins": (repeated(D, 2), "C1x D2y |20", ["[1,3]@3 x=x", "[1,5]@5 x=x"]),
    "REPEATED: D11 does not hold": (repeated(leaf("C", "x", "u")), "C1x |20", []),
    "REPEATED beyond the end": (repeated(D), "C1x |4", ["[1,3]@3 x=x"]),
    "SEQ of BEGIN and END": (
        ast.Seq((BE, end("T", "x", None, "e"))),
        "A1x A2y B3x B4y",
        ["[1,3]@3 x=x", "[2,4]@4 x=y"],
    ),
    "NOT FOLLOWED BY END is FOR": (
        ast.NotFollowedBy(BE, end("T", "x", None, "e"), s(3)),
        "A1x B3x A5x B8x A9x |20",
        ["[5,8]@8 x=x", "[9,12]@12 x=x"],
    ),
    "OR": (ast.Or((BE, end("T", "x", None, "e"))), "A1x B3x", ["[1,1]@1 x=x", "[3,3]@3 x=x"]),
    "D11: one episode is not two": (ast.Join((begin("T", "x", "a"), begin("T", "x", "b"))), "A1x |9", []),
    "LAST BEGIN is a view": (
        ast.Seq((ast.Last(begin("T", "x")), leaf("C"))),
        "A1x B2x A3x C4",
        ["[3,4]@4 x=x"],
    ),
    "TIMES": (ast.Times(BE, 2), "A1x B2x A3x A4y", ["[1,3]@3 x=x"]),
}


@pytest.mark.parametrize("case", PATTERNS)
def test_a_pattern_over_a_state(case: str) -> None:
    pattern, stream, expected = PATTERNS[case]
    assert found(run([T, composite("H", pattern)], stream)) == expected


def test_leaves_are_consumed_and_contexts_are_not() -> None:
    pattern = ast.Seq((BE, leaf("C")))
    once = composite("H", pattern, policy="chronological")
    assert found(run([T, once], "A1x B2x C3 C4")) == ["[1,3]@3 x=x"]
    beside = composite("H", ast.While(ast.Seq((leaf("C"), leaf("D"))), use("T", "x")), policy="recent")
    assert found(run([T, beside], "A1x C2 D3 C4 D5")) == ["[2,3]@3 x=x", "[4,5]@5 x=x"]


def test_a_context_need_not_bind_the_variable_of_a_partition() -> None:
    event = composite("H", ast.While(ast.Seq((C, D)), use("T", "y")), partition_by=v("x"))
    assert found(run([T, event], "A1k C2a D3b D4a")) == ["[2,4]@4 x=a y=k"]


def test_guards_see_the_bindings_of_a_state() -> None:
    means = (as_("m", agg("AVG", "v")),)
    mean = ast.OverState(
        n("T"), v("x"), leaf("R", "x", "r"), s(9), guard=block("r", "?this v ?v"), aggregates=means
    )
    guard = ast.Guard((ast.Block(("c",), triples("?this w ?w"), ()),), (ast.Filter(cmp("?w", ">", "?m")),))
    event = composite("H", ast.While(leaf("C", "x", "c"), use("T", "x")), guard=guard)
    stream = "R1x(v=4) C2x(w=5) R3x(v=8) C4x(w=5) C5x(w=7)"  # the mean is 4, then 6
    assert found(run([mean, event], stream)) == [
        "[2,2]@2 m=4.000000000000 w=5 x=x",
        "[5,5]@5 m=6.000000000000 w=7 x=x",
    ]
    at_end = composite("H", end("T", "x"), "x m")
    assert found(run([mean, at_end], "R1x(v=4) R3x(v=8) |20")) == ["[12,12]@12 m=8.000000000000 x=x"]


def test_bindings_that_no_one_mentions_do_not_join() -> None:
    """The mean is 4 when it begins, 8 when it ends; FOR d must still be BEGIN NOT FOLLOWED BY END."""
    means = (as_("m", agg("AVG", "v")),)
    read = block("r", "?this v ?v")
    state = ast.OverState(n("T"), v("x"), leaf("R", "x", "r"), s(5), guard=read, aggregates=means)
    both = ast.Seq((begin("T", "x"), end("T", "x", None, "e")))
    absent = ast.NotFollowedBy(begin("T", "x"), end("T", "x", None, "e"), s(9))
    stream = "R1x(v=4) R3x(v=8) |20"
    assert found(run([state, composite("H", both)], stream)) == ["[1,8]@8 x=x"]
    assert found(run([state, composite("H", absent)], stream)) == []
    assert found(run([state, composite("H", both, "x m")], stream)) == [], "?m is mentioned, and differs"


def test_the_sensor_that_never_reported_is_found() -> None:
    installed = ast.ClassState(n("I"), v("x"), ast.ClassName(n("Sensor")))
    event = composite("H", ast.NotFollowedBy(begin("I", "x"), leaf("R", "x"), s(5)))
    assert found(run([installed, event], "R1x |9", "x a Sensor . y a Sensor")) == ["[1-,6-]@6- x=y"]


def test_identity_is_by_kind_state_key_start_and_end() -> None:
    answer = run([T, composite("H", ast.Seq((BE, leaf("C"))))], "A1x C2c")
    ((told, _),) = [(t, c) for t, c in answer.occurrences.items() if t[0] == iri("H")]
    leaves = dict(told[6][0])  # type: ignore[index]
    assert ("begin", iri("T"), (iri("x"),), SECOND, SECOND) in leaves


def test_identity_of_a_state_without_parameters_has_an_empty_key() -> None:
    closed = ast.EventState(n("T"), (), leaf("A"), leaf("B"))
    answer = run([closed, composite("H", begin("T"))], "A1x")
    ((told, _),) = [(t, c) for t, c in answer.occurrences.items() if t[0] == iri("H")]
    assert ("begin", iri("T"), (), SECOND, SECOND) in dict(told[6][0])  # type: ignore[index]


# --- graph events -----------------------------------------------------------------------------------------


def graph(*elements: object, names: str = "z", on: str | None = None) -> ast.GraphEvent:
    return ast.GraphEvent(n("H"), group(*elements), v(names), on)


ZONES = "z a Zone . z temp 99"
RANGE = ast.Window("w", "s", "range", s(5))
GRAPHS = {
    "on items, with K": ([graph("?z a Zone . ?z temp ?t")], "1z(temp=5) 2q(temp=6)", ["[1,1]@1 t=5 z=z"]),
    "only news": ([graph("?z a Zone . ?z temp ?t")], "A1x", []),
    "news by FILTER alone": (
        [graph("?z a Zone", ast.Filter(ast.Exists(group("?z open 1"))))],
        "1z(open=1) 2q(open=1)",
        [],
    ),
    "one for each value of the parameters": (
        [graph("?z temp ?t", names="t")],
        "1a(temp=5) 1b(temp=5) 2a(temp=6)",
        ["[1,1]@1 t=5 z=a; t=5 z=b", "[2,2]@2 t=6 z=a"],
    ),
    "without parameters: all variables": (
        [graph("?z temp ?t", names="")],
        "1a(temp=5|6)",
        ["[1,1]@1 t=5 z=a", "[1,1]@1 t=6 z=a"],
    ),
    "with an atom": (
        [T, graph("?z temp ?t", ast.Atom(n("T"), v("z")))],
        "A1a 2a(temp=5) 2b(temp=5) B3a 3a(temp=6)",
        ["[2,2]@2 t=5 z=a"],
    ),
    "with a WINDOW": (
        [
            latest(),
            graph("?z set ?s", ast.WindowGroup("w", group("?z temp ?t")), ast.Filter(cmp("?t", ">", "?s"))),
        ],
        "1a(temp=5) t/2a(set=4) t/3a(set=6)",
        ["[2,2]@2 s=4 t=5 z=a"],
    ),
    "on a window, when a value comes into the answer, also one of K": (
        [RANGE, graph("?z temp ?t", on="w")],
        "1a(temp=5) 3a(temp=6) 9a(temp=5)",
        ["[1,1]@1 t=5 z=a", "[1,1]@1 t=99 z=z", "[9,9]@9 t=5 z=a"],
    ),
}


@pytest.mark.parametrize("case", GRAPHS)
def test_a_graph_event(case: str) -> None:
    parts, stream, expected = GRAPHS[case]
    assert found(run(parts, stream, ZONES)) == expected


def test_a_window_over_events_counts_them() -> None:
    crowd = ast.Select(
        (ast.Projection(ast.Var("x")), as_("n", agg("COUNT"))),
        group(ast.Atom(n("G"), v("x"))),
        group_by=(ast.Projection(ast.Var("x")),),
        having=(cmp("?n", ">", 1),),
    )
    window = ast.Window("w", "", "range", s(5), event=n("G"))
    pairs = composite("G", ast.Seq((C, D)), "x")
    answer = run([window, pairs, ast.GraphEvent(n("H"), crowd, v("x"), "w")], "C1x D2x D4x D9x")
    assert found(answer) == ["[4,4]@4 n=2 x=x"]


def test_a_group_is_a_leaf() -> None:
    leaf_ = ast.GroupLeaf(group("?x temp ?t"), "g")
    assert found(run([composite("H", ast.Seq((leaf_, C)))], "1a(temp=5) C2a C3b")) == ["[1,2]@2 t=5 x=a"]
