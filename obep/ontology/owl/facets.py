"""The facets of a data range: what they mean, and whether they fit the datatype that they restrict.

A bare number takes the restricted datatype (SPEC §2). A facet that no value of its datatype could pass is a
slip of the writer, so it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from obep.errors import Span
from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.facet_pattern import read_pattern
from obep.ontology.owl.literals import MOST_DIGITS, REALS, literal, space_of, value
from obep.query import ast
from obep.query.nearest_name import nearest
from obep.query.print.printer import show

_NAMES = {
    "<": "maxExclusive",
    "<=": "maxInclusive",
    ">": "minExclusive",
    ">=": "minInclusive",
    "length": "length",
    "minLength": "minLength",
    "maxLength": "maxLength",
    "pattern": "pattern",
}
_BARE = {f"<{ax.XSD}{name}>" for name in ("integer", "decimal", "double", "float")}
_NUMBER = f"<{ax.XSD}decimal>"
_WORDS = frozenset(("string", "plain", "lang", "anyURI"))
FITS: dict[str, tuple[frozenset[str], str, str]] = {
    "compare": (
        frozenset(("real", "double", "float", "dateTime", "date", "time")),
        "{facet} compares numbers, dates and times.",
        "number[{facet} 30], or xsd:dateTime[{facet} \"2026-01-01T10:00:00Z\"]",
    ),
    "length": (
        _WORDS | {"hexBinary", "base64Binary"},
        "{facet} counts the characters of a string.",
        "xsd:string[{facet} 5]",
    ),
    "pattern": (_WORDS, "pattern looks at the characters of a string.", 'xsd:string[pattern "R[0-9]+"]'),
    "langRange": (
        frozenset(("plain", "lang")),
        "langRange looks at the language of a string.",
        'rdf:PlainLiteral[langRange "en"]',
    ),
}  # fmt: skip
"""For each kind of facet the value spaces that have it, what it does, and where it would fit."""
EXAMPLES = {"dateTime": '"2026-01-01T10:00:00Z"', "date": '"2026-01-01"', "time": '"10:00:00"'}


class Misfit(NamedTuple):
    """Something in a definition that does not fit where it stands."""

    code: str
    span: Span
    message: str
    reason: str
    remedy: str = ""


def facet_of(datatype: Term, facet: ast.Facet) -> tuple[Term, Term]:
    """The facet's name and bound, for a reasoner."""
    if facet.facet == "langRange":
        return f"<{ax.RDF}langRange>", term(facet.value)
    kind = _kind(facet)
    bound = term(facet.value)
    if kind == "compare":
        bound = _as(datatype, facet.value)
    elif kind == "length":
        bound = literal(facet.value.lexical, f"<{ax.XSD}integer>")
    return f"<{ax.XSD}{_NAMES[facet.facet]}>", bound


_WRITTEN = ("number", "integer", "decimal", "float", "string")
"""Datatypes that are written without a prefix."""


def misfits_of(datatype: ast.Name, facet: ast.Facet) -> Iterator[Misfit]:
    """Why a facet cannot restrict a datatype, if it cannot. `number` stands for decimals here."""
    iri = _NUMBER if datatype.text == "number" else datatype.iri
    space, kind = space_of(iri), _kind(facet)
    spaces, reason, remedy = FITS[kind]
    if space is None:
        meant = nearest(datatype.text, _WRITTEN)
        usual = "number" if kind == "compare" else "xsd:string"
        yield Misfit(
            "OBEP312", datatype.span,
            f"{datatype.text} takes no facets{f'; did you mean {meant}?' if meant else ''}",
            "Facets restrict the datatypes of XML Schema, such as xsd:double.",
            f"{meant}[{show(facet)}]" if meant else f"({datatype.text} and {usual}[{show(facet)}])",
        )  # fmt: skip
    elif space not in spaces:
        yield Misfit(
            "OBEP312", facet.span, f"{facet.facet} does not fit {datatype.text}",
            reason.format(facet=facet.facet), remedy.format(facet=facet.facet),
        )  # fmt: skip
    elif kind == "compare":
        yield from _bound(datatype, iri, space, facet)
    elif kind == "length":
        yield from _count(facet)
    else:
        yield from _plain_string(facet)


def _bound(datatype: ast.Name, iri: Term, space: str, facet: ast.Facet) -> Iterator[Misfit]:
    if _is_too_long(facet.value.lexical):
        yield Misfit(
            "OBEP312", facet.value.span, f"a bound of more than {MOST_DIGITS} digits",
            "Nothing that is measured is so long.",
            f"{datatype.text}[{facet.facet} {EXAMPLES.get(space, '30')}]",
        )  # fmt: skip
        return
    bound = value(_as(iri, facet.value))
    if bound.space != space or bound.point == "NaN":  # NaN is neither above nor below anything
        yield Misfit(
            "OBEP312", facet.value.span, f"{_written(facet.value)} is no {datatype.text}",
            f"{facet.facet} compares values of the datatype before the bracket.",
            f"{datatype.text}[{facet.facet} {EXAMPLES.get(space, '30')}]",
        )  # fmt: skip


def _count(facet: ast.Facet) -> Iterator[Misfit]:
    bound = facet.value
    typed = bound.language or (bound.datatype is not None and bound.datatype.iri not in REALS)
    if typed or not (bound.lexical.isascii() and bound.lexical.isdigit()):
        yield Misfit(
            "OBEP312", bound.span, f"{facet.facet} needs a whole number", "It counts characters.",
            f"{facet.facet} 5",
        )  # fmt: skip


def _plain_string(facet: ast.Facet) -> Iterator[Misfit]:
    bound = facet.value
    if bound.language or (bound.datatype is not None and bound.datatype.iri != f"<{ax.XSD}string>"):
        yield Misfit(
            "OBEP312", bound.span, f"{facet.facet} needs a plain string",
            f"{_written(bound)} has a language or a datatype, which would not count.",
            f'{facet.facet} "{bound.lexical}"',
        )  # fmt: skip
    elif facet.facet == "pattern" and isinstance(wrong := read_pattern(bound.lexical), str):
        reason = f"It is a regular expression of XML Schema: {wrong}."
        yield Misfit("OBEP312", bound.span, "the pattern cannot be read", reason, 'pattern "R[0-9]+"')


def term(node: ast.Literal) -> Term:
    """The term of a literal as written."""
    if node.datatype is None:
        return literal(node.lexical, language=node.language)
    return literal(node.lexical, node.datatype.iri, node.language)


def ill_typed(node: ast.Literal) -> Iterator[Misfit]:
    """A literal that is none of its datatype (`"hot"^^xsd:double`)."""
    datatype = node.datatype
    if datatype is not None and space_of(datatype.iri) is not None and value(term(node)).space == "other":
        yield Misfit(
            "OBEP308", node.span, f'"{node.lexical}" is no {datatype.text}',
            "No item can have such a value, so this never matches.",
            f'a value of {datatype.text}, or the plain string "{node.lexical}"',
        )  # fmt: skip


def _kind(facet: ast.Facet) -> str:
    if facet.facet in ("<", "<=", ">", ">="):
        return "compare"
    return facet.facet if facet.facet in ("pattern", "langRange") else "length"


def _written(node: ast.Literal) -> str:
    """A bound as it was written; a bare number has no quotes."""
    return show(ast.Facet(">", node))[2:]


def _is_too_long(lexical: str) -> bool:
    """Whether a number has too many digits when it is written without an exponent."""
    if len(lexical) > MOST_DIGITS:
        return True
    try:
        number = Decimal(lexical)
    except ArithmeticError:
        return False
    return number.is_finite() and abs(number.adjusted()) > MOST_DIGITS


def _as(datatype: Term, bound: ast.Literal) -> Term:
    """A bare number takes the restricted datatype (SPEC §2)."""
    own = bound.datatype.iri if bound.datatype is not None else ""
    if bound.language or (own and own not in _BARE):
        return term(bound)
    if datatype in REALS:
        try:
            number = Decimal(bound.lexical)
        except ArithmeticError:
            return term(bound)
        return term(bound) if _is_too_long(bound.lexical) else literal(format(number, "f"), _NUMBER)
    return literal(bound.lexical, datatype)
