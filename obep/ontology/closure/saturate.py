"""Running a program: everything that follows from new facts, with what is known behind them.

In: a `Program`, a `Store` (the closed K) and facts about an item. Out: a `Closure`: the facts that have a
derivation from the new ones, each with all its derivations, so that explanations can be read off afterwards.
"""

from __future__ import annotations

import sys

from obep.ontology.closure.equality import BOTH_WAYS, Merging
from obep.ontology.closure.facts import Node, Step
from obep.ontology.closure.rule_bodies import Values, matches
from obep.ontology.closure.work_budget import OverBudget
from obep.ontology.rules import program as p
from obep.ontology.rules.program import (
    AND,
    BOTTOM,
    UP_FIRST,
    UP_SECOND,
    Edges,
    Heads,
    Op,
    is_transitive,
)
from obep.ontology.rules.role_relations import SAME, Directed


class Closure(Merging):
    """The facts that an item adds. Individuals from `store.size` on are the item's own."""

    __slots__ = ()
    linear = True
    """Whether transitive relations are closed step by step, from the front."""

    def run(self) -> None:
        """Until nothing follows any more. One long loop, because calls are what takes time here."""
        agenda, types, store_types = self._agenda, self.types, self.store.types
        size, width = self.store.size, len(self._stored)
        concept_ops, equality = self.program.concept_ops, self.equality
        add_types = self.add_types
        limit = sys.maxsize if self.limit is None else self.limit
        while agenda:
            self.operations += 1
            if self.operations + self.steps > limit:
                raise OverBudget
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
                        self.steps += len(near)
                        for y, edge in list(near.items()):
                            add_types(y, heads, (node, edge))
                    if x < size:
                        if kind == UP_FIRST:
                            of_k = self.store.backwards.get(key, ())
                            for y in of_k:
                                if not near or y not in near:
                                    add_types(y, heads, (node, (relation, y, x)))
                        else:
                            of_k = self.store.forwards.get(key, ())
                            for y in of_k:
                                if not near or y not in near:
                                    add_types(y, heads, (node, (relation, x, y)))
                        self.steps += len(of_k)
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
                self.add_edges(BOTH_WAYS, x, op[1], node)
        elif kind == p.APART:
            self._apart(c, x, node, self.program.groups[op[1]])
        elif kind == p.MERGE:
            self._merge_at(op, x)
        elif kind == p.KEY:
            self._key(op, x)
        elif kind == p.BODY:
            self._join(op[1], {op[2]: x})

    def _join(self, place: int, values: Values) -> None:
        """What follows from a body in which a new fact stands, with these values of its variables."""
        joint = self.program.bodies[place]
        first, second = joint.ends
        for found, premises in list(matches(joint, self, values, self.program, self.store)):
            self.add_types(found[first], joint.heads, premises)
            self.add_edges(joint.above, found[first], found[second], premises)

    def _apart(self, c: int, x: int, node: Node, group: frozenset[int]) -> None:
        self.spend(len(self.types[x]))
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
            elif kind == p.JOINS_FIRST:
                for other, heads in self.joined(op[1], b):
                    self.add_types(a, heads, (other, node))
            elif kind == p.JOINS_SECOND:
                for other, heads in self.joined(op[1], a):
                    self.add_types(b, heads, (other, node))
            elif kind == p.TEST:
                if self.store.test(op[1], self.term(b)):
                    self.add_types(a, op[2], node)
            elif kind == p.CHAIN_FIRST:
                x, y = (b, a) if op[1] else (a, b)
                if self.linear and is_transitive((relation, op[1]), op[2:4], op[4]):
                    if (relation, a, b) not in self._composed:
                        for z, edge in self.neighbours(relation, y, op[3]):
                            self.compose((relation, op[1]), op[4], x, z, (Step(node), edge))
                    continue
                for z, edge in self.neighbours(op[2], y, op[3]):
                    self.add_edges(op[4], x, z, (node, edge))
            elif kind == p.CHAIN_SECOND:
                x, y = (b, a) if op[1] else (a, b)
                if self.linear and is_transitive((relation, op[1]), op[2:4], op[4]):
                    for z, edge in self.neighbours(relation, x, not op[3]):
                        if (relation, *((x, z) if op[3] else (z, x))) not in self._composed:
                            first = Step(edge) if type(edge) is list else edge
                            self.compose((relation, op[1]), op[4], z, y, (first, node))
                    continue
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
            elif kind == p.BODY and (op[2] != op[3] or a == b):
                self._join(op[1], {op[2]: a, op[3]: b})
        if self.equality and self._stored[relation]:
            self._replace(relation, a, b, node)


_CLASH: Heads = (BOTTOM,)


class Closing(Closure):
    """A closure without explanations: each fact is stored once, without its derivations."""

    __slots__ = ()

    def add_types(self, x: int, heads: Heads, derivation: object) -> None:
        """Concepts of one individual."""
        known = self.types.get(x)
        if known is None:
            known = self.types[x] = {}
        for c in heads:
            if c not in known:
                known[c] = _SOMEHOW
                self._agenda.append((c, x, _SOMEHOW))
                if c == BOTTOM:
                    self.clashes.append((c, x, _SOMEHOW))

    def add_edges(self, edges: Edges, x: int, y: int, derivation: object) -> None:
        """Edges between two individuals."""
        size = len(self._stored)
        for relation, backwards in edges:
            a, b = (y, x) if backwards else (x, y)
            found = self.forwards.setdefault(a * size + relation, {})
            if b not in found:
                found[b] = _SOMEHOW
                self.backwards.setdefault(b * size + relation, {})[a] = _SOMEHOW
            elif (relation, a, b) in self._composed:
                self._composed.discard((relation, a, b))
            else:
                continue
            self._agenda.append((relation, a, b, _SOMEHOW))

    def _add_path(self, edge: Directed, x: int, y: int, derivation: object) -> None:
        relation, backwards = edge
        a, b = (y, x) if backwards else (x, y)
        if (relation, a, b) in self._composed:
            return
        if self.edge_node(relation, a, b) is None:
            self._composed.add((relation, a, b))
        self.add_edges((edge,), x, y, derivation)


_SOMEHOW: Node = []
