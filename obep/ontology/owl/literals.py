"""The values of literals, and which data range holds which value.

In: literals as N-Triples terms. Out: values that are equal iff the literals mean the same, and `holds`. A
literal of an unknown datatype, or one that is none of its datatype (`"x"^^xsd:integer`), is a value of its
own that only rdfs:Literal holds. A date-time without a zone is UTC (SPEC §1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import copysign, isnan
from struct import pack, unpack
from typing import Any, NamedTuple

from obep.model import Term
from obep.ontology.owl.axioms import (
    OWL,
    RDF,
    RDFS,
    XSD,
    DataAnd,
    DataNot,
    DataOneOf,
    DataOr,
    DataRange,
    Datatype,
    Restricted,
)
from obep.ontology.owl.facet_pattern import matches

XSD_STRING = f"<{XSD}string>"
_TERM = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^(<.*>))?', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LONG = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')

_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}
_EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_RATIONAL = re.compile(r"[+-]?[0-9]+ */ *0*[1-9][0-9]*")
_WORDS = {
    "normalizedString": re.compile(r"[^\t\n\r]*"),
    "token": re.compile(r"(?:[^\s]+(?: [^\s]+)*)?"),
    "language": re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*"),
    "Name": re.compile(r"[A-Za-z_:][\w.:-]*"),
    "NCName": re.compile(r"[A-Za-z_][\w.-]*"),
    "NMTOKEN": re.compile(r"[\w.:-]+"),
}
_SPACE_OF = {f"<{XSD}{name}>": "real" for name in (*_BOUNDS, "decimal")}
_SPACE_OF |= {f"<{OWL}real>": "real", f"<{OWL}rational>": "real"}
_SPACE_OF |= {f"<{XSD}{name}>": "string" for name in ("string", *_WORDS)}
_SPACE_OF |= {f"<{XSD}{name}>": name for name in ("double", "float", "boolean", "date", "time", "anyURI")}
_SPACE_OF |= {f"<{XSD}{name}>": name for name in ("hexBinary", "base64Binary", "dateTime")}
_SPACE_OF |= {
    f"<{XSD}dateTimeStamp>": "dateTime",
    f"<{RDF}PlainLiteral>": "plain",
    f"<{RDF}langString>": "lang",
}
NUMBERS = {"real": f"<{OWL}real>", "double": f"<{XSD}double>", "float": f"<{XSD}float>"}
"""The spaces of numbers, each with the datatype that has all of its values."""
DATATYPES = frozenset((*_SPACE_OF, f"<{RDFS}Literal>"))
"""The datatypes whose values are known here."""
REALS = frozenset(datatype for datatype, space in _SPACE_OF.items() if space == "real")
"""The datatypes of numbers that are exact."""

IRRATIONAL = "irrational"
"""The `extra` of a real number that no literal writes; its point is a rational number near it."""
WORDS = frozenset(f"<{XSD}{name}>" for name in _WORDS)
"""The datatypes of strings of a certain form."""

LONGEST_REMEMBERED = 500
"""Characters of a literal whose value is remembered: many long ones would fill the memory."""
MOST_DIGITS = 4000
"""Digits of an integer that Python reads: at 4,300 it stops. A Decimal takes them all, and soon."""


class Value(NamedTuple):
    """A point of a value space. Equal values are the same; those of one space are ordered as XSD does."""

    space: str
    point: object
    extra: object = None
    """A distinction between equal points: the sign of a zero, a language tag."""


def literal(lexical: str, datatype: Term = XSD_STRING, language: str = "") -> Term:
    """The term of a literal, as the formats write it.

    >>> literal("5", "<http://www.w3.org/2001/XMLSchema#integer>")
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    quoted = _ESCAPED.sub(lambda m: _SHORT.get(m[0]) or f"\\u{ord(m[0]):04X}", lexical)
    if language:
        return f'"{quoted}"@{language.lower()}'
    return f'"{quoted}"' if datatype == XSD_STRING else f'"{quoted}"^^{datatype}'


def parts(term: Term) -> tuple[str, Term, str]:
    """Lexical form, datatype and language of a literal."""
    match = _TERM.fullmatch(term)
    if match is None:
        return term, "", ""
    lexical, language, datatype = match.groups()
    if "\\" in lexical:
        lexical = _ESCAPE.sub(_unescape, lexical)
    if language:
        return lexical, f"<{RDF}langString>", language.lower()
    return lexical, datatype or XSD_STRING, ""


def value(term: Term) -> Value:
    """What a literal means.

    >>> value('"1.0"^^<http://www.w3.org/2001/XMLSchema#decimal>') == value('"01"^^<http://www.w3.org/2001/XMLSchema#int>')
    True
    """
    return _remembered(term) if len(term) <= LONGEST_REMEMBERED else _value(term)


def _value(term: Term) -> Value:
    lexical, datatype, language = parts(term)
    if language:
        return Value("lang", lexical, language)
    space = _SPACE_OF.get(datatype)
    if space is None:
        return Value("other", term)
    try:
        found = _read(space, datatype, lexical if space == "string" else lexical.strip())
    except (ValueError, ArithmeticError):
        found = None
    return Value("other", term) if found is None else found


_remembered = lru_cache(maxsize=1 << 16)(_value)


def holds(range: DataRange, term: Term, definitions: Mapping[Term, DataRange] | None = None) -> bool:
    """Whether the value of a literal lies in a data range."""
    return holds_value(range, value(term), definitions)


def holds_value(range: DataRange, found: Value, definitions: Mapping[Term, DataRange] | None = None) -> bool:
    """Whether a value lies in a data range."""
    match range:
        case Datatype(iri):
            defined = definitions.get(iri) if definitions else None
            return _in_datatype(iri, found) if defined is None else holds_value(defined, found, definitions)
        case DataAnd(operands):
            return all(holds_value(operand, found, definitions) for operand in operands)
        case DataOr(operands):
            return any(holds_value(operand, found, definitions) for operand in operands)
        case DataNot(operand):
            return not holds_value(operand, found, definitions)
        case DataOneOf(literals):
            return found in {value(one) for one in literals}
        case Restricted(datatype, facets):
            return holds_value(Datatype(datatype), found, definitions) and all(
                passes(facet, value(bound), found) for facet, bound in facets
            )


def comparable(point: object) -> Any:
    """A point as something that compares with all points of its space: Python has no Decimal < Fraction."""
    return Fraction(point) if isinstance(point, Decimal) else point


def known_datatype(iri: Term) -> bool:
    """Whether the values of a datatype are known here."""
    return iri in DATATYPES


def space_of(datatype: Term) -> str | None:
    """The value space of a datatype."""
    return _SPACE_OF.get(datatype)


def integer_bounds(datatype: Term) -> tuple[int | None, int | None] | None:
    """Least and greatest value of a datatype of whole numbers."""
    return _BOUNDS.get(datatype[len(XSD) + 1 : -1]) if datatype.startswith(f"<{XSD}") else None


def _in_datatype(iri: Term, found: Value) -> bool:
    if iri == f"<{RDFS}Literal>":
        return True
    space = _SPACE_OF.get(iri)
    if space is None:
        return found.space == "other" and parts(str(found.point))[1] == iri
    if space == "plain":
        return found.space in ("string", "lang")
    if found.space != space:
        return False
    name = iri[len(XSD) + 1 : -1]
    if name in _BOUNDS:
        low, high = _BOUNDS[name]
        number = found.point
        if not isinstance(number, int | Decimal):
            return False
        if isinstance(number, Decimal) and number != number.to_integral_value():
            return False
        return (low is None or number >= low) and (high is None or number <= high)
    if space == "real":
        if found.extra == IRRATIONAL:
            return iri == f"<{OWL}real>"
        return name != "decimal" or not isinstance(found.point, Fraction)
    if name in _WORDS:
        return _WORDS[name].fullmatch(str(found.point)) is not None
    return True


def _read(space: str, datatype: Term, lexical: str) -> Value | None:
    match space:
        case "real":
            return _read_real(datatype, lexical)
        case "double" | "float":
            if not _DOUBLE.fullmatch(lexical):
                return None
            number = float(lexical.replace("INF", "inf"))
            if space == "float":
                number = _as_float(number)
            if isnan(number):
                return Value(space, "NaN")
            return Value(space, number, copysign(1.0, number) if number == 0 else None)
        case "string":
            name = datatype[len(XSD) + 1 : -1]
            fits = name not in _WORDS or _WORDS[name].fullmatch(lexical)
            return Value("string", lexical) if fits else None
        case "boolean":
            truth = {"true": True, "1": True, "false": False, "0": False}.get(lexical)
            return None if truth is None else Value(space, "true" if truth else "false")
        case "dateTime":
            return (
                Value(space, _utc(datetime.fromisoformat(_six_digits(lexical)))) if "T" in lexical else None
            )
        case "date":
            return _read_date(lexical)
        case "time":
            moment = time.fromisoformat(_six_digits(lexical))
            return Value(space, _utc(datetime.combine(date(1972, 12, 31), moment)))
        case "hexBinary":
            return Value(space, bytes.fromhex(lexical))
        case "base64Binary":
            from base64 import b64decode

            return Value(space, b64decode(lexical.replace(" ", ""), validate=True))
        case "anyURI":
            return Value(space, lexical)
    return None


def _read_real(datatype: Term, lexical: str) -> Value | None:
    if _INTEGER.fullmatch(lexical):
        number = int(lexical) if len(lexical) <= MOST_DIGITS else Decimal(lexical)
        low, high = _BOUNDS.get(datatype[len(XSD) + 1 : -1], (None, None))
        fits = (low is None or number >= low) and (high is None or number <= high)
        return Value("real", number) if fits else None
    if datatype == f"<{XSD}decimal>" and _DECIMAL.fullmatch(lexical):
        return Value("real", Decimal(lexical))
    if datatype == f"<{OWL}rational>" and _RATIONAL.fullmatch(lexical):
        above, below = lexical.split("/")
        return Value("real", plain_number(Fraction(int(above), int(below))))
    return None


def decimal(whole: int, digits: int) -> Decimal:
    """A decimal number of so many digits after the point, however long.

    >>> decimal(125, 2)
    Decimal('1.25')
    """
    return Decimal(whole).scaleb(-digits, _EXACT)


def plain_number(ratio: Fraction) -> Decimal | Fraction:
    """A rational that a decimal can write is that decimal."""
    rest, digits = ratio.denominator, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest, times = rest // prime, times + 1
        digits = max(digits, times)
    return ratio if rest != 1 else decimal(ratio.numerator * 10**digits // ratio.denominator, digits)


def _read_date(lexical: str) -> Value:
    day, zone = lexical[:10], lexical[10:]
    moment = datetime.fromisoformat(f"{day}T00:00:00{zone}")
    return Value("date", _utc(moment))


def _six_digits(lexical: str) -> str:
    """Python reads at most six digits of a second; xsd has no end to them. Further ones are cut."""
    return re.sub(r"(\.[0-9]{6})[0-9]+", r"\1", lexical)


def _utc(moment: datetime) -> Fraction:
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return Fraction((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))


def _as_float(number: float) -> float:
    try:
        return float(unpack("f", pack("f", number))[0])
    except OverflowError:
        return copysign(float("inf"), number)


def passes(facet: Term, limit: Value, found: Value) -> bool:
    """Whether a value passes a facet."""
    name = facet.rstrip(">").rsplit("#", 1)[-1]
    if name in ("minInclusive", "maxInclusive", "minExclusive", "maxExclusive"):
        if found.space != limit.space or "NaN" in (found.point, limit.point) or found.space == "other":
            return False
        one: Any = found.point
        other: Any = limit.point
        if isinstance(one, Fraction) or isinstance(other, Fraction):  # slow for very many digits
            one, other = comparable(one), comparable(other)
        if name.endswith("Inclusive") and one == other:
            return True
        return bool(one < other if name.startswith("max") else one > other)
    if name == "pattern":
        return isinstance(found.point, str) and matches(str(limit.point), found.point)
    if name == "langRange":
        return found.space == "lang" and _language_fits(str(found.extra), str(limit.point))
    if not isinstance(found.point, str | bytes) or not isinstance(limit.point, int):
        return False
    length = len(found.point)
    if name == "length":
        return length == limit.point
    return length >= limit.point if name == "minLength" else name == "maxLength" and length <= limit.point


def _language_fits(tag: str, wanted: str) -> bool:
    """Basic filtering of RFC 4647."""
    wanted = wanted.lower()
    return wanted == "*" or tag == wanted or tag.startswith(f"{wanted}-")


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _LONG.get(match[3], match[3])
