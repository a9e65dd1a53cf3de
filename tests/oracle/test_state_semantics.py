"""The oracle of states on cases worked out by hand from the tables and sentences of STATES 2."""

from __future__ import annotations

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
    leaf,
    n,
    query,
    read_k,
    run,
    s,
    triples,
    use,
    v,
    value_at,
)
from oracle.state_semantics import evaluate

# --- FROM … TO … ------------------------------------------------------------------------------------------

BOTH = ast.Guard(
    (ast.Block(("a",), triples("?this v ?v"), ()), ast.Block(("b",), triples("?this v ?w"), ())),
    (ast.Filter(cmp("?w", "<", "?v")),),
)


def from_to(**more: object) -> ast.EventState:
    given = {"start": leaf("A", "x"), "end": leaf("B", "x"), **more}
    return ast.EventState(n("S"), v("x"), **given)  # type: ignore[arg-type]


LATER = {"start": ast.Seq((leaf("A", "x"), leaf("C", "x")))}
FILTERED = {"start": leaf("A", "x", "a"), "end": leaf("B", "x", "b"), "guard": BOTH}
FROM_TO = {
    "from p to q": ({}, "A1x B4x", ["x 1..4"]),
    "each key for itself, an open one stays open": ({}, "A1x A2y B3x |9", ["x 1..3", "y 2.."]),
    "a further p begins nothing": ({}, "A1x A2x B4x", ["x 1..4"]),
    "a q without a p ends nothing": ({}, "B1x A2x B3x", ["x 2..3"]),
    "off and on at once does not interrupt": ({}, "A1x B3x A3x B5x", ["x 1..5"]),
    "a p that starts now comes after the q of now": ({}, "A1x B1x B2x", ["x 1..2"]),
    "a p that started before comes before the q of now": (LATER, "A1x C3x B3x", []),
    "a p that started before, and a q later": (LATER, "A1x C3x B4x", ["x 3..4"]),
    "TIMEOUT since the last p": ({"timeout": s(3)}, "A1x A3x |9", ["x 1..6"]),
    "TIMEOUT: a p at the deadline winds it up": ({"timeout": s(3)}, "A1x A4x |9", ["x 1..7"]),
    "TIMEOUT: an older p at the deadline, too": ({"timeout": s(3), **LATER}, "A0x C1x C4x |9", ["x 1..7"]),
    "LIMIT is d after b": ({"limit": s(3)}, "A1x A3x |9", ["x 1..4"]),
    "LIMIT ends it before a p begins it anew": ({"limit": s(3)}, "A1x A6x |9", ["x 1..4", "x 6..9"]),
    "LIMIT: a p at its deadline begins nothing, and it counts anew": (
        {"limit": s(3)},
        "A1x A4x |9",
        ["x 1..7"],
    ),
    "and again": ({"limit": s(3)}, "A1x A4x A5x A7x |12", ["x 1..10"]),
    "an older p at its deadline comes before it": ({"limit": s(3), **LATER}, "A0x C1x C4x |9", ["x 1..4"]),
    "LIMIT, then TIMEOUT": ({"timeout": s(2), "limit": s(3)}, "A1x A2x A4x |9", ["x 1..6"]),
    "LIMIT is d after b also if a q and a p came at once": ({"limit": s(3)}, "A1x B2x A2x |9", ["x 1..4"]),
    "a Q that binds nothing ends all": ({"end": leaf("B")}, "A1x A2y B3z", ["x 1..3", "y 2..3"]),
    "a FILTER over both is decided at q": (FILTERED, "A1x(v=5) B2x(v=6) B3x(v=4)", ["x 1..3"]),
    "with the p that began it": (FILTERED, "A1x(v=5) A2x(v=9) B3x(v=6) B4x(v=4)", ["x 1..4"]),
}


@pytest.mark.parametrize("case", FROM_TO)
def test_a_state_by_events_is_switched_in_the_order_of_the_text(case: str) -> None:
    clauses, stream, expected = FROM_TO[case]
    assert episodes(run([from_to(**clauses)], stream)) == expected


# --- OVER -------------------------------------------------------------------------------------------------

COUNT = (as_("y", agg("COUNT")),)
READ = {"over": leaf("R", "x", "r"), "guard": block("r", "?this v ?v")}


def over(names: str = "x", within: float = 5, **more: object) -> ast.OverState:
    given = {"over": leaf("R", "x"), "within": s(within), **more}
    return ast.OverState(n("S"), v(names), **given)  # type: ignore[arg-type]


def counted(operator: str, amount: int, **more: object) -> dict[str, object]:
    return {"aggregates": COUNT, "having": cmp("?y", operator, amount), **more}


FULL = {"within": 3, "having": agg("FULL")}
ONE = {"names": "", "over": leaf("R")}
OVER = {
    "without AGGREGATE: the groups that have a row": ({}, "R1x R3x |9", ["x 1..8"]),
    "each key for itself": ({}, "R1x R2y |9", ["x 1..6", "y 2..7"]),
    "two equal readings are two rows": (counted(">=", 2, **READ), "R1x(v=5) R2x(v=5) |9", ["x 2..6"]),
    "one row for each solution": (counted(">=", 2, **READ), "R1x(v=5|6) |9", ["x 1..6"]),
    "two items of one instant that say the same": (counted(">=", 2), "R1x R1x |9", []),
    "a pattern counts by its end": (
        counted(">=", 1, over=ast.Seq((leaf("A", "x"), leaf("R", "x")))),
        "A1x R4x |12",
        ["x 4..9"],
    ),
    "a row is there from its done on": (  # the C of 2 is known to be during T at 4, and leaves at 7
        counted(">=", 1, over=ast.Allen("DURING", leaf("C", "x"), leaf("T", "x"))),
        "A1x C2x B4x |9",
        ["x 4..7"],
    ),
    "STEP: as of the last multiple": ({"step": s(2)}, "R1x R4x |12", ["x 2..10"]),
    "GROUP BY more than the parameters": (
        {**READ, "group_by": v("x v"), "having": cmp(agg("COUNT"), ">=", 2)},
        "R1x(v=1) R2x(v=2) R3x(v=1) |9",
        ["x 3..6"],
    ),
    "no parameters: a group with a row": ({**ONE, **counted(">=", 2)}, "R1x R2y |9", ["2..6"]),
    "no parameters: without a row from d after the first item": (
        {**ONE, **counted("=", 0)},
        "A1x |9",
        ["6.."],
    ),
    "no parameters: when the last row has left": ({**ONE, **counted("=", 0)}, "A1x R3x |9", ["8.."]),
    "no parameters, no HAVING: only with a row": (ONE, "A1x R3x |12", ["3..8"]),
    "FOR EACH: T has held for d": (counted("=", 0, each=use("T", "x")), "A1x R3x |12", ["x 8.."]),
    "FOR EACH: until T ends": (counted("=", 0, each=use("T", "x")), "A1x R3x B10x |12", ["x 8..10"]),
    "FOR EACH: only those of T": (counted(">=", 0, each=use("T", "x")), "A1x R2y |12", ["x 6.."]),
    "an error is not true": (
        {**READ, "aggregates": (as_("y", agg("AVG", "v")),), "having": cmp("?y", ">", 0)},
        "R1x(v='none) |9",
        [],
    ),
    "an error in AGGREGATE alone leaves the group": (
        {**READ, "aggregates": (as_("y", agg("AVG", "v")),)},
        "R1x(v='none) |9",
        ["x 1..6"],
    ),
    "FULL after d without a break": (FULL, "R1x R2x R4x R6x |20", ["x 4..9"]),
    "FULL: a row that comes as the last one leaves": (FULL, "R1x R4x |20", ["x 4..7"]),
    "FULL: not after a break": (FULL, "R1x R5x |20", []),
    "HELD in the last d": (  # at 2: 1 s, at 4: 2 s, at 6: 2 s, at 8: 1 s
        {"over": use("T", "x"), "within": 4, "step": s(2), "having": cmp(agg("HELD"), ">=", s(2))},
        "A1x B3x A5x B6x |12",
        ["x 4..8"],
    ),
}


@pytest.mark.parametrize("case", OVER)
def test_over_looks_at_the_rows_of_the_last_d(case: str) -> None:
    clauses, stream, expected = OVER[case]
    below = ast.EventState(n("T"), v("x"), leaf("A", "x"), leaf("B", "x"))
    assert episodes(run([below, over(**clauses)], stream)) == expected  # type: ignore[arg-type]


def test_two_explanations_of_one_reading_are_one_row() -> None:
    low = [(iri("Special"), "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", iri("KindR"))]
    items = [Item("s", SECOND, tuple((iri("x"), t[1], t[2]) for t in read_k("x a Special . x a KindR")))]
    answer = evaluate(query(over(**counted(">=", 1))), items, schema=low, end=3 * SECOND)  # type: ignore[arg-type]
    assert len(answer.run.pool[iri("R")]) == 2
    assert value_at(answer, 1) == {"1"}


AGGREGATES = {
    ("COUNT",): 3, ("SUM", "v"): 13, ("AVG", "v"): 13 / 3, ("MIN", "v"): 3, ("MAX", "v"): 6,
    ("SAMPLE", "v"): 3, ("FIRST", "v"): 4, ("LAST", "v"): 3, ("RATE", "v"): -1 / 3, ("SLOPE", "v"): -0.5,
    ("STDDEV", "v"): (14 / 9) ** 0.5, ("MEDIAN", "v"): 4, ("PERCENTILE", "v", 1): 3,
    ("PERCENTILE", "v", 50): 4, ("PERCENTILE", "v", 67): 6, ("PERCENTILE", "v", 100): 6,
    ("TIMEAVG", "v"): 16 / 3, ("CHANGES", "v"): 2, ("TRAVEL", "v"): 5, ("TURNS", "v"): 1,
}  # fmt: skip


def value(call: tuple[object, ...], stream: str, at: float, **more: object) -> set[float]:
    clauses = {**READ, "within": 10, "aggregates": (as_("y", agg(*call)),), **more}  # type: ignore[arg-type]
    return {float(x) for x in value_at(run([over(**clauses)], stream), at)}  # type: ignore[arg-type]


@pytest.mark.parametrize("call", AGGREGATES, ids=str)
def test_an_aggregate_of_4_6_and_3_at_1_2_and_4(call: tuple[object, ...]) -> None:
    (found,) = value(call, "R1x(v=4) R2x(v=6) R4x(v=3) |6", 4)
    assert found == pytest.approx(AGGREGATES[call])


def test_aggregates_at_their_edges() -> None:
    assert value(("MEDIAN", "v"), "R1x(v=4) R2x(v=6)", 2) == {5}, "of an even number the mean of the two"
    assert value(("RATE", "v"), "R1x(v=4)", 1) == set(), "over no time: an error"
    assert value(("SLOPE", "v"), "R1x(v=4) R1x(v=5)", 1) == set(), "over no time: an error"
    assert value(("TIMEAVG", "v"), "R1x(v=4)", 1) == {4}, "over no time: the value"
    assert value(("CHANGES", "v"), "R1x(v=4) R2x(v=4) R3x(v=5)", 3) == {1}
    assert value(("TURNS", "v"), "R1x(v=4) R2x(v=5) R3x(v=5) R4x(v=4) R5x(v=6)", 5) == {2}
    assert value(("SUM", "v"), "R1x(v=1) R2x(v='none)", 2) == set(), "not a number: unbound"
    empty = {"names": "", "aggregates": (as_("y", agg("AVG", "v")), as_("z", agg("MIN", "v")))}
    answer = run(
        [over(**{**empty, "within": 2, "over": leaf("R"), "having": cmp(agg("COUNT"), "=", 0)})], "A1x |9"
    )
    assert (value_at(answer, 3), value_at(answer, 3, variable="z")) == ({"0"}, set()), "D18, of nothing"


def test_what_depends_on_t_is_computed_when_a_row_of_its_own_group_comes_and_at_steps() -> None:
    stream = "R1x(v=4) R2x(v=6) R4x(v=3) R5y(v=8) |9"
    assert min(value(("TIMEAVG", "v"), stream, 5.5)) == pytest.approx(16 / 3)
    (stepped,) = value(("TIMEAVG", "v"), "R1x(v=4) R2x(v=6) R4x(v=3) |9", 7, step=s(6))
    assert stepped == pytest.approx((4 * 1 + 6 * 2 + 3 * 2) / 5)
