"""A group whose rows are kept while facts come and leave (DIALECTS 11, STATES 7)."""

from __future__ import annotations

from collections.abc import Mapping

from obep.algebra.dataset import Graph
from obep.algebra.evaluation import MOST_SOLUTIONS, Row, check_solutions
from obep.algebra.live.build_live import LiveBuilder, NotIncremental
from obep.algebra.live.fact_feed import RowFeed, TripleFeed
from obep.algebra.live.fact_source import DEFAULT_GRAPH, FactSource
from obep.algebra.nodes.basic_graph_pattern import TripleMatch
from obep.algebra.select_node import SelectNode

FEW_TIMES = 10
"""By how much there may be too many rows before a live group is given up, to bound its memory."""


class LiveGroup:
    """The bag of rows of a SELECT, kept up to date.

    Facts enter by `graph(source)` and `atom(source)`. The graphs of `static` do not change: they are looked
    up and not copied (K; where it changes, make another LiveGroup). Raises NotIncremental for what
    `is_incremental` gives a reason for.
    """

    def __init__(self, select: SelectNode, static: Mapping[FactSource, Graph] | None = None) -> None:
        self.columns = select.columns
        self.rows: dict[Row, int] = {}
        """The bag: each row with its number, as of the last `changes`."""
        self._number = 0
        self._pending: dict[Row, int] = {}
        self._builder = LiveBuilder(static or {})
        pending = self._pending

        def sink(row: Row, number: int) -> None:
            pending[row] = pending.get(row, 0) + number

        self._builder.select(select, DEFAULT_GRAPH, self._builder.bounded(sink, FEW_TIMES))
        for start in self._builder.starts:
            start()

    def graph(self, source: FactSource) -> TripleFeed:
        """Where the triples of a graph are added and removed. Each is there or not."""
        return self._builder.triples.get(source) or TripleFeed()

    def atom(self, source: FactSource) -> RowFeed:
        """Where the rows of a state or event are added and removed."""
        return self._builder.rows.get(source) or RowFeed()

    @property
    def sources(self) -> list[FactSource]:
        """The graphs and atoms that the group reads, without static ones."""
        return [*self._builder.triples, *self._builder.rows]

    def patterns(self, source: FactSource) -> list[TripleMatch]:
        """Which triples of a graph the group looks at."""
        return self._builder.patterns.get(source, [])

    @property
    def lost(self) -> bool:
        """Whether a change was given up half-way, so that the rows are no longer those of the facts."""
        return self._builder.lost

    @property
    def unread(self) -> bool:
        """Whether `changes` may give or refuse something."""
        return bool(self._pending or self._builder.flushes or self._builder.lost)

    def changes(self, now: int = 0) -> dict[Row, int]:
        """The rows that have appeared (above 0) and disappeared (below 0) since the last call.

        Raises Refused (OBEP645) while there are too many rows; the next answer is then compared with the
        last one that was given. With far too many, adding a fact raises it, too, and the group is lost for
        good: make another one of the facts that are there.
        """
        if self._builder.lost:
            check_solutions(MOST_SOLUTIONS + 1)
        for flush in self._builder.flushes:
            flush(now)
        pending = self._pending
        if not pending:
            return {}
        found = {row: number for row, number in pending.items() if number}
        number = self._number + sum(found.values())
        check_solutions(number)
        pending.clear()
        self._number = number
        rows = self.rows
        for row, change in found.items():
            left = rows.get(row, 0) + change
            if left:
                rows[row] = left
            else:
                del rows[row]
        return found


def is_incremental(select: SelectNode, static: Mapping[FactSource, Graph] | None = None) -> str | None:
    """Why a group must be evaluated anew at each evaluation time; `None` if LiveGroup can keep it."""
    try:
        triples_wanted(select, static)
    except NotIncremental as reason:
        return str(reason)
    return None


def triples_wanted(
    select: SelectNode, static: Mapping[FactSource, Graph] | None = None
) -> Mapping[FactSource, list[TripleMatch]]:
    """Which triples of each graph a LiveGroup would look at; raises NotIncremental where it would."""
    builder = LiveBuilder(static or {})
    builder.select(select, DEFAULT_GRAPH, lambda row, number: None)
    return builder.patterns
