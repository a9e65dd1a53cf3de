"""Extend: BIND, and the expressions of SELECT and GROUP BY."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.algebra.group_expressions import Computed


class Extend(BagNode):
    """Each row with the value of an expression; an error leaves its slot unbound."""

    def __init__(self, inner: BagNode, slot: int, computed: Computed) -> None:
        self.inner, self.slot, self.computed = inner, slot, computed
        self.certain, self.possible = inner.certain, inner.possible | {slot}

    def rows(self, run: Evaluation) -> list[Row]:
        return self._extended(run, self.inner.rows(run))

    def accepts(self, outer: Slots) -> bool:
        computed = self.computed
        return (
            not computed.changing
            and outer & computed.mentions <= self.inner.certain
            and self.inner.accepts(outer)
        )

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        return self._extended(run, self.inner.extend(run, rows, outer))

    def _extended(self, run: Evaluation, rows: list[Row]) -> list[Row]:
        slot, term, found = self.slot, self.computed.term, []
        for row in rows:
            value = term(row, run)
            if value is None or row[slot] == value:
                found.append(row)
            elif row[slot] is None:
                found.append((*row[:slot], value, *row[slot + 1 :]))
        return found
