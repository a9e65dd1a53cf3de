"""Times as devices send them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obep.formats.timestamps import GREATEST, LEAST, parse_instant, show_instant


@pytest.mark.parametrize(
    ("value", "unit", "micros"),
    [
        (3, "s", 3_000_000),
        ("3", "s", 3_000_000),
        (1500, "ms", 1_500_000),
        ("1500", "ms", 1_500_000),
        (7, "us", 7),
        (7999, "ns", 7),
        (1.5, "s", 1_500_000),
        ("1.5", "s", 1_500_000),
        (-2, "s", -2_000_000),
        ("-0.25", "s", -250_000),
        ("1970-01-01T00:00:03Z", "s", 3_000_000),
        ("1970-01-01T00:00:03", "s", 3_000_000),
        ("1970-01-01 00:00:03", "ms", 3_000_000),
        ("1970-01-01T01:00:03+01:00", "s", 3_000_000),
        ("1970-01-01T00:00:03.5Z", "s", 3_500_000),
        ("1970-01-01T00:00:03.123456789Z", "s", 3_123_456),
        ("1970-01-01T24:00:00Z", "s", 86_400_000_000),
        ("1970-01-02", "s", 86_400_000_000),
        ("2026-11-16T01:50:00Z", "s", 1_794_793_800_000_000),
        ("20261116T015000Z", "s", 1_794_793_800_000_000),
        ("20261116T015000", "ms", 1_794_793_800_000_000),
        ("20261116T0150Z", "s", 1_794_793_800_000_000),
        ("20261116T025000.25+0100", "s", 1_794_793_800_250_000),
        ("20261116T025000,25+01:00", "s", 1_794_793_800_250_000),
        ("19700101T240000Z", "s", 86_400_000_000),
        ("19700102", "s", 19_700_102_000_000),
    ],
)
def test_a_time_stands_for_its_microseconds(value: str | int | float, unit: str, micros: int) -> None:
    assert parse_instant(value, unit) == micros


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "2026-13-01T00:00:00Z",
        "20260101T000000Z ago",
        "20261301T000000Z",
        "20260101T235960Z",
        "2026-01-01T23:59:60Z",
        "20260101 000000Z",
        "2026-01-01T000000Z",
        "2026001T000000Z",
        "2026-W01-1",
        "1970-01-01T00:00:61Z",
        "1_000",
        "१२",
        "1e3",
        True,
        float("nan"),
        float("inf"),
        10**30,
        "9" * 5000,
    ],
)
def test_what_is_no_time_is_refused(value: str | int | float) -> None:
    with pytest.raises(ValueError):
        parse_instant(value)


def test_a_time_out_of_range_names_its_unit() -> None:
    with pytest.raises(ValueError, match=" s lies outside the years 1 to 9999"):
        parse_instant(1_763_257_800_000)


@given(st.integers(LEAST, GREATEST))
def test_shown_as_iso_it_is_read_as_the_same_instant(micros: int) -> None:
    assert parse_instant(show_instant(micros, "iso")) == micros


@example(3_196_202_763_924_061)
@given(st.integers(-(2**52), 2**52))
def test_shown_as_a_number_it_is_read_as_the_same_instant(micros: int) -> None:
    assert parse_instant(show_instant(micros, "integer")) == micros
