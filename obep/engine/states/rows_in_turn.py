"""The rows of a state by rows in a block of items, of occurrences that are each alone in their instants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from obep.algebra.over.lone_rows import LoneRow
from obep.algebra.over.over_expressions import GroupKey, Values
from obep.model import Occurrence

Entries = Sequence[tuple[int, Sequence[Occurrence]]]
Take = Callable[[list[LoneRow], int, int], tuple[int, int | None]]
"""Takes rows from a place on, before an instant: the next place, and the instant of a change."""


class RowsInTurn(NamedTuple):
    """Rows in the order of time, what takes them, and where their occurrences stand in the block."""

    rows: list[LoneRow]
    places: list[int]
    end: int
    """The place of the first occurrence that must be taken by itself."""
    take: Take


def rows_in_turn(
    entries: Entries,
    place: int,
    last: int,
    ask: int,
    terms_of: Callable[[Values], Values],
    group_of: Callable[[Values], GroupKey],
    take: Take,
) -> RowsInTurn:
    """The rows of one event's occurrences from a place on: `ask` finds at most one solution in each,
    and binds all."""
    rows: list[LoneRow] = []
    places: list[int] = []
    event = ""
    while place < last:
        at, occurrences = entries[place]
        if occurrences:
            one = occurrences[0]
            event = event or one.event
            if one.event != event or len(occurrences) > 1 or entries[place + 1][0] == at:
                break
            solutions = one._rows_of(ask)
            if solutions:
                terms = terms_of(solutions[0])
                if len(solutions) > 1 or None in terms:
                    break
                rows.append((at, terms, one.individual, group_of(terms), one.explanation))  # type: ignore[arg-type]  # all are bound
                places.append(place)
        place += 1
    return RowsInTurn(rows, places, place, take)
