"""Facts about an item, beside those of a `Store`: how they are added and looked up.

A *node* is the list of derivations of one fact. A derivation is the number of an asserted triple, another
node (the only premise), or a tuple of premises; a premise is a node, or a fact of the store: `(concept, x)`
or `(relation, x, y)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from obep.model import Term
from obep.ontology.program import Edges, Heads, Program
from obep.ontology.store import Store

Node = list[Any]


class Facts:
    """The facts that an item adds. Individuals from `store.size` on are the item's own."""

    __slots__ = (
        "_agenda",
        "_last_goal",
        "_size",
        "_stored",
        "_types",
        "backwards",
        "clashes",
        "equality",
        "forwards",
        "hits",
        "operations",
        "own",
        "program",
        "store",
        "types",
    )

    def __init__(self, program: Program, store: Store, own: list[Term], *, keep: bool = False) -> None:
        """`keep`: store every edge, also those that no rule looks up."""
        self.program, self.store, self.own = program, store, own
        self._stored = [True] * len(program.stored) if keep else program.stored
        self.types: dict[int, dict[int, Node]] = {}
        self.forwards: dict[int, dict[int, Node]] = {}
        """relation + x * number of relations -> y -> node"""
        self.backwards: dict[int, dict[int, Node]] = {}
        self.clashes: list[tuple[int, int, Node]] = []
        self.hits: list[tuple[int, int, Node]] = []
        """The goals: concept, individual, node."""
        self._size, self._types = store.size, store.types
        self._last_goal = program.names.last_goal
        self.equality = program.equality
        self.operations = 0
        """How many facts were looked at; tests hold it against the size of T."""
        self._agenda: list[tuple[Any, ...]] = []

    # --- adding

    def add_types(self, x: int, heads: Heads, derivation: Any) -> None:
        """Concepts of one individual, by one derivation."""
        known = self.types.get(x)
        if known is None:
            known = self.types[x] = {}
        for c in heads:
            node = known.get(c)
            if node is not None:
                node.append(derivation)
                continue
            known[c] = node = [derivation]
            if x < self._size and c in self._types[x]:
                node.append(((c, x),))
            self._agenda.append((c, x, node))
            if c <= self._last_goal:
                (self.hits if c else self.clashes).append((c, x, node))

    def add_edges(self, edges: Edges, x: int, y: int, derivation: Any) -> None:
        """Edges between two individuals, by one derivation."""
        size = len(self.program.stored)
        for relation, backwards in edges:
            a, b = (y, x) if backwards else (x, y)
            if not self._stored[relation]:
                if self.program.edge_ops[relation]:
                    self._agenda.append((relation, a, b, [derivation]))
                continue
            key = a * size + relation
            found = self.forwards.get(key)
            if found is None:
                found = self.forwards[key] = {}
            node = found.get(b)
            if node is not None:
                node.append(derivation)
                continue
            found[b] = node = [derivation]
            self.backwards.setdefault(b * size + relation, {})[a] = node
            if a < self.store.size and b < self.store.size and self.store.has_edge(relation, a, b):
                node.append(((relation, a, b),))
            self._agenda.append((relation, a, b, node))

    # --- looking up

    def type_node(self, c: int, x: int) -> Any:
        """The premise `c(x)`, or `None` if it does not hold."""
        known = self.types.get(x)
        if known is not None:
            node = known.get(c)
            if node is not None:
                return node
        if x < self.store.size and c in self.store.types[x]:
            return (c, x)
        return None

    def edge_node(self, relation: int, a: int, b: int) -> Any:
        """The premise `relation(a, b)`, or `None`."""
        found = self.forwards.get(a * len(self.program.stored) + relation)
        if found is not None:
            node = found.get(b)
            if node is not None:
                return node
        if a < self.store.size and b < self.store.size and self.store.has_edge(relation, a, b):
            return (relation, a, b)
        return None

    def neighbours(self, relation: int, x: int, backwards: bool) -> list[tuple[int, Any]]:
        """All y with relation(x, y) (backwards: relation(y, x)), each with the premise."""
        key = x * len(self.program.stored) + relation
        found = (self.backwards if backwards else self.forwards).get(key)
        pairs: list[tuple[int, Any]] = list(found.items()) if found else []
        if x < self.store.size:
            table = self.store.backwards if backwards else self.store.forwards
            pairs += [
                (y, (relation, y, x) if backwards else (relation, x, y))
                for y in table.get(key, ())
                if not found or y not in found
            ]
        return pairs

    def all_edges(self, relation: int) -> Iterator[tuple[int, int]]:
        """Every edge of a relation."""
        size = len(self.program.stored)
        for key, found in self.forwards.items():
            if key % size == relation:
                yield from ((key // size, b) for b in found)
        for key, known in self.store.forwards.items():
            if key % size == relation:
                new = self.forwards.get(key, ())
                yield from ((key // size, b) for b in known if b not in new)

    def number(self, term: Term) -> int | None:
        """The number of an individual or literal that the item or K names."""
        known = self.store.ids.get(term)
        if known is None and term in self.own:
            return self.store.size + self.own.index(term)
        return known

    def term(self, x: int) -> Term:
        """The name of an individual or literal."""
        return self.store.terms[x] if x < self.store.size else self.own[x - self.store.size]
