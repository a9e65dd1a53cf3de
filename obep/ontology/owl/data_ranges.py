"""Data ranges as sets of values: which are empty, how large they are, how two lie to each other.

In: data ranges. Out: `cells`, the coarsest sets of values that the ranges are unions of, each with its size.
All else is read off them. What cannot be counted (a pattern with very many states) is undecided.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from operator import and_, or_
from typing import Any, Literal, NamedTuple

from obep.errors import fail
from obep.model import Term
from obep.ontology.owl.axioms import (
    ANY_LITERAL,
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
from obep.ontology.owl.literals import Value, comparable, holds_value, passes, value
from obep.ontology.owl.value_spaces.text_automata import TooComplex
from obep.ontology.owl.value_spaces.value_regions import Region, regions

Relation = Literal["inside", "apart", "perhaps"]
_NESTED = 100
_WIDEST = (
    f"<{OWL}real>",
    f"<{RDF}PlainLiteral>",
    *(f"<{XSD}{name}>" for name in ("double", "float", "dateTime", "date", "time")),
    *(f"<{XSD}{name}>" for name in ("anyURI", "hexBinary", "base64Binary")),
)
"""Datatypes that have all the values that facets restrict."""


class Cell(NamedTuple):
    """Values that lie in the same ranges."""

    inside: int
    """The ranges in which they lie, bit by bit."""
    size: int | None
    """The number of values; None: infinitely many."""
    members: tuple[Value, ...]
    """All of them, if there are few and they can be listed."""


@lru_cache(maxsize=4096)
def cells(ranges: tuple[DataRange, ...]) -> tuple[Cell, ...]:
    """The values of all datatypes, by which of the ranges they lie in; no cell is empty.

    The ranges name no defined datatypes (see `unfolded`).
    """
    divided = sorted(regions(ranges), key=_in_order)
    values = _Values([region.value for region in divided])
    found: dict[int, tuple[int | None, tuple[Value, ...]]] = {}
    insides = transposed([values.inside(range) for range in ranges], len(divided))
    for (_, size, members), inside in zip(divided, insides, strict=True):
        known, listed = found.get(inside, (0, ()))
        whole = None if size is None or known is None else known + size
        found[inside] = whole, (*listed, *members)
    return tuple(
        Cell(inside, size, members if size == len(members) else ())
        for inside, (size, members) in found.items()
    )


def _in_order(region: Region) -> tuple[str, Any]:
    """Values that compare with each other lie together, from the least to the greatest."""
    space, point, _ = region.value
    return ("", 0) if space == "other" or point == "NaN" else (space, comparable(point))


class _Values:
    """Some values in order, and which of them lie in a range, bit by bit."""

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = values
        self._bits: dict[Value, int] = {}
        self._places: dict[str, tuple[int, int]] = {}
        for n, one in enumerate(values):
            self._bits[one] = self._bits.get(one, 0) | 1 << n
            space, _ = _in_order(Region(one, 1))
            first, _ = self._places.get(space, (n, n))
            self._places[space] = first, n + 1
        self._of_datatype: dict[Term, int] = {}

    def inside(self, range: DataRange) -> int:
        """The values that lie in a range."""
        match range:
            case DataAnd(operands):
                return reduce(and_, map(self.inside, operands), self._all)
            case DataOr(operands):
                return reduce(or_, map(self.inside, operands), 0)
            case DataNot(operand):
                return self._all ^ self.inside(operand)
            case DataOneOf(literals):
                return reduce(or_, (self._bits.get(value(one), 0) for one in literals), 0)
            case Restricted(datatype, facets):
                passing = (self._passing(facet, value(bound)) for facet, bound in facets)
                return reduce(and_, passing, self.inside(Datatype(datatype)))
            case Datatype(iri):
                if iri not in self._of_datatype:
                    self._of_datatype[iri] = self._where(lambda one: holds_value(range, one))
                return self._of_datatype[iri]

    @property
    def _all(self) -> int:
        return (1 << len(self._values)) - 1

    def _where(self, holds: Callable[[Value], bool]) -> int:
        return sum(1 << n for n, one in enumerate(self._values) if holds(one))

    def _passing(self, facet: Term, limit: Value) -> int:
        """The values that pass a facet; in order they pass a bound from one of them on, or up to one."""
        if "clusive" not in facet:
            return self._where(lambda one: passes(facet, limit, one))
        first, end = self._places.get(limit.space, (0, 0))
        from_below = "#max" in facet
        middle = bisect_left(
            self._values, True, first, end, key=lambda one: passes(facet, limit, one) != from_below
        )
        low, high = (first, middle) if from_below else (middle, end)
        return (1 << high) - (1 << low)


def transposed(rows: Sequence[int], width: int) -> list[int]:
    """For each of so many bits the rows that have it, bit by bit.

    >>> transposed([0b011, 0b010], 3)
    [1, 3, 0]
    """
    if not rows:
        return [0] * width
    texts = [format(row, f"0{width}b") for row in reversed(rows)]
    return [int("".join(column), 2) for column in zip(*texts, strict=True)][::-1]


def unfolded(range: DataRange, definitions: Mapping[Term, DataRange], depth: int = 0) -> DataRange:
    """A range with what each defined datatype stands for in its place."""
    if depth > _NESTED:
        raise undecidable("A datatype is defined by itself.")
    match range:
        case Datatype(iri) if iri in definitions:
            return unfolded(definitions[iri], definitions, depth + 1)
        case DataAnd(operands):
            return DataAnd(tuple(unfolded(operand, definitions, depth) for operand in operands))
        case DataOr(operands):
            return DataOr(tuple(unfolded(operand, definitions, depth) for operand in operands))
        case DataNot(operand):
            return DataNot(unfolded(operand, definitions, depth))
        case Restricted(datatype, facets) if datatype in definitions:
            base = unfolded(definitions[datatype], definitions, depth + 1)
            return DataAnd((base, DataOr(tuple(Restricted(one, facets) for one in _WIDEST))))
    return range


def size_of(range: DataRange, definitions: Mapping[Term, DataRange]) -> int | None:
    """How many values a range has; `None`: infinitely many, or more than can be counted.

    >>> size_of(DataAnd((Datatype(f"<{XSD}integer>"), DataNot(Datatype(f"<{XSD}decimal>")))), {})
    0
    >>> size_of(Datatype(f"<{XSD}boolean>"), {})
    2
    """
    try:
        sizes = [cell.size for cell in cells((unfolded(range, definitions),)) if cell.inside & 1]
    except TooComplex:
        return None
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def lies(inner: DataRange, outer: DataRange, definitions: Mapping[Term, DataRange]) -> Relation:
    """Where the values of `inner` lie, seen from `outer`.

    >>> integer, string = Datatype(f"<{XSD}integer>"), Datatype(f"<{XSD}string>")
    >>> lies(integer, Datatype(f"<{XSD}decimal>"), {}), lies(integer, string, {})
    ('inside', 'apart')
    """
    if outer == ANY_LITERAL or inner == outer:
        return "inside"
    try:
        found = cells((unfolded(inner, definitions), unfolded(outer, definitions)))
    except TooComplex:
        return "perhaps"
    sides = {cell.inside & 2 for cell in found if cell.inside & 1}
    return "perhaps" if len(sides) > 1 else "apart" if 0 in sides else "inside"


def is_empty(range: DataRange, definitions: Mapping[Term, DataRange] | None = None) -> bool:
    """Whether no value lies in a range.

    >>> from obep.ontology.owl.literals import literal
    >>> integer = f"<{XSD}integer>"
    >>> above, below = f"<{XSD}minExclusive>", f"<{XSD}maxExclusive>"
    >>> is_empty(Restricted(integer, ((above, literal("3", integer)), (below, literal("4", integer)))))
    True
    """
    return size_of(range, definitions or {}) == 0


def undecidable(reason: str) -> Exception:
    """The error for data ranges that cannot be decided."""
    return fail("OBEP342", "the data ranges of the ontology cannot be decided", reason=reason)
