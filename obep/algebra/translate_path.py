"""Property paths as nodes of the algebra (SPARQL 1.1, 18.2.2.3): rewritten to triples where that can be."""

from __future__ import annotations

from functools import reduce

from obep.algebra.bag_node import BagNode
from obep.algebra.nodes.basic_graph_pattern import BasicGraphPattern, TripleMatch
from obep.algebra.nodes.join_bags import JoinBags
from obep.algebra.nodes.negated_path import NegatedPath
from obep.algebra.nodes.repeated_path import RepeatedPath
from obep.algebra.nodes.union_bags import UnionBags
from obep.algebra.path_steps import successors
from obep.algebra.row_layout import RowLayout
from obep.model import Term
from obep.query.ast import (
    Name,
    Path,
    PathAlternative,
    PathInverse,
    PathNegated,
    PathRepeat,
    PathSequence,
)

Place = Term | int
"""A constant, or the slot of a variable."""


def triple_match(*places: Place) -> TripleMatch:
    """The pattern of three places."""
    s, p, o = (None if isinstance(place, int) else place for place in places)
    return TripleMatch((s, p, o), tuple((at, one) for at, one in enumerate(places) if isinstance(one, int)))


def translate_path(layout: RowLayout, subject: Place, path: Path, object_: Place) -> BagNode:
    """The pairs of nodes that a path connects."""
    if isinstance(path, Name):
        return BasicGraphPattern((triple_match(subject, path.iri, object_),))
    if isinstance(path, PathInverse):
        return translate_path(layout, object_, path.path, subject)
    if isinstance(path, PathAlternative):
        return UnionBags(tuple(translate_path(layout, subject, one, object_) for one in path.branches))
    if isinstance(path, PathSequence):
        between = [layout.hidden("path") for _ in path.steps[1:]]
        ends: list[Place] = [subject, *between, object_]
        steps = [translate_path(layout, ends[at], step, ends[at + 1]) for at, step in enumerate(path.steps)]
        return reduce(joined, steps)
    if isinstance(path, PathRepeat):
        forward, backward = successors(path.path), successors(path.path, backward=True)
        return RepeatedPath(subject, object_, forward, backward, path.times)
    return _negated(subject, path, object_)


def joined(left: BagNode, right: BagNode) -> BagNode:
    """The join of two bags; triple patterns side by side are one BGP."""
    if isinstance(left, BasicGraphPattern) and not left.patterns:
        return right
    if isinstance(right, BasicGraphPattern):
        if not right.patterns:
            return left
        if isinstance(left, BasicGraphPattern):
            return BasicGraphPattern((*left.patterns, *right.patterns))
    return JoinBags(left, right)


def _negated(subject: Place, path: PathNegated, object_: Place) -> BagNode:
    nodes: list[BagNode] = []
    if path.forward or not path.backward:
        nodes.append(NegatedPath(subject, object_, frozenset(name.iri for name in path.forward)))
    if path.backward:
        nodes.append(NegatedPath(object_, subject, frozenset(name.iri for name in path.backward)))
    return nodes[0] if len(nodes) == 1 else UnionBags(tuple(nodes))
