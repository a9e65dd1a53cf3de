"""A HAVING on aggregates of the same values that are always in one order (OBEP219)."""

from __future__ import annotations

import pytest

from obep.errors import Diagnostic
from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse


def said(clauses: str) -> list[Diagnostic]:
    text = f"""EVENT Reading AS (temp some number)
    STATE Odd(?s) OVER Reading(?s) AS r WITHIN 10 min
    IF {{ EVENT r {{ ?this :temp ?x ; :other ?y }} }} {clauses}
    RETURN Odd"""
    found = check(link(parse(text)))
    assert not [one for one in found if one.severity == "error"], found
    return [one for one in found if one.code == "OBEP219"]


NEVER = {
    "AGGREGATE (MIN(?x) AS ?min) (MAX(?x) AS ?max) HAVING (?max < ?min)": ("?max < ?min", "?max > ?min"),
    "HAVING (MAX(?x) < MIN(?x))": ("MAX(?x) < MIN(?x)", "MAX(?x) > MIN(?x)"),
    "HAVING (MIN(?x) > MAX(?x) && COUNT(*) > 3)": ("MIN(?x) > MAX(?x)", "MIN(?x) < MAX(?x)"),
    "HAVING (AVG(?x) > MAX(?x))": ("AVG(?x) > MAX(?x)", "AVG(?x) < MAX(?x)"),
    "HAVING (AVG(?x) < MIN(?x) - 1)": ("AVG(?x) < MIN(?x) - 1", "AVG(?x) > MIN(?x) - 1"),
    "HAVING (MAX(?x) - MIN(?x) < 0)": ("MAX(?x) - MIN(?x) < 0", "MAX(?x) - MIN(?x) > 0"),
    "HAVING (0 > MAX(?x) - LAST(?x))": ("0 > MAX(?x) - LAST(?x)", "0 < MAX(?x) - LAST(?x)"),
    "AGGREGATE (MAX(?x) - MIN(?x) AS ?d) HAVING (?d < 0)": ("?d < 0", "?d > 0"),
    "HAVING (MEDIAN(?x) > MAX(?x))": ("MEDIAN(?x) > MAX(?x)", "MEDIAN(?x) < MAX(?x)"),
    "HAVING (PERCENTILE(?x, 95) < MIN(?x))": (
        "PERCENTILE(?x, 95) < MIN(?x)",
        "PERCENTILE(?x, 95) > MIN(?x)",
    ),
    "HAVING (COUNT(DISTINCT ?x) > COUNT(?x))": (
        "COUNT(DISTINCT ?x) > COUNT(?x)",
        "COUNT(DISTINCT ?x) < COUNT(?x)",
    ),
    "HAVING (COUNT(?x) > COUNT(*))": ("COUNT(?x) > COUNT(*)", "COUNT(?x) < COUNT(*)"),
    "HAVING (AVG(?x) < AVG(?x))": ("AVG(?x) < AVG(?x)", "compare two different values"),
    "HAVING (MIN(?x) > 5 && AVG(?x) < 3)": ("AVG(?x) < 3", "AVG(?x) > 5"),
    "HAVING (MAX(?x) < 10 && AVG(?x) >= 10)": ("MAX(?x) < 10", "MAX(?x) > 10"),
    "HAVING (COUNT(DISTINCT ?x) > 5 && COUNT(*) <= 4)": ("COUNT(*) <= 4", "COUNT(*) > 5"),
}


@pytest.mark.parametrize("clauses", NEVER)
def test_aggregates_in_an_impossible_order_are_warned_of(clauses: str) -> None:
    under_caret, remedy = NEVER[clauses]
    (only,) = said(clauses)
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert only.remedy == remedy


@pytest.mark.parametrize(
    "clauses",
    [
        "HAVING (MAX(?x) > MIN(?x))",
        "HAVING (MAX(?x) <= MIN(?x))",  # all values are equal
        "HAVING (MAX(?x) = MIN(?x))",
        "HAVING (AVG(?x) != AVG(?x))",  # of NaN
        "HAVING (MAX(?x) < MIN(?y))",
        "HAVING (MAX(?x) < MIN(?x * 2))",
        "HAVING (MAX(?x) - MIN(?x) < 1)",
        "HAVING (MAX(?x) - 2 < MIN(?x))",
        "HAVING (AVG(?x) > MAX(?x) - 1)",
        "HAVING (AVG(?x) > MEDIAN(?x))",
        "HAVING (LAST(?x) < FIRST(?x))",
        "HAVING (SUM(?x) > MAX(?x))",
        "HAVING (AVG(DISTINCT ?x) > AVG(?x))",
        "HAVING (MAX(?x) * 2 < MIN(?x))",  # of negative values
        "HAVING (MAX(?x) + 0.3 < MIN(?x) + 0.1 + 0.2)",  # doubles round
        "HAVING (COUNT(?x) < COUNT(*))",
        "HAVING (MIN(?x) > 5 && AVG(?x) < 6)",
        "HAVING (MIN(?x) >= 5 && AVG(?x) <= 5)",
        "HAVING (MIN(?x) > 5 && AVG(?y) < 3)",
        "HAVING (MAX(?x) > 5 && AVG(?x) < 3)",
        "HAVING (MIN(?x) > 5 || AVG(?x) < 3)",
        "HAVING (MIN(?x) >= 0.10000000000000000001 && MAX(?x) <= 0.1)",  # one double
    ],
)
def test_what_a_group_can_meet_is_not_warned_of(clauses: str) -> None:
    assert said(clauses) == []
