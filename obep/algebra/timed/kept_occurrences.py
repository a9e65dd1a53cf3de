"""The triple occurrences of earlier instants, until they are too old.

Most of them are never looked up: a new item whose terms none of them has is joined with none. So what an
instant brings is put aside with the terms that a later triple may share, and indexed at the first lookup.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import Any

from obep.algebra.timed.shaped_triples import ShapedTriples
from obep.algebra.timed.triple_occurrences import (
    OccurrenceIndex,
    Shape,
    TripleOccurrence,
    TripleOccurrences,
    Wanted,
)
from obep.model import Term

Join = tuple[Term | None, int]
"""A property (`None`: any), and a place of its triples that has a variable of another pattern, too."""


class JoinPlaces:
    """Which terms of a triple another triple may share in a solution."""

    def __init__(self, joins: Iterable[Join]) -> None:
        places: dict[Term | None, set[int]] = {}
        for name, place in joins:
            places.setdefault(name, set()).add(place)
        self._any = tuple(places.pop(None, ()))
        self._of = {name: tuple(some.union(self._any)) for name, some in places.items()}

    def terms(self, triples: Iterable[tuple[Any, Term, Any]]) -> list[Any]:
        """These terms of some triples, each once."""
        of, of_any = self._of, self._any
        return [*{triple[place]: None for triple in triples for place in of.get(triple[1], of_any)}]


class KeptOccurrences:
    """They begin at many instants, and are forgotten when that is long ago."""

    def __init__(self, shapes: Iterable[Shape], places: JoinPlaces, *, expires: bool) -> None:
        """`expires`: whether those that started early will be forgotten."""
        self._index, self._places, self._expires = OccurrenceIndex(shapes), places, expires
        self._batches: dict[int, tuple[Collection[TripleOccurrence], list[Term]]] = {}
        """Those that came at one instant and began at one, with their join terms."""
        self._waiting: deque[int] = deque()
        """The batches that are not indexed."""
        self._indexed: set[int] = set()
        self._starts: list[tuple[int, int]] = []
        self._terms: dict[Term, int] = {}
        self._added = self._size = 0

    def __iter__(self) -> Iterator[TripleOccurrence]:
        for batch, _ in self._batches.values():
            yield from batch

    def __len__(self) -> int:
        return self._size

    def keep(self, new: TripleOccurrences, at: int) -> None:
        """Add the occurrences of an instant."""
        if new.shaped is not None:
            self._put(at, new, new.shaped.join_terms(self._places.terms))
        else:
            self.load(new)

    def load(self, occurrences: Iterable[TripleOccurrence]) -> None:
        """Add occurrences in the order of their ends."""
        for (start, _), some in groupby(occurrences, itemgetter(1, 2)):
            batch = [*some]
            self._put(start, batch, self._places.terms(one.triple for one in batch))

    def may_join(self, shaped: ShapedTriples) -> bool:
        """Whether it has a triple that may be in a solution with one of an item."""
        known = self._terms
        return any(term in known for term in shaped.join_terms(self._places.terms))

    def match(self, wanted: Wanted) -> Iterable[TripleOccurrence]:
        """The occurrences of triples that have these terms; `None` stands for any."""
        while self._waiting:
            number = self._waiting.popleft()
            if number in self._batches:
                self._indexed.add(number)
                for occurrence in self._batches[number][0]:
                    self._index.enter(occurrence)
        return self._index.match(wanted)

    def expire(self, before: int) -> None:
        """Forget what started at an instant or before it."""
        starts, waiting = self._starts, self._waiting
        while starts and starts[0][0] <= before:
            number = heappop(starts)[1]
            batch, terms = self._batches.pop(number)
            self._size -= len(batch)
            for term in terms:
                self._terms[term] -= 1
                if not self._terms[term]:
                    del self._terms[term]
            if number in self._indexed:
                self._indexed.discard(number)
                for occurrence in batch:
                    self._index.leave(occurrence)
        while waiting and waiting[0] not in self._batches:
            waiting.popleft()

    def _put(self, start: int, batch: Collection[TripleOccurrence], terms: list[Term]) -> None:
        if not batch:
            return
        self._added += 1
        self._batches[self._added] = batch, terms
        self._waiting.append(self._added)
        self._size += len(batch)
        for term in terms:
            self._terms[term] = self._terms.get(term, 0) + 1
        if self._expires:
            heappush(self._starts, (start, self._added))
