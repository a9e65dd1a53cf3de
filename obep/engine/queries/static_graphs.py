"""The static graphs that groups ask: K, and those of FROM NAMED, each closed under T."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Protocol

from obep.abstraction.guard_graphs import ClosedGraph
from obep.algebra.dataset import Graph
from obep.model import Term, Triple
from obep.ontology.owl.static_graph import PatternIndex


class _Written(Protocol):
    """Triples as they are written, looked up by pattern."""

    def match(self, *wanted: Term | None) -> Iterable[Triple]: ...


class WrittenGraph:
    """A closed graph with the triples that are written in it: also of names that nothing else has."""

    def __init__(self, closed: Graph, written: _Written) -> None:
        self._closed, self._written = closed, written

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        return dict.fromkeys((*self._closed.match(s, p, o), *self._written.match(s, p, o)))


class StaticGraphs:
    """K and the named graphs of a bundle; each is closed when it is first read."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher
        self._named: dict[Term, WrittenGraph] = {}

    @property
    def k(self) -> _Written:
        """The asserted triples of K."""
        written: _Written = self._matcher.bundle.k
        return written

    @cached_property
    def default(self) -> WrittenGraph:
        """K, closed."""
        return WrittenGraph(self._closed((), with_k=True), self.k)

    @property
    def names(self) -> Iterable[Term]:
        """The names of the graphs of FROM NAMED."""
        found: Iterable[Term] = self._matcher.bundle.named
        return found

    def named(self, name: Term) -> WrittenGraph:
        """A graph of FROM NAMED, closed without K."""
        if name not in self._named:
            triples = tuple(self._matcher.bundle.named[name])
            self._named[name] = WrittenGraph(self._closed(triples, with_k=False), PatternIndex(triples))
        return self._named[name]

    def _closed(self, triples: tuple[Triple, ...], *, with_k: bool) -> ClosedGraph:
        return ClosedGraph(self._matcher.bundle, triples, with_k=with_k, facts=self._matcher.facts)
