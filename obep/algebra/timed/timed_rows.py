"""Nodes that change the rows of one pattern and keep their intervals: FILTER, BIND, VALUES, a sub-select."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from obep.algebra.bag_node import onto
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.group_expressions import Computed
from obep.algebra.nodes.values_table import ValuesTable
from obep.algebra.row_layout import RowLayout
from obep.algebra.timed.timed_node import Retried, Round, TimedNode, distinct
from obep.algebra.timed.timed_solution import Solution
from obep.algebra.timed.timed_tests import TimedTest


class _OfOne(TimedNode):
    def __init__(self, inner: TimedNode) -> None:
        self._inner = inner
        self.parts = (inner,)
        self.certain, self.possible = inner.certain, inner.possible

    def timeless(self, run: Evaluation) -> list[Solution]:
        return distinct(self._changed(self._inner.timeless(run), run))

    def found(self, round_: Round) -> list[Solution]:
        return distinct(self._changed(self._inner.found(round_), round_.run))

    def _changed(self, solutions: Iterable[Solution], run: Evaluation) -> Iterator[Solution]:
        raise NotImplementedError


class TimedFilter(Retried, _OfOne):
    """Solutions that pass; in the condition the times are theirs."""

    def __init__(self, inner: TimedNode, passes: TimedTest) -> None:
        Retried.__init__(self)
        _OfOne.__init__(self, inner)
        self._passes = passes

    def found(self, round_: Round) -> list[Solution]:
        tried = {**self._refused, **dict.fromkeys(self._inner.found(round_))}
        found = [*self._changed(tried, round_.run)]
        if self._passes.looks_back:
            for one in found:
                del tried[one]
            self._refused = tried
        return found

    def _changed(self, solutions: Iterable[Solution], run: Evaluation) -> Iterator[Solution]:
        return (one for one in solutions if self._passes(one, run))


class TimedExtend(_OfOne):
    """`BIND (e AS ?v)`: an error leaves it unbound."""

    def __init__(self, inner: TimedNode, slot: int, computed: Computed) -> None:
        super().__init__(inner)
        self._slot, self._computed = slot, computed
        self.possible = inner.possible | {slot}

    def _changed(self, solutions: Iterable[Solution], run: Evaluation) -> Iterator[Solution]:
        slot = self._slot
        for solution in solutions:
            start, end = solution.start, solution.end
            over = run if start is None or end is None else run.over(start, end)
            row = solution.row
            value = self._computed.term(row, over)
            if value is None or row[slot] == value:
                yield solution
            elif row[slot] is None:
                yield solution._replace(row=(*row[:slot], value, *row[slot + 1 :]))


class TimedProjection(TimedNode):
    """A sub-select: its columns, in the slots that they have outside."""

    def __init__(
        self, inner: TimedNode, layout: RowLayout, columns: Iterable[str], outside: RowLayout
    ) -> None:
        self._inner, self._layout = inner, layout
        self.parts = (inner,)
        self._slots = [(layout.slot(name), outside.slot(name)) for name in columns]
        self.certain = frozenset(outer for own, outer in self._slots if own in inner.certain)
        self.possible = frozenset(outer for _, outer in self._slots)
        self._marks = {own: outside.hidden("leaf") for own in sorted(inner.marks)}
        self._slots += self._marks.items()

    @property
    def marks(self) -> frozenset[int]:
        return frozenset(self._marks.values())

    def timeless(self, run: Evaluation) -> list[Solution]:
        return self._projected(self._inner.timeless(self._seeded(run)), run.seed)

    def found(self, round_: Round) -> list[Solution]:
        found = self._inner.found(replace(round_, run=self._seeded(round_.run)))
        return self._projected(found, round_.run.seed)

    def _seeded(self, run: Evaluation) -> Evaluation:
        return run.seeded((None,) * len(self._layout))

    def _projected(self, solutions: Iterable[Solution], seed: Row) -> list[Solution]:
        """What is outside does not reach into a sub-select: its rows must agree with it."""
        own, outer = [one for one, _ in self._slots], [one for _, one in self._slots]
        found: dict[Solution, None] = {}
        for solution in solutions:
            row = onto(seed, outer, [solution.row[slot] for slot in own])
            if row is not None:
                found[solution._replace(row=row)] = None
        return list(found)


class TimedValues(TimedNode):
    """`VALUES`: rows without an interval."""

    def __init__(self, table: ValuesTable) -> None:
        self._table = table
        self.certain, self.possible = table.certain, table.possible

    def timeless(self, run: Evaluation) -> list[Solution]:
        return distinct(map(Solution, self._table.rows(run)))

    def found(self, round_: Round) -> list[Solution]:
        return []


class NoTriples(TimedNode):
    """`{ }`: one solution without an interval."""

    def timeless(self, run: Evaluation) -> list[Solution]:
        return [Solution(run.seed)]

    def found(self, round_: Round) -> list[Solution]:
        return []
