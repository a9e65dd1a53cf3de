"""Instants: what devices write as times, and integer microseconds since the epoch (SPEC §1)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

Unit = Literal["s", "ms", "us", "ns"]
Style = Literal["iso", "integer"]

_ROUNDED = 2**31 * 10**9
UNITS: dict[str, int] = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds in a unit."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LEAST = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z, the first instant that can be written down."""
GREATEST = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""

_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,20})?\Z", re.ASCII)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,20})?)?\s?(Z|[+-]\d\d:?\d\d)?)?\Z", re.ASCII
)

_BASIC = re.compile(
    r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)([.,]\d{1,20})?)?(Z|[+-]\d\d:?\d\d)?\Z", re.ASCII
)
"""ISO 8601 without its signs. The T distinguishes it from a number."""


def parse_instant(value: str | int | float, unit: str = "s", zone: tzinfo = UTC) -> int:
    """The instant that a number in `unit`, or an ISO 8601 date-time, stands for.

    A date-time without a zone is one of `zone`; parts of a microsecond are cut off. Raises ValueError.

    >>> parse_instant(3), parse_instant("1970-01-01T00:00:03Z"), parse_instant(1500, "ms")
    (3000000, 3000000, 1500000)
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no time")
        nanos = value * UNITS[unit]
        # until 2038 the three floats are rounded by less than half a microsecond together
        micros = round(nanos / 1000) if abs(nanos) < _ROUNDED else _exact_micros(value, unit)
    elif isinstance(value, str):
        micros = _parse_text(value.strip(), unit, zone)
    elif isinstance(value, bool):
        raise ValueError(f"{value} is no time")
    else:
        micros = value * UNITS[unit] // 1000
    if not LEAST <= micros <= GREATEST:
        raise ValueError(f"{_short(value)} {unit} lies outside the years 1 to 9999")
    return micros


def _exact_micros(value: float, unit: str) -> int:
    numerator, denominator = value.as_integer_ratio()
    return round(Fraction(numerator * UNITS[unit], denominator * 1000))


def style_of_text(value: str | int | float) -> Style:
    """How an instant is written.

    >>> style_of_text("2026-01-01T10:00:00Z"), style_of_text(3), style_of_text(" 3.5")
    ('iso', 'integer', 'integer')
    """
    return "iso" if isinstance(value, str) and not _NUMBER.match(value.strip()) else "integer"


def show_instant(micros: int, style: Style = "iso") -> str | int | float:
    """An instant as it is printed: ISO 8601 in UTC, or a number of seconds.

    >>> show_instant(3_500_000), show_instant(3_000_000, "integer")
    ('1970-01-01T00:00:03.5Z', 3)
    """
    if style == "integer":
        return micros / 1_000_000 if micros % 1_000_000 else micros // 1_000_000
    second, part = divmod(micros, 1_000_000)
    if part % 1000:
        return f"{_show_second(second)}.{part:06}".rstrip("0") + "Z"
    return f"{_show_second(second)}{_show_millis(part // 1000)}Z"


@lru_cache(1024)
def _show_second(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).isoformat()[:19]


@lru_cache(1000)
def _show_millis(part: int) -> str:
    return f".{part:03}".rstrip("0") if part else ""


def _parse_text(text: str, unit: str, zone: tzinfo) -> int:
    if _NUMBER.match(text):
        whole, _, part = text.lstrip("+-").partition(".")
        nanos = int(whole) * UNITS[unit] + (int(part) * UNITS[unit] // 10 ** len(part) if part else 0)
        return (-nanos if text[0] == "-" else nanos) // 1000
    if not _DATE.match(text):
        basic = _BASIC.match(text)
        if basic is None:
            raise ValueError(f"{_short(text)} is neither a number nor an ISO 8601 date-time")
        year, month, day, hour, minute, second, part, offset = basic.groups("")
        text = f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{part}{offset}"
    midnight = text[11:16] == "24:00"  # xsd:dateTime allows it for the end of a day
    moment = datetime.fromisoformat(
        text.replace("24:00", "00:00", 1) if midnight else text.replace(" Z", "Z")
    )
    if moment.tzinfo is None:
        if midnight and zone is not UTC and moment.year < 9999:  # a day of the zone may have 23 hours
            moment, midnight = moment + timedelta(days=1), False
        moment = moment.replace(tzinfo=zone)
    since = moment - EPOCH
    return (since.days + midnight) * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds


def _short(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 200:  # Python does not write out the longest ones
        return "a number of more than 60 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


_DURATION = re.compile(r"\(?\s*(\d{1,12}(?:\.\d{1,6})?)\s*([a-zA-Zµ]+)\s*\)?\Z", re.ASCII)
_XSD_DURATION = re.compile(
    r"P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,6})?)S)?)?\Z", re.ASCII
)
LENGTHS = {
    spelling: micros
    for micros, spellings in (
        (1, "us"),
        (1_000, "ms msec millis millisecond milliseconds"),
        (1_000_000, "s sec secs second seconds"),
        (60_000_000, "m min mins minute minutes"),
        (3_600_000_000, "h hour hours"),
        (86_400_000_000, "d day days"),
    )
    for spelling in spellings.split()
}
"""Microseconds of the units of durations, in all their spellings: in queries, options and obep.toml."""


def parse_duration(text: str) -> int:
    """Microseconds of a duration as queries write it. Raises ValueError.

    >>> parse_duration("5s"), parse_duration("5 min"), parse_duration("PT1M30S"), parse_duration("500 ms")
    (5000000, 300000000, 90000000, 500000)
    """
    text = text.strip()
    if short := _DURATION.match(text):
        length = LENGTHS.get(short[2].lower())
        if length is not None:
            return int(Decimal(short[1]) * length)
    if (xsd := _XSD_DURATION.match(text)) and text not in ("P", "PT"):
        days, hours, minutes, seconds = (Decimal(part or 0) for part in xsd.groups())
        return int((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000)
    raise ValueError(f"{_short(text)} is no duration; write 500 ms, 5 s, 5 min, 1 h, 2 d or PT5M")
