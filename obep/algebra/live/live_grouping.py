"""GROUP BY and DISTINCT, kept up to date."""

from __future__ import annotations

from obep.algebra.aggregates.accumulator import Accumulator
from obep.algebra.aggregates.counts import CountValues
from obep.algebra.aggregates.sums import Total
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.live.join_input import Change, row_of
from obep.algebra.nodes.grouping import Grouping


class LiveGrouping:
    """Aggregates are added to and taken from; the rows of the groups that changed are made when asked for."""

    def __init__(self, grouping: Grouping, run: Evaluation, sink: Change) -> None:
        self._grouping, self._run, self._sink = grouping, run, sink
        self._key = row_of(grouping.keys)
        self._reads_rows = not all(isinstance(one, Total | CountValues) for one in grouping.accumulators())
        self._groups: dict[Row, list[Accumulator]] = {}
        self._sizes: dict[Row, int] = {}
        self._rows: dict[Row, Row] = {}
        self._changed: dict[Row, None] = {} if grouping.keys else {(): None}

    def change(self, row: Row, number: int) -> None:
        key = self._key(row)
        self._changed[key] = None
        self._sizes[key] = self._sizes.get(key, 0) + number
        accumulators = self._groups.get(key)
        if accumulators is None:
            accumulators = self._groups[key] = self._grouping.accumulators()
        text = self._grouping.row_key(row) if self._reads_rows else ""
        run = self._run
        for column, accumulator in zip(self._grouping.columns, accumulators, strict=True):
            value = column.value(row, run)
            change = accumulator.add if number > 0 else accumulator.remove
            for _ in range(abs(number)):
                change(0, text, value)

    def flush(self, now: int) -> None:
        """Give on the rows of the groups that changed."""
        run = self._run.at(now)
        changed, self._changed = self._changed, {}
        for key in changed:
            row: Row | None = None
            if self._sizes.get(key) or not self._grouping.keys:
                accumulators = self._groups.get(key)
                if accumulators is None:
                    accumulators = self._groups[key] = self._grouping.accumulators()
                row = self._grouping.row(run, key, accumulators)
            else:
                self._sizes.pop(key, None)
                self._groups.pop(key, None)
            before = self._rows.pop(key, None)
            if row is not None:
                self._rows[key] = row
            if row != before:
                if before is not None:
                    self._sink(before, -1)
                if row is not None:
                    self._sink(row, 1)


class LiveDistinct:
    """Each row once, as long as there is one."""

    def __init__(self, sink: Change) -> None:
        self._sink = sink
        self._counts: dict[Row, int] = {}

    def change(self, row: Row, number: int) -> None:
        before = self._counts.get(row, 0)
        after = before + number
        if after:
            self._counts[row] = after
        else:
            del self._counts[row]
        if not before:
            self._sink(row, 1)
        elif not after:
            self._sink(row, -1)
