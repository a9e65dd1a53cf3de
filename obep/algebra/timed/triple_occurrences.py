"""Triples with the intervals at which they occur, looked up by any of their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from obep.model import Term, Triple

Shape = tuple[bool, bool, bool]
"""Which places of a triple are known when it is looked up."""
Wanted = tuple[Term | None, Term | None, Term | None]


class TripleOccurrence(NamedTuple):
    """⟨τ, s, e⟩"""

    triple: Triple
    start: int
    end: int
    lead: int = 0
    """How much less than the longest RANGE that of its stream is (D37)."""


class TripleOccurrences:
    """A set of triple occurrences with an index for each shape that is asked for."""

    def __init__(self, shapes: Iterable[Shape], *, expires: bool = False) -> None:
        """`expires`: whether those that started early will be forgotten."""
        self._tables: dict[Shape, tuple[_Key, _Table]] = {shape: (_key(shape), {}) for shape in shapes}
        self._all: dict[TripleOccurrence, None] = {}
        self._starts: list[tuple[int, int, TripleOccurrence]] = []
        self._expires, self._added = expires, 0

    def __iter__(self) -> Iterator[TripleOccurrence]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, occurrence: TripleOccurrence) -> bool:
        return occurrence in self._all

    def since(self, number: int) -> TripleOccurrences:
        """The triples that were added after the first n."""
        if number == 0:
            return self
        later = TripleOccurrences(self._tables)
        for occurrence in islice(self._all, number, None):
            later.add(occurrence)
        return later

    def add(self, occurrence: TripleOccurrence) -> None:
        if occurrence in self._all:
            return
        self._all[occurrence] = None
        if self._expires:
            self._added += 1
            heappush(self._starts, (occurrence.start, self._added, occurrence))
        triple = occurrence.triple
        for key_of, table in self._tables.values():
            key = key_of(triple)
            some = table.get(key)
            if some is None:
                table[key] = {occurrence: None}
            else:
                some[occurrence] = None

    def match(self, wanted: Wanted) -> Iterable[TripleOccurrence]:
        """The occurrences of triples that have these terms; `None` stands for any."""
        s, p, o = wanted
        key_of, table = self._tables[(s is not None, p is not None, o is not None)]
        return table.get(key_of(wanted), ())

    def expire(self, before: int) -> None:
        """Forget what started at an instant or before it."""
        while self._starts and self._starts[0][0] <= before:
            occurrence = heappop(self._starts)[2]
            del self._all[occurrence]
            for key_of, table in self._tables.values():
                key = key_of(occurrence.triple)
                found = table[key]
                del found[occurrence]
                if not found:
                    del table[key]


class WantedTriples:
    """The constants of triple patterns, and whether one of them may match a triple."""

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self.all = frozenset(wanted)
        keys: dict[Shape, set[Any]] = {}
        for s, p, o in self.all:
            shape = (s is not None, p is not None, o is not None)
            keys.setdefault(shape, set()).add(_key(shape)((s, p, o)))
        self._keys = [(_key(shape), some) for shape, some in keys.items()]

    def __contains__(self, triple: Triple) -> bool:
        return any(key_of(triple) in some for key_of, some in self._keys)


_Key = Callable[[Any], Any]
_Table = dict[Any, dict[TripleOccurrence, None]]


def _key(shape: Shape) -> _Key:
    """What the places that are known have in a triple, or in the constants of a pattern."""
    known = [place for place, is_known in enumerate(shape) if is_known]
    return itemgetter(*known) if known else lambda _: None
