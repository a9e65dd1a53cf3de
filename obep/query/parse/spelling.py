"""Values out of their spelling: durations, escapes, IRIs; and places out of tokens."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from obep.errors import Span
from obep.formats.timestamps import LENGTHS

LONGEST = 10**18
"""Microseconds; some 31,000 years. Instants of a longer span could not be written down."""
UNITS = {unit: LENGTHS[unit] for unit in ("us", "ms", "s", "min", "h", "d")}
_PLAIN = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\Z", re.ASCII)
_XSD = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z", re.ASCII
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.)|$)", re.DOTALL)
_PLAIN_ESCAPES = {
    "t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\",
}  # fmt: skip


class DurationError(ValueError):
    """Not a duration that can be used, and why."""

    def __init__(self, message: str, reason: str, remedy: str = '5 min, or "PT5M"') -> None:
        super().__init__(message)
        self.reason = reason
        self.remedy = remedy


class IriError(ValueError):
    """A relative IRI, and nothing that it is relative to."""


def span_between(first: Any, last: Any = None) -> Span:
    """The place from one token or node to another."""
    start: Span = first.span
    if last is None or last is first:
        return start
    end: Span = last.span
    return Span(start.start, end.end, start.line, start.column, end.end_line, end.end_column)


def to_micros(text: str) -> int:
    """The microseconds of a duration.

    >>> to_micros("5 min"), to_micros("1H"), to_micros("PT0.5S")
    (300000000, 3600000000, 500000)
    """
    text = text.strip()
    if len(text) > 60:
        raise DurationError("this duration is too long to be read", "It has more than 60 characters.")
    if text.startswith("-"):
        raise DurationError(
            "a duration is positive",
            "A duration is a length of time and has no direction.",
            f'"{text[1:]}"',
        )
    if plain := _PLAIN.match(text):
        length = LENGTHS.get(plain[2].lower())
        if length is None:
            raise DurationError(f"{plain[2]} is not a unit of time", "The units are us, ms, s, min, h and d.")
        micros = Decimal(plain[1]) * length
    elif (xsd := _XSD.match(text)) and any(xsd.groups()) and not text.endswith("T"):
        years, months, days, hours, minutes, seconds = (Decimal(part or 0) for part in xsd.groups())
        if years or months:
            raise DurationError(
                "months and years have no fixed length",
                "A bound in time needs one.",
                "a number of days: 30 d",
            )
        micros = days * UNITS["d"] + hours * UNITS["h"] + minutes * UNITS["min"] + seconds * UNITS["s"]
    else:
        raise DurationError(
            f'"{text}" is no duration',
            "A duration is a number with a unit, or xsd's, such as PT5M or P1DT12H.",
        )
    if micros != int(micros):
        raise DurationError("this duration is too fine", "Time is counted in whole microseconds.", "1 us")
    if micros > LONGEST:
        raise DurationError("this duration is too long", "No stream lasts that long.", "10000 d")
    return int(micros)


def show_micros(micros: int) -> str:
    """A duration in the largest unit that it is a whole number of.

    >>> show_micros(300_000_000), show_micros(90_000_000), show_micros(0)
    ('5 min', '90 s', '0 s')
    """
    if micros == 0:
        return "0 s"
    unit = next(unit for unit in ("d", "h", "min", "s", "ms", "us") if micros % UNITS[unit] == 0)
    return f"{micros // UNITS[unit]} {unit}"


def unescape(text: str) -> str:
    """The characters that a string's escapes stand for. Raises ValueError."""
    return text if "\\" not in text else _ESCAPE.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        point = int(code, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise ValueError(f"{match[0]} is no character")
        return chr(point)
    if match[3] not in _PLAIN_ESCAPES:
        raise ValueError(f"{match[0]} is no escape")
    return _PLAIN_ESCAPES[match[3]]


def escape(text: str) -> str:
    """A string as it is written between double quotes."""
    return "".join(_ESCAPED.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04X}") for c in text)


_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def unescape_local(local: str) -> str:
    r"""The local part of a prefixed name without its backslashes (`ex:a\,b`)."""
    return re.sub(r"\\(.)", r"\1", local) if "\\" in local else local


def is_absolute(iri: str) -> bool:
    """Whether an IRI has a scheme."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", iri) is not None


def resolve_iri(base: str | None, reference: str) -> str:
    """A reference against BASE, as RFC 3986 says (section 5.2).

    >>> resolve_iri("http://example.org/a/b", "../c"), resolve_iri("http://example.org/", "#x")
    ('http://example.org/c', 'http://example.org/#x')
    """
    if is_absolute(reference):
        return reference
    if base is None:
        raise IriError(reference)
    try:
        scheme, authority, path, query, _ = urlsplit(base)
        _, host, rest, asked, fragment = urlsplit(reference)
    except ValueError:  # a host such as [ that only looks like one
        return base + reference
    if host or reference.startswith("//"):
        authority, path, query = host, _without_dots(rest), asked
    elif not rest:
        query = asked if "?" in reference.partition("#")[0] else query
    else:
        if rest.startswith("/"):
            path = rest
        elif authority and not path:
            path = f"/{rest}"
        else:
            path = path[: path.rfind("/") + 1] + rest
        path, query = _without_dots(path), asked
    joined = urlunsplit((scheme, authority, path, query, fragment))
    return f"{joined}#" if reference.endswith("#") and not fragment else joined


def _without_dots(path: str) -> str:
    kept: list[str] = []
    parts = path.split("/")
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if part == "..":
            if len(kept) > 1 or (kept and kept[0] != ""):
                kept.pop()
            if last:
                kept.append("")
        elif part == ".":
            if last:
                kept.append("")
        else:
            kept.append(part)
    return "/".join(kept)
