"""The order of terms for ORDER BY (SPARQL 1.1, 15.1), made total."""

from __future__ import annotations

from typing import Any

from obep.algebra.evaluation import Row
from obep.guards.calendar import Day, Lapse, Moment
from obep.guards.typed_values import Tagged, parsed
from obep.guards.value_order import RANK
from obep.model import Term


def order_key(term: Term | None) -> tuple[Any, ...]:
    """Unbound, blank nodes, IRIs, literals; numbers by value, then strings, and so on.

    >>> sorted(['"b"', '<a>', None, '_:x', '"a"'], key=order_key)
    [None, '_:x', '<a>', '"a"', '"b"']
    """
    if term is None:
        return (0,)
    if term[0] == "_":
        return (1, term)
    if term[0] == "<":
        return (2, term)
    value: Any = parsed[term]
    kind = type(value)
    if kind in RANK:
        return (3, 0, term) if value != value else (3, 1, value, term)
    if kind is str:
        return (3, 2, value, term)
    if isinstance(value, Tagged):
        return (3, 3, value.language, value.text, term)
    if kind is bool:
        return (3, 4, value, term)
    if kind in (Moment, Day, Lapse):
        return (3, (Moment, Day, Lapse).index(kind) + 5, int(value), term)
    return (3, 8, term)


def written(row: Row) -> tuple[str, ...]:
    """The order in which rows are written where nothing else orders them: by their terms (D31)."""
    return tuple([value or "" for value in row])
