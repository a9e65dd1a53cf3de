"""Rules that compare: equals for equals, bounds on successors, keys, and counted values."""

from __future__ import annotations

from typing import Any

from obep.ontology.facts import Facts, Node
from obep.ontology.literals import value
from obep.ontology.program import Edges
from obep.ontology.relations import SAME

BOTH_WAYS: Edges = ((SAME, False), (SAME, True))


class Merging(Facts):
    """Facts that know when two individuals are the same."""

    __slots__ = ()

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
            ways = [
                (*way, edge, theirs[v])
                for way in ways
                for v, edge in self.neighbours(relation, x, backwards)
                if v in theirs and self._named(v)
            ]
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
                self.add_types(a, heads, chosen)


def choices(values: list[list[Any]], least: int) -> list[tuple[Any, ...]]:
    """All ways to take `least` of the values, one edge for each."""
    if least == 0:
        return [()]
    if len(values) < least:
        return []
    first, *rest = values
    return [(edge, *more) for edge in first for more in choices(rest, least - 1)] + choices(rest, least)
