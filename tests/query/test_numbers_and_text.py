"""A number is neither more nor less than text: a FILTER that asks for it is warned of."""

from __future__ import annotations

import pytest

from obep.errors import Diagnostic
from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse

HOT = "EVENT Hot AS (celsius some number[> 3])"


def said(filters: str, triple: str = "?x :celsius ?is") -> list[Diagnostic]:
    guard = f"EVENT Alarm MATCH Hot AS h IF {{ EVENT h {{ {triple} }} {filters} }}"
    found = check(link(parse(f"PREFIX : <http://e/#>\n{HOT}\n{guard}\nRETURN Alarm\n")))
    return [one for one in found if one.code == "OBEP219"]


@pytest.mark.parametrize(
    ("filters", "triple", "under_caret", "remedy"),
    [
        ('FILTER(?is > "thirty")', "?x :celsius ?is", '?is > "thirty"', "?is > 30"),
        ('FILTER("2.5" <= ?is)', "?x :celsius ?is", '"2.5" <= ?is', "2.5 <= ?is"),
        ('FILTER(?n < "9") FILTER(?n > 3)', "?x :other ?n", '?n < "9"', "?n < 9"),
        ('FILTER(?n < "9" && ?n * 2 > ?m)', "?x :other ?n . ?x :more ?m", '?n < "9"', "?n < 9"),
    ],
)
def test_a_number_compared_with_text_is_warned_of(
    filters: str, triple: str, under_caret: str, remedy: str
) -> None:
    (only,) = said(filters, triple)
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert only.message == f"{under_caret} is never true of a number"
    assert only.remedy == f"{remedy}   (a number has no quotes)"
    assert only.severity == "warning"


@pytest.mark.parametrize(
    ("filters", "triple"),
    [
        ("FILTER(?is > 30)", "?x :celsius ?is"),
        ('FILTER(?n > "m")', "?x :name ?n"),  # names have an order, too
        ('FILTER(?is != "broken")', "?x :celsius ?is"),
        ('FILTER(STR(?is) > "3")', "?x :celsius ?is"),
        ('FILTER(STR(?x) > "3")', "?x :celsius ?is"),
        ('FILTER(?n > "m" && ?m > 3)', "?x :name ?n . ?x :size ?m"),
    ],
)
def test_text_compared_with_text_is_not_spoken_of(filters: str, triple: str) -> None:
    assert said(filters, triple) == []


def test_the_guard_of_a_logical_event_is_looked_at_too() -> None:
    text = f'PREFIX : <http://e/#>\n{HOT} IF {{ ?this :celsius ?is FILTER(?is > "thirty") }}\nRETURN Hot\n'
    assert [one.code for one in check(link(parse(text)))] == ["OBEP219"]
