"""The rules read from their heads: how a fact of K may have come about."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from obep.ontology.closure.equality import choices
from obep.ontology.closure.rule_bodies import matches
from obep.ontology.closure.store import Store
from obep.ontology.closure.work_budget import OverBudget
from obep.ontology.owl.literals import value
from obep.ontology.rules import program as p
from obep.ontology.rules.program import Op, Program
from obep.ontology.rules.role_relations import SAME

Fact = tuple[int, ...]
"""A fact of K: `(concept, x)` or `(relation, x, y)`."""
Derivation = tuple[Fact, ...] | int | None
"""Premises, the number of an assertion of K, or `None` where T itself says it."""

_REMEMBERED = 1 << 16


class Backwards:
    """Run the rules of `Closure` backwards, from their conclusions."""

    def __init__(self, program: Program, store: Store) -> None:
        self.program, self.store = program, store
        self.equality = program.equality
        self.steps = 0
        """The number of examined facts."""
        self.limit = sys.maxsize
        """The most facts to examine; beyond it `OverBudget` is raised."""
        self._apart: dict[tuple[int, int, bool], tuple[list[tuple[int, Fact]], int]] = {}
        self._members = set(program.members)
        self._edges = set(program.edges)
        self._by_concept: dict[int, list[Op]] = {}
        self._by_relation: dict[int, list[Op]] = {}
        for op in program.flat:
            if op[0] in (p.FILL, p.SELF_OUT, p.CHAIN_FIRST, p.BODY_OF_EDGE):
                edges = op[5] if op[0] == p.CHAIN_FIRST else op[2]
                for number in {number for number, _ in edges}:
                    self._by_relation.setdefault(number, []).append(op)
            elif op[0] in (p.IS, p.MERGE, p.KEY):
                self._by_relation.setdefault(SAME, []).append(op)
            else:
                for c in op[-1]:
                    self._by_concept.setdefault(c, []).append(op)

    def forget(self) -> None:
        """The store has changed."""
        self._apart.clear()

    def derivations(self, fact: Fact) -> Iterable[Derivation]:
        """All ways in which the rules lead to a fact of the store."""
        return self._of_type(*fact) if len(fact) == 2 else self._of_edge(*fact)

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.limit:
            raise OverBudget

    # --- looking up

    def type_node(self, c: int, x: int) -> Fact | None:
        """The fact `c(x)`, if it holds."""
        return (c, x) if c in self.store.types[x] else None

    def edge_node(self, relation: int, a: int, b: int) -> Fact | None:
        """The fact `relation(a, b)`, if it holds."""
        return (relation, a, b) if self.store.has_edge(relation, a, b) else None

    def neighbours(self, relation: int, x: int, backwards: bool) -> list[tuple[int, Fact]]:
        """All y with relation(x, y) (backwards: relation(y, x)), each with the fact."""
        key = x * len(self.program.stored) + relation
        near = (self.store.backwards if backwards else self.store.forwards).get(key, ())
        self._spend(1 + len(near))
        if backwards:
            return [(y, (relation, y, x)) for y in near]
        return [(y, (relation, x, y)) for y in near]

    def _edge(self, relation: int, backwards: bool, x: int, y: int) -> Fact | None:
        return self.edge_node(relation, *((y, x) if backwards else (x, y)))

    def _joined(self, place: int, *ends: int) -> Iterator[Derivation]:
        """The ways of a rule with a body to its conclusion about these individuals."""
        joint = self.program.bodies[place]
        values = dict(zip(joint.ends, ends, strict=False))
        if all(values[variable] == x for variable, x in zip(joint.ends, ends, strict=False)):
            found = matches(joint, self, values, self.program, self.store)
            yield from (premises for _, premises in found)

    # --- types

    def _of_type(self, c: int, x: int) -> Iterator[Derivation]:
        store = self.store
        if (c, x) in self._members:
            yield None
        for number in store.type_assertions(x):
            if c in self.program.classes.get(store.triples[number][2], ()):
                yield number
        types = store.types[x]
        ops = self._by_concept.get(c, ())
        self._spend(1 + len(ops))
        for op in ops:
            if op[0] == p.AND:
                if op[1] in types and op[2] in types:
                    yield ((op[1], x), (op[2], x))
            elif op[0] == p.UP_FIRST:
                _, relation, backwards, filler, _ = op
                for y, edge in self.neighbours(relation, x, backwards):
                    if filler < 0:
                        yield (edge,)
                    elif filler in store.types[y]:
                        yield ((filler, y), edge)
            elif op[0] == p.COUNT:
                yield from self._counted(op, x)
            elif op[0] == p.BODY:
                yield from self._joined(op[1], x)
            elif op[0] == p.SELF_IN and store.has_edge(op[1], x, x):
                yield ((op[1], x, x),)
        if self.equality:
            for y, same in self.neighbours(SAME, x, True):
                if c in store.types[y]:
                    yield ((c, y), same)

    def _counted(self, op: Op, x: int) -> Iterator[Derivation]:
        _, relation, test, least, _ = op
        values: dict[object, list[Fact]] = {}
        for y, edge in self.neighbours(relation, x, False):
            term = self.store.terms[y]
            if self.store.test(test, term):
                values.setdefault(value(term), []).append(edge)
        yield from choices([*values.values()], least)

    # --- edges

    def _of_edge(self, relation: int, a: int, b: int, *, base: bool = False) -> Iterator[Derivation]:
        """`base`: without those by which the relation is transitive."""
        store, program = self.store, self.program
        if (relation, a, b) in self._edges:
            yield None
        for backwards, x, y in ((False, a, b), (True, b, a)):
            for number in store.edge_assertions(x, y):
                _, q, o = store.triples[number]
                edges = (program.data if o[0] == '"' else program.roles).get(q, ())
                if (relation, backwards) in edges:
                    yield number
        ops = self._by_relation.get(relation, ())
        self._spend(1 + len(ops))
        for op in ops:
            if op[0] == p.CHAIN_FIRST:
                if base and op[1] == relation and p.is_transitive(op[1:3], op[3:5], op[5]):
                    continue
                yield from self._chained(op, relation, a, b)
            elif op[0] == p.FILL:
                yield from self._filled(op, relation, a, b)
            elif op[0] == p.BODY_OF_EDGE:
                for number, backwards in op[2]:
                    if number == relation:
                        yield from self._joined(op[1], *((b, a) if backwards else (a, b)))
            elif op[0] == p.SELF_OUT:
                if a == b and op[1] in store.types[a]:
                    yield ((op[1], a),)
            else:
                yield from self._merged(op, a, b)
                yield from self._merged(op, b, a)
        if self.equality and relation != SAME:
            for y, same in self.neighbours(SAME, a, True):
                if edge := self._edge(relation, False, y, b):
                    yield (edge, same)
            for y, same in self.neighbours(SAME, b, True):
                if edge := self._edge(relation, False, a, y):
                    yield (edge, same)

    def _chained(self, op: Op, relation: int, a: int, b: int) -> Iterator[Derivation]:
        _, _, _, second, second_back, edges = op
        for number, backwards in edges:
            if number == relation:
                x, z = (b, a) if backwards else (a, b)
                for y, edge in self._firsts(op, x):
                    if other := self._edge(second, second_back, y, z):
                        yield (edge, other)

    def _firsts(self, op: Op, x: int) -> list[tuple[int, Fact]]:
        """The edges from x that a chain may begin with; of a transitive relation one step (`Closure`)."""
        _, first, first_back, *_ = op
        if not p.is_transitive(op[1:3], op[3:5], op[5]):
            return self.neighbours(first, x, first_back)
        key = (first, x, first_back)
        known = self._apart.get(key)
        if known is not None:  # it costs the same for each caller
            self._spend(known[1])
            return known[0]
        before = self.steps
        found = [
            (y, edge)
            for y, edge in self.neighbours(first, x, first_back)
            if any(True for _ in self._of_edge(*edge, base=True))
        ]
        self._apart[key] = (found, self.steps - before)
        while len(self._apart) > _REMEMBERED:
            self._apart.pop(next(iter(self._apart)))
        return found

    def _filled(self, op: Op, relation: int, a: int, b: int) -> Iterator[Derivation]:
        _, premise, edges, individual = op
        for number, backwards in edges:
            x, y = (b, a) if backwards else (a, b)
            if number == relation and y == individual and premise in self.store.types[x]:
                yield ((premise, x),)

    def _merged(self, op: Op, a: int, b: int) -> Iterator[Derivation]:
        if op[0] == p.IS:
            if b == op[2] and op[1] in self.store.types[a]:
                yield ((op[1], a),)
        elif op[0] == p.MERGE:
            yield from self._functional(op, a, b)
        else:
            yield from self._keyed(op, a, b)

    def _functional(self, op: Op, a: int, b: int) -> Iterator[Derivation]:
        _, premise, relation, backwards, filler, most = op
        types = self.store.types
        if filler >= 0 and not (filler in types[a] and filler in types[b]):
            return
        inside = ((filler, a), (filler, b)) if filler >= 0 else ()
        for x, edge in self.neighbours(relation, a, not backwards):
            other = self._edge(relation, backwards, x, b)
            if other is None or (premise >= 0 and premise not in types[x]):
                continue
            reached = [y for y, _ in self.neighbours(relation, x, backwards)]
            if len([y for y in reached if filler < 0 or filler in types[y]]) > most:
                yield (*(((premise, x),) if premise >= 0 else ()), edge, other, *inside)

    def _keyed(self, op: Op, a: int, b: int) -> Iterator[Derivation]:
        _, concept, directed = op
        types, terms = self.store.types, self.store.terms
        if not (terms[a].startswith("<") and terms[b].startswith("<")) or a == b:
            return
        if concept >= 0 and not (concept in types[a] and concept in types[b]):
            return
        ways: list[tuple[Fact, ...]] = [((concept, a), (concept, b)) if concept >= 0 else ()]
        for relation, backwards in directed:
            theirs = dict(self.neighbours(relation, b, backwards))
            mine = self.neighbours(relation, a, backwards)
            self._spend(len(ways) * len(mine))
            ways = [(*way, edge, theirs[v]) for way in ways for v, edge in mine if v in theirs]
        yield from ways
