"""Values: rows that stand in the query."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode, onto
from obep.algebra.evaluation import Evaluation, Row
from obep.model import Term


class ValuesTable(BagNode):
    """`VALUES (?x ?y) { (1 UNDEF) }`."""

    def __init__(self, slots: tuple[int, ...], table: tuple[tuple[Term | None, ...], ...]) -> None:
        self.slots, self.table = slots, table
        self.possible = frozenset(slots)
        self.certain = frozenset(slot for at, slot in enumerate(slots) if all(row[at] for row in table))

    def rows(self, run: Evaluation) -> list[Row]:
        found = [onto(run.seed, self.slots, values) for values in self.table]
        return [row for row in found if row is not None]
