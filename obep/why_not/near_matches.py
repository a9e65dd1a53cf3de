"""Find near matches: run a pattern without its guards, bounds and negations over the latest occurrences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from obep.model import Occurrence
from obep.operators.candidates import NOTHING, Candidate
from obep.operators.tree import Tree
from obep.plan import nodes
from obep.plan.nodes import Node, Read

MOST = 2_000
"""Candidates that are looked at."""
Recent = Mapping[str, Sequence[Occurrence]]
"""Recent occurrences, for each leaf of a pattern by its alias (`with_unique_aliases`)."""


class Nearly(NamedTuple):
    """A candidate by the names of its aliases."""

    parts: Mapping[str, Occurrence]
    start: int
    end: int
    done: int
    since: int


def nearly(node: Node, recent: Recent) -> list[Nearly]:
    """All candidates of a pattern that only order in time makes; those of its latest occurrences."""
    pattern = relaxed(node)
    if pattern is None:
        return []
    leaves = [leaf for leaf in nodes.walk(pattern) if isinstance(leaf, Read)]
    few = max(3, int(MOST ** (1 / len(leaves))))
    tree = Tree(pattern)
    arrivals = [
        (occurrence.detected, number, occurrence)
        for number, leaf in enumerate(tree.leaves)
        for occurrence in list(recent.get(leaf.node.alias, ()))[-few:]
    ]
    for at in sorted({when for when, _, _ in arrivals}):
        for when, number, occurrence in arrivals:
            if when == at:
                tree.leaves[number].enter(occurrence, NOTHING)
        tree.close(at)
    names = [alias.name for alias in pattern.aliases]
    return [_named(candidate, names) for candidate in tree.found]


def _named(candidate: Candidate, names: list[str]) -> Nearly:
    start, end, done, since, parts, _ = candidate
    held = {name: part for name, part in zip(names, parts, strict=True) if part is not None}
    return Nearly(held, start, end, done, since)


def relaxed(node: Node) -> Node | None:
    """A pattern of order alone; `None` where nothing is left of it (NOT has no occurrences of its own)."""
    if isinstance(node, Read):
        return replace(
            node, columns=(), unsure=frozenset(), free=True, held=False, horizon=None, conditions=()
        )
    if isinstance(node, nodes.Rest):
        return None
    if isinstance(node, nodes.Fallback):
        return relaxed(node.right)
    if isinstance(node, nodes.Negation):
        return relaxed(node.left)
    if isinstance(node, nodes.Unary):
        return relaxed(node.operand)
    assert isinstance(node, nodes.Binary)
    left, right = relaxed(node.left), relaxed(node.right)
    if left is None or right is None:
        return left or right
    if isinstance(node, nodes.Either):
        return nodes.Either(left, right)
    return nodes.Pair(left, right, node.relation if isinstance(node, nodes.Pair) else "SEQ")


def with_unique_aliases(root: Node) -> Node:
    """The pattern with a name of its own for each leaf: an event may stand in it twice without aliases."""
    used: Counter[str] = Counter()

    def renamed(node: Node) -> Node:
        if not isinstance(node, Read):
            return node.with_operands(renamed)
        used[node.alias] += 1
        number = used[node.alias]
        return node if number == 1 else replace(node, alias=f"{node.alias}#{number}")

    return renamed(root)


def parts_below(node: Node, whole: Nearly) -> Nearly | None:
    """The part of a candidate that a node of its pattern makes, if it took part.

    An absence lasts until its deadline, which a pattern of order alone knows nothing of.
    """
    match node:
        case Read():
            part = whole.parts.get(node.alias)
            if part is None:
                return None
            return Nearly({node.alias: part}, part.start, part.end, part.detected, part.since)
        case nodes.Rest():
            return None
        case nodes.Silence() | nodes.Repeated():  # of a repetition the first one
            left = parts_below(node.left, whole)
            if left is None:
                return None
            deadline = left.end + node.micros
            return left._replace(end=deadline, done=max(deadline, left.done))
        case nodes.Negation():
            return parts_below(node.left, whole)
        case nodes.Unary():
            return parts_below(node.operand, whole)
        case nodes.Binary():
            left, right = parts_below(node.left, whole), parts_below(node.right, whole)
            if left is None or right is None:
                return left or right
            alone = isinstance(node, nodes.Pair) and node.keeps_left
            return Nearly(
                {**left.parts, **right.parts},
                left.start if alone else min(left.start, right.start),
                left.end if alone else max(left.end, right.end),
                max(left.done, right.done),
                min(left.since, right.since),
            )
    raise AssertionError(node)
