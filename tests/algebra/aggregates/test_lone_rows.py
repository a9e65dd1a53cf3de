"""Rows in one loop are as rows one by one; what is not computed at once is as if it were."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.algebra.aggregates.argument_figures import COMPARABLE, ArgumentFigures, in_millionths
from obep.algebra.over.lone_rows import LoneRow, take_lone_rows
from obep.algebra.over.over_expressions import OverExpressions, OverRow
from obep.algebra.over.over_rows import OverRows
from obep.algebra.over.over_snapshot import restore, to_plain
from obep.algebra.over.row_groups import GroupChange, RowGroup
from obep.query import ast
from obep.query.parse.parser import parse

XSD = "http://www.w3.org/2001/XMLSchema#"
DEFINITION = """PREFIX : <http://e/>
EVENT R AS Read
STATE S(?k) OVER R(?k) AS r WITHIN 5 s IF {{ EVENT r {{ ?k :v ?v }} }} {rest}
RETURN S AS ALERTS
"""
RESTS = (
    "AGGREGATE (AVG(?v) AS ?a) (COUNT(*) AS ?n) (MAX(?v) AS ?m) HAVING (?a > 1 && ?n >= 2 && ?m < 4)",
    "AGGREGATE (AVG(?v) AS ?a) HAVING (?a <= 1.5)",
    "AGGREGATE (MIN(?v) AS ?l) (SUM(?v) AS ?s) HAVING (?l > 0 && ?s > 2)",
    "AGGREGATE (MAX(?v) - MIN(?v) AS ?d) (COUNT(?v) AS ?n) HAVING (?n < 4)",
    "AGGREGATE (AVG(?v) AS ?a) (MIN(?v) AS ?l) (COUNT(*) AS ?n)",
    "AGGREGATE (AVG(?v) AS ?a) HAVING (?a > 1 && FULL())",
    "AGGREGATE (AVG(?v) AS ?a) (STDDEV(?v) AS ?d) HAVING (?a > 1)",
    "AGGREGATE (STDDEV(?v) AS ?d) HAVING (?d > 0)",
    "AGGREGATE (COUNT(DISTINCT ?v) AS ?n) HAVING (?n > 1)",
    "AGGREGATE (MEDIAN(?v) AS ?m) HAVING (?m > 1)",
)
LITERALS = (
    *[f'"{text}"^^<{XSD}decimal>' for text in ("0", "1.5", "2.0", "3.000001", "-0.00000025", "4.1")],
    *[f'"{text}"^^<{XSD}integer>' for text in ("0", "1", "3", "7")],
    *[f'"{text}"^^<{XSD}{kind}>' for kind in ("double", "float") for text in ("1.5", "NaN", "INF")],
    '"hot"',
    "<http://e/a>",
)
MOST_ALIKE = LITERALS[:3]
"""Decimals, as most streams have them."""


def expressions(rest: str, *, lazy: bool) -> OverExpressions:
    [over] = parse(DEFINITION.format(rest=rest)).states
    assert isinstance(over, ast.OverState)
    found = OverExpressions(("k",), ("k", "v"), over.aggregates, over.having, 5)
    found.lazy = lazy and found.may_be_lazy
    return found


def rows(draw: Callable[[st.SearchStrategy[Any]], Any]) -> list[LoneRow]:
    at = 0
    found: list[LoneRow] = []
    literals = draw(st.sampled_from((LITERALS, MOST_ALIKE)))
    for number in range(draw(st.integers(5, 40))):
        at += draw(st.sampled_from((1, 1, 1, 2, 3, 9)))
        key = draw(st.sampled_from(("<http://e/a>", "<http://e/b>")))
        terms = key, draw(st.sampled_from(literals))
        found.append((at, terms, f"_:{number}", (key,), (number,)))
    return found


def read(window: OverRows) -> Counter[Any]:
    """What all groups show."""
    return Counter((key, group.read(), group.size) for key, group in window.groups.items())


def one_by_one(window: OverRows, taken: list[LoneRow]) -> list[GroupChange]:
    found = []
    for at, terms, individuals, key, source in taken:
        found += window.advance(at - 1)
        window.add(OverRow(at, terms, at, individuals, terms, key), at, source)
        found += window.advance(at)
    return found


def in_turn(window: OverRows, taken: list[LoneRow], until: int) -> list[GroupChange]:
    found, place = [], 0
    while place < len(taken):
        place, changed = take_lone_rows(window, taken, place, until)
        if changed is not None:
            found += window.advance(changed)
        elif place < len(taken):  # something else is to come
            found += one_by_one(window, taken[place : place + 1])
            place += 1
    return found


def of_episodes(changes: list[GroupChange], holding: set[Any]) -> list[GroupChange]:
    """Only beginnings and ends: what is in between need not be computed."""
    found = []
    for one in changes:
        if not (one.holds and one.group in holding):
            found.append(one)
        (holding.add if one.holds else holding.discard)(one.group)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rest", RESTS)
def test_rows_in_one_loop_are_as_rows_one_by_one(rest: str) -> None:
    ways: Counter[str] = Counter()

    @given(st.data(), st.booleans())
    def holds(data: st.DataObject, lazy: bool) -> None:
        taken = rows(data.draw)
        eager, loop = (OverRows(expressions(rest, lazy=one), 5) for one in (False, lazy))
        lazy = loop.expressions.lazy
        cuts = sorted(data.draw(st.lists(st.integers(0, len(taken)), max_size=3)))
        until = data.draw(st.sampled_from((1 << 60, taken[len(taken) // 2][0])))
        held: tuple[set[Any], set[Any]] = set(), set()
        for first, last in zip((0, *cuts), (*cuts, len(taken)), strict=True):
            wanted = one_by_one(eager, taken[first:last])
            got = in_turn(loop, taken[first:last], until)
            if lazy:
                wanted, got = of_episodes(wanted, held[0]), of_episodes(got, held[1])
            assert got == wanted
            assert read(loop) == read(eager)
            ways["changes"] += len(got)
            ways["lazy"] += lazy
            if data.draw(st.booleans()):
                plain = to_plain(loop)
                loop = OverRows(loop.expressions, 5)
                restore(loop, plain)
        wanted, got = (window.advance(taken[-1][0] + 20) for window in (eager, loop))
        if lazy:
            wanted, got = of_episodes(wanted, held[0]), of_episodes(got, held[1])
        assert got == wanted

    holds()
    assert ways["changes"] > 20
    assert bool(ways["lazy"]) == expressions(rest, lazy=True).lazy


def test_most_rows_call_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    window = OverRows(expressions("AGGREGATE (AVG(?v) AS ?a) (MAX(?v) AS ?m) HAVING (?m > 9)", lazy=True), 5)
    terms = "<http://e/a>", MOST_ALIKE[1]
    taken = [(at, terms, "", terms[:1], None) for at in range(1, 1001)]
    calls: Counter[str] = Counter()

    def counted(name: str, call: Any) -> Any:
        def counting(group: RowGroup, *given: Any) -> Any:
            calls[name] += 1
            return call(group, *given)

        return counting

    for name in ("add", "remove", "look"):
        monkeypatch.setattr(RowGroup, name, counted(name, getattr(RowGroup, name)))
    assert take_lone_rows(window, taken, 0, 1 << 60) == (1000, None)
    assert calls.total() < 200  # to forget rows that have left, a few at a time


@given(
    st.lists(st.sampled_from([Decimal(n) / 10**6 for n in range(-3, 4)]), min_size=1, max_size=7),
    st.integers(-3, 3),
    st.sampled_from((operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt)),
    st.sampled_from((0, 10**9 - 1, 10**8)),
)
def test_a_mean_compares_without_division_as_with_it(
    numbers: list[Decimal], constant: int, apply: Any, far: int
) -> None:
    figures = ArgumentFigures(frozenset(("AVG",)))
    for number in numbers:
        figures.add(1, (), f'"{number + far:f}"^^<{XSD}decimal>')
    against = Decimal(constant) / 10**6 + far
    millionths = in_millionths(against)
    if millionths is None or abs(millionths) >= COMPARABLE:
        return
    assert figures.compared_mean(apply, millionths) == apply(figures.average(1), against)


def test_a_mean_that_is_too_long_to_be_read_is_an_error_where_it_is_compared() -> None:
    figures = ArgumentFigures(frozenset(("AVG",)))
    figures.add(1, (), f'"{"9" * 400}"^^<{XSD}integer>')
    assert figures.average(1) is None
    assert figures.compared_mean(operator.gt, 5) is None, "it must be computed"
    having = expressions("AGGREGATE (AVG(?v) AS ?a) HAVING (?a > 5)", lazy=False)
    assert not having.passes([figures], 1)


def test_decimals_of_many_places_and_floats_are_added_exactly_beside_millionths() -> None:
    figures = ArgumentFigures(frozenset(("AVG", "SUM")))
    terms = [f'"{text}"^^<{XSD}decimal>' for text in ("0.1", "0.0000000001", "2", "-0.1")]
    for term in terms:
        figures.add(1, (), term)
    assert figures.sum(1) == Decimal("2.0000000001")
    assert figures.compared_mean(operator.gt, 0) is None
    figures.remove(1, (), terms[1])
    assert figures.sum(1) == 2
    assert figures.compared_mean(operator.gt, 0) is True
    figures.add(1, (), f'"0.5"^^<{XSD}double>')
    assert figures.sum(1) == 2.5
    assert figures.compared_mean(operator.gt, 0) is None
