"""Minus: rows without those that a group contradicts."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode, RowIndex
from obep.algebra.evaluation import Evaluation, Row, Slots


class Minus(BagNode):
    """Each row without a compatible one of the other group that binds one of its variables."""

    def __init__(self, left: BagNode, right: BagNode) -> None:
        self.left, self.right = left, right
        self.certain, self.possible = left.certain, left.possible
        self.shared = left.possible & right.possible

    def rows(self, run: Evaluation) -> list[Row]:
        return self._without(run, self.left.rows(run))

    def accepts(self, outer: Slots) -> bool:
        return outer & self.shared <= self.left.certain and self.left.accepts(outer)

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        return self._without(run, self.left.extend(run, rows, outer))

    def _without(self, run: Evaluation, rows: list[Row]) -> list[Row]:
        if not self.shared or not rows:
            return rows
        index, shared = RowIndex(self.right.rows(run), self.shared), self.shared
        return [
            row
            for row in rows
            if not any(
                any(row[slot] is not None and other[slot] is not None for slot in shared)
                for other in index.compatible(row)
            )
        ]
