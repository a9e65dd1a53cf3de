"""Data ranges as sets of values: which are empty, how large they are, how two lie to each other.

In: data ranges. Out: `cells`, the coarsest sets of values that the ranges are unions of, each with its size.
All else is read off them. What cannot be counted (a pattern with very many states) is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from obep.errors import fail
from obep.model import Term
from obep.ontology.owl.axioms import (
    ANY_LITERAL,
    OWL,
    RDF,
    XSD,
    DataAnd,
    DataNot,
    DataOr,
    DataRange,
    Datatype,
    Restricted,
)
from obep.ontology.owl.literals import Value, holds_value
from obep.ontology.owl.text_automata import TooComplex
from obep.ontology.owl.value_regions import regions

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

    inside: tuple[bool, ...]
    """For each range whether they lie in it."""
    size: int | None
    """The number of values; None: infinitely many."""
    members: tuple[Value, ...]
    """All of them, if there are few and they can be listed."""


@lru_cache(maxsize=4096)
def cells(ranges: tuple[DataRange, ...]) -> tuple[Cell, ...]:
    """The values of all datatypes, by which of the ranges they lie in; no cell is empty.

    The ranges name no defined datatypes (see `unfolded`).
    """
    found: dict[tuple[bool, ...], tuple[int | None, tuple[Value, ...]]] = {}
    for value, size, members in regions(ranges):
        inside = tuple(holds_value(range, value) for range in ranges)
        known, listed = found.get(inside, (0, ()))
        whole = None if size is None or known is None else known + size
        found[inside] = whole, (*listed, *members)
    return tuple(
        Cell(inside, size, members if size == len(members) else ())
        for inside, (size, members) in found.items()
    )


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
        sizes = [cell.size for cell in cells((unfolded(range, definitions),)) if cell.inside[0]]
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
    sides = {cell.inside[1] for cell in found if cell.inside[0]}
    return "perhaps" if len(sides) > 1 else "apart" if False in sides else "inside"


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
