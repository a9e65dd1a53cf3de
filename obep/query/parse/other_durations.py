"""Durations in other spellings, and what they mean: `15min30`, `1 h 30 min`, `2 weeks`, `PT15`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from obep.formats.timestamps import LENGTHS
from obep.query.nearest_name import nearest
from obep.query.parse.spelling import LONGEST, UNITS, show_micros

_DAY = UNITS["d"]
_OTHER_UNITS = {
    **dict.fromkeys(("hr", "hrs", "hs"), "h"),
    **dict.fromkeys(("mn", "mns"), "min"),
    **dict.fromkeys(("msecs", "mils"), "ms"),
    **dict.fromkeys(("microsecond", "microseconds", "usec", "usecs", "µs"), "us"),
}
_IN_DAYS = {
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), 7),
    **dict.fromkeys(("month", "months"), 30),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), 365),
}
_LONG_UNITS = ("msec", "millis", "seconds", "second", "secs", "minutes", "minute", "hours", "hour", "days")
_WORDS = "one two three four five six seven eight nine ten"
_COUNTED = {
    "a": 1, "an": 1, **{word: count for count, word in enumerate(_WORDS.split(), 1)},
    "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90,
}  # fmt: skip
_SMALLER = {"d": "h", "h": "min", "min": "s", "s": "ms"}

_PART = re.compile(r"([0-9]+/[0-9]+|[0-9]+(?:[.,][0-9]+)?)(?:[ \t]*[_-]?[ \t]*([^\W\d_]+)(?![-:(]))?")
_BETWEEN = re.compile(r"[ \t]*(?:(?:,|;|&|\+|and\b)[ \t]*)?(?=[0-9])", re.IGNORECASE)
_COLONS = re.compile(
    r"([0-9]{1,12}):([0-9]{1,2})(?::([0-9]{1,2}))?(?:[ \t]*(h|min)\b)?(?![\w:])", re.IGNORECASE
)
_WORDED = re.compile(r"(half[ \t]+)?([a-z]+)[ \t]+([a-z]+)\b", re.IGNORECASE)
_REVERSED = re.compile(r"([a-z]+)[ \t]+([0-9]+(?:\.[0-9]+)?)(?![\w.:])", re.IGNORECASE)
_XSD = re.compile(r"P(?=[0-9T])((?:T|[0-9]++(?:[.,][0-9]++)?[YMWDHS]?)++)(?!\w)", re.IGNORECASE)
_XSD_PART = re.compile(r"(T)|([0-9]+(?:[.,][0-9]+)?)([YMWDHS]?)", re.IGNORECASE)


@dataclass(frozen=True)
class OtherDuration:
    """A duration that is written in another way than ours."""

    text: str
    message: str
    reason: str
    remedy: str


def other_duration(text: str, start: int = 0) -> OtherDuration | None:
    """What is meant by the duration of other spelling that begins at a place of a text.

    >>> other_duration("15min30").remedy, other_duration("2 weeks").remedy, other_duration("an hour").remedy
    ('930 s, or "PT15M30S"', '14 d', '1 h')
    >>> other_duration("5") is None
    True
    """
    for read in (_colons, _parts, _xsd, _reversed, _worded):
        found = read(text, start)
        if found is not None:
            return found
    return None


def _unit(word: str) -> tuple[int, str] | None:
    """The length of a unit, and its shortest spelling here if it has one."""
    lower = word.lower()
    if lower in _IN_DAYS:
        return _IN_DAYS[lower] * _DAY, ""
    known = lower if lower in LENGTHS else _OTHER_UNITS.get(lower) or nearest(lower, _LONG_UNITS)
    if known is None:
        return None
    length = LENGTHS[known]
    return length, next(unit for unit, micros in UNITS.items() if micros == length)


def _number(text: str) -> Decimal:
    above, slash, below = text.replace(",", ".").partition("/")
    return Decimal(above) / Decimal(below) if slash and Decimal(below) else Decimal(above)


def _parts(text: str, start: int) -> OtherDuration | None:
    """`15min30`, `1 h 30 min`, `15,5 min`, `3 hrs`."""
    at, micros, smaller, parts = start, Decimal(0), "", []
    while part := _PART.match(text, at):
        unit = _unit(part[2]) if part[2] else None
        if unit is None and not smaller:
            break
        length, spelling = unit or (UNITS[smaller], smaller)
        micros += _number(part[1]) * length
        parts.append((part[1], part[2] if unit else smaller))
        at = part.end() if unit else part.end(1)
        smaller = _SMALLER.get(spelling, "")
        between = _BETWEEN.match(text, at)
        if unit is None or between is None:
            break
        at = between.end()
    if not parts:
        return None
    number, unit_word = parts[0]
    if len(parts) > 1:
        sum_of = " ".join(f"{one} {unit}" for one, unit in parts)
        return _found(
            text[start:at],
            micros,
            "a duration is one number with one unit",
            f"{sum_of} is {{plain}}.",
            in_parts=True,
        )
    if "," in number or "/" in number:
        message, reason = f"{number} is no number here", "A number has a decimal point."
    elif unit_word.lower() in LENGTHS:
        message, reason = (
            f"{text[start:at]} is no duration",
            "Between its number and its unit stands nothing, or a space.",
        )
    else:
        message, reason = f"{unit_word} is not a unit of time", "The units are us, ms, s, min, h and d."
    return _found(text[start:at], micros, message, reason)


def _colons(text: str, start: int) -> OtherDuration | None:
    """`15:30`, `1:30:00`."""
    found = _COLONS.match(text, start)
    if found is None:
        return None
    first, second, third = int(found[1]), int(found[2]), found[3]
    of_hours = third is not None or (found[4] or "").lower() == "h"
    micros = first * UNITS["h" if of_hours else "min"] + second * UNITS["min" if of_hours else "s"]
    micros += int(third or 0) * UNITS["s"]
    units = (
        "hours, minutes and seconds" if third else "hours and minutes" if of_hours else "minutes and seconds"
    )
    message = "a duration is one number with one unit"
    return _found(found[0], Decimal(micros), message, f"{found[0]} as {units} is {{plain}}.", in_parts=True)


def _xsd(text: str, start: int) -> OtherDuration | None:
    """`PT15`, `PT15M30`, `P1W`, `pt5m`."""
    found = _XSD.match(text, start)
    if found is None:
        return None
    micros, of_time, before = Decimal(0), False, ""
    for part in _XSD_PART.finditer(found[1]):
        if part[1]:
            of_time, before = True, ""
            continue
        letter = part[3].upper() or {"": "M" if of_time else "D", "D": "H", "H": "M", "M": "S"}.get(
            before, "S"
        )
        days = {"Y": 365, "W": 7, "D": 1, "M": 30}
        seconds = {"H": 3600, "M": 60, "S": 1}
        timed = of_time or letter in "HS"
        if timed and letter not in seconds:
            return None
        micros += _number(part[2]) * (seconds[letter] * UNITS["s"] if timed else days[letter] * _DAY)
        before = letter
    reason = "In xsd's durations each number has its unit: PT15M is 15 minutes, P1D one day."
    return _found(found[0], micros, f"{found[0]} is no duration", reason, in_parts=True)


def _reversed(text: str, start: int) -> OtherDuration | None:
    """`min 15`."""
    found = _REVERSED.match(text, start)
    if found is None or found[1].lower() not in LENGTHS:
        return None
    micros = _number(found[2]) * LENGTHS[found[1].lower()]
    return _found(found[0], micros, f"{found[0]} is no duration", "The number stands before its unit.")


def _worded(text: str, start: int) -> OtherDuration | None:
    """`an hour`, `half an hour`."""
    found = _WORDED.match(text, start)
    unit = _unit(found[3]) if found else None
    count = _COUNTED.get(found[2].lower()) if found else None
    if found is None or unit is None or count is None:
        return None
    micros = Decimal(count) * unit[0] / (2 if found[1] else 1)
    return _found(found[0], micros, f"{found[0]} is no duration", "The number is written in digits.")


def _found(
    text: str, exact: Decimal, message: str, reason: str, *, in_parts: bool = False
) -> OtherDuration | None:
    micros = int(exact.to_integral_value()) if exact <= LONGEST else 0
    if micros <= 0:
        return None
    plain = show_micros(micros)
    remedy = f'{plain}, or "{show_xsd(micros)}"' if in_parts else plain
    return OtherDuration(text, message, reason.format(plain=plain), remedy)


def show_xsd(micros: int) -> str:
    """A duration as xsd writes it.

    >>> show_xsd(5_400_000_000), show_xsd(86_400_500_000)
    ('PT1H30M', 'P1DT0.5S')
    """
    days, rest = divmod(micros, _DAY)
    hours, rest = divmod(rest, UNITS["h"])
    minutes, rest = divmod(rest, UNITS["min"])
    seconds = Decimal(rest) / UNITS["s"]
    time = "".join(
        f"{count:f}{unit}"
        for count, unit in ((Decimal(hours), "H"), (Decimal(minutes), "M"), (seconds.normalize(), "S"))
        if count
    )
    return f"P{f'{days}D' if days else ''}{f'T{time}' if time else ''}"
