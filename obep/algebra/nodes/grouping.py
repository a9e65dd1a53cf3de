"""Group and AggregateJoin: one row for each value of the keys, with the values of the aggregates."""

from __future__ import annotations

from typing import NamedTuple

from obep.algebra.aggregates.accumulator import Accumulator
from obep.algebra.aggregates.make_aggregate import make_aggregate
from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.group_expressions import Computed
from obep.model import Term
from obep.query.ast import Aggregate


class AggregateColumn(NamedTuple):
    """An aggregate, its argument (`None`: the rows themselves), and the slot for its value."""

    node: Aggregate
    argument: Computed | None
    slot: int

    def value(self, row: Row, run: Evaluation) -> Term | None:
        return None if self.argument is None else self.argument.term(row, run)


class Grouping(BagNode):
    """Without keys there is one group, also of no rows."""

    def __init__(
        self,
        inner: BagNode,
        keys: tuple[int, ...],
        columns: tuple[AggregateColumn, ...],
        shown: tuple[int, ...],
    ) -> None:
        """`shown` are the slots of variables that the text names: blank nodes make no row different."""
        self.inner, self.keys, self.columns, self._shown = inner, keys, columns, shown
        self.possible = frozenset(keys) | {column.slot for column in columns}
        self.certain = frozenset(keys) & inner.certain

    def rows(self, run: Evaluation) -> list[Row]:
        groups: dict[Row, list[Accumulator]] = {}
        if not self.keys:
            groups[()] = self.accumulators()
        for row in self.inner.rows(run):
            key = tuple([row[slot] for slot in self.keys])
            accumulators = groups.get(key)
            if accumulators is None:
                accumulators = groups[key] = self.accumulators()
            for column, accumulator in zip(self.columns, accumulators, strict=True):
                accumulator.add(0, self.row_key(row), column.value(row, run))
        return [self.row(run, key, accumulators) for key, accumulators in groups.items()]

    def row_key(self, row: Row) -> str:
        """A row as text: equal for equal rows only."""
        return " ".join([row[slot] or "" for slot in self._shown])

    def accumulators(self) -> list[Accumulator]:
        return [make_aggregate(column.node) for column in self.columns]

    def row(self, run: Evaluation, key: Row, accumulators: list[Accumulator]) -> Row:
        """The row of a group."""
        row = list(run.seed)
        for slot, value in zip(self.keys, key, strict=True):
            row[slot] = value
        for column, accumulator in zip(self.columns, accumulators, strict=True):
            row[column.slot] = accumulator.value(run[0][1])
        return tuple(row)
