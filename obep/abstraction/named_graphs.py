"""The graphs of FROM NAMED GRAPH, which `GRAPH <g> { … }` looks at in the group of a state or an event."""

from __future__ import annotations

from obep.abstraction.guard_graphs import ClosedGraph
from obep.abstraction.open_facts import OpenFacts
from obep.model import Term, Triple
from obep.ontology.bundle.compile import Bundle


class NamedGraphs:
    """Each is closed under T by itself, when it is first looked at: none is a part of K (DIALECTS 5)."""

    def __init__(self, bundle: Bundle, facts: OpenFacts | None) -> None:
        self._bundle, self._facts = bundle, facts
        self.names: tuple[Term, ...] = tuple(bundle.named)
        self._closed: dict[Term, ClosedGraph] = {}

    def get(self, name: Term) -> ClosedGraph | None:
        """The graph of a name, if there is one."""
        if name in self.names and name not in self._closed:
            triples = tuple(self._bundle.named[name])
            self._closed[name] = ClosedGraph(self._bundle, triples, with_k=False, facts=self._facts)
        return self._closed.get(name)

    def says(self, triple: Triple) -> bool:
        """Whether one of them has a triple as it stands."""
        return any(triple in graph for graph in self._bundle.named.values())
