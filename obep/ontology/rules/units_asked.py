"""The units that definitions name (`number[> 30 degC]`): one for each property, of one dimension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property

from obep.errors import Span
from obep.formats.quantities import NUMERIC_VALUES
from obep.formats.units import TABLE, nearest_unit, straight_line, unit_named
from obep.model import Term, local_name
from obep.ontology.owl import axioms as ax
from obep.query import ast

Wrong = tuple[str, Span, str, str, str]
"""A code, a place, what is wrong, why, and what helps."""
_COMPARES = ("<", "<=", ">", ">=")


class UnitsAsked:
    """By property and dimension, the unit that the definitions read so far ask for."""

    def __init__(self, axioms: Iterable[ax.Axiom] = ()) -> None:
        self.by_property: dict[Term, dict[str, str]] = {}
        self._axioms = axioms

    @cached_property
    def _below(self) -> dict[Term, set[Term]]:
        """By property, those right below it and its equals; most queries name no unit."""
        found: dict[Term, set[Term]] = {}
        for axiom in self._axioms:
            match axiom:
                case ax.SubDataProperty(sub, sup):
                    found.setdefault(sup, set()).add(sub)
                case ax.EquivalentDataProperties(operands):
                    for one in operands:
                        found.setdefault(one, set()).update(operands)
        return found

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
                    "OBEP808", facet.unit.span, f"{name} is not a known unit", reason,
                    nearest_unit(name) or f"one of {', '.join([*TABLE][:12])}, …",
                )  # fmt: skip
                continue
            if facet.facet not in _COMPARES:
                yield (
                    "OBEP808", facet.span, f"{facet.facet} has no unit", "It does not compare numbers.",
                    f"> 30 {name}",
                )  # fmt: skip
                continue
            met: tuple[Term, str] | None = None
            for one in self._with_narrower(property):
                known = self.by_property.setdefault(one, {})
                near = here if property in NUMERIC_VALUES else known  # a quantity may be of any dimension
                others = [other for dimension, other in near.items() if dimension != unit.dimension]
                others += [was for was in (known.get(unit.dimension),) if was and unit_named(was) != unit]
                met = met or next(((one, other) for other in others), None)
                known.setdefault(unit.dimension, name)
            if met:
                yield (
                    "OBEP809", facet.unit.span,
                    f"{local_name(met[0])} is compared in {met[1]} and in {name}",
                    "The values of a property are brought to one unit, of one dimension.",
                    in_unit(facet, met[1]),
                )  # fmt: skip
            here.setdefault(unit.dimension, name)

    def _with_narrower(self, property: Term) -> list[Term]:
        """A property, then all whose values are values of it too."""
        found = {property: None}
        waiting = [property]
        while waiting:
            new = [one for one in sorted(self._below.get(waiting.pop(), ())) if one not in found]
            found |= dict.fromkeys(new)
            waiting += new
        return list(found)


def in_unit(facet: ast.Facet, other: str) -> str:
    """The bound in another unit, if there is one."""
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
