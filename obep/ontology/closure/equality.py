"""Rules that compare: equals for equals, bounds on successors, keys, and counted values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

from obep.ontology.closure.facts import Facts, Node
from obep.ontology.owl.literals import value
from obep.ontology.rules.program import Edges
from obep.ontology.rules.role_relations import SAME

BOTH_WAYS: Edges = ((SAME, False), (SAME, True))


class Merging(Facts):
    """Facts that merge equal individuals."""

    __slots__ = ()

    def _replace(self, relation: int, a: int, b: int, node: Node) -> None:
        """Equals for equals: what holds of one holds of the other.

        Equality itself is not closed: what holds goes from one individual to the next, along the steps that
        rules and assertions give. So a class of n equal names has as many edges as it was given, not n².
        """
        if relation != SAME:
            for y, same in self.neighbours(SAME, a, False):
                self.add_edges(((relation, False),), y, b, (node, same))
            for y, same in self.neighbours(SAME, b, False):
                self.add_edges(((relation, False),), a, y, (node, same))
            return
        if a == b:
            return
        for c, fact in [*self.types.get(a, {}).items()]:
            self.add_types(b, (c,), (fact, node))
        if a < self.store.size:
            for c in self.store.types[a]:
                if c not in self.types.get(a, ()):
                    self.add_types(b, (c,), ((c, a), node))
        self.spend(len(self.program.stored))
        for other in range(1, len(self.program.stored)):
            for z, edge in self.neighbours(other, a, False):
                self.add_edges(((other, False),), b, z, (edge, node))
            for z, edge in self.neighbours(other, a, True):
                self.add_edges(((other, False),), z, b, (edge, node))

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
        if new is not None and most <= 1:
            mine = next((edge for y, edge in found if y == new), None)
            for y, first in found if mine is not None else ():
                if y != new:
                    self.add_edges(BOTH_WAYS, y, new, (*why, *first, *(mine or ())))
            return
        for i, (y, first) in enumerate(found):
            self.spend(i)
            for z, second in found[:i]:
                self.add_edges(BOTH_WAYS, y, z, (*why, *first, *second))

    def _key(self, op: Any, x: int) -> None:
        """Two named individuals that agree on named values of all properties of a key are the same."""
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
            if self._named(v)
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
                self.add_edges(BOTH_WAYS, x, y, (*why, *shared))

    def _agreements(self, x: int, y: int, directed: Any) -> list[tuple[Any, ...]]:
        ways: list[tuple[Any, ...]] = [()]
        for relation, backwards in directed:
            theirs = dict(self.neighbours(relation, y, backwards))
            shared = [
                (edge, theirs[v])
                for v, edge in self.neighbours(relation, x, backwards)
                if v in theirs and self._named(v)
            ]
            self.spend(len(ways) * len(shared))
            ways = [(*way, *both) for way in ways for both in shared]
        return ways

    def _named(self, x: int) -> bool:
        """Whether a key counts it: an individual that has a name, or a literal."""
        return self.term(x).startswith(("<", '"'))

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
                self.spend(1)
                self.add_types(a, heads, chosen)


def choices(values: list[list[Any]], least: int) -> Iterator[tuple[Any, ...]]:
    """All ways to take `least` of the values, one edge for each, made one at a time."""
    for some in combinations(values, least):
        yield from product(*some)
