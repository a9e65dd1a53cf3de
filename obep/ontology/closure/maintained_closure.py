"""Facts that are kept while triples come and go in any order: what follows from those that are there, with K.

When triples go, all that was derived through them is marked by running the rules from there; what is marked
goes, unless another derivation of it is left: that one, and what follows from it, is derived again. So a
change costs what depends on it, not the size of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obep.model import Triple
from obep.ontology.closure.backwards import Backwards, Fact
from obep.ontology.closure.expiring_closure import NEVER, Lasting
from obep.ontology.closure.facts import Node
from obep.ontology.closure.overlay import Overlay
from obep.ontology.closure.store import Store
from obep.ontology.rules.program import BOTTOM, Edges, Heads, Program

_PRESENT: Node = [NEVER]


class Maintained(Lasting):
    """A closure with triples that are added and removed; no fact expires."""

    __slots__ = ("_backwards", "_marked")

    def __init__(self, program: Program, store: Store) -> None:
        super().__init__(program, store)
        self._backwards = Backwards(program, Overlay(self))
        self._marked: dict[Fact, None] | None = None
        """While triples are removed: the facts that were derived from them."""

    def insert(self, triples: Iterable[Triple]) -> list[Fact]:
        """Triples come that are not there; the facts that come with them."""
        found = self.add((triple, NEVER) for triple in triples)
        self._backwards.equality = self.equality
        return found

    def remove(self, triples: Iterable[Triple]) -> list[Fact]:
        """Triples go that are there; the facts that go with them. Terms that have gone keep their numbers
        until the next `insert`."""
        gone = [triple for triple in triples if triple in self._held]
        if not gone:
            return []
        marked: dict[Fact, None] = {}
        self._marked = marked
        for triple in gone:
            self._derive(triple)
        self.run()
        self._marked = None
        for fact in marked:
            self._erase(fact)
        for triple in gone:
            self._drop_triple(triple)
        self._forget_numbers()
        self._derive_again(marked)
        self._come.clear()
        return [fact for fact in marked if not self._has(fact)]

    def _derive_again(self, facts: Iterable[Fact]) -> None:
        """Facts of which another derivation is left come back, with all that follows."""
        backwards = self._backwards
        backwards.forget()
        for fact in facts:
            if fact[0] == BOTTOM and len(fact) == 2:
                self._look_again(fact[1])
            elif any(True for _ in backwards.derivations(fact)):
                if len(fact) == 2:
                    self.add_types(fact[1], fact[:1], _PRESENT)
                else:
                    self.add_edges(((fact[0], False),), fact[1], fact[2], _PRESENT)
        self.run()

    def _look_again(self, x: int) -> None:
        """Run the rules from all that holds of an individual: a contradiction is derived from some of it."""
        width = len(self._stored)
        known = self.types.setdefault(x, {})
        for c in (*known, *(self._types[x] if x < self._size else ())):
            self._agenda.append((c, x, _PRESENT))
        for relation in range(width):
            self._agenda += [(relation, x, y, _PRESENT) for y, _ in self.neighbours(relation, x, False)]
            self._agenda += [(relation, y, x, _PRESENT) for y, _ in self.neighbours(relation, x, True)]
        self.run()
        if not known:
            del self.types[x]

    def _has(self, fact: Fact) -> bool:
        if len(fact) == 2:
            return fact[0] in self.types.get(fact[1], ())
        return fact[2] in self.forwards.get(fact[1] * len(self._stored) + fact[0], ())

    def _erase(self, fact: Fact) -> None:
        if len(fact) == 2:
            self._drop_type(*fact)
        else:
            self._drop_edge(*fact)

    def add_types(self, x: int, heads: Heads, derivation: Any) -> None:
        """Concepts of one individual; while triples are taken away, those that were derived through them."""
        stored = self._types[x] if x < self._size else ()
        known = self.types.get(x)
        for c in heads:
            if c in stored:
                continue
            there = known is not None and c in known
            if self._marked is not None:
                if there and (c, x) not in self._marked:
                    self._marked[c, x] = None
                    self._agenda.append((c, x, _PRESENT))
            elif not there:
                if known is None:
                    known = self.types.setdefault(x, {})
                known[c] = _PRESENT
                self._come.append((c, x))
                self.contradictions += c == BOTTOM
                self._agenda.append((c, x, _PRESENT))

    def add_edges(self, edges: Edges, x: int, y: int, derivation: Any) -> None:
        """Edges between two individuals; while triples are taken away, those derived through them."""
        width = len(self._stored)
        for relation, backwards in edges:
            a, b = (y, x) if backwards else (x, y)
            if a < self._size and b < self._size and self.store.has_edge(relation, a, b):
                continue
            found = self.forwards.get(a * width + relation)
            there = found is not None and b in found
            if self._marked is not None:
                if there and (relation, a, b) not in self._marked:
                    self._marked[relation, a, b] = None
                    self._agenda.append((relation, a, b, _PRESENT))
            elif not there:
                if found is None:
                    found = self.forwards.setdefault(a * width + relation, {})
                found[b] = _PRESENT
                self.backwards.setdefault(b * width + relation, {})[a] = _PRESENT
                self._come.append((relation, a, b))
                self._agenda.append((relation, a, b, _PRESENT))
