"""Typed values of literals, as Python values that compare fast, and back to terms.

    xsd:integer and below  int            xsd:string   str               IRI         Iri
    xsd:decimal            Decimal        "…"@en       Tagged            blank node  Blank
    xsd:float              Single         xsd:boolean  bool              any other   Opaque
    xsd:double             float          xsd:dateTime, date, dayTimeDuration  Moment, Day, Lapse

A literal whose lexical form its datatype does not allow, or that is longer than a number may be, is Opaque.
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from typing import NamedTuple

from obep.guards import calendar
from obep.guards.calendar import Day, Lapse, Moment
from obep.guards.guard_terms import XSD, XSD_STRING, literal, unquote
from obep.model import Term

MOST_DIGITS = 400
"""Longer numbers are Opaque: nothing that measures has them, and arithmetic on them could take for ever."""
MOST_PARSED = 50_000
LONGEST_PARSED = 500
"""The number of cached terms, and their greatest length: at most some 30 MB."""

RDF_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"


class ExpressionError(Exception):
    """SPARQL's error: what a condition has it in is not true."""


class Iri(str):
    """An IRI, without its angle brackets."""

    __slots__ = ()


class Blank(str):
    """A blank node, as its term."""

    __slots__ = ()


class Single(float):
    """An xsd:float: a number of 32 bits."""

    __slots__ = ()


class Tagged(NamedTuple):
    """A string with a language."""

    text: str
    language: str


class Opaque(NamedTuple):
    """A literal whose value is not known: of another datatype, or ill-typed."""

    term: Term
    lexical: str
    datatype: str


Value = bool | int | Decimal | float | str | Tagged | Moment | Day | Lapse | Opaque
"""Single is a float; Iri and Blank are strings. Always dispatch on the exact type."""

_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
NUMERIC = frozenset(XSD + local for local in (*_BOUNDS, "decimal", "float", "double"))

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z")
_DOUBLE = re.compile(r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN)\Z")
_BOOLEAN = {"true": True, "1": True, "false": False, "0": False}


class Parsed(dict[Term | None, Value]):
    """Terms that were parsed before; another one is parsed, an unbound variable is an error."""

    __slots__ = ()

    def __missing__(self, term: Term | None) -> Value:
        if term is None:
            raise ExpressionError
        value = parse_term(term)
        if len(term) <= LONGEST_PARSED:
            if len(self) >= MOST_PARSED:
                self.clear()
            self[term] = value
        return value


parsed = Parsed()


def parse_term(term: Term) -> Value:
    """The value of a term.

    >>> parse_term('"007"^^<http://www.w3.org/2001/XMLSchema#int>')
    7
    """
    if term[0] == "<":
        return Iri(term[1:-1])
    if term[0] == "_":
        return Blank(term)
    lexical, language, datatype = split_literal(term)
    if language:
        return Tagged(lexical, language)
    value = parse_lexical(lexical, datatype)
    return Opaque(term, lexical, datatype) if value is None else value


def split_literal(term: Term) -> tuple[str, str, str]:
    """The lexical form, the language and the datatype (without brackets) of a literal."""
    end = term.rindex('"')
    lexical = unquote(term[1:end])
    rest = term[end + 1 :]
    if not rest:
        return lexical, "", XSD_STRING[1:-1]
    if rest[0] == "@":
        return lexical, rest[1:].lower(), RDF_LANG_STRING
    return lexical, "", rest[3:-1]


def parse_lexical(lexical: str, datatype: str) -> Value | None:
    """The value of a lexical form, if the datatype is known and allows it."""
    if not datatype.startswith(XSD):
        return None
    kind = datatype[len(XSD) :]
    if kind == "string":
        return lexical
    text = lexical.strip(" \t\r\n")
    if kind in _BOUNDS:
        return _integer(text, *_BOUNDS[kind])
    if len(text) > MOST_DIGITS:
        return None
    if kind == "decimal":
        return Decimal(text) if _DECIMAL.match(text) else None
    if kind in ("double", "float"):
        if not _DOUBLE.match(text):
            return None
        return float(text) if kind == "double" else single(float(text))
    if kind == "boolean":
        return _BOOLEAN.get(text)
    return calendar.parse(text, kind)


def single(value: float) -> Single:
    """The nearest number of 32 bits.

    >>> single(0.1) == 0.1, single(1e39)
    (False, inf)
    """
    try:
        return Single(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return Single("inf" if value > 0 else "-inf")


def lexical_form(value: Value) -> str:
    """The canonical lexical form of a value, as XPath casts it to a string."""
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is Decimal:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, float):
        return _show_float(value)
    if isinstance(value, Tagged):
        return value.text
    if isinstance(value, Opaque):
        return value.lexical
    return str(value)


_DATATYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    Decimal: "decimal",
    float: "double",
    Single: "float",
    Moment: "dateTime",
    Day: "date",
    Lapse: "dayTimeDuration",
}


def datatype_of(value: Value) -> str:
    """The datatype of a computed literal, without brackets."""
    if isinstance(value, Opaque):
        return value.datatype
    if isinstance(value, Tagged):
        return RDF_LANG_STRING
    return XSD + _DATATYPES.get(type(value), "string")


def term_of_value(value: Value) -> Term:
    """The term of a computed value.

    >>> term_of_value(Decimal("1.50"))
    '"1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    """
    kind = type(value)
    if type(value) is str:
        return literal(value)
    if kind is Iri:
        return f"<{value}>"
    if kind is Blank:
        return str(value)
    if isinstance(value, Tagged):
        return literal(value.text, language=value.language)
    if isinstance(value, Opaque):
        return value.term
    return literal(lexical_form(value), f"<{datatype_of(value)}>")


def _integer(text: str, least: int | None, most: int | None) -> int | None:
    if len(text) > MOST_DIGITS or not _INTEGER.match(text):
        return None
    value = int(text)
    if (least is not None and value < least) or (most is not None and value > most):
        return None
    return value


def _show_float(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    number = Decimal(_shortest(value))
    if value == 0 or 1e-6 <= abs(value) < 1e6:
        text = f"{number:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = f"{number.normalize():E}".partition("E")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def _shortest(value: float) -> str:
    """The fewest digits that give the number back."""
    if type(value) is Single:
        for digits in range(6, 9):
            text = f"{value:.{digits}g}"
            if single(float(text)) == value:
                return text
        return f"{value:.9g}"
    return repr(value)
