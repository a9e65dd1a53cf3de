"""Where a guard means something else than rdflib's evaluator does, and why. Each test shows both."""

from __future__ import annotations

import logging

import pytest
from conditions import expression, holds, typed, value
from rdflib_reference import evaluate, truth

logging.getLogger("rdflib").setLevel(logging.CRITICAL)


def rdflib(text: str, **row: str) -> bool | None:
    """What rdflib says as it is."""
    return truth(expression(text), row, repaired=False)


def test_false_wins_over_an_error_in_a_conjunction() -> None:
    """SPARQL 1.1, 17.2: false && error is false. rdflib stops at the error, so `!(…)` would go wrong."""
    assert holds("!(?unbound > 1 && 1 > 2)") is True
    assert rdflib("!(?unbound > 1 && 1 > 2)") is None


def test_in_compares_values() -> None:
    """SPARQL 1.1, 17.4.1.9: IN is a chain of `=`. rdflib compares terms, so 1 would not be in (1.0)."""
    assert holds("?v IN (1.0, 2.0)", v=typed("1", "integer")) is True
    assert rdflib("?v IN (1.0, 2.0)", v=typed("1", "integer")) is False


@pytest.mark.parametrize("text", ['1 < "2"', '"a"@en < "b"@de', "true < 2", '1 < "abc"^^xsd:int'])
def test_what_has_no_order_is_an_error(text: str) -> None:
    """SPARQL 1.1, 17.3: no such operator. rdflib orders by datatype, as ORDER BY would."""
    assert holds(text) is None
    assert rdflib(text) is not None


@pytest.mark.parametrize("text", ['"x"^^:t = "y"^^:u', '"x"^^:t != 5', '"abc"^^xsd:int != 5'])
def test_nobody_knows_what_a_literal_of_an_unknown_datatype_equals(text: str) -> None:
    """SPARQL 1.1, 17.4.1.7: an error, unless it is the same term. rdflib tells by the datatype."""
    assert holds(text) is None
    assert rdflib(text) is not None
    assert holds('"x"^^:t = "x"^^:t') is True


def test_a_decimal_meets_a_double_as_a_double() -> None:
    """XPath's promotion: 0.1 = 1e-1. rdflib compares Python's Decimal and float exactly, so it is false."""
    assert holds("0.1 = 1e-1") is True
    assert rdflib("0.1 = 1e-1") is False


def test_a_float_has_32_bits() -> None:
    """XSD: 16777217 is no float. rdflib keeps 64 bits."""
    assert holds("?v = 16777216", v=typed("16777217", "float")) is True
    assert rdflib("?v = 16777216", v=typed("16777217", "float")) is False


def test_a_moment_without_a_zone_is_utc() -> None:
    """SPEC §1. rdflib says that moments with and without a zone are never equal, and sorts them apart."""
    here, there = typed("2026-01-01T10:00:00", "dateTime"), typed("2026-01-01T11:00:00+01:00", "dateTime")
    assert holds("?a = ?b", a=here, b=there) is True
    assert rdflib("?a = ?b", a=here, b=there) is False


def test_durations_of_both_datatypes_compare() -> None:
    """SPEC §5: durations compare. rdflib does so only within one datatype."""
    minute, seconds = typed("PT1M", "dayTimeDuration"), typed("PT60S", "duration")
    assert holds("?a = ?b && ?a <= ?b", a=minute, b=seconds) is True
    assert rdflib("?a = ?b", a=minute, b=seconds) is False


def test_the_difference_of_moments_is_a_day_time_duration() -> None:
    """SPEC §5, and XPath. rdflib makes an xsd:duration of it, which equals no xsd:dayTimeDuration there."""
    a, b = typed("2026-01-01T10:00:00Z", "dateTime"), typed("2026-01-01T09:59:00Z", "dateTime")
    assert value("?a - ?b", a=a, b=b) == typed("PT1M", "dayTimeDuration")
    assert str(evaluate(expression("?a - ?b"), {"a": a, "b": b}, repaired=False).datatype).endswith(
        "#duration"
    )


def test_a_duration_is_added_to_a_duration_and_multiplied() -> None:
    """SPEC §5: `2 * 5 min`. rdflib has no arithmetic of durations alone."""
    day = typed("PT24H", "dayTimeDuration")
    assert value("?d + ?d", d=day) == typed("P2D", "dayTimeDuration")
    assert rdflib('?d + ?d = "P2D"^^xsd:dayTimeDuration', d=day) is None


def test_the_product_of_integers_is_an_integer() -> None:
    """SPARQL 1.1, 17.3. rdflib multiplies decimals, which shows in DATATYPE and STR."""
    assert holds("DATATYPE(2 * 3) = xsd:integer") is True
    assert rdflib("DATATYPE(2 * 3) = xsd:integer") is False


def test_a_double_divided_is_a_double() -> None:
    """XPath's promotion, and IEEE 754 at zero. rdflib goes on with a decimal and errs at 0."""
    assert holds("(1e0 / 3) * 3 = 1") is True
    assert rdflib("(1e0 / 3) * 3 = 1") is False
    assert value("1e0 / 0") == typed("INF", "double")
    assert value("1 / 0") is None


def test_a_moment_has_no_boolean_value() -> None:
    """SPARQL 1.1, 17.2.2: an error. rdflib asks Python, to which every moment is true."""
    moment = typed("2026-01-01T10:00:00Z", "dateTime")
    assert holds("!?d", d=moment) is None
    assert rdflib("!?d", d=moment) is False


def test_an_ill_typed_number_is_false_and_no_number() -> None:
    """SPARQL 1.1, 17.2.2 and 17.4.2.4. rdflib reads 300 out of a byte, and finds "abc" numeric."""
    assert holds("!?v", v=typed("abc", "integer")) is True
    assert holds("isNUMERIC(?v)", v=typed("abc", "integer")) is False
    assert holds("?v + 1 > 0", v=typed("300", "byte")) is None
    assert rdflib("isNUMERIC(?v)", v=typed("abc", "integer")) is True
    assert rdflib("?v + 1 > 0", v=typed("300", "byte")) is True


def test_a_function_of_an_error_is_an_error() -> None:
    """SPARQL 1.1, 17.2. rdflib's isNUMERIC answers false for an unbound variable."""
    assert holds("isNUMERIC(?unbound)") is None
    assert rdflib("isNUMERIC(?unbound)") is False


def test_substr_counts_from_one() -> None:
    """XPath's fn:substring. rdflib takes a Python slice, so a place before the first counts from the end."""
    assert value('SUBSTR("motor car", 0, 3)') == '"mo"'
    assert value('SUBSTR("12345", 1.5, 2.6)') == '"234"'
    assert str(evaluate(expression('SUBSTR("motor car", 0, 3)'), {}, repaired=False)) == ""


def test_casts_follow_sparqls_table() -> None:
    """SPARQL 1.1, 17.5. rdflib parses the lexical form, so it cannot make an integer of 3.7e0."""
    assert value("xsd:integer(3.7e0)") == typed("3", "integer")
    assert value("xsd:double(true)") == typed("1", "double")
    assert value("xsd:boolean(5)") == typed("true", "boolean")
    assert rdflib("xsd:integer(3.7e0) = 3") is None
    assert rdflib("xsd:double(true) = 1") is None
    assert rdflib("xsd:boolean(5)") is None


def test_a_cast_to_string_is_canonical() -> None:
    """XPath: xs:string(007) is "7". rdflib keeps the form; STR does so here too."""
    assert value("xsd:string(?v)", v=typed("007", "integer")) == '"7"'
    assert value("STR(?v)", v=typed("007", "integer")) == '"007"'
    assert (
        str(evaluate(expression("xsd:string(?v)"), {"v": typed("007", "integer")}, repaired=False)) == "007"
    )


def test_the_end_of_a_text_is_its_end() -> None:
    """XPath: without the flag m, $ matches only there. Python's $ also stands before a last line break."""
    assert holds('REGEX("a\\n", "a$")') is False
    assert rdflib('REGEX("a\\n", "a$")') is True


def test_replace_refuses_a_pattern_that_matches_nothing() -> None:
    """XPath, err:FORX0003. rdflib puts the replacement between all characters."""
    assert value('REPLACE("abc", "x*", "-")') is None
    assert str(evaluate(expression('REPLACE("abc", "x*", "-")'), {}, repaired=False)) == "-a-b-c-"


def test_the_zone_keeps_its_minutes() -> None:
    """SPARQL 1.1, 17.4.5.8. rdflib loses the half hour."""
    india = typed("2026-01-01T10:00:00+05:30", "dateTime")
    assert value("TIMEZONE(?d)", d=india) == typed("PT5H30M", "dayTimeDuration")
    assert str(evaluate(expression("TIMEZONE(?d)"), {"d": india}, repaired=False)) == "PT5H"
