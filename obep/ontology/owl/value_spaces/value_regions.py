"""The values of OWL 2's datatypes, cut into regions that some data ranges do not cut further.

In: data ranges without defined datatypes. Out: regions, each with a value that stands for all of its values,
and with their number. Whatever holds of that value for one of the ranges holds of all values of the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, copysign, floor
from struct import pack, unpack
from typing import NamedTuple

from obep.model import Term
from obep.ontology.owl.axioms import XSD, DataAnd, DataNot, DataOneOf, DataOr, DataRange, Datatype, Restricted
from obep.ontology.owl.literals import (
    IRRATIONAL,
    WORDS,
    Value,
    comparable,
    decimal,
    integer_bounds,
    known_datatype,
    plain_number,
    value,
)
from obep.ontology.owl.value_spaces.text_sets import MANY, TextSets

_LISTED = 64
"""Values of a region that are listed."""
_ANY = "~any"
"""The `extra` of a value that stands for a region: it equals no literal's."""
_OTHER = "urn:obep:other"
_WORD_PATTERNS = {
    "normalizedString": r"[^\t\n\r]*",
    "token": r"(\S+( \S+)*)?",
    "language": "[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*",
    "Name": r"[A-Za-z_:][\w.:\-]*",
    "NCName": r"[A-Za-z_][\w.\-]*",
    "NMTOKEN": r"[\w.:\-]+",
}
_MINUTE = Fraction(60_000_000)
_TIME = (Fraction(94_514_400_000_000), Fraction(94_744_800_000_000))
"""The first time of day, and the end of them, in the zones that lie farthest apart."""


class Region(NamedTuple):
    """Values that the ranges do not tell apart."""

    value: Value
    """One that stands for them."""
    size: int | None
    """`None`: infinitely many."""
    members: tuple[Value, ...] = ()
    """All of them, if there are few and they can be listed."""


@dataclass(slots=True)
class _Looked:
    """The constants that the ranges compare with."""

    points: dict[str, set[Value]] = field(default_factory=dict)
    """The values that they name or compare with, by space."""
    lengths: set[int] = field(default_factory=set)
    patterns: dict[str, None] = field(default_factory=dict)
    languages: set[str] = field(default_factory=set)
    others: set[Term] = field(default_factory=set)
    """Datatypes of which nothing is known."""

    def add(self, one: Value) -> None:
        self.points.setdefault(one.space, set()).add(one)

    def look(self, range: DataRange) -> None:
        match range:
            case Datatype(iri):
                self._datatype(iri)
            case DataAnd(operands) | DataOr(operands):
                for operand in operands:
                    self.look(operand)
            case DataNot(operand):
                self.look(operand)
            case DataOneOf(literals):
                for literal in literals:
                    self.add(value(literal))
            case Restricted(datatype, facets):
                self._datatype(datatype)
                for facet, bound in facets:
                    self._facet(facet.rstrip(">").rsplit("#", 1)[-1], value(bound))

    def _datatype(self, iri: Term) -> None:
        for bound in integer_bounds(iri) or ():
            if bound is not None:
                self.add(Value("real", bound))
        if iri in WORDS:
            self.patterns[_WORD_PATTERNS[iri[len(XSD) + 1 : -1]]] = None
        if not known_datatype(iri):
            self.others.add(iri)

    def _facet(self, name: str, bound: Value) -> None:
        if name.endswith(("Inclusive", "Exclusive")):
            self.add(bound)
        elif name in ("length", "minLength", "maxLength") and isinstance(bound.point, int):
            self.lengths.add(bound.point)
        elif name == "pattern":
            self.patterns[str(bound.point)] = None
        elif name == "langRange":
            self.languages.add(str(bound.point).lower())


def regions(ranges: Iterable[DataRange]) -> Iterator[Region]:
    """All values there are, in regions that none of the ranges cuts."""
    looked = _Looked()
    for range in ranges:
        looked.look(range)
    points = looked.points
    yield from _reals({Fraction(comparable(one.point)) for one in points.get("real", ())})
    for space in ("double", "float"):
        yield from _floats(space, points.get(space, ()))
    for truth in ("true", "false"):
        yield _single(Value("boolean", truth))
    yield from _dense("dateTime", points.get("dateTime", ()))
    yield from _dense("time", points.get("time", ()), *_TIME)
    yield from _dates(points.get("date", ()))
    yield from _texts(looked)
    for space in ("hexBinary", "base64Binary"):
        yield from _bytes(space, points.get(space, ()), looked.lengths)
    yield from map(_single, points.get("other", ()))
    for datatype in (*sorted(looked.others), f"<{_OTHER}>"):
        yield Region(Value("other", f'"{_ANY}"^^{datatype}', _ANY), None)


def _single(one: Value) -> Region:
    return Region(one, 1, (one,))


# --- numbers


def _reals(points: set[Fraction]) -> Iterator[Region]:
    for point in points:
        yield _single(Value("real", plain_number(point)))
    edges: list[Fraction | None] = [None, *sorted(points), None]
    for low, high in pairwise(edges):
        yield from _between(low, high)


def _between(low: Fraction | None, high: Fraction | None) -> Iterator[Region]:
    """The whole numbers, other decimals, other rationals and other reals of an open interval."""
    first = None if low is None else floor(low) + 1
    last = None if high is None else ceil(high) - 1
    if first is None or last is None:
        whole = first if first is not None else last if last is not None else 0
        yield Region(Value("real", whole), None)
    elif first <= last:
        size = last - first + 1
        listed = tuple(Value("real", n) for n in range(first, last + 1)) if size <= _LISTED else ()
        yield Region(Value("real", first), size if size < MANY else None, listed)
    low = low if low is not None else Fraction(0) if high is None else high - 1
    high = high if high is not None else low + 1
    digits = 1
    while (high - low) * 10**digits <= 4:
        digits += 1
    inside = [n for n in range(floor(low * 10**digits) + 1, floor(low * 10**digits) + 4) if n % 10**digits]
    yield Region(Value("real", decimal(inside[0], digits)), None)
    near = Fraction(inside[0], 10**digits) + Fraction(1, 3 * 10**digits)
    yield Region(Value("real", near), None)
    yield Region(Value("real", near, IRRATIONAL), None)


_FORMATS = {"double": ("<d", "<Q", 63), "float": ("<f", "<I", 31)}


def _place(space: str, number: float) -> int:
    """The place of a number among all of its datatype; -0 and 0 have two places."""
    of_number, of_bits, sign = _FORMATS[space]
    (bits,) = unpack(of_bits, pack(of_number, number))
    return int(bits) if bits < 1 << sign else (1 << sign) - 1 - bits


def _at(space: str, place: int) -> Value:
    of_number, of_bits, sign = _FORMATS[space]
    (number,) = unpack(of_number, pack(of_bits, place if place >= 0 else (1 << sign) - 1 - place))
    return Value(space, number, copysign(1.0, number) if number == 0 else None)


def _floats(space: str, points: Iterable[Value]) -> Iterator[Region]:
    yield _single(Value(space, "NaN"))
    infinity = _place(space, float("inf"))
    places = {infinity, -infinity - 1}
    for one in points:
        if isinstance(one.point, float):  # both zeros are compared with as one
            places |= {-1, 0} if one.point == 0 else {_place(space, one.point)}
    for place in places:
        yield _single(_at(space, place))
    for low, high in pairwise(sorted(places)):
        size = high - low - 1
        if size:
            listed = tuple(_at(space, n) for n in range(low + 1, high)) if size <= _LISTED else ()
            yield Region(_at(space, low + 1), size if size < MANY else None, listed)


# --- times


def _dense(
    space: str, points: Iterable[Value], first: Fraction | None = None, end: Fraction | None = None
) -> Iterator[Region]:
    known = {Fraction(comparable(one.point)) for one in points}
    if first is not None:
        known.add(first)
    for point in known:
        yield _single(Value(space, point))
    edges = [None, *sorted(known), end]
    for low, high in pairwise(edges[1:] if first is not None else edges):
        if low is None or high is None:
            near = low + 1 if low is not None else high - 1 if high is not None else Fraction(0)
            yield Region(Value(space, near), None)
        elif low < high:
            yield Region(Value(space, (low + high) / 2), None)


def _dates(points: Iterable[Value]) -> Iterator[Region]:
    """Days begin at whole minutes, by their zones."""
    known = sorted({Fraction(comparable(one.point)) for one in points})
    for point in known:
        yield _single(Value("date", point))
    edges: list[Fraction | None] = [None, *known, None]
    for low, high in pairwise(edges):
        if low is None or high is None:
            begin = low + _MINUTE if low is not None else high - _MINUTE if high is not None else Fraction(0)
            yield Region(Value("date", begin), None)
        elif high - low > _MINUTE:
            yield Region(Value("date", low + _MINUTE), int((high - low) / _MINUTE) - 1)


# --- texts and bytes


def _texts(looked: _Looked) -> Iterator[Region]:
    sets = TextSets(list(looked.patterns), looked.lengths)
    every = sets.all()
    for space in ("string", "anyURI"):
        points = looked.points.get(space, ())
        keys = [sets.key(str(one.point)) for one in points]
        yield from map(_single, points)
        for key, example, size in every:
            left = None if size is None else size - keys.count(key)
            if left != 0:
                yield Region(Value(space, example, _ANY), left)
    yield from map(_single, looked.points.get("lang", ()))
    for tag in ("", *sorted(looked.languages - {"*"})):  # a tag may go on for ever
        for _, example, _ in every:
            yield Region(Value("lang", example, f"{tag}-x-obep-any".lstrip("-")), None)


def _bytes(space: str, points: Iterable[Value], lengths: set[int]) -> Iterator[Region]:
    yield from map(_single, points)
    edges = sorted({0, *(edge for n in lengths for edge in (n, n + 1))})
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        size = None
        if high is not None and high <= 6:
            taken = sum(isinstance(one.point, bytes) and low <= len(one.point) < high for one in points)
            size = sum(256**n for n in range(low, high)) - taken
        if size != 0:
            yield Region(Value(space, b"\0" * low, _ANY), None if size is None or size >= MANY else size)
