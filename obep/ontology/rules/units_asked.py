"""The units that definitions name (`number[> 30 degC]`): one for each property, of one dimension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from obep.errors import Span
from obep.formats.quantities import NUMERIC_VALUES
from obep.formats.units import TABLE, nearest_unit, straight_line, unit_named
from obep.model import Term, local_name
from obep.query import ast

Wrong = tuple[str, Span, str, str, str]
"""A code, a place, what is wrong, why, and what helps."""
_COMPARES = ("<", "<=", ">", ">=")


class UnitsAsked:
    """By property and dimension, the unit that the definitions read so far ask for."""

    def __init__(self) -> None:
        self.by_property: dict[Term, dict[str, str]] = {}
        self._first: dict[tuple[Term, str], str] = {}

    def take(self, property: Term, facets: Iterable[ast.Facet]) -> Iterator[Wrong]:
        """Note the units of the facets of a property; what is wrong with them."""
        here: dict[str, str] = {}
        for facet in facets:
            name = unit_text(facet)
            if not name or facet.unit is None:
                continue
            unit = unit_named(name)
            if unit is None:
                reason = "It is none of obep, no IRI of QUDT that has a factor, and no code of UCUM."
                yield (
                    "OBEP808", facet.unit.span, f"{name} is no known unit", reason,
                    nearest_unit(name) or f"one of {', '.join([*TABLE][:12])}, …",
                )  # fmt: skip
                continue
            if facet.facet not in _COMPARES:
                yield (
                    "OBEP808", facet.span, f"{facet.facet} has no unit", "It does not compare numbers.",
                    f"> 30 {name}",
                )  # fmt: skip
                continue
            known = self.by_property.setdefault(property, {})
            near = here if property in NUMERIC_VALUES else known  # a quantity may be of any dimension
            others = [one for dimension, one in near.items() if dimension != unit.dimension]
            others += [one for one in (known.get(unit.dimension),) if one and unit_named(one) != unit]
            if others:
                yield (
                    "OBEP809", facet.unit.span,
                    f"{local_name(property)} is compared in {others[0]} and in {name}",
                    "The values of a property are brought to one unit, of one dimension.",
                    in_unit(facet, others[0]),
                )  # fmt: skip
            known.setdefault(unit.dimension, name)
            here.setdefault(unit.dimension, name)


def in_unit(facet: ast.Facet, other: str) -> str:
    """The same bound in another unit, where there is one."""
    unit, target = unit_named(unit_text(facet)), unit_named(other)
    if unit is None or target is None or target.dimension != unit.dimension:
        return f"another property, or a unit of the dimension of {other}"
    scale, offset = straight_line(unit, target)
    return f"{facet.facet} {float(Fraction(facet.value.lexical) * scale + offset)} {other}"


def facets_in(node: ast.Description | None) -> Iterator[ast.Facet]:
    """The facets of a data range."""
    match node:
        case ast.Restriction(_, facets):
            yield from facets
        case ast.Intersection(operands) | ast.Union(operands):
            for operand in operands:
                yield from facets_in(operand)
        case ast.Complement(operand):
            yield from facets_in(operand)


def unit_text(facet: ast.Facet) -> str:
    """The unit of a facet as `obep.formats.units` reads it; empty if it has none."""
    if facet.unit is None:
        return ""
    return facet.unit.lexical if isinstance(facet.unit, ast.Literal) else facet.unit.iri[1:-1]
