"""Running a program: everything that follows from new facts, with what is known behind them.

In: a `Program`, a `Store` (the closed K) and facts about an item. Out: a `Closure`: the facts that have a
derivation from the new ones, each with all its derivations, so that explanations can be read off afterwards.

A *node* is the list of derivations of one fact. A derivation is the number of an asserted triple, another
node (the only premise), or a tuple of premises; a premise is a node, or a fact of the store: `(concept, x)`
or `(relation, x, y)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from obep.model import Term
from obep.ontology import program as p
from obep.ontology.literals import value
from obep.ontology.program import AND, BOTTOM, UP_FIRST, UP_SECOND, Edges, Heads, Op, Program
from obep.ontology.relations import SAME
from obep.ontology.store import Store

Node = list[Any]


class Closure:
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

    def __init__(
        self, program: Program, store: Store, own: list[Term], *, equality: bool = False, keep: bool = False
    ) -> None:
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
        self.equality = equality or program.equality
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

    # --- running

    def run(self) -> None:
        """Until nothing follows any more. One long loop, because calls are what takes time here."""
        agenda, types, store_types = self._agenda, self.types, self.store.types
        size, width = self.store.size, len(self._stored)
        concept_ops, equality = self.program.concept_ops, self.equality
        add_types = self.add_types
        while agenda:
            self.operations += 1
            fact = agenda.pop()
            if len(fact) == 4:
                self._on_edge(*fact)
                continue
            c, x, node = fact
            for op in concept_ops[c]:
                kind = op[0]
                if kind == AND:
                    c2 = op[1]
                    other = types[x].get(c2)
                    if other is not None:
                        add_types(x, op[2], (node, other))
                    elif x < size and c2 in store_types[x]:
                        add_types(x, op[2], (node, (c2, x)))
                elif kind <= UP_SECOND:
                    relation, heads = op[1], op[2]
                    key = x * width + relation
                    near = (self.backwards if kind == UP_FIRST else self.forwards).get(key)
                    if near:
                        for y, edge in list(near.items()):
                            add_types(y, heads, (node, edge))
                    if x < size:
                        if kind == UP_FIRST:
                            for y in self.store.backwards.get(key, ()):
                                if not near or y not in near:
                                    add_types(y, heads, (node, (relation, y, x)))
                        else:
                            for y in self.store.forwards.get(key, ()):
                                if not near or y not in near:
                                    add_types(y, heads, (node, (relation, x, y)))
                else:
                    self._on_type(op, c, x, node)
            if equality:
                for y, same in self.neighbours(SAME, x, False):
                    add_types(y, (c,), (node, same))

    def _on_type(self, op: Op, c: int, x: int, node: Node) -> None:
        kind = op[0]
        if kind == p.FILL:
            self.add_edges(op[1], x, op[2], node)
        elif kind == p.SELF_OUT:
            self.add_edges(op[1], x, x, node)
        elif kind == p.IS:
            if x != op[1]:
                self.add_edges(_SAME, x, op[1], node)
        elif kind == p.APART:
            self._apart(c, x, node, self.program.groups[op[1]])
        elif kind == p.MERGE:
            self._merge_at(op, x)
        elif kind == p.KEY:
            self._key(op, x)

    def _apart(self, c: int, x: int, node: Node, group: frozenset[int]) -> None:
        for other in [d for d in self.types[x] if d in group]:
            if other != c:
                self.add_types(x, _CLASH, (node, self.types[x][other]))
        if x < self.store.size:
            for other in self.store.types[x] & group:
                if other != c and other not in self.types[x]:
                    self.add_types(x, _CLASH, (node, (other, x)))

    def _on_edge(self, relation: int, a: int, b: int, node: Node) -> None:
        for op in self.program.edge_ops[relation]:
            kind = op[0]
            if kind == p.HEAD_FIRST:
                self.add_types(a, op[1], node)
            elif kind == p.HEAD_SECOND:
                self.add_types(b, op[1], node)
            elif kind == p.JOIN_FIRST:
                other = self.type_node(op[1], b)
                if other is not None:
                    self.add_types(a, op[2], (other, node))
            elif kind == p.JOIN_SECOND:
                other = self.type_node(op[1], a)
                if other is not None:
                    self.add_types(b, op[2], (other, node))
            elif kind == p.TEST:
                if self.store.test(op[1], self.term(b)):
                    self.add_types(a, op[2], node)
            elif kind == p.CHAIN_FIRST:
                x, y = (b, a) if op[1] else (a, b)
                for z, edge in self.neighbours(op[2], y, op[3]):
                    self.add_edges(op[4], x, z, (node, edge))
            elif kind == p.CHAIN_SECOND:
                x, y = (b, a) if op[1] else (a, b)
                for z, edge in self.neighbours(op[2], x, not op[3]):
                    self.add_edges(op[4], z, y, (edge, node))
            elif kind == p.SELF_IN:
                if a == b:
                    self.add_types(a, op[1], node)
            elif kind == p.ROLES_APART:
                other = self.edge_node(op[1], b, a) if op[2] else self.edge_node(op[1], a, b)
                if other is not None:
                    self.add_types(a, _CLASH, (node, other))
            elif kind == p.EDGE_MERGE:
                self._merge_from(*((b, a) if op[3] else (a, b)), *op[1:])
            elif kind == p.COUNT:
                self._count(op, relation, a)
            elif kind == p.KEY:
                self._key(op, b if op[2] else a)
        if self.equality and self._stored[relation]:
            self._replace(relation, a, b, node)

    # --- equality

    def _replace(self, relation: int, a: int, b: int, node: Node) -> None:
        """Equals for equals: what holds of one holds of the other."""
        for y, same in self.neighbours(SAME, a, False):
            if not (relation == SAME and y == b):
                self.add_edges(((relation, False),), y, b, (node, same))
        for y, same in self.neighbours(SAME, b, False):
            if not (relation == SAME and y == a):
                self.add_edges(((relation, False),), a, y, (node, same))
        if relation != SAME or a == b:
            return
        for x, y in ((a, b), (b, a)):
            for c, fact in [*self.types.get(x, {}).items()]:
                self.add_types(y, (c,), (fact, node))
            if x < self.store.size:
                for c in self.store.types[x]:
                    if c not in self.types.get(x, ()):
                        self.add_types(y, (c,), ((c, x), node))
            for other in range(1, len(self.program.stored)):
                for z, edge in self.neighbours(other, x, False):
                    self.add_edges(((other, False),), y, z, (edge, node))
                for z, edge in self.neighbours(other, x, True):
                    self.add_edges(((other, False),), z, y, (edge, node))

    def _merge_at(self, op: Any, x: int) -> None:
        """At most so many successors in a concept: when there are more, they are the same."""
        *bound, of_filler = op[1:]
        if of_filler:  # it came to hold of x: look at those that lead to x
            for y, _ in self.neighbours(bound[1], x, not bound[2]):
                self._merge_from(y, x, *bound)
        else:
            self._merge_from(x, None, *bound)

    def _merge_from(
        self, x: int, new: int | None, premise: int, relation: int, backwards: bool, filler: int, most: int
    ) -> None:
        """The successors of x that are the same; only pairs with the `new` one, if there is one."""
        why: tuple[Any, ...] = ()
        if premise >= 0:
            holds_of = self.type_node(premise, x)
            if holds_of is None:
                return
            why = (holds_of,)
        found: list[tuple[int, tuple[Any, ...]]] = []
        for y, edge in self.neighbours(relation, x, backwards):
            if filler < 0:
                found.append((y, (edge,)))
            else:
                inside = self.type_node(filler, y)
                if inside is not None:
                    found.append((y, (edge, inside)))
        if len(found) <= most:
            return
        for i, (y, first) in enumerate(found):
            for z, second in found[:i]:
                if new is None or most > 1 or new in (y, z):
                    self.add_edges(_SAME, y, z, (*why, *first, *second))

    def _key(self, op: Any, x: int) -> None:
        """Two named individuals that agree on all the properties of a key are the same."""
        concept, directed = op[1], op[3]
        if not self._named(x):
            return
        mine = self.type_node(concept, x) if concept >= 0 else None
        if concept >= 0 and mine is None:
            return
        relation, backwards = directed[0]
        candidates = {
            y
            for v, _ in self.neighbours(relation, x, backwards)
            for y, _ in self.neighbours(relation, v, not backwards)
        }
        for y in sorted(candidates - {x}):
            if not self._named(y):
                continue
            theirs = self.type_node(concept, y) if concept >= 0 else None
            if concept >= 0 and theirs is None:
                continue
            for shared in self._agreements(x, y, directed):
                why = [premise for premise in (mine, theirs) if premise is not None]
                self.add_edges(_SAME, x, y, (*why, *shared))

    def _agreements(self, x: int, y: int, directed: Any) -> list[tuple[Any, ...]]:
        ways: list[tuple[Any, ...]] = [()]
        for relation, backwards in directed:
            theirs = dict(self.neighbours(relation, y, backwards))
            ways = [
                (*way, edge, theirs[v])
                for way in ways
                for v, edge in self.neighbours(relation, x, backwards)
                if v in theirs
            ]
        return ways

    def _named(self, x: int) -> bool:
        return self.term(x).startswith("<")

    # --- data

    def _count(self, op: Any, relation: int, a: int) -> None:
        """Enough different values in a range."""
        test, least, heads = op[1:]
        values: dict[Any, list[Any]] = {}
        for y, edge in self.neighbours(relation, a, False):
            term = self.term(y)
            if self.store.test(test, term):
                values.setdefault(value(term), []).append(edge)
        if len(values) >= least:
            for chosen in choices([*values.values()], least):
                self.add_types(a, heads, chosen)


def choices(values: list[list[Any]], least: int) -> list[tuple[Any, ...]]:
    """All ways to take `least` of the values, one edge for each."""
    if least == 0:
        return [()]
    if len(values) < least:
        return []
    first, *rest = values
    return [(edge, *more) for edge in first for more in choices(rest, least - 1)] + choices(rest, least)


_SAME: Edges = ((SAME, False), (SAME, True))
_CLASH: Heads = (BOTTOM,)
