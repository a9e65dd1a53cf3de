"""LeftJoin: OPTIONAL."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode, RowIndex, united
from obep.algebra.evaluation import Evaluation, Row, Slots, check_solutions
from obep.algebra.group_expressions import Tested


class LeftJoin(BagNode):
    """Each row with all rows of the optional group that fit and pass its filters, or else alone."""

    def __init__(self, left: BagNode, right: BagNode, tested: Tested) -> None:
        self.left, self.right, self.tested = left, right, tested
        self.certain = left.certain
        self.possible = left.possible | right.possible

    def rows(self, run: Evaluation) -> list[Row]:
        return self._optional(run, self.left.rows(run))

    def accepts(self, outer: Slots) -> bool:
        seen = self.right.possible | self.tested.mentions
        return not self.tested.changing and outer & seen <= self.left.certain and self.left.accepts(outer)

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        return self._optional(run, self.left.extend(run, rows, outer))

    def _optional(self, run: Evaluation, rows: list[Row]) -> list[Row]:
        holds, found = self.tested.holds, []
        bound = self.left.possible
        lookup = self.right.accepts(bound)
        index = None if lookup or not rows else RowIndex(self.right.rows(run), bound & self.right.possible)
        for row in rows:
            if index is None:
                fitting = self.right.extend(run, [row], bound)
            else:
                fitting = [united(row, other) for other in index.compatible(row)]
            passing = [one for one in fitting if holds(one, run)]
            found += passing or [row]
            check_solutions(len(found))
        return found
