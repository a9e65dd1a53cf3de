"""The oracle of states on cases worked out by hand: groups, windows, LATEST and calendars (STATES 2)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from obep.model import SECOND, Item
from obep.query import ast
from oracle.pattern_cases import iri
from oracle.state_cases import (
    agg,
    as_,
    block,
    cmp,
    episodes,
    group,
    latest,
    leaf,
    n,
    num,
    query,
    read_k,
    run,
    s,
    term,
    triples,
    v,
    value_at,
)
from oracle.state_semantics import evaluate
from oracle.states.state_calendar import micros

# --- by K, by windows, by groups --------------------------------------------------------------------------


def grouped(*elements: object, names: str = "z", on: str | None = None) -> ast.GroupState:
    return ast.GroupState(n("S"), v(names), group(*elements), on)


HOT = ast.WindowGroup("w", group("?z temp ?t"))
OVER_30 = ast.Filter(cmp("?t", ">", 30))
INSTALLED = ast.ClassState(n("S"), v("z"), ast.ClassName(n("Sensor")))
ON_GROUND = ast.Guard((), (), triples("?this floor g"))
T = ast.EventState(n("T"), v("z"), leaf("A", "z"), leaf("B", "z"))
RANGE = ast.Window("w", "s", "range", s(5))
CROWDED = ast.Select(
    (ast.Projection(ast.Var("z")), as_("n", agg("COUNT"))),
    group("?p in ?z"),
    group_by=(ast.Projection(ast.Var("z")),),
    having=(cmp("?n", ">", 1),),
)
OBSERVED = ast.WindowGroup("w", group("?o sensor ?z . ?o val ?t"))
SET = latest("set", "t")
GROUPS = {
    "of K from a microsecond before the first item on": ([INSTALLED], "A3x", ["x 3-..", "y 3-.."]),
    "of K with a guard": (
        [ast.ClassState(n("S"), v("z"), INSTALLED.description, guard=ON_GROUND)],
        "A3x",
        ["x 3-.."],
    ),
    "a class in a window": (
        [RANGE, ast.ClassState(n("S"), v("z"), ast.ClassName(n("KindA")), "w")],
        "A1z A3z |9",
        ["z 1..8"],
    ),
    "RANGE: until it has left": (
        [RANGE, grouped("?z temp ?t", OVER_30, on="w")],
        "1z(temp=31) |9",
        ["z 1..6"],
    ),
    "RANGE: a set of triples": (
        [RANGE, grouped("?z temp ?t", OVER_30, on="w")],
        "1z(temp=31) 3z(temp=1) |9",
        ["z 1..6"],
    ),
    "RANGE STEP: at multiples": (
        [ast.Window("w", "s", "range", s(5), s(2)), grouped("?z temp ?t", on="w")],
        "1z(temp=31) |9",
        ["z 2..6"],
    ),
    "NOT EXISTS when the last one has left": (
        [RANGE, grouped("?z a Sensor", ast.Filter(ast.Exists(group("?z temp ?t"), True)), on="w")],
        "1x(temp=5) 2y(temp=5) |9",
        ["y 1..2", "x 6..", "y 7.."],
    ),
    "a sub-select": (
        [RANGE, ast.GroupState(n("S"), v("z"), CROWDED, "w")],
        "1p(in=r) 2q(in=r) |9",
        ["r 2..6"],
    ),
    "LATEST folds the stream": ([latest(), grouped(HOT, OVER_30)], "1z(temp=31) 3z(temp=20) |9", ["z 1..3"]),
    "LATEST for ever": ([latest(), grouped(HOT, OVER_30)], "1z(temp=31) 3z(on=1) |9", ["z 1.."]),
    "LATEST r": ([latest(range=s(5)), grouped(HOT, OVER_30)], "1z(temp=31) 3z(on=1) |9", ["z 1..6"]),
    "LATEST r: each value anew": (
        [latest(range=s(5)), grouped(HOT, OVER_30)],
        "1z(temp=31) 3z(temp=32) |9",
        ["z 1..8"],
    ),
    "LATEST: all of an instant, of several items": (
        [latest(), grouped(HOT, OVER_30)],
        "1z(temp=31) 1z(temp=20) 3z(temp=20) |9",
        ["z 1..3"],
    ),
    "LATEST STEP": ([latest(step=s(2)), grouped(HOT, OVER_30)], "1z(temp=31) 3z(temp=20) |9", ["z 2..4"]),
    "LATEST: blank nodes stay as long as what leads to them": (
        [latest(), grouped(ast.WindowGroup("w", group("?z point ?p . ?p temp ?t")), OVER_30)],
        "1z(point=_b)+1_b(temp=31) 2y(on=1) 3z(point=q) |9",
        ["z 1..3"],
    ),
    "LATEST BY": (
        [latest(by=triples("?o sensor ?s")), grouped(OBSERVED, OVER_30)],
        "1o1(sensor=s1,val=31) 2o2(sensor=s2,val=40) 3o3(sensor=s1,val=20) |9",
        ["s1 1..3", "s2 2.."],
    ),
    "LATEST r BY": (
        [latest(by=triples("?o sensor ?s"), range=s(5)), grouped(OBSERVED, OVER_30)],
        "1o1(sensor=s1,val=31) 3o2(sensor=s1,val=32) |9",
        ["s1 1..8"],
    ),
    "two windows, two streams": (
        [
            latest(range=s(5)),
            SET,
            grouped(HOT, ast.WindowGroup("set", group("?z set ?s")), ast.Filter(cmp("?t", ">", "?s"))),
        ],
        "t/1z(set=20) 2z(temp=21) t/4z(set=22) t/6z(set=10) |9",
        ["z 2..4", "z 6..7"],
    ),
    "WINDOW shows no K": ([latest(), grouped(ast.WindowGroup("w", group("?z a Sensor")))], "1y(on=1)", []),
    "beside a WINDOW there is K": (
        [latest(), grouped("?z a Sensor", ast.WindowGroup("w", group("?z on 1")))],
        "1y(on=1)",
        ["y 1.."],
    ),
    "an atom": ([T, grouped("?z a Sensor", ast.Atom(n("T"), v("z")))], "A1x A2q B4x", ["x 1..4"]),
    "an atom with FOR": ([T, grouped(ast.Atom(n("T"), v("z"), s(3)))], "A1x B6x A7x B9x |12", ["x 4..6"]),
    "NOT EXISTS of an atom": (
        [T, grouped("?z a Sensor", ast.Filter(ast.Exists(group(ast.Atom(n("T"), v("z"))), True)))],
        "A1x B4x",
        ["x 1-..1", "y 1-..", "x 4.."],
    ),
}


@pytest.mark.parametrize("case", GROUPS)
def test_a_group_is_looked_at_at_every_moment(case: str) -> None:
    parts, stream, expected = GROUPS[case]
    assert episodes(run(parts, stream, "x a Sensor . y a Sensor . x floor g")) == expected


def test_the_bindings_of_an_atom_join_by_name() -> None:
    means = (as_("m", agg("AVG", "v")),)
    read = block("r", "?this v ?v")
    mean = ast.OverState(n("T"), v("z"), leaf("R", "z", "r"), s(5), guard=read, aggregates=means)
    above = grouped(ast.Atom(n("T"), v("z")), ast.Filter(cmp("?m", ">", 3)))
    assert episodes(run([mean, above], "R1x(v=2) R2x(v=8) |9")) == ["x 2..7"]


def test_a_filter_knows_functions_of_numbers_and_local_times() -> None:
    root = ast.Filter(cmp(ast.Call("SQRT", (ast.Var("t"),)), ">", 5))
    assert episodes(run([latest(), grouped(HOT, root)], "1z(temp=36) 3z(temp=16) |9")) == ["z 1..3"]
    here = ast.Call("LOCAL", (ast.Call("NOW", ()), ast.Literal("Europe/Rome")))
    hour = cmp(ast.Call("HOURS", (here,)), "=", 1)  # 00:00:01 UTC of 1970 is 01:00:01 there
    assert episodes(run([latest(), grouped(HOT, ast.Filter(hour))], "1z(temp=36) |9")) == ["z 1.."]
    late = ast.OverState(n("S"), v("z"), leaf("R", "z"), s(5), having=hour)
    assert episodes(run([late], "R1x |9")) == ["x 1..6"]
    powers = ast.Call("POW", (ast.Call("EXP", (ast.Call("LN", (num(3),)),)), num(2)))
    nine = ast.OverState(n("S"), v("z"), leaf("R", "z"), s(5), aggregates=(as_("y", powers),))
    assert {round(float(y), 9) for y in value_at(run([nine], "R1x |9"), 1)} == {9}


def test_k_may_change() -> None:
    later = [(4 * SECOND, read_k("y a Sensor"))]
    assert episodes(run([INSTALLED], "A1x |9", "x a Sensor", changes=later)) == ["x 1-..4", "y 4.."]


# --- calendars --------------------------------------------------------------------------------------------


def at(text: str) -> int:
    return micros(datetime.fromisoformat(text).replace(tzinfo=UTC))


def calendar(state: ast.DailyState, first: str, last: str, k: str = "") -> list[tuple[str, str]]:
    items = [Item("s", at(t), ((iri("x"), iri("says"), iri("nothing")),)) for t in (first, last)]
    line = evaluate(query(state), items, read_k(k)).run.lines[iri("S")]

    def shown(t: int | None) -> str:
        return "" if t is None else datetime.fromtimestamp(t / SECOND, UTC).strftime("%m-%dT%H:%M")

    return [(*map(short_key, e.key), shown(e.b), shown(e.x)) for e in line.episodes]  # type: ignore[misc]


def short_key(key: str) -> str:
    return key.rsplit("/", 1)[-1].rstrip(">")


def test_a_calendar_is_from_edge_to_edge_also_before_the_run() -> None:
    night = ast.DailyState(n("S"), (), 20 * 60, 6 * 60, ("Mon", "Tue", "Wed", "Thu", "Fri"), "Europe/Rome")
    assert calendar(night, "2026-11-20T22:00", "2026-11-23T20:00") == [
        ("11-20T19:00", "11-21T05:00"),
        ("11-23T19:00", ""),
    ]
    day = ast.DailyState(n("S"), (), 18 * 60, 24 * 60)
    assert calendar(day, "2026-11-20T12:00", "2026-11-21T12:00") == [("11-20T18:00", "11-21T00:00")]


def test_the_clock_is_put_forward_and_back() -> None:
    from_half_past = ast.DailyState(n("S"), (), 150, 240, zone="Europe/Rome")
    to_half_past = ast.DailyState(n("S"), (), 60, 150, zone="Europe/Rome")
    spring, autumn = ("2026-03-29T00:00", "2026-03-29T12:00"), ("2026-10-24T20:00", "2026-10-25T12:00")
    assert calendar(from_half_past, *spring) == [("03-29T01:00", "03-29T02:00")]
    assert calendar(to_half_past, *spring) == [("03-29T00:00", "03-29T01:00")]
    assert calendar(from_half_past, *autumn) == [("10-25T00:30", "10-25T03:00")]
    assert calendar(to_half_past, *autumn) == [("10-24T23:00", "10-25T01:30")]


def test_the_times_of_a_calendar_may_come_from_k() -> None:
    own = ast.DailyState(
        n("S"), v("z"), ast.Var("f"), ast.Var("t"), ast.Var("d"),
        guard=ast.Guard((), (), triples("?z opens ?f . ?z closes ?t . ?z days ?d")),
    )  # fmt: skip
    k = "a opens '08:00 . a closes '18:00 . a days 'Sat-Sun . "
    k += "b opens '09:00:00 . b closes '10:00:00 . b days 'Fri"
    assert term("'08:00") == '"08:00"'
    assert calendar(own, "2026-11-20T00:00", "2026-11-22T00:00", k) == [
        ("b", "11-20T09:00", "11-20T10:00"),
        ("a", "11-21T08:00", "11-21T18:00"),
    ]
