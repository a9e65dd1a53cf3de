"""The triples of an item by its shape: items of one shape have the same solutions up to their own names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from obep.algebra.evaluation import Row
from obep.model import RDF_TYPE, Term, Triple

Place = Term | int
"""A term, or the number of one of an item's own names."""
PlacesOf = Callable[[Iterable[tuple[Place, Term, Place]]], list[Place]]


class ItemShape:
    """The triples of an item, with numbers for its own names; and what was found in them alone."""

    __slots__ = ("joins", "rows", "triples")

    def __init__(self, triples: Iterable[Triple], names: Mapping[Term, int]) -> None:
        self.triples = [(names.get(s, s), p, o if p == RDF_TYPE else names.get(o, o)) for s, p, o in triples]
        self.joins: list[Place] | None = None
        """What other triples may share with them (`JoinPlaces`)."""
        self.rows: dict[object, list[tuple[Place | None, ...]]] = {}
        """The solutions of each BGP."""


class ShapedTriples:
    """The triples of one item."""

    __slots__ = ("joins", "lead", "names", "shape")

    def __init__(self, shape: ItemShape, names: Mapping[Term, int], lead: int) -> None:
        """`lead`: see `TripleOccurrence`."""
        self.shape, self.names, self.lead = shape, [*names], lead
        self.joins: list[Term] | None = None
        """The terms that other triples may share with them."""

    def join_terms(self, places_of: PlacesOf) -> list[Term]:
        """The terms that other triples may share with them; `places_of` finds their places in a shape."""
        if self.joins is None:
            shape = self.shape
            if shape.joins is None:
                shape.joins = places_of(shape.triples)
            names = self.names
            self.joins = [names[one] if isinstance(one, int) else one for one in shape.joins]
        return self.joins

    def triples(self) -> list[Triple]:
        """The triples themselves."""
        term = self._term
        return [(term(s), p, term(o)) for s, p, o in self.shape.triples]

    def row(self, places: Iterable[Place | None]) -> Row:
        """A solution with the names of this item."""
        names = self.names
        return tuple([names[one] if type(one) is int else one for one in places])  # type: ignore[misc]  # the others are terms

    def without_names(self, rows: Iterable[Row]) -> list[tuple[Place | None, ...]]:
        """Solutions with numbers for the names of this item."""
        numbers = {name: number for number, name in enumerate(self.names)}
        return [tuple([None if one is None else numbers.get(one, one) for one in row]) for row in rows]

    def _term(self, place: Place) -> Term:
        return self.names[place] if isinstance(place, int) else place
