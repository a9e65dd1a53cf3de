"""Conditions that no value meets are warned of, and nothing else is."""

from __future__ import annotations

import pytest

from obep.errors import Diagnostic
from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse

HEAD = """PREFIX : <http://e/#>
PREFIX ex: <http://x/>
EVENT Hot AS (Pen and celsius some number[> 3])
EVENT Cold AS (Pen and celsius some number[< 3])
EVENT Pair(?pen, ?is) MATCH Hot(?pen) AS h SEQ Cold AS c WITHIN 1 h IF { EVENT h { ?pen :celsius ?is . } }
"""


def said(guard: str, pattern: str = "Hot(?p) AS a SEQ Cold(?p) AS b WITHIN 1 h") -> list[Diagnostic]:
    found = check(link(parse(f"{HEAD}EVENT Alarm MATCH {pattern} IF {{ {guard} }}\nRETURN Alarm, Pair\n")))
    assert not [one for one in found if one.severity == "error"], found
    return [one for one in found if one.code == "OBEP219"]


NEVER = {
    "FILTER(getENDTIME(b) - getSTARTTIME(a) > 60)": (
        "getENDTIME(b) - getSTARTTIME(a) > 60",
        "getENDTIME(b) - getSTARTTIME(a) > 1 min   (or SECONDS(getENDTIME(b) - getSTARTTIME(a)) > 60)",
    ),
    "FILTER(1.5 <= getDURATION())": (
        "1.5 <= getDURATION()",
        "1500 ms <= getDURATION()   (or 1.5 <= SECONDS(getDURATION()))",
    ),
    "FILTER(getDURATION() * 2 < 60 * 5)": (
        "getDURATION() * 2 < 60 * 5",
        "SECONDS(getDURATION() * 2) < 60 * 5",
    ),
    "FILTER(getDURATION() > 1e30)": ("getDURATION() > 1e30", "SECONDS(getDURATION()) > 1e30"),
    "FILTER(getDURATION() > -1)": ("getDURATION() > -1", "SECONDS(getDURATION()) > -1"),
    "FILTER(getENDTIME(a) > 5)": (
        "getENDTIME(a) > 5",
        'getENDTIME(a) > "1970-01-01T00:00:05Z"^^xsd:dateTime',
    ),
    "FILTER(1700000000 = getSTARTTIME(a) + 5 min)": (
        "1700000000 = getSTARTTIME(a) + 5 min",
        '"2023-11-14T22:13:20Z"^^xsd:dateTime = getSTARTTIME(a) + 5 min',
    ),
    "FILTER(getSTARTTIME() < 1700000000000)": (  # milliseconds
        "getSTARTTIME() < 1700000000000",
        'getSTARTTIME() < "2023-11-14T22:13:20Z"^^xsd:dateTime',
    ),
    "FILTER(getENDTIME(b) >= 1e99)": (
        "getENDTIME(b) >= 1e99",
        'getENDTIME(b) >= "2026-01-31T12:00:00Z"^^xsd:dateTime',
    ),
    'FILTER(getSTARTTIME(b) > "2026-01-01T00:00:00Z")': (
        'getSTARTTIME(b) > "2026-01-01T00:00:00Z"',
        'getSTARTTIME(b) > "2026-01-01T00:00:00Z"^^xsd:dateTime',
    ),
    "FILTER(getSTARTTIME(b) > 5 min)": ("getSTARTTIME(b) > 5 min", "getDURATION() > 5 min"),
    'FILTER(getDURATION() > "PT2M")': (
        'getDURATION() > "PT2M"',
        "getDURATION() > 2 min   (a duration has no quotes)",
    ),
    'FILTER(?p = "PenA")': ('?p = "PenA"', "?p = :PenA   (a name has no quotes)"),
    'FILTER("ex:PenA" = ?p)': ('"ex:PenA" = ?p', "ex:PenA = ?p   (a name has no quotes)"),
    'FILTER(?p = "http://x/A")': ('?p = "http://x/A"', "?p = <http://x/A>   (a name has no quotes)"),
    'FILTER(?p IN ("A", "B"))': ('?p IN ("A", "B")', "?p IN (:A, :B)"),
    'FILTER(?p < "m")': ('?p < "m"', 'STR(?p) < "m"   (the text of its IRI)'),
    "FILTER(?p > 5)": (
        "?p > 5",
        "?p :property ?value . FILTER(?value > 5)   (its value, by the property that has it)",
    ),
    'EVENT a { ?p :in ?house . } EVENT b { ?house :owner ?p . FILTER(?house = "H") }': (
        '?house = "H"',
        "?house = :H   (a name has no quotes)",
    ),
    'EVENT a { ?p :celsius ?v . FILTER(?this = "A" || ?v > 3) }': (
        '?this = "A"',
        "?this = :A   (a name has no quotes)",
    ),
    "EVENT a { ?p :celsius ?v . FILTER(?v > 5 && ?v < 4) }": (
        "?v < 4",
        "?v > 5 || ?v < 4   (one of the two)",
    ),
    "EVENT a { ?p :celsius ?v . FILTER(?v >= 5) FILTER(?p != :A && 4.9 >= ?v) }": (
        "4.9 >= ?v",
        "?v >= 5 || 4.9 >= ?v   (one of the two)",
    ),
    "EVENT a { ?p :celsius ?v . } FILTER(?v > 5) FILTER(?v = 5)": (
        "?v = 5",
        "?v > 5 || ?v = 5   (one of the two)",
    ),
    "FILTER(?p = :A || (?p = :A && ?p = :B))": ("?p = :B", "?p = :A || ?p = :B   (one of the two)"),
    "FILTER(getDURATION() > 5 min && getDURATION() < 300 s)": (
        "getDURATION() < 300 s",
        "getDURATION() > 5 min || getDURATION() < 5 min   (one of the two)",
    ),
}


@pytest.mark.parametrize("guard", NEVER)
def test_what_no_value_meets_is_warned_of(guard: str) -> None:
    under_caret, remedy = NEVER[guard]
    (only,) = said(guard)
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == under_caret
    assert only.remedy == remedy
    assert only.severity == "warning"


@pytest.mark.parametrize(
    "guard",
    [
        "FILTER(getENDTIME(b) - getSTARTTIME(a) > 60 s)",
        "FILTER(seconds(getENDTIME(b) - getSTARTTIME(a)) > 60)",
        "FILTER(getDURATION() / 1 min > 60)",  # a duration divided by a duration is a number
        "FILTER(getDURATION() != 60)",  # that is always true
        "FILTER(getSTARTTIME(a) != 60)",
        'FILTER(getSTARTTIME(a) > "2026-01-01T00:00:00Z"^^xsd:dateTime)',
        'FILTER(getSTARTTIME(a) > xsd:dateTime("2026-01-01T00:00:00Z"))',
        'FILTER(getDURATION() > "PT5M"^^xsd:dayTimeDuration)',
        "FILTER(getENDTIME(a) + 5 min > getSTARTTIME(b))",
        "FILTER(YEAR(getENDTIME(a)) > 2025 && SECONDS(getENDTIME(b) - getENDTIME(a)) > 5)",
        "EVENT a { ?p :celsius ?v . } FILTER(getSTARTTIME(a) > ?v)",  # it may be a moment
        "FILTER(?p = :PenA)",
        'FILTER(?p != "PenA")',
        'FILTER(STR(?p) = "http://e/#PenA")',
        'EVENT a { ?p :in ?house . FILTER(?house = "H") }',  # an object may be text
        "EVENT a { ?p :celsius ?v . FILTER(?v > 4 && ?v < 5) }",
        "EVENT a { ?p :celsius ?v . FILTER(?v >= 5 && ?v <= 5.0) }",
        "EVENT a { ?p :celsius ?v . FILTER(?v > 5 || ?v < 4) }",
        "EVENT a { ?p :celsius ?v . } EVENT b { ?p :celsius ?w . } FILTER(?v > 5 && ?w < 4)",
        "EVENT a { ?p :celsius ?v . FILTER(?v = 5.00000000001 && ?v = 5) }",  # one, as an xsd:float has them
        "EVENT a { ?p :celsius ?v . FILTER(?v >= 5e0 && ?v < 5.0) }",  # 4.99999999999999999 rounds
        "FILTER(?p = :A || ?p = :B)",
    ],
)
def test_what_some_value_meets_is_not_spoken_of(guard: str) -> None:
    assert said(guard) == []


def test_the_parameters_of_a_composite_may_be_values() -> None:
    guard, pattern = 'FILTER(?x = "3") FILTER(?p = :A)', "Pair(?p, ?x) AS a SEQ Cold AS b WITHIN 2 h"
    assert said(guard, pattern) == []


@pytest.mark.parametrize(
    ("pattern", "number"),
    [
        ("Hot AS a SEQ Cold AS b WITHIN 1 h", 1),
        ("Hot AS a OR Cold AS b", 0),  # in the other branch ?x is an object, which may be text
        ("OPTIONAL Cold AS b SEQ Hot AS a WITHIN 1 h", 0),
    ],
)
def test_an_alias_that_may_be_missing_makes_nothing_an_individual(pattern: str, number: int) -> None:
    guard = 'EVENT a { ?this :name ?x . } EVENT b { ?x :owner ?this . } FILTER(?x = "A")'
    assert len(said(guard, pattern)) == number


def test_the_guard_of_a_logical_event_is_looked_at_too() -> None:
    text = 'PREFIX : <http://e/#>\nEVENT H AS Pen IF { ?this :in ?h FILTER(?this = "A") }\nRETURN H\n'
    (only,) = [one for one in check(link(parse(text))) if one.code == "OBEP219"]
    assert only.message == '?this = "A" is never true of an individual'


def test_a_number_too_long_for_a_duration_is_no_proposal() -> None:
    number = "1" * 5_000
    text = (
        "EVENT A AS B\nSTATE R(?m) FROM A(?m) TO A(?m) TIMEOUT 1 h\n"
        f"STATE H(?m) OVER STATE R(?m) WITHIN 1 h STEP 1 min HAVING (HELD() > {number})\nRETURN H AS ALERTS"
    )
    (only,) = [one for one in check(link(parse(text))) if one.code == "OBEP219"]
    assert only.remedy == "compare values of one kind"


def test_an_exponent_beyond_the_default_decimal_context_is_compared() -> None:
    text = (
        "EVENT A AS B\nSTATE H(?m) OVER A(?m) WITHIN 1 h HAVING (COUNT(*) = 1e9999999)\n"
        "STATE N(?m) OVER A(?m) WITHIN 1 h HAVING (COUNT(*) > 1e9999999 && COUNT(*) < 5)\n"
        "RETURN H, N AS ALERTS"
    )
    assert [one.line_text[:7] for one in check(link(parse(text))) if one.code == "OBEP219"] == ["STATE N"]
