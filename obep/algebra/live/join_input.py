"""One side of a live join: its rows, by the keys that the other sides look them up with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from obep.algebra.evaluation import Row, Slots
from obep.algebra.nodes.basic_graph_pattern import TripleMatch

Change = Callable[[Row, int], None]
"""Takes a row and by how much its number changes."""
Pick = Callable[[Row], Any]
Bucket = Row | dict[Row, int]
"""Rows with their multiplicities; a single row with multiplicity one is stored without a dict."""
Table = dict[Any, Bucket]


class JoinInput:
    """A bag of rows over some slots, of which `certain` are always bound."""

    def __init__(self, slots: tuple[int, ...], certain: Slots) -> None:
        self.slots, self.certain = slots, certain
        self.tables: dict[tuple[int, ...], tuple[Table, Pick, Pick]] = {}
        self.start: Change = _nothing
        self.admits: Callable[[Row], bool] | None = None
        """A condition over these slots alone: rows that fail it take no part in the join."""

    def cost(self, known: Slots) -> int:
        """An estimate of the rows that a lookup by known slots finds."""
        unknown = len([slot for slot in self.slots if slot not in known])
        return unknown if unknown == 0 or self.certain & known else unknown + 10

    def table(self, key: tuple[int, ...]) -> Table:
        """The index of the rows by the slots of a key: to each the values of the other slots."""
        if key not in self.tables:
            rest = [at for at, slot in enumerate(self.slots) if slot not in key]
            self.tables[key] = ({}, key_of([self.slots.index(slot) for slot in key]), row_of(rest))
        return self.tables[key][0]

    def change(self, values: Row, number: int) -> None:
        """A row comes or leaves: join it with the other sides, and keep it for them."""
        if self.admits is not None and not self.admits(values):
            return
        self.start(values, number)
        for table, key_of_row, rest_of_row in self.tables.values():
            key, rest = key_of_row(values), rest_of_row(values)
            bucket = table.get(key)
            if bucket is None:
                table[key] = rest if number == 1 else {rest: number}
                continue
            if isinstance(bucket, tuple):
                if number == -1 and bucket == rest:
                    del table[key]
                    continue
                bucket = table[key] = {bucket: 1}
            left = bucket.get(rest, 0) + number
            if left:
                bucket[rest] = left
            elif len(bucket) > 1:
                del bucket[rest]
            else:
                del table[key]


class LookupInput(JoinInput):
    """A triple pattern over a graph that does not change: it is looked up there, and nothing is kept."""

    def __init__(self, pattern: TripleMatch, match: Callable[..., Any]) -> None:
        slots = tuple(dict.fromkeys(slot for _, slot in pattern.slots))
        super().__init__(slots, frozenset(slots))
        self.pattern, self.match = pattern, match

    def cost(self, known: Slots) -> int:
        return self.pattern.cost(known) + (0 if self.certain & known or not self.slots else 10)


def change_count(buckets: dict[Any, dict[Row, int]], key: Any, row: Row, number: int) -> None:
    """Change how often a row is in the bucket of a key; rows and buckets of nothing are removed."""
    bucket = buckets.get(key)
    if bucket is None:
        bucket = buckets[key] = {}
    left = bucket.get(row, 0) + number
    if left:
        bucket[row] = left
        return
    del bucket[row]
    if not bucket:
        del buckets[key]


def key_of(places: Sequence[int]) -> Pick:
    """The values at some places: one alone, several as a tuple."""
    return itemgetter(*places) if places else _no_key


def row_of(places: Sequence[int]) -> Callable[[Row], Row]:
    """The values at some places, as a tuple."""
    if len(places) == 1:
        [place] = places
        return itemgetter(slice(place, place + 1) if place != -1 else slice(-1, None))
    if not places:
        return lambda row: ()
    return itemgetter(*places)


def _no_key(row: Row) -> None:
    return None


def _nothing(row: Row, number: int) -> None:
    return None
