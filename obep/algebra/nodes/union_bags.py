"""Union: the rows of several groups."""

from __future__ import annotations

from functools import reduce

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row, Slots, check_solutions


class UnionBags(BagNode):
    """The rows of all branches."""

    def __init__(self, branches: tuple[BagNode, ...]) -> None:
        self.branches = branches
        self.certain = reduce(frozenset.intersection, [branch.certain for branch in branches])
        self.possible = reduce(frozenset.union, [branch.possible for branch in branches])

    def rows(self, run: Evaluation) -> list[Row]:
        found = [row for branch in self.branches for row in branch.rows(run)]
        check_solutions(len(found))
        return found

    def accepts(self, outer: Slots) -> bool:
        return all(branch.accepts(outer) for branch in self.branches)

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        found = [row for branch in self.branches for row in branch.extend(run, rows, outer)]
        check_solutions(len(found))
        return found
