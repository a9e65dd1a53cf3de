"""Triples with the intervals at which they occur, looked up by any of their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from obep.model import Term, Triple

Shape = tuple[bool, bool, bool]
"""Which places of a triple are known when it is looked up."""
Wanted = tuple[Term | None, Term | None, Term | None]


class TripleOccurrence(NamedTuple):
    """⟨τ, s, e⟩"""

    triple: Triple
    start: int
    end: int


class TripleOccurrences:
    """A set of triple occurrences with an index for each shape that is asked for."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._tables: dict[Shape, dict[Wanted, dict[TripleOccurrence, None]]] = {
            shape: {} for shape in shapes
        }
        self._all: dict[TripleOccurrence, int] = {}
        self._starts: list[tuple[int, int, TripleOccurrence]] = []
        self._added = 0

    def __iter__(self) -> Iterator[TripleOccurrence]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, occurrence: TripleOccurrence) -> bool:
        return occurrence in self._all

    def since(self, number: int) -> TripleOccurrences:
        """Those that were added after so many others."""
        if number == 0:
            return self
        later = TripleOccurrences(self._tables)
        for occurrence in islice(self._all, number, None):
            later.add(occurrence)
        return later

    def add(self, occurrence: TripleOccurrence) -> None:
        if occurrence in self._all:
            return
        self._added += 1
        self._all[occurrence] = self._added
        heappush(self._starts, (occurrence.start, self._added, occurrence))
        for shape, table in self._tables.items():
            table.setdefault(_masked(shape, occurrence.triple), {})[occurrence] = None

    def match(self, wanted: Wanted) -> Iterable[TripleOccurrence]:
        """The occurrences of triples that have these terms; `None` stands for any."""
        s, p, o = wanted
        table = self._tables[(s is not None, p is not None, o is not None)]
        return table.get(wanted, ())

    def expire(self, before: int) -> None:
        """Forget what started at an instant or before it."""
        while self._starts and self._starts[0][0] <= before:
            occurrence = heappop(self._starts)[2]
            del self._all[occurrence]
            for shape, table in self._tables.items():
                wanted = _masked(shape, occurrence.triple)
                found = table[wanted]
                del found[occurrence]
                if not found:
                    del table[wanted]


def _masked(shape: Shape, triple: Triple) -> Wanted:
    s, p, o = triple
    return (s if shape[0] else None, p if shape[1] else None, o if shape[2] else None)
