"""K after changes: the triples of a static graph without some, and with others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from obep.model import Term, Triple
from obep.ontology.owl.static_graph import Graph, PatternIndex


class ChangedGraph(Graph):
    """A graph that others may share, with what was added and removed here; a change costs its own size.

    >>> k = Graph([("<urn:a>", "<urn:p>", "<urn:b>")])
    >>> changed = ChangedGraph(k)
    >>> changed.change(add=[("<urn:b>", "<urn:p>", "<urn:a>")], remove=k)
    >>> list(changed.once()), len(k)
    ([('<urn:b>', '<urn:p>', '<urn:a>')], 1)
    """

    def __init__(self, base: Graph) -> None:
        super().__init__(())
        self._triples = None
        self.base = base
        self.added: dict[Triple, None] = {}
        """Triples that the base does not have."""
        self.removed: dict[Triple, None] = {}
        """Triples that only the base has."""
        self._index = PatternIndex()

    def change(self, add: Iterable[Triple] = (), remove: Iterable[Triple] = ()) -> None:
        """Remove triples of the graph, then add new ones."""
        add, remove = tuple(add), tuple(remove)
        for triple in remove:
            if triple in self.added:
                del self.added[triple]
                self._index.discard(triple)
            else:
                self.removed[triple] = None
        for triple in add:
            if triple in self.removed:
                del self.removed[triple]
            else:
                self.added[triple] = None
                self._index.add(triple)
        self._triples = None
        for made in ("facts", "members"):
            self.__dict__.pop(made, None)

    def once(self) -> Iterator[Triple]:
        """Every triple."""
        removed = self.removed
        yield from (triple for triple in self.base.once() if triple not in removed)
        yield from self.added

    def match(self, *wanted: Term | None) -> Iterable[Triple]:
        """The triples of a pattern, as written."""
        removed = self.removed
        known = self.base.match(*wanted)
        return [*(triple for triple in known if triple not in removed), *self._index.match(*wanted)]

    def __len__(self) -> int:
        return len(self.base) - len(self.removed) + len(self.added)

    def __contains__(self, triple: Any) -> bool:
        return triple in self.added or (triple not in self.removed and triple in self.base)
