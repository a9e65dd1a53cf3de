"""The facets of an ontology's data ranges: whether each can restrict its datatype at all.

In OWL 2 a bound is a value of the datatype that it restricts, and an integer is no double: what is written
with another datatype would silently hold of nothing. In a query a bare number takes the datatype (`facets`);
an ontology means the same to every other tool, so there it is an error.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from obep.model import Term
from obep.ontology.owl.axioms import RDF, XSD
from obep.ontology.owl.facets import EXAMPLES, FITS
from obep.ontology.owl.literals import XSD_STRING, literal, parts, space_of, value
from obep.ontology.owl.verbalise import prefixed

_COMPARE = ("minInclusive", "minExclusive", "maxInclusive", "maxExclusive")
_LENGTH = ("length", "minLength", "maxLength")
_KINDS = {f"<{XSD}{name}>": "compare" for name in _COMPARE}
_KINDS |= {f"<{XSD}{name}>": "length" for name in _LENGTH}
_KINDS |= {f"<{XSD}pattern>": "pattern", f"<{RDF}langRange>": "langRange"}
_BARE = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")


class Slip(NamedTuple):
    """An error in a facet: the rest of a sentence about its axiom, the reason, and the remedy."""

    said: str
    reason: str
    remedy: str


def slip_of(datatype: Term, facet: Term, bound: Term) -> Slip | None:
    """Why a facet cannot restrict a datatype, if it cannot. Nothing is known of datatypes of other schemas.

    >>> five = literal("5", f"<{XSD}integer>")
    >>> slip_of(f"<{XSD}double>", f"<{XSD}maxExclusive>", five).said
    'compares xsd:double with 5, which is an xsd:integer'
    >>> slip_of(f"<{XSD}decimal>", f"<{XSD}maxExclusive>", five) is None
    True
    """
    space, kind, word = space_of(datatype), _KINDS.get(facet), prefixed(facet)
    if space is None:
        return None
    if kind is None:
        known = ", ".join(map(prefixed, _KINDS))
        said = f"restricts {prefixed(datatype)} with {word}, which is not a facet"
        return Slip(said, "No value could ever pass it.", f"one of {known}")
    spaces, reason, _ = FITS[kind]
    if space not in spaces:
        return Slip(
            f"restricts {prefixed(datatype)} with {word}",
            f"{reason.format(facet=word)} No value of {prefixed(datatype)} could ever pass it.",
            "another facet, or another datatype in owl:onDatatype",
        )
    if kind == "compare":
        return None if value(bound).space == space else _incomparable(datatype, space, word, bound)
    lexical, own, language = parts(bound)
    if kind == "length":
        count = value(bound).point
        if isinstance(count, int) and count >= 0:
            return None
        said = f"counts the characters of {prefixed(datatype)} with {_written(bound)}, which is not a count"
        digits = lexical.isascii() and lexical.isdigit()
        return Slip(said, "A count is a whole number, without quotes.", f"{word} {lexical if digits else 3}")
    if not language and space_of(own) in ("string", "plain"):
        return None
    said = f"restricts {prefixed(datatype)} with {word} {_written(bound)}, which is not a plain string"
    return Slip(said, f"{reason} It is written as a string.", f"{word} {literal(lexical)}")


def _incomparable(datatype: Term, space: str, facet: str, bound: Term) -> Slip:
    lexical, own, language = parts(bound)
    asked = prefixed(datatype)
    what = f"which is an {prefixed(own)}"
    reason = f"In OWL no {prefixed(own)} is an {asked}, so no value could ever pass {facet}."
    if not own:
        what, reason = "which is no literal", f"No value could ever pass {facet}."
    elif language or own == XSD_STRING:
        what = "which is text"
        reason = f"Text is neither more nor less than an {asked}, so no value could ever pass {facet}."
    elif space_of(own) == space or value(bound).space == "other":
        what, reason = f"which is no {prefixed(own)}", f"No value could ever pass {facet}."
    if value(literal(lexical, datatype)).space != space:
        lexical = EXAMPLES.get(space, '"30"').strip('"')
    remedy = f'{facet} "{lexical}"^^{asked}'
    if space == "double" and _BARE.fullmatch(lexical):
        remedy += f"      # or {lexical}e0"
    return Slip(f"compares {asked} with {_written(bound)}, {what}", reason, remedy)


def _written(bound: Term) -> str:
    """A bound as Turtle writes it."""
    lexical, datatype, language = parts(bound)
    if not datatype:
        return prefixed(bound)
    if language:
        return f"{literal(lexical)}@{language}"
    bare = {f"<{XSD}integer>": r"[+-]?[0-9]+", f"<{XSD}decimal>": r"[+-]?[0-9]*\.[0-9]+"}.get(datatype)
    if bare and re.fullmatch(bare, lexical):
        return lexical
    return literal(lexical) if datatype == XSD_STRING else f"{literal(lexical)}^^{prefixed(datatype)}"
