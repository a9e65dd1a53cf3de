"""The oracle of POLICY over timed solutions: D23 with SPEC §6, by brute force, instant by instant. No K.

It takes groups of one chain of operands with FILTERs, as `drawn_group` makes them. A match is a solution with
the leaves that it is made of; a leaf is a solution of a group without a SEQ.

Readings chosen where the text leaves room.

 P1  "Fit" is compatibility, for OPTIONALSEQ also F. Any other FILTER acts on what was chosen: D9 is about
     IF (D15).
 P2  `getDURATION() < d` of the outermost FILTER is §6's WITHIN: the choice is among what began after δ - d.
 P3  The whole optional operand of OPTIONALSEQ is one leaf.
 P4  All solutions of the WHERE use up their leaves, whatever the SELECT makes of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from obep.model import SECOND
from obep.query import ast
from oracle.timed_cases import Drawing, name
from oracle.timed_semantics import (
    Occurs,
    Solution,
    World,
    before,
    compatible,
    joined,
    of_group,
    passes,
    same_interval,
    without_filters,
)

Leaf = tuple[int, Solution]


class Match(NamedTuple):
    solution: Solution
    leaves: frozenset[Leaf]


def is_leaf(group: ast.Group) -> bool:
    return not isinstance(group.elements[0], ast.TimedJoin)


@dataclass
class PolicyEvaluation:
    policy: str
    occurring: frozenset[Occurs]
    within: int | None
    consumed: set[Leaf] = field(default_factory=set)
    decided: dict[tuple[int, int], list[Match]] = field(default_factory=dict)

    def answers(self, group: ast.Group) -> Iterator[Solution]:
        for now in sorted({one.end for one in self.occurring if one.end is not None}):
            found = self.at(group, now)
            yield from {one.solution for one in found}
            if self.policy in ("chronological", "recent"):
                self.consumed |= {leaf for one in found for leaf in one.leaves}

    def at(self, node: object, now: int) -> list[Match]:
        """What is decided at an instant. Each node is asked at each instant, before anything is consumed."""
        key = (id(node), now)
        if key not in self.decided:
            self.decided[key] = list(dict.fromkeys(self._found(node, now)))
        return self.decided[key]

    def live(self, node: object, now: int) -> list[Match]:
        self.at(node, now)
        every = [
            one for (of, at), some in self.decided.items() if of == id(node) and at <= now for one in some
        ]
        return [one for one in every if not one.leaves & self.consumed]

    def world(self, now: int) -> World:
        return World(frozenset(one for one in self.occurring if one.end is not None and one.end <= now))

    def _found(self, node: object, now: int) -> Iterator[Match]:
        if isinstance(node, ast.Group):
            if is_leaf(node):
                for one in of_group(node, self.world(now)):
                    if one.end == now:
                        yield Match(one, frozenset({(id(node), one)}))
                return
            chain, *filters = node.elements
            conditions = [one.condition for one in filters if isinstance(one, ast.Filter)]
            for match in self.at(chain, now):
                if passes(match.solution, conditions, self.world(now)):
                    yield match
        elif isinstance(node, ast.TimedJoin):
            yield from self._joined(node, now)

    def _joined(self, node: ast.TimedJoin, now: int) -> Iterator[Match]:
        if node.operator == "EQUALS":
            for one in self.live(node.left, now):
                for other in self.live(node.right, now):
                    fits = same_interval(one.solution, other.solution) and one.solution.end == now
                    if fits and compatible(one.solution.row, other.solution.row):
                        yield together(one, other)
            return
        if node.operator == "SEQ":
            lefts = self.live(node.left, now)
            for right in self.at(node.right, now):
                for left in self.chosen([one for one in lefts if fit(one, right)], lefts, now):
                    yield together(left, right)
            return
        assert node.operator == "OPTIONALSEQ" and isinstance(node.left, ast.Group)
        optional, conditions = without_filters(node.left, self.world(now))
        leaves = [Match(one, frozenset({(id(node.left), one)})) for one in optional]
        leaves = [one for one in leaves if not one.leaves & self.consumed]
        for right in self.at(node.right, now):
            fitting = [
                one
                for one in leaves
                if fit(one, right)
                and passes(joined(one.solution, right.solution), conditions, self.world(now))
            ]
            if not fitting:
                yield right
            for left in self.chosen(fitting, leaves, now, bounded=False):
                yield together(left, right)

    def chosen(
        self, fitting: list[Match], lefts: list[Match], now: int, *, bounded: bool = True
    ) -> list[Match]:
        if self.policy == "unrestricted":
            return fitting
        if bounded and self.within is not None:
            since = now - self.within
            fitting = [one for one in fitting if one.solution.start > since]  # type: ignore[operator]
            lefts = [one for one in lefts if one.solution.start > since]  # type: ignore[operator]
        if self.policy == "naive":
            return [
                one for one in fitting if not any(before(one.solution, other.solution) for other in lefts)
            ]
        earlier = self.policy == "chronological"
        return [
            one
            for one in fitting
            if not any(
                before(other.solution, one.solution) if earlier else before(one.solution, other.solution)
                for other in fitting
            )
        ]


def fit(left: Match, right: Match) -> bool:
    return before(left.solution, right.solution) and compatible(left.solution.row, right.solution.row)


def together(left: Match, right: Match) -> Match:
    return Match(joined(left.solution, right.solution), left.leaves | right.leaves)


def drawn_group(rng: random.Random) -> tuple[ast.Group, int | None]:
    """A chain of two to four operands, sometimes with braces, and how long it may last."""
    drawing = Drawing(rng)

    def pattern() -> ast.TriplePattern:
        return ast.TriplePattern(
            ast.Var(rng.choice("xxyz")), name(rng.choice("pq")), ast.Var(rng.choice("yznm"))
        )

    def operand(depth: int) -> ast.Group:
        if depth and rng.random() < 0.25:
            return ast.Group((chain(depth - 1),))
        elements: list[ast.GroupElement] = [
            ast.Bgp(tuple(pattern() for _ in range(rng.choice((1, 1, 1, 2)))))
        ]
        if rng.random() < 0.1:
            elements.append(ast.Filter(drawing.plain_condition()))
        return ast.Group(tuple(elements))

    def chain(depth: int) -> ast.TimedJoin:
        made: ast.TimedOperand = operand(depth)
        for _ in range(rng.choice((1, 1, 2))):
            word = rng.choice(("SEQ", "SEQ", "SEQ", "EQUALS"))
            made = ast.TimedJoin(word, made, operand(depth))  # type: ignore[arg-type]
        if rng.random() < 0.3:
            made = ast.TimedJoin("OPTIONALSEQ", operand(0), made)
        assert isinstance(made, ast.TimedJoin)
        return made

    elements: list[ast.GroupElement] = [chain(1)]
    within = rng.choice((None, None, 3, 5))
    if within is not None:
        length = ast.Duration(within * SECOND)
        elements.append(ast.Filter(ast.Comparison("<", ast.TimeFunction("getDURATION", None), length)))
    if rng.random() < 0.2:
        elements.append(ast.Filter(drawing.plain_condition()))
    return ast.Group(tuple(elements)), None if within is None else within * SECOND


def by_policy(
    group: ast.Group, within: int | None, occurring: Iterable[Occurs], policy: str
) -> list[Solution]:
    """The solutions that are answered, in the order of their ends."""
    return [*PolicyEvaluation(policy, frozenset(occurring), within).answers(group)]
