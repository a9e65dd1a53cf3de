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


TEN = "Hot(?p) AS a SEQ Cold(?p) AS b WITHIN 10 min"
OUT_OF_TIME = [
    (TEN, "getSTARTTIME(b) - getENDTIME(a) > 15 min", "… WITHIN 25 min   (or another bound here)"),
    (TEN, "10 min <= getSTARTTIME(b) - getENDTIME(a)", "… WITHIN 20 min   (or another bound here)"),
    (TEN, "getSTARTTIME(b) > getENDTIME(a) + 15 min", "… WITHIN 25 min   (or another bound here)"),
    (TEN, "SECONDS(getDURATION()) > 900", "… WITHIN 25 min   (or another bound here)"),
    (TEN, "getENDTIME(a) - getSTARTTIME(b) > 1 min", "getSTARTTIME(b) - getENDTIME(a) > 1 min"),
    (
        TEN,
        "getSTARTTIME(a) > getENDTIME(b)",
        "leave it out: getSTARTTIME(a) < getENDTIME(b) holds anyway",
    ),
    (TEN, "getSTARTTIME(a) = getENDTIME(b)", "leave it out, or compare other times"),
    (TEN, "getDURATION(a) > 1 min", "getDURATION() > 1 min"),  # a reading is an instant
    (TEN, "getDURATION() + getDURATION() > 20 min", "… WITHIN 30 min   (or another bound here)"),
    (
        "(Hot AS a SEQ (Hot AS c SEQ Cold AS b)) WITHIN 10 min",
        "getENDTIME(b) - getSTARTTIME(a) = 12 min",
        "… WITHIN 22 min   (or another bound here)",
    ),
    (
        "((Hot AS a SEQ Hot AS c WITHIN 1 min) SEQ Cold AS b) WITHIN 10 min",
        "getENDTIME(c) - getSTARTTIME(a) > 5 min",  # the inner bound is too short
        "… WITHIN 6 min   (or another bound here)",
    ),
    (
        "(Hot AS a NOT FOLLOWED BY Hot WITHIN 5 min SEQ Cold AS b) WITHIN 1 h",
        "getSTARTTIME(b) - getENDTIME(a) < 2 min",
        "leave it out: getENDTIME(a) - getSTARTTIME(b) < 2 min holds anyway",
    ),
    (
        "Pair AS a AND Pair AS b",
        "getSTARTTIME(a) != getSTARTTIME(b)",
        "leave it out, or compare other times",
    ),
    ("(Hot AS a DURING Pair AS b) WITHIN 10 min", "getSTARTTIME(a) - getSTARTTIME(b) > 20 min", ""),
    ("(OPTIONAL(Hot AS a) SEQ Cold AS b) WITHIN 10 min", "getENDTIME(b) - getENDTIME(a) > 20 min", ""),
    ("((Hot AS a SEQ Cold AS b) OR Hot AS c) WITHIN 10 min", "getENDTIME(b) - getENDTIME(a) > 20 min", ""),
    ("(Hot AS a SEQ Cold AS b) TIMES 2 WITHIN 10 min", "getENDTIME(b) <= getENDTIME(a)", ""),
]


@pytest.mark.parametrize(("pattern", "condition", "remedy"), OUT_OF_TIME)
def test_what_the_times_of_the_pattern_do_not_allow_is_warned_of(
    pattern: str, condition: str, remedy: str
) -> None:
    (only,) = said(f"FILTER({condition})", pattern)
    assert only.span is not None
    assert only.line_text[only.span.column - 1 : only.span.end_column - 1] == condition
    assert only.message == f"{condition} is never true in this pattern"
    assert only.remedy == remedy or (not remedy and only.remedy)


@pytest.mark.parametrize(
    ("condition", "because"),
    [
        ("getSTARTTIME(b) - getENDTIME(a) > 15 min", "getSTARTTIME(b) - getENDTIME(a) is less than 10 min."),
        ("900 < SECONDS(getDURATION())", "SECONDS(getDURATION()) is less than 600."),
        ("getENDTIME(a) - getSTARTTIME(b) > 1 min", "getENDTIME(a) - getSTARTTIME(b) is always negative."),
        ("getSTARTTIME(a) >= getENDTIME(b)", "getSTARTTIME(a) is always before getENDTIME(b)."),
        ("getENDTIME() < getENDTIME(b)", "getENDTIME() is always getENDTIME(b)."),
        ("getDURATION() <= 0 s", "getDURATION() is more than 0 s."),
    ],
)
def test_the_reason_says_what_the_pattern_leaves(condition: str, because: str) -> None:
    (only,) = said(f"FILTER({condition})", TEN)
    assert only.reason == f"The order and the bounds of its parts leave no times for it: {because}"


@pytest.mark.parametrize(
    ("pattern", "condition"),
    [
        (TEN, "getSTARTTIME(b) - getENDTIME(a) > 9 min"),
        (TEN, "getSTARTTIME(b) - getENDTIME(a) > 599999 ms"),
        (TEN, "getSTARTTIME(b) - getENDTIME(a) <= 15 min"),  # always true, which does no harm
        (TEN, "!(getSTARTTIME(b) - getENDTIME(a) > 15 min)"),
        (TEN, "getSTARTTIME(a) < getENDTIME(b)"),
        (TEN, "SECONDS(getDURATION()) > 599.9"),
        (TEN, "SECONDS(getDURATION()) * 1.5 > 900"),  # not computed here
        ("Hot AS a SEQ Cold AS b", "getSTARTTIME(b) - getENDTIME(a) > 15 d"),
        ("(Hot AS a SEQ Cold AS b WITHIN 1 min) SEQ Hot AS c", "getENDTIME(c) - getSTARTTIME(a) > 15 min"),
        ("Hot AS a JOIN Cold AS b WITHIN 10 min", "getSTARTTIME(a) > getENDTIME(b)"),
        ("Hot AS a DURING Pair AS b", "getSTARTTIME(b) < getSTARTTIME(a)"),
        ("Hot AS a DURING Pair AS b", "getSTARTTIME(b) = getSTARTTIME(a)"),
        ("Pair AS a SEQ Cold AS b WITHIN 10 min", "getDURATION(a) > 9 min"),
        ("OPTIONAL(Hot AS a) SEQ Cold AS b WITHIN 10 min", "getDURATION() <= 0 s"),  # there may be no a
        ("(Hot AS a SEQ Cold AS b WITHIN 1 min) OR Pair AS c", "getDURATION() > 5 min"),
        ("(Hot AS a OR Cold AS b) SEQ Hot AS c WITHIN 10 min", "getENDTIME(b) - getENDTIME(a) > 1 h"),
        ("Hot AS a TIMES 2 WITHIN 10 min", "getDURATION() > 9 min"),
        ("Hot AS a NOT FOLLOWED BY Cold AS b WITHIN 5 min", "getSTARTTIME(b) < getENDTIME(a)"),
    ],
)
def test_what_some_times_allow_is_not_spoken_of(pattern: str, condition: str) -> None:
    assert said(f"FILTER({condition})", pattern) == []


def test_what_is_found_in_a_longer_event_may_take_time() -> None:
    """What is found in a window spans it, and what is found in an occurrence lasts as long as that."""
    head = "PREFIX : <http://e/#>\nFROM STREAM <s>\nFROM NAMED WINDOW <w> ON <s> [RANGE 10 min]\n"
    alarm = "EVENT Alarm MATCH Hot AS a IF { FILTER(getDURATION(a) > 1 min) }\nRETURN Alarm\n"
    other = "EVENT Cold AS (Pen)\nEVENT Other MATCH Cold AS c SEQ Cold AS d WITHIN 1 h\nRETURN Other\n"
    for hot, number in (
        ("EVENT Hot AS (Pen and celsius some number)\n", 1),
        ("EVENT Hot ON <w> AS (Pen and celsius some number)\n", 0),
        (f"{other}EVENT Hot AS (Pen and celsius some number)\n", 0),
        (f"{other}EVENT Hot ON <s> AS (Pen and celsius some number)\n", 1),
    ):
        found = check(link(parse(f"{head}{hot}{alarm}")))
        assert len([one for one in found if one.code == "OBEP219"]) == number, hot


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
