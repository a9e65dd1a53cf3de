"""Each example of STATES 5 through the oracle, on streams worked out by hand; minutes and hours are seconds.

KindA, KindB, … stand for the classes of the examples: A is a point of a zone, R a reading.
"""

from __future__ import annotations

from obep.model import RDF_TYPE, SECOND, Item
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
    episodes,
    found,
    group,
    latest,
    leaf,
    n,
    num,
    query,
    run,
    s,
    use,
    v,
)
from oracle.state_semantics import evaluate
from oracle.test_state_groups import at

NOW, SET = latest("now", "s", range=s(5)), latest("set", "t")
TOO_HOT = ast.GroupState(
    n("TooHot"),
    v("z"),
    group(
        ast.WindowGroup("now", group("?z a KindA . ?z temperature ?t")),
        ast.WindowGroup("set", group("?z setpoint ?s")),
        ast.Filter(cmp("?t", ">", ast.Arithmetic("+", ast.Var("s"), num(2)))),
    ),
)
OVERHEATED = composite("Overheated", episode("TooHot", "z", 10), "z")
HOT_STREAM = "t/0z(setpoint=22) " + " ".join(f"A{t}z(temperature=25)" for t in (1, 4, 7, 10, 13))


def test_too_hot_compares_two_windows_and_lasts_without_a_break() -> None:
    cooled = composite("Cooled", end("TooHot", "z", 10), "z")
    answer = run([NOW, SET, TOO_HOT, OVERHEATED, cooled], f"{HOT_STREAM} A14z(temperature=24) |30")
    assert episodes(answer, "TooHot") == ["z 1..14"]
    assert [line.split()[0] for line in found(answer, "Overheated")] == ["[1,11]@11"]
    assert [line.split()[0] for line in found(answer, "Cooled")] == ["[14,14]@14"]


def test_a_nag_is_repeated_until_it_is_acknowledged_or_over() -> None:
    until = ast.Or((leaf("D", "z"), end("TooHot", "z")))
    nag = composite("Nag", ast.Repeated(leaf("Overheated", "z"), s(2), until, 24), "z")
    parts = [NOW, SET, TOO_HOT, OVERHEATED, nag]
    over = run(parts, f"{HOT_STREAM} A14z(temperature=24) |30")
    assert [line.split()[0] for line in found(over, "Nag")] == ["[1,13]@13"]
    acknowledged = run(parts, f"{HOT_STREAM} D12z |30")
    assert found(acknowledged, "Nag") == []


def test_stale_air_is_a_mean_of_at_least_five() -> None:
    stale = ast.OverState(
        n("Stale"), v("z"), leaf("R", "z", "r"), s(10), guard=block("r", "?this co2 ?ppm"),
        aggregates=(as_("mean", agg("AVG", "ppm")), as_("n", agg("COUNT"))),
        having=ast.Conjunction((cmp("?mean", ">", 1000), cmp("?n", ">=", 5))),
    )  # fmt: skip
    values = (900, 1100, 1200, 1000, 1300)
    stream = " ".join(f"R{t}z(co2={ppm})" for t, ppm in enumerate(values, 1))
    assert episodes(run([stale], f"{stream} |30"), "Stale") == ["z 5..11"]


def test_a_stuck_value_has_not_moved_for_the_whole_time() -> None:
    stuck = ast.OverState(
        n("Stuck"), v("p"), leaf("R", "p", "r"), s(5), guard=block("r", "?this value ?v"),
        aggregates=(as_("d", ast.Arithmetic("-", agg("MAX", "v"), agg("MIN", "v"))),),
        having=ast.Conjunction((cmp("?d", "=", 0), agg("FULL"))),
    )  # fmt: skip
    stream = " ".join(f"R{t}p(value=3)" for t in range(1, 8))
    # At 12 the reading of 8 is the only one left: it has not moved either, until it leaves.
    assert episodes(run([stuck], f"{stream} R8p(value=4) |30"), "Stuck") == ["p 6..8", "p 12..13"]


def test_cycling_counts_starts() -> None:
    cycling = ast.OverState(
        n("Cycling"), v("c"), leaf("A", "c"), s(5),
        aggregates=(as_("n", agg("COUNT")),), having=cmp("?n", ">", 2),
    )  # fmt: skip
    assert episodes(run([cycling], "A1c A2c A3c |30"), "Cycling") == ["c 3..6"]


def test_silent_is_also_one_that_never_reported() -> None:
    installed = ast.ClassState(n("Installed"), v("s"), ast.ClassName(n("TemperatureSensor")))
    silent = ast.OverState(
        n("Silent"), v("s"), leaf("R", "s"), s(15), each=use("Installed", "s"),
        aggregates=(as_("n", agg("COUNT")),), having=cmp("?n", "=", 0),
    )  # fmt: skip
    answer = run([installed, silent], "R1x |30", "x a TemperatureSensor . y a TemperatureSensor")
    assert episodes(answer, "Silent") == ["y 16-..", "x 16.."]


def test_an_intruder_comes_while_it_is_closed() -> None:
    weekdays: tuple[ast.Weekday, ...] = ("Mon", "Tue", "Wed", "Thu", "Fri")
    closed = ast.DailyState(n("Closed"), (), 20 * 60, 6 * 60, weekdays, "Europe/Rome")
    occupied = ast.EventState(n("Occupied"), v("z"), leaf("A", "z"), leaf("B", "z"), s(30 * 60))
    intruder = composite("Intruder", ast.While(begin("Occupied", "z"), use("Closed")), "z")
    times = ("2026-11-20T18:30", "2026-11-20T19:30", "2026-11-20T19:50", "2026-11-21T19:30")
    items = [Item("s", at(t), ((iri("z"), RDF_TYPE, iri("KindA")),)) for t in times]
    answer = evaluate(query(closed, occupied, intruder), items)
    assert [o.start for o in answer.run.pool[iri("Intruder")]] == [at("2026-11-20T19:30")]
    second = answer.run.lines[iri("Occupied")].episodes[1]
    assert (second.b, second.x) == (at("2026-11-20T19:30"), at("2026-11-20T20:20"))


def test_heating_and_cooling_at_once_wastes_after_the_fan_has_run() -> None:
    fan = ast.EventState(n("FanOn"), v("a"), leaf("A", "a"), leaf("B", "a"))
    both = ast.Conjunction((cmp("?h", ">", 5), cmp("?c", ">", 5)))
    wasting = ast.GroupState(
        n("Wasting"),
        v("a"),
        group(
            ast.Atom(n("FanOn"), v("a"), s(5)),
            ast.WindowGroup("now", group("?a heating ?h . ?a cooling ?c")),
            ast.Filter(both),
        ),
    )
    answer = run([NOW, fan, wasting], "A1x A1y 2x(heating=9,cooling=9) 4y(heating=9) 4y(cooling=2) |30")
    assert episodes(answer, "Wasting") == ["x 6..7"]


def test_a_fault_of_a_child_is_suppressed_while_its_parent_is_off() -> None:
    off = ast.EventState(n("AhuOff"), v("v"), leaf("A", "v"), leaf("B", "v"))
    fault = composite("VavFault", ast.Unless(leaf("C", "v"), use("AhuOff", "v")), "v")
    answer = run([off, fault], "A1x C2x C2y B3x C4x")
    assert found(answer, "VavFault") == ["[2,2]@2 v=y", "[4,4]@4 v=x"]
    assert answer.run.world.end == 4 * SECOND
