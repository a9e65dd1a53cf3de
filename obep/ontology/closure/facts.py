"""Facts about an item, beside those of a `Store`: how they are added and looked up.

A *node* is the list of derivations of one fact. A derivation is the number of an asserted triple, another
node (the only premise), or a tuple of premises; a premise is a node, a `Step`, or a fact of the store:
`(concept, x)` or `(relation, x, y)`. What the transitivity of a relation gives stands in a list of its own,
`Paths`, among the derivations of an edge; a path begins with a `Step`, which is an edge without its paths. So
each path is there once, and not in as many ways as it can be divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from obep.model import Term
from obep.ontology.closure.store import Store
from obep.ontology.closure.work_budget import OverBudget
from obep.ontology.rules.program import Edges, Heads, Program
from obep.ontology.rules.role_relations import Directed

Node = list[Any]


class Paths(Node):
    """The derivations of an edge by the transitivity of its relation."""

    __slots__ = ()


class Step:
    """An edge, without its paths."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def ways(self) -> Node:
        """Its derivations."""
        return [way for way in self.node if type(way) is not Paths]


class Facts:
    """The facts that an item adds. Individuals from `store.size` on are the item's own."""

    __slots__ = (
        "_agenda",
        "_composed",
        "_last_goal",
        "_numbers",
        "_size",
        "_stored",
        "_types",
        "backwards",
        "clashes",
        "equality",
        "forwards",
        "hits",
        "limit",
        "operations",
        "own",
        "program",
        "steps",
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
        """The number of examined facts; tests compare it with the size of T."""
        self.steps = 0
        """The number of examined pairs of facts."""
        self.limit: int | None = None
        """The most that both may be together."""
        self._composed: set[tuple[int, int, int]] = set()
        """Edges that only paths give; no path begins with one."""
        self._agenda: list[tuple[Any, ...]] = []
        self._numbers: dict[Term, int] = {}
        """The item's own names."""

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
                if self._composed and (relation, a, b) in self._composed:
                    self._composed.discard((relation, a, b))
                    self._agenda.append((relation, a, b, node))
                continue
            found[b] = node = [derivation]
            self.backwards.setdefault(b * size + relation, {})[a] = node
            if a < self.store.size and b < self.store.size and self.store.has_edge(relation, a, b):
                node.append(((relation, a, b),))
            self._agenda.append((relation, a, b, node))

    def compose(self, along: Directed, edges: Edges, x: int, y: int, derivation: Any) -> None:
        """Edges that the transitivity of a relation gives; a symmetric one has the way back by itself."""
        for edge in edges:
            if edge == along:
                self._add_path(edge, x, y, derivation)
            elif edge[0] != along[0]:
                self.add_edges((edge,), x, y, derivation)

    def _add_path(self, edge: Directed, x: int, y: int, derivation: Any) -> None:
        """A path between two individuals: an edge, or one more derivation of it."""
        relation, backwards = edge
        a, b = (y, x) if backwards else (x, y)
        node = self.edge_node(relation, a, b)
        if type(node) is list:
            paths = next((way for way in node if type(way) is Paths), None)
            if paths is None:
                node.append(Paths((derivation,)))
            else:
                paths.append(derivation)
            return
        if node is None:
            self._composed.add((relation, a, b))
        self.add_edges((edge,), x, y, Paths((derivation,)))

    def spend(self, steps: int) -> None:
        """Raises `OverBudget` if there are more steps than there may be."""
        self.steps += steps
        if self.limit is not None and self.operations + self.steps > self.limit:
            raise OverBudget

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

    def joined(self, table: dict[int, Heads], x: int) -> list[tuple[Any, Heads]]:
        """For each concept of a table that holds of x: the premise, and what the table says."""
        known = self.types.get(x) or {}
        found: list[tuple[Any, Heads]] = [(known[c], table[c]) for c in sorted(table.keys() & known.keys())]
        if x < self.store.size:
            more = table.keys() & self.store.types[x]
            found += [((c, x), table[c]) for c in sorted(more) if c not in known]
        self.steps += len(found)
        return found

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
        self.steps += len(pairs)
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
        if known is None:
            if len(self._numbers) < len(self.own):
                self._numbers = {name: x for x, name in enumerate(self.own, self.store.size)}
            return self._numbers.get(term)
        return known

    def term(self, x: int) -> Term:
        """The name of an individual or literal."""
        return self.store.terms[x] if x < self.store.size else self.own[x - self.store.size]
