"""Sub-select: the rows of a SELECT, put into the layout of the group that it stands in.

It is evaluated first, also inside EXISTS: what is outside does not reach into it.
"""

from __future__ import annotations

from obep.algebra.bag_node import BagNode, onto
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.select_node import SelectNode


class SubSelect(BagNode):
    """`{ SELECT … }`."""

    def __init__(self, select: SelectNode, slots: tuple[int, ...]) -> None:
        self.select, self.slots = select, slots
        self.possible = frozenset(slots)
        self.certain = frozenset(slots[at] for at in select.certain_columns)

    def rows(self, run: Evaluation) -> list[Row]:
        found = [onto(run.seed, self.slots, values) for values in self.select.rows(run)]
        return [row for row in found if row is not None]
