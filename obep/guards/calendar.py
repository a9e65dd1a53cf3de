"""Dates, times and durations of XSD as integers of microseconds that remember how they were written."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Self

MICROS = 1_000_000
_DAY = 86_400 * MICROS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1).toordinal()
LEAST = -62_135_596_800 * MICROS
GREATEST = 253_402_300_800 * MICROS - 1
"""The years 1 to 9999."""
LONGEST = 10**20
"""About three million years: no duration beyond it."""


class _Zoned(int):
    """Microseconds since the epoch, and the minutes of a zone where one was written."""

    offset: int | None

    def __new__(cls, micros: int, offset: int | None = None) -> Self:
        self = super().__new__(cls, micros)
        self.offset = offset
        return self

    def local(self) -> datetime:
        """The date and time that the clocks of its zone show."""
        return _EPOCH + timedelta(microseconds=int(self) + 60 * MICROS * (self.offset or 0))


class Moment(_Zoned):
    """An xsd:dateTime; without a zone it is UTC."""

    def __new__(cls, micros: int, offset: int | None = 0) -> Self:
        return super().__new__(cls, micros, offset)

    def __str__(self) -> str:
        moment = self.local().replace(tzinfo=None).isoformat()
        return (moment.rstrip("0") if "." in moment else moment) + zone(self.offset)


class Day(_Zoned):
    """An xsd:date: the microsecond at which it begins, where it was written."""

    def __str__(self) -> str:
        return self.local().date().isoformat() + zone(self.offset)


class Lapse(int):
    """An xsd:dayTimeDuration: microseconds."""

    __slots__ = ()

    def __str__(self) -> str:
        """
        >>> str(Lapse(90_500_000)), str(Lapse(0)), str(Lapse(-86_400_000_000))
        ('PT1M30.5S', 'PT0S', '-P1D')
        """
        rest, micros = divmod(abs(int(self)), MICROS)
        days, rest = divmod(rest, 86_400)
        hours, rest = divmod(rest, 3_600)
        minutes, seconds = divmod(rest, 60)
        part = f".{micros:06d}".rstrip("0") if micros else ""
        clock = f"{hours}H" * (hours > 0) + f"{minutes}M" * (minutes > 0)
        if seconds or part or not (clock or days):
            clock += f"{seconds}{part}S"
        return "-" * (self < 0) + "P" + f"{days}D" * (days > 0) + f"T{clock}" * (clock != "")


_ZONE = r"(Z|[+-]\d\d:\d\d)?\Z"
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?" + _ZONE, re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)" + _ZONE, re.ASCII)
_LAPSE = re.compile(
    r"(-?)P(?=.)(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,12})H)?(?:(\d{1,12})M)?(?:(\d{1,15})(?:\.(\d+))?S)?)?\Z",
    re.ASCII,
)


def parse(text: str, kind: str) -> Moment | Day | Lapse | None:
    """The value of a lexical form of xsd:dateTime, date, dayTimeDuration, or duration without months."""
    try:
        if kind == "dateTime":
            return _moment(text)
        if kind == "date":
            return _day(text)
    except (ValueError, OverflowError):
        return None
    return _lapse(text) if kind in ("dayTimeDuration", "duration") else None


def zone(offset: int | None) -> str:
    """A zone as it is written after a time.

    >>> zone(None), zone(0), zone(-330)
    ('', 'Z', '-05:30')
    """
    if not offset:
        return "" if offset is None else "Z"
    return f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"


def within_years(micros: int) -> bool:
    """Whether an instant can be written down, in its zone or any other."""
    return LEAST + _DAY <= micros <= GREATEST - _DAY


def _moment(text: str) -> Moment | None:
    match = _MOMENT.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    part = int((match[7] or "0").ljust(6, "0")[:6])
    midnight = hour == 24
    if hour > 24 or minute > 59 or second > 59 or (midnight and (minute or second or part)):
        return None
    days = date(year, month, day).toordinal() - _FIRST_DAY
    offset = _offset(match[8])
    micros = days * _DAY + ((hour * 60 + minute) * 60 + second) * MICROS + part
    micros -= (offset or 0) * 60 * MICROS
    return Moment(micros, offset) if within_years(micros) else None


def _day(text: str) -> Day | None:
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day = map(int, match.groups()[:3])
    offset = _offset(match[4])
    micros = (date(year, month, day).toordinal() - _FIRST_DAY) * _DAY - (offset or 0) * 60 * MICROS
    return Day(micros, offset) if within_years(micros) else None


def _offset(text: str | None) -> int | None:
    if text is None:
        return None
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        raise ValueError(text)
    return (-1 if text[0] == "-" else 1) * (hours * 60 + minutes)


def _lapse(text: str) -> Lapse | None:
    match = _LAPSE.match(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(group or 0) for group in match.groups()[1:5])
    part = int((match[6] or "0").ljust(6, "0")[:6])
    micros = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * MICROS + part
    return Lapse(-micros if match[1] else micros) if micros <= LONGEST else None
