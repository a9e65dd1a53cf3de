"""Hits of guarded events that differ in a constant of the guard: an index says which of them may pass.

A hit of a guarded event's body is of use to that event alone, and only if its ask has a solution. Where many
events share a body and a pattern, an item's value decides at once which of them there can be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeVar

from obep.abstraction.answer_templates import WORTH_AN_INDEX, Hit, Row, named
from obep.guards.constant_index import Index
from obep.guards.typed_values import ExpressionError, Value, parsed
from obep.model import Term

T = TypeVar("T")
_REMEMBERED = 1 << 10


class Group(NamedTuple):
    """Hits that are equal but for their event, each with a comparison of one column with a constant."""

    values: tuple[int | Term, ...]
    """The values of the column, in all rows."""
    compared: Index
    places: tuple[int, ...]
    """The place of each among the hits, by its number in the index."""


class Groups(NamedTuple):
    """The hits of a template: those that always count, and those in groups."""

    always: tuple[int, ...]
    some: tuple[Group, ...]

    def chosen(self, hits: Sequence[T], names: Sequence[Term]) -> list[T]:
        """The hits whose guards may pass, in their order."""
        found = set(self.always)
        for group in self.some:
            places = group.places
            for value in group.values:
                try:
                    may = group.compared.may_hold(parsed[named(value, names)])
                except ExpressionError:  # so is every filter over it
                    continue
                found.update([places[number] for number in may])
        return [hits[place] for place in sorted(found)]


class Grouping:
    """Puts the hits of templates into groups."""

    def __init__(self, bodies: Collection[Term]) -> None:
        """`bodies`: of events that nothing but one ask looks at."""
        self._bodies = bodies
        self._indexes: dict[object, Index] = {}

    def of(self, hits: Sequence[Hit]) -> Groups | None:
        """The groups of some hits; `None` if there are none."""
        if len(hits) < WORTH_AN_INDEX:
            return None
        alike: dict[object, list[tuple[int, str, Value]]] = {}
        columns: dict[object, tuple[tuple[Row, ...], int]] = {}
        for place, hit in enumerate(hits):
            if hit.event in self._bodies and len(hit.rows) == 1:
                asked, rows = hit.rows[0]
                if (compared := asked.only_comparison) is not None:
                    column, operator, constant = compared
                    key: object = (hit.individual, hit.triples, hit.static, rows, column)
                    alike.setdefault(key, []).append((place, operator, constant))
                    columns[key] = rows, column
        groups = []
        always = set(range(len(hits)))
        for key, members in alike.items():
            if len(members) < WORTH_AN_INDEX:
                continue
            rows, column = columns[key]
            values = tuple(dict.fromkeys(v for row in rows if (v := row[column]) is not None))
            places = tuple([place for place, _, _ in members])
            index = self._index(tuple([(operator, constant) for _, operator, constant in members]))
            groups.append(Group(values, index, places))
            always.difference_update(places)
        return Groups(tuple(sorted(always)), tuple(groups)) if groups else None

    def _index(self, comparisons: tuple[tuple[str, Value], ...]) -> Index:
        key = tuple([(operator, type(constant), constant) for operator, constant in comparisons])
        found = self._indexes.get(key)
        if found is None:
            if len(self._indexes) >= _REMEMBERED:
                self._indexes.clear()
            found = Index((n, operator, constant) for n, (operator, constant) in enumerate(comparisons))
            self._indexes[key] = found
        return found
