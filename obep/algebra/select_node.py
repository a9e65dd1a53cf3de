"""SELECT over a bag: order, projection, DISTINCT, LIMIT and OFFSET (SPARQL 1.1, 18.2.5)."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode
from obep.algebra.dataset import Dataset
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.group_expressions import Computed
from obep.algebra.row_layout import RowLayout
from obep.algebra.term_order import order_key, written


class SelectNode:
    """The rows of a SELECT: tuples in the order of its columns.

    Where ORDER BY leaves rows equal, or is missing before a LIMIT, they are ordered by their terms: the
    answer depends on nothing else.
    """

    def __init__(
        self,
        inner: BagNode,
        layout: RowLayout,
        columns: tuple[str, ...],
        *,
        distinct: bool = False,
        order: tuple[tuple[Computed, bool], ...] = (),
        limit: int | None = None,
        offset: int = 0,
    ) -> None:
        self.inner, self.layout, self.columns = inner, layout, columns
        self.slots = tuple(layout.slot(name) for name in columns)
        self.certain_columns = tuple(at for at, slot in enumerate(self.slots) if slot in inner.certain)
        self.distinct, self.order, self.limit, self.offset = distinct, order, limit, offset

    def rows(self, run: Evaluation) -> list[Row]:
        """The answer over the active graph."""
        own = run.seeded((None,) * len(self.layout))
        slots = self.slots
        rows = self.inner.rows(own)
        sliced = self.limit is not None or self.offset > 0
        if sliced or self.order:
            rows.sort(key=lambda row: written(tuple([row[slot] for slot in slots])))
        for computed, descending in reversed(self.order):
            keys = {row: order_key(computed.term(row, own)) for row in rows}
            rows.sort(key=keys.__getitem__, reverse=descending)
        found = [tuple([row[slot] for slot in slots]) for row in rows]
        if self.distinct:
            found = list(dict.fromkeys(found))
        if sliced:
            found = found[self.offset :]
            found = found if self.limit is None else found[: self.limit]
        return found


def evaluate(select: SelectNode, dataset: Dataset, now: int = 0, query: str = "") -> list[Row]:
    """The answer over a dataset at an instant.

    `query` is the name of the query: UUID() and its like depend on it (D17).
    """
    return select.rows(Evaluation.of(dataset, len(select.layout), now, query))
