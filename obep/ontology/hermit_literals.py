"""Literals and data ranges as HermiT can read them, with the meaning that `literals` gives them.

HermiT knows the datatypes of OWL 2 and refuses all others; of date-times it keeps milliseconds and the zone.
So instants, dates and times of day become integers in zones of their own, far above any number that somebody
writes down (the numeric datatypes end below them). A literal of a datatype that nobody knows, or one that is
none of its datatype (`"x"^^xsd:integer`), becomes a value that no other datatype holds.
"""

from __future__ import annotations

import re
from base64 import b64encode
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from obep.model import Term
from obep.ontology.axioms import (
    OWL,
    RDF,
    XSD,
    DataAnd,
    DataNot,
    DataOneOf,
    DataOr,
    DataRange,
    Datatype,
    Restricted,
)
from obep.ontology.literals import Value, known_datatype, parts, value

_ZONE = 10**40
_ZONES = {"dateTime": 1, "date": 2, "time": 3}
_IN_ZONE = {f"<{XSD}{name}>": zone for name, zone in _ZONES.items()} | {f"<{XSD}dateTimeStamp>": 1}
_ENDLESS = {f"<{XSD}{name}>" for name in ("integer", "decimal", "nonNegativeInteger", "positiveInteger")} | {
    f"<{OWL}real>",
    f"<{OWL}rational>",
}
_FLOATING = (f"<{XSD}double>", f"<{XSD}float>")
_INTEGER = f"<{XSD}integer>"
_PLAIN = f"<{RDF}PlainLiteral>"
_LANG = f"<{RDF}langString>"
_LANG_RANGE = f"<{RDF}langRange>"
_OPAQUE = "obepdata"
_PLAIN_TAG = re.compile(r"[a-z]{2,3}(-[a-z]{2})?")
_CONTROLS = {i: 0xE000 + i for i in range(32) if chr(i) not in "\t\n\r"}
"""XML, and so HermiT, has no control characters: they move to the private area."""
_ALL_OPAQUE = Restricted(_PLAIN, ((_LANG_RANGE, f'"{_OPAQUE}"'),))


class Literal(NamedTuple):
    """What HermiT is told: a lexical form, and its datatype or its language."""

    lexical: str
    datatype: Term
    language: str = ""


@lru_cache(4096)
def hermit_literal(term: Term) -> Literal:
    """A literal with the same value for HermiT.

    >>> hermit_literal('"+05"^^<http://www.w3.org/2001/XMLSchema#byte>').lexical
    '5'
    """
    found = value(term)
    if found.space == "other":
        lexical, datatype, _ = parts(term)
        return Literal(lexical.translate(_CONTROLS), "", _opaque(datatype, ill=known_datatype(datatype)))
    if found.space in _ZONES and isinstance(found.point, Fraction):
        return Literal(str(_ZONES[found.space] * _ZONE + int(found.point)), _INTEGER)
    if found.space == "lang":
        return Literal(str(found.point).translate(_CONTROLS), "", _language(str(found.extra)))
    return _plain(found)


def hermit_range(range: DataRange) -> DataRange:
    """A named or restricted datatype as HermiT can read it; the others unchanged (their parts come here)."""
    if isinstance(range, Datatype):
        return _datatype(range.iri, ()) or range
    if isinstance(range, Restricted):
        return _datatype(range.datatype, range.facets) or range
    return range


def _plain(found: Value) -> Literal:
    point = found.point
    if isinstance(point, bytes):
        lexical = b64encode(point).decode() if found.space == "base64Binary" else point.hex().upper()
        return Literal(lexical, f"<{XSD}{found.space}>")
    if found.space != "real":
        shown = str(point).replace("inf", "INF") if isinstance(point, float) else str(point)
        lexical = shown.translate(_CONTROLS)
        return Literal(lexical, f"<{XSD}{found.space}>")
    if isinstance(point, Fraction):
        return Literal(f"{point.numerator}/{point.denominator}", f"<{OWL}rational>")
    if isinstance(point, Decimal) and point == (whole := point.to_integral_value()):
        # HermiT does not see that 5 and 5.0 are one in all places
        return Literal(format(whole, "f") if whole else "0", _INTEGER)
    if isinstance(point, Decimal):
        return Literal(format(point, "f"), f"<{XSD}decimal>")
    return Literal(str(point), _INTEGER)


def _datatype(iri: Term, facets: tuple[tuple[Term, Term], ...]) -> DataRange | None:
    if iri in _ENDLESS:
        return Restricted(iri, (*facets, (f"<{XSD}maxExclusive>", _integer(_ZONE // 10))))
    if iri in _IN_ZONE:
        low, high = (_IN_ZONE[iri] * _ZONE + side * _ZONE // 10 for side in (-1, 1))
        bounds = (f"<{XSD}minInclusive>", _integer(low)), (f"<{XSD}maxInclusive>", _integer(high))
        return Restricted(_INTEGER, (*bounds, *facets))
    if iri in _FLOATING and not facets:  # to HermiT everything is in an unrestricted one
        least, none = (f'"{word}"^^{iri}' for word in ("-INF", "NaN"))
        return DataOr((Restricted(iri, ((f"<{XSD}minInclusive>", least),)), DataOneOf((none,))))
    if iri == _LANG:
        return DataAnd((Restricted(_PLAIN, ((_LANG_RANGE, '"*"'), *facets)), DataNot(_ALL_OPAQUE)))
    if iri == _PLAIN and not facets:
        return DataOr((Datatype(f"<{XSD}string>"), Datatype(_LANG)))
    if facets or known_datatype(iri):
        return None
    return Restricted(_PLAIN, ((_LANG_RANGE, f'"{_opaque(iri)}"'),))


def _language(tag: str) -> str:
    """A tag that HermiT accepts: it knows neither `i-…` nor `x-…` in front."""
    if _PLAIN_TAG.fullmatch(tag):
        return tag
    first = tag.split("-")[0]
    primary = first if 2 <= len(first) <= 3 and first.isalpha() else "mis"
    return f"{primary}-x-{blake2b(tag.encode(), digest_size=4).hexdigest()}"


def _opaque(datatype: Term, ill: bool = False) -> str:
    """A language tag that stands for a datatype of which HermiT knows nothing."""
    return f"{_OPAQUE}-x-{blake2b(f'{datatype}{ill}'.encode(), digest_size=4).hexdigest()}"


def _integer(number: int) -> Term:
    return f'"{number}"^^{_INTEGER}'
