"""Filter: the rows of which a condition is true."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.algebra.group_expressions import Tested


class FilterBag(BagNode):
    """Rows that pass; an error is not true."""

    def __init__(self, inner: BagNode, tested: Tested) -> None:
        self.inner, self.tested = inner, tested
        self.certain, self.possible = inner.certain, inner.possible

    def rows(self, run: Evaluation) -> list[Row]:
        holds = self.tested.holds
        return [row for row in self.inner.rows(run) if holds(row, run)]

    def accepts(self, outer: Slots) -> bool:
        tested = self.tested
        return (
            not tested.changing
            and outer & tested.mentions <= self.inner.certain
            and self.inner.accepts(outer)
        )

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        holds = self.tested.holds
        return [row for row in self.inner.extend(run, rows, outer) if holds(row, run)]
