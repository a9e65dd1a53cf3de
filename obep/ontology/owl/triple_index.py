"""Triples by their subject, predicate and object."""

from __future__ import annotations

from collections.abc import Iterable

from obep.model import Term, Triple


class TripleIndex:
    """Finds the triples of a pattern; triples may come and go."""

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self._all: dict[Triple, None] = {}
        self._by: tuple[dict[Term, dict[Triple, None]], ...] = ({}, {}, {})
        for triple in triples:
            self.add(triple)

    def add(self, triple: Triple) -> None:
        """One more, if it is not there."""
        self._all[triple] = None
        for by, term in zip(self._by, triple, strict=True):
            by.setdefault(term, {})[triple] = None

    def discard(self, triple: Triple) -> None:
        """One less, if it is there."""
        if triple in self._all:
            del self._all[triple]
            for by, term in zip(self._by, triple, strict=True):
                del by[term][triple]
                if not by[term]:
                    del by[term]

    def match(self, *wanted: Term | None) -> Iterable[Triple]:
        """The triples of a pattern; `None` is any term."""
        found = self._all
        for by, term in zip(self._by, wanted, strict=True):
            if term is not None and len(some := by.get(term, {})) <= len(found):
                found = some
        return [one for one in found if all(w in (None, t) for w, t in zip(wanted, one, strict=True))]
