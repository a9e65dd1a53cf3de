"""Join: the unions of compatible rows of two bags."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row, Slots


class JoinBags(BagNode):
    """The right side is looked up from the rows of the left one where its scope allows that."""

    def __init__(self, left: BagNode, right: BagNode) -> None:
        self.left, self.right = left, right
        self.certain = left.certain | right.certain
        self.possible = left.possible | right.possible

    def rows(self, run: Evaluation) -> list[Row]:
        return self.right.joined(run, self.left.rows(run), self.left.possible)

    def accepts(self, outer: Slots) -> bool:
        return self.left.accepts(outer)

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        return self.right.joined(run, self.left.extend(run, rows, outer), outer | self.left.possible)
