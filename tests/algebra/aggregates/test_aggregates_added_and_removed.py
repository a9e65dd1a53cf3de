"""After any rows that came and left, an aggregate is what its definition says of those that are there."""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from naive_aggregates import Cell, NaiveRow, naive, naive_held

from obep.algebra.aggregates.accumulator import Accumulator
from obep.algebra.aggregates.make_aggregate import make_aggregate, shared_accumulators
from obep.algebra.aggregates.presence import Full, Held
from obep.guards.calendar import Day, Lapse, Moment
from obep.guards.guard_terms import XSD, literal
from obep.guards.typed_values import lexical_form, parsed, single, term_of_value
from obep.query.ast import Aggregate, Literal, Var

CASES = int(os.environ.get("OBEP_EXAMPLES", "60"))
SEQUENCES = 10
"""So many sequences of rows of one column; 10,000 examples are the 100,000 cases of the issue."""


def typed(lexical: str, local: str) -> str:
    return literal(lexical, f"<{XSD}{local}>")


def number(value: int | Decimal | float, kind: str, lexical: str = "", datatype: str = "") -> Cell:
    text = lexical or lexical_form(single(value) if kind == "float" else value)  # type: ignore[arg-type]
    return Cell(typed(text, datatype or kind), kind, value, text)


def moment(text: str) -> Cell:
    """Ten o'clock UTC, however it is written."""
    return Cell(typed(text, "dateTime"), "moment", Moment(1_794_909_600_000_000), text)


def float32(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


integers = (
    st.builds(
        lambda value, datatype: number(value, "integer", datatype=datatype),
        st.integers(-9, 9),
        st.sampled_from(["integer", "int", "long"]),
    )
    | st.sampled_from([number(7, "integer", "007"), number(7, "integer", "+7")])
    | st.integers(-(10**30), 10**30).map(lambda value: number(value, "integer"))
)
decimals = st.decimals(-1000, 1000, allow_nan=False, places=3).map(
    lambda value: number(value, "decimal", f"{value:f}")
) | st.sampled_from(
    [
        number(Decimal("0.1"), "decimal", "0.1"),
        number(Decimal("0.10"), "decimal", "0.10"),
        number(Decimal(f"1{'0' * 10}.{'0' * 29}1"), "decimal", f"1{'0' * 10}.{'0' * 29}1"),
        number(Decimal(10) ** 398, "decimal", "1" + "0" * 398),
        number(Decimal("0." + "0" * 390 + "1"), "decimal", "0." + "0" * 390 + "1"),
    ]
)
odd = [math.nan, math.inf, -math.inf]
doubles = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.1, 0.2, 0.3, 1e308, -1e308, 5e-324, 2.0**53, 1e16, -1e16, 1.0, 2.5, 0.0, -0.0])
    | st.integers(-8, 8).map(lambda value: value / 4)
).map(lambda value: number(value, "double"))
singles = (
    st.integers(0, 0x7F7FFFFF).map(float32)
    | st.sampled_from([0.5, 1.0, 3.4028234663852886e38, 1.401298464324817e-45, float32(0x3DCCCCCD)])
).map(lambda value: number(value, "float"))
specials = st.builds(number, st.sampled_from(odd), st.sampled_from(["double", "float"]))
small = st.builds(number, st.integers(0, 3), st.just("integer")) | st.sampled_from(
    [number(1.0, "double"), number(Decimal("2.0"), "decimal", "2.0"), number(2.0, "float")]
)
others = st.sampled_from(
    [
        None,
        Cell('"a"', "string", "a", "a"),
        Cell('"b"', "string", "b", "b"),
        Cell('"a|b\\n"', "string", "a|b\n", "a|b\n"),
        Cell('"a"@en', "tagged", ("a", "en"), "a"),
        Cell("<http://x/a>", "iri", "http://x/a", "http://x/a"),
        Cell("_:b0", "blank", "_:b0"),
        Cell(typed("true", "boolean"), "boolean", True, "true"),
        Cell(typed("1", "boolean"), "boolean", True, "1"),
        Cell(typed("cold", "integer"), "unknown", (typed("cold", "integer"),), "cold"),
        Cell(
            typed("2026-11-17T10:00:00Z", "dateTime"),
            "moment",
            Moment(1794909600000000),
            "2026-11-17T10:00:00Z",
        ),
        Cell(
            typed("2026-11-17T11:00:00+01:00", "dateTime"),
            "moment",
            Moment(1794909600000000),
            "2026-11-17T11:00:00+01:00",
        ),
        Cell(typed("2026-11-17", "date"), "day", Day(1794873600000000), "2026-11-17"),
        Cell(typed("PT5M", "dayTimeDuration"), "lapse", Lapse(300_000_000), "PT5M"),
    ]
)
finite_numbers = integers | decimals | singles | doubles
columns: st.SearchStrategy[st.SearchStrategy[Cell | None]] = st.sampled_from(
    [
        small,
        integers,
        integers | decimals,
        singles,
        doubles,
        integers | singles,
        finite_numbers,
        finite_numbers | specials,
        small | others,
        others,
        finite_numbers | specials | others,
    ]
)
"""What a column of a table holds; most of them only numbers, as most aggregates ask for."""

FUNCTIONS = (
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "SAMPLE",
    "GROUP_CONCAT",
    "STDDEV",
    "MEDIAN",
    "FIRST",
    "LAST",
    "RATE",
    "SLOPE",
    "TIMEAVG",
    "CHANGES",
    "TRAVEL",
    "TURNS",
)
OF_ANY_ORDER = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "STDDEV", "MEDIAN")


@dataclass
class Pair:
    """An accumulator, and what its definition is asked."""

    accumulator: Accumulator
    function: str
    distinct: bool = False
    percent: str = ""

    def check(self, rows: list[NaiveRow], now: int) -> bool:
        found = self.accumulator.value(now)
        wanted = naive(self.function, rows, now, self.distinct, self.percent)
        assert found == wanted, (self.function, self.distinct, self.percent)
        return found is not None


def made(function: str, distinct: bool = False, percent: str = "") -> Pair:
    node = Aggregate(
        function,
        Var("x"),
        distinct,
        "|" if function == "GROUP_CONCAT" else None,
        Literal(percent) if percent else None,
    )
    return Pair(make_aggregate(node), function, distinct, percent)


def all_pairs() -> list[Pair]:
    pairs = [made(function) for function in FUNCTIONS]
    pairs += [made(function, distinct=True) for function in OF_ANY_ORDER]
    return pairs + [made("PERCENTILE", percent=percent) for percent in ("100", "95", "33.4", "0.01", "5e1")]


@pytest.mark.slow
@given(st.data(), st.integers(0, 2**32))
@settings(max_examples=CASES, deadline=None)
def test_an_aggregate_is_what_its_definition_says_of_the_rows_that_are_there(
    data: st.DataObject, seed: int
) -> None:
    cells = data.draw(st.lists(data.draw(columns), min_size=1, max_size=12))
    random = Random(seed)
    for _ in range(SEQUENCES):
        come_and_leave(cells, random, in_order=random.random() < 0.5)


def come_and_leave(cells: list[Cell | None], random: Random, in_order: bool) -> None:
    """Rows come and leave; in order, they come by their end and leave from the oldest one."""
    pairs = all_pairs()
    rows: list[NaiveRow] = []
    now = 0
    for place in range(random.randrange(14)):
        if rows and random.random() < 0.35:
            row = rows.pop(0 if in_order else random.randrange(len(rows)))
            for pair in pairs:
                pair.accumulator.remove(row.end, row.key, row.cell.term if row.cell else None)
        else:
            now += random.choice((0, 0, 1, 500_000, 1_000_000, 7_000_000))
            end = now if in_order else random.randint(0, now)
            row = NaiveRow(end, f"{random.randrange(9)} {place:02}", random.choice(cells))
            rows.append(row)
            if in_order:
                rows.sort(key=lambda row: (row.end, row.key))
            for pair in pairs:
                pair.accumulator.add(row.end, row.key, row.cell.term if row.cell else None)
        if random.random() < 0.2:
            check_all(pairs, rows, now)
    check_all(pairs, rows, now + random.choice((0, 1, 3_000_000)))


def check_all(pairs: list[Pair], rows: list[NaiveRow], now: int) -> None:
    with_value = sum(pair.check(rows, now) for pair in pairs)
    share = "all" if with_value == len(pairs) else "most" if with_value > 15 else "few"
    event(f"aggregates with a value: {share}")


SHARED = (*(Aggregate(name, Var("x")) for name in ("COUNT", "SUM", "AVG", "MIN", "MAX")), Aggregate("COUNT"))


@pytest.mark.slow
@given(st.data(), st.integers(0, 2**32))
@settings(max_examples=CASES, deadline=None)
def test_aggregates_of_one_argument_share_what_they_are_computed_of(data: st.DataObject, seed: int) -> None:
    """Rows come in any order, and leave in that of their ends, as those of OVER do."""
    cells = data.draw(st.lists(data.draw(columns), min_size=1, max_size=12))
    random = Random(seed)
    for _ in range(SEQUENCES):
        [shared] = shared_accumulators(SHARED, 0, in_order=True)
        accumulator, rows, left = shared.make(), list[NaiveRow](), 0
        for place in range(random.randrange(14)):
            if random.random() < 0.25:
                left = random.randint(left, 8)
                for row in sorted([row for row in rows if row.end <= left], key=lambda row: row.end):
                    accumulator.remove(row.end, row.key, row.cell.term if row.cell else None)
                rows = [row for row in rows if row.end > left]
            else:
                row = NaiveRow(random.randint(left + 1, 12), f"{place:02}", random.choice(cells))
                rows.append(row)
                accumulator.add(row.end, row.key, row.cell.term if row.cell else None)
            for node, figure in shared.figures.items():
                found = figure.compute(accumulator, 0)
                term = term_of_value(found) if figure.is_value and found is not None else found
                if figure.value is not None:
                    known = None if term is None else parsed[term]
                    assert repr(figure.value(accumulator, 0)) == repr(known), node  # NaN is not NaN
                counted = term_of_value(len(rows))
                wanted = naive(node.function, rows, 0) if node.argument is not None else counted
                assert term == wanted, node


def test_no_trace_is_left_of_rows_that_are_gone() -> None:
    """What a sum has once held, however large or fine, is gone with the row."""
    cells = [number(value, "double") for value in (0.1, 1e308, 1e308, 5e-324, -1e-300, math.inf, math.nan)]
    pairs = all_pairs()
    for pair in pairs:
        for at, cell in enumerate(cells):
            pair.accumulator.add(at, "", cell.term)
        for at, cell in enumerate(cells[1:], 1):
            pair.accumulator.remove(at, "", cell.term)
        pair.check([NaiveRow(0, "", cells[0])], 5)


def test_a_value_that_is_no_number_is_an_error_only_while_it_is_there() -> None:
    for function in ("SUM", "AVG", "STDDEV", "MEDIAN", "SLOPE", "RATE", "TRAVEL", "TURNS", "TIMEAVG"):
        accumulator = made(function).accumulator
        one, three = term_of_value(1), term_of_value(3)
        accumulator.add(0, "", one)
        accumulator.add(2_000_000, "", three)
        known = accumulator.value(2_000_000)
        for wrong in ('"hot"', None, "<http://x/a>", typed("x", "double")):
            accumulator.add(1_000_000, "", wrong)
            assert accumulator.value(2_000_000) is None, function
            accumulator.remove(1_000_000, "", wrong)
            assert accumulator.value(2_000_000) == known is not None, function


def test_sums_of_doubles_are_rounded_once() -> None:
    pair = made("SUM")
    for _ in range(10):
        pair.accumulator.add(0, "", typed("0.1", "double"))
    assert pair.accumulator.value(0) == typed("1", "double")  # one by one: 0.9999999999999999


def test_a_deviation_between_two_doubles_is_the_even_one() -> None:
    deviation = made("STDDEV").accumulator
    deviation.add(0, "a", typed("0", "integer"))
    deviation.add(0, "b", typed("5.0E-324", "double"))
    assert deviation.value(0) == typed("0", "double")  # half of the least double there is


def test_count_of_rows_counts_rows_and_with_distinct_different_ones() -> None:
    every, different = (make_aggregate(Aggregate("COUNT", None, distinct)) for distinct in (False, True))
    for end, key in ((1, "a"), (2, "a"), (3, "b")):
        every.add(end, key, None)
        different.add(end, key, None)
    assert (every.value(3), different.value(3)) == (term_of_value(3), term_of_value(2))
    different.remove(1, "a", None)
    assert different.value(3) == term_of_value(2)
    different.remove(2, "a", None)
    assert different.value(3) == term_of_value(1)


def test_a_step_from_a_decimal_to_nan_is_nan() -> None:
    """Python's decimals raise where they are compared with NaN."""
    travel = made("TRAVEL").accumulator
    travel.add(0, "", typed("0.0", "decimal"))
    travel.add(1, "", typed("NaN", "double"))
    assert travel.value(1) == typed("NaN", "double")
    travel.remove(1, "", typed("NaN", "double"))
    assert travel.value(1) == typed("0", "decimal")


@pytest.mark.parametrize("percent", ["0", "-1", "100.1", "high", ""])
def test_a_percentile_is_above_0_and_at_most_100(percent: str) -> None:
    with pytest.raises(ValueError, match="above 0"):
        make_aggregate(Aggregate("PERCENTILE", Var("x"), percent=Literal(percent)))


def test_an_order_has_no_distinct() -> None:
    with pytest.raises(ValueError, match="no DISTINCT"):
        make_aggregate(Aggregate("LAST", Var("x"), distinct=True))
    with pytest.raises(ValueError, match="no aggregate"):
        make_aggregate(Aggregate("MODE", Var("x")))


def test_full_is_true_once_the_group_has_had_rows_for_the_whole_window() -> None:
    full = make_aggregate(Aggregate("FULL"), within=10)
    assert isinstance(full, Full)
    yes, no = term_of_value(True), term_of_value(False)
    assert full.value(50) == no
    full.begin(50)
    assert [full.value(now) for now in (50, 59, 60, 61)] == [no, no, yes, yes]
    full.cease()
    assert full.value(70) == no


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=12), st.integers(1, 20))
def test_held_is_the_time_in_the_window_that_lies_in_an_episode(
    changes: list[tuple[int, int]], within: int
) -> None:
    """Up to five keys of one group begin and end; time counts once."""
    held = make_aggregate(Aggregate("HELD"), within)
    assert isinstance(held, Held)
    episodes: list[tuple[int, int | None]] = []
    open_now: dict[int, int] = {}
    now = 0
    for key, pause in changes:
        now += pause
        if key in open_now:
            begin = open_now.pop(key)
            episodes.remove((begin, None))
            episodes.append((begin, now))
            held.cease(now)
        else:
            open_now[key] = now
            episodes.append((now, None))
            held.begin(now)
        assert held.value(now) == naive_held(episodes, now, within)
    assert held.value(now + 3) == naive_held(episodes, now + 3, within)
