"""Decide whether the inside of an EXISTS can be kept separately and joined with the tested rows."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Slots
from obep.algebra.nodes.extend import Extend
from obep.algebra.nodes.filter_bag import FilterBag
from obep.algebra.nodes.graph_block import GraphBlock
from obep.algebra.nodes.join_bags import JoinBags
from obep.algebra.nodes.left_join import LeftJoin
from obep.algebra.nodes.minus import Minus
from obep.algebra.nodes.union_bags import UnionBags
from obep.algebra.nodes.window_block import WindowBlock


def is_separable(node: BagNode, outer: Slots) -> bool:
    """Whether a bag joined with a row gives what it gives with the row's values put in for its variables.

    It does not where a filter, an OPTIONAL or a MINUS inside would see a variable that only the row binds.
    """
    if isinstance(node, FilterBag):
        return outer & node.tested.mentions <= node.inner.certain and is_separable(node.inner, outer)
    if isinstance(node, Extend):
        return outer & node.computed.mentions <= node.inner.certain and is_separable(node.inner, outer)
    if isinstance(node, LeftJoin):
        seen = node.right.possible | node.tested.mentions
        return outer & seen <= node.left.certain and is_separable(node.left, outer)
    if isinstance(node, Minus):
        return outer & node.right.possible <= node.left.certain and is_separable(node.left, outer)
    if isinstance(node, JoinBags):
        return is_separable(node.left, outer) and is_separable(node.right, outer)
    if isinstance(node, UnionBags):
        return all(is_separable(branch, outer) for branch in node.branches)
    if isinstance(node, GraphBlock | WindowBlock):
        return is_separable(node.inner, outer)
    return True
