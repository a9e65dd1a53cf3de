"""Triples with the intervals at which they occur, looked up by any of their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from obep.algebra.timed.shaped_triples import ShapedTriples
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


class OccurrenceIndex:
    """Triple occurrences by the terms of each shape that is asked for."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._tables: dict[Shape, tuple[_Key, _Table]] = {shape: (_key(shape), {}) for shape in shapes}

    def enter(self, occurrence: TripleOccurrence) -> None:
        triple = occurrence.triple
        for key_of, table in self._tables.values():
            key = key_of(triple)
            some = table.get(key)
            if some is None:
                table[key] = {occurrence: None}
            else:
                some[occurrence] = None

    def leave(self, occurrence: TripleOccurrence) -> None:
        for key_of, table in self._tables.values():
            key = key_of(occurrence.triple)
            found = table[key]
            del found[occurrence]
            if not found:
                del table[key]

    def match(self, wanted: Wanted) -> Iterable[TripleOccurrence]:
        """The occurrences of triples that have these terms; `None` stands for any."""
        s, p, o = wanted
        key_of, table = self._tables[(s is not None, p is not None, o is not None)]
        return table.get(key_of(wanted), ())


class TripleOccurrences:
    """A set of triple occurrences, most often of one instant.

    They are indexed when they are first looked up. Those of an item whose shape is known are made then, too.
    """

    def __init__(self, shapes: Iterable[Shape], shaped: ShapedTriples | None = None, at: int = 0) -> None:
        """`shaped`: the triples of an item of an instant, which it begins with."""
        self._shapes, self._at = shapes, at
        self.shaped = self._given = shaped
        """These triples, as long as it has no other."""
        self._all: dict[TripleOccurrence, None] = {}
        self._index: OccurrenceIndex | None = None

    def __iter__(self) -> Iterator[TripleOccurrence]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._all) if self._given is None else len(self._given.shape.triples)

    def __contains__(self, occurrence: object) -> bool:
        return occurrence in self._made()

    def since(self, number: int) -> TripleOccurrences:
        """The triples that were added after the first n."""
        if number == 0:
            return self
        later = TripleOccurrences(self._shapes)
        for occurrence in islice(self._made(), number, None):
            later.add(occurrence)
        return later

    def add(self, occurrence: TripleOccurrence) -> None:
        every = self._made()
        if occurrence not in every:
            every[occurrence] = None
            self.shaped = None
            if self._index is not None:
                self._index.enter(occurrence)

    def match(self, wanted: Wanted) -> Iterable[TripleOccurrence]:
        """The occurrences of triples that have these terms; `None` stands for any."""
        if self._index is None:
            self._index = OccurrenceIndex(self._shapes)
            for occurrence in self._made():
                self._index.enter(occurrence)
        return self._index.match(wanted)

    def _made(self) -> dict[TripleOccurrence, None]:
        if (given := self._given) is not None:
            at, lead = self._at, given.lead
            self._all = {TripleOccurrence(triple, at, at, lead): None for triple in given.triples()}
            self._given = None
        return self._all


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
