"""A SELECT of the algebra as a network of live nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from obep.algebra import evaluation
from obep.algebra.bag_node import BagNode
from obep.algebra.dataset import Graph
from obep.algebra.evaluation import Evaluation, Row, check_solutions
from obep.algebra.group_expressions import Computed, PlainTest, Tested
from obep.algebra.live.fact_feed import RowFeed, Take, TripleFeed, taker
from obep.algebra.live.fact_source import FactSource, atom_source, named_graph, window_graph
from obep.algebra.live.join_input import Change, JoinInput, LookupInput, row_of
from obep.algebra.live.live_grouping import LiveDistinct, LiveGrouping
from obep.algebra.live.live_join import connect, join_out
from obep.algebra.live.matched_rows import Kind, MatchedRows
from obep.algebra.live.separable import is_separable
from obep.algebra.nodes.atom_rows import AtomRows
from obep.algebra.nodes.basic_graph_pattern import BasicGraphPattern, TripleMatch
from obep.algebra.nodes.extend import Extend
from obep.algebra.nodes.filter_bag import FilterBag
from obep.algebra.nodes.graph_block import EachGraph, GraphBlock
from obep.algebra.nodes.grouping import Grouping
from obep.algebra.nodes.join_bags import JoinBags
from obep.algebra.nodes.left_join import LeftJoin
from obep.algebra.nodes.minus import Minus
from obep.algebra.nodes.negated_path import NegatedPath
from obep.algebra.nodes.repeated_path import RepeatedPath
from obep.algebra.nodes.sub_select import SubSelect
from obep.algebra.nodes.union_bags import UnionBags
from obep.algebra.nodes.values_table import ValuesTable
from obep.algebra.nodes.window_block import EachWindow, WindowBlock
from obep.algebra.select_node import SelectNode
from obep.guards.three_valued import all_true


class NotIncremental(Exception):
    """A group that must be evaluated anew; the reason is for `explain`."""


class LiveBuilder:
    """Builds the nodes from the rows that are wanted down to the facts."""

    def __init__(self, static: Mapping[FactSource, Graph]) -> None:
        self.triples: dict[FactSource, TripleFeed] = {}
        self.patterns: dict[FactSource, list[TripleMatch]] = {}
        """Which triples of each graph are wanted."""
        self.rows: dict[FactSource, RowFeed] = {}
        self.starts: list[Callable[[], None]] = []
        self.flushes: list[Callable[[int], None]] = []
        self.lost = False
        """Whether a change was given up half-way: the rows are no longer those of the facts."""
        self._static = static

    def bounded(self, sink: Change, times: int = 1) -> Change:
        """Pass changes on while the number of rows in memory is below the limit."""
        number = 0

        def change(row: Row, by: int) -> None:
            nonlocal number
            number += by
            if number > times * evaluation.MOST_SOLUTIONS:
                self.lost = True
                check_solutions(number)
            sink(row, by)

        return change

    def select(self, select: SelectNode, source: FactSource, sink: Change) -> None:
        """Give the changes of the rows of a SELECT to `sink`."""
        if select.limit is not None or select.offset:
            raise NotIncremental("LIMIT and OFFSET depend on all rows")
        if select.distinct:
            sink = self.bounded(LiveDistinct(sink).change)
        project, wanted = row_of(select.slots), sink
        scope = _Scope(self, len(select.layout))
        scope.bag(select.inner, source, lambda row, number: wanted(project(row), number))

    def pattern(self, pattern: TripleMatch, source: FactSource) -> JoinInput:
        graph = self._static.get(source)
        if graph is not None:
            return LookupInput(pattern, graph.match)
        slots = tuple(dict.fromkeys(slot for _, slot in pattern.slots))
        input_ = JoinInput(slots, frozenset(slots))
        self.connect(source, pattern, taker(pattern, input_))
        return input_

    def connect(self, source: FactSource, pattern: TripleMatch, take: Take) -> None:
        """Give the triples that a pattern may match to it."""
        if source in self._static:
            raise NotIncremental("a negated path over a graph that is looked up")
        self.patterns.setdefault(source, []).append(pattern)
        self.triples.setdefault(source, TripleFeed()).connect(pattern.constants[1], take)


class _Scope:
    """The nodes of one layout."""

    def __init__(self, builder: LiveBuilder, size: int) -> None:
        self._builder, self._size = builder, size
        self._run = Evaluation(((0, 0),))
        self._run.seed = (None,) * size

    def bag(self, node: BagNode, source: FactSource, sink: Change) -> None:
        """Give the changes of a bag's rows to `sink`."""
        if isinstance(node, FilterBag):
            self._filter(node, source, sink)
        elif isinstance(node, Extend):
            self.bag(node.inner, source, self._extending(node, sink))
        elif isinstance(node, UnionBags):
            for branch in node.branches:
                self.bag(branch, source, sink)
        elif isinstance(node, LeftJoin):
            if node.tested.exists:
                raise NotIncremental("an EXISTS in an OPTIONAL")
            self._matched("optional", node.left, node.right, self._plain(node.tested), source, sink)
        elif isinstance(node, Minus):
            if node.shared:
                self._matched("minus", node.left, node.right, _always, source, sink)
            else:
                self.bag(node.left, source, sink)
        elif isinstance(node, Grouping):
            grouping = LiveGrouping(node, self._run, sink)
            for column in node.columns:
                if column.argument is not None:
                    _steady(column.argument)
            self.bag(node.inner, source, self._builder.bounded(grouping.change))
            self._builder.flushes.append(grouping.flush)
        else:
            self._join(node, source, sink)

    def _join(self, node: BagNode, source: FactSource, sink: Change) -> None:
        self._connect(self._inputs(node, source), sink)

    def _connect(self, inputs: list[JoinInput], sink: Change) -> None:
        connect(inputs, self._size, sink)
        if all(isinstance(one, LookupInput) for one in inputs):
            self._builder.starts.append(lambda: join_out(inputs, self._size, sink))

    def _inputs(self, node: BagNode, source: FactSource) -> list[JoinInput]:
        """The sides of a join."""
        if isinstance(node, JoinBags):
            return [*self._inputs(node.left, source), *self._inputs(node.right, source)]
        if isinstance(node, BasicGraphPattern):
            return [self._builder.pattern(pattern, source) for pattern in node.patterns]
        if isinstance(node, WindowBlock):
            return self._inputs(node.inner, window_graph(node.name))
        if isinstance(node, GraphBlock):
            return self._inputs(node.inner, named_graph(node.name))
        if isinstance(node, RepeatedPath):
            raise NotIncremental("a path with ?, * or +")
        if isinstance(node, EachGraph | EachWindow):
            raise NotIncremental("GRAPH or WINDOW with a variable")
        return [self._input(node, source)]

    def _input(self, node: BagNode, source: FactSource) -> JoinInput:
        slots = tuple(sorted(node.possible))
        input_ = JoinInput(slots, node.certain)
        if isinstance(node, AtomRows):
            input_ = JoinInput(tuple(dict.fromkeys(node.slots)), node.certain)
            window = source.name if source.kind == "window" else None
            key = atom_source(node.name, node.lasting, window)
            self._builder.rows.setdefault(key, RowFeed()).connect(node.slots, input_)
        elif isinstance(node, ValuesTable):
            self._values(node, input_)
        elif isinstance(node, NegatedPath):
            self._negated(node, source, input_)
        else:
            pick = row_of(slots)
            change: Change = lambda row, number: input_.change(pick(row), number)  # noqa: E731
            if isinstance(node, SubSelect):
                columns = tuple(node.slots.index(slot) for slot in slots)
                pick = row_of(columns)
                self._builder.select(node.select, source, change)
            else:
                self.bag(node, source, self._builder.bounded(change))
        return input_

    def _values(self, node: ValuesTable, input_: JoinInput) -> None:
        run, pick = self._run, row_of(input_.slots)

        def start() -> None:
            for row in node.rows(run):
                input_.change(pick(row), 1)

        self._builder.starts.append(start)

    def _negated(self, node: NegatedPath, source: FactSource, input_: JoinInput) -> None:
        ends = ((0, node.subject), (2, node.object))
        slots = tuple((at, place) for at, place in ends if isinstance(place, int))
        s, o = (None if isinstance(place, int) else place for _, place in ends)
        pattern = TripleMatch((s, None, o), slots)
        take, refused = taker(pattern, input_), node.refused

        def take_other(triple: tuple[str, str, str], number: int) -> None:
            if triple[1] not in refused:
                take(triple, number)

        self._builder.connect(source, pattern, take_other)

    def _filter(self, node: FilterBag, source: FactSource, sink: Change) -> None:
        outer = node.inner.possible
        for test in node.tested.exists:
            inner, holds = self._apart(test.inner)
            if not is_separable(inner, outer):
                raise NotIncremental("an EXISTS that looks at outer variables deep inside it")
            kind: Kind = "not exists" if test.negated else "exists"
            matched = self._matching(kind, node.inner, inner, holds, sink)
            self.bag(inner, source, self._builder.bounded(matched.change_right))
            sink = self._builder.bounded(matched.change_left)
        _steady(node.tested)
        if isinstance(node.inner, _MADE_OF_OTHERS):
            self.bag(node.inner, source, self._passing(node.tested.plain, sink))
            return
        inputs = self._inputs(node.inner, source)
        late = [test for test in node.tested.plain if not self._admitted(test, inputs)]
        self._connect(inputs, self._passing(late, sink))

    def _passing(self, tests: Sequence[PlainTest], sink: Change) -> Change:
        if not tests:
            return sink
        run, holds = self._run, all_true([test.holds for test in tests])
        passed: dict[Row, int] = {}  # so that a row that leaves need not be tested again

        def filtered(row: Row, number: int) -> None:
            there = passed.get(row)
            if there is None:
                if number < 0 or not holds(row, run):
                    return
                passed[row] = number
            elif there + number:
                passed[row] = there + number
            else:
                del passed[row]
            sink(row, number)

        return filtered

    def _admitted(self, test: PlainTest, inputs: list[JoinInput]) -> bool:
        """Let an input decide a condition over it alone, before anything is joined with its rows."""
        for one in inputs:
            if test.mentions and test.mentions <= one.certain and not isinstance(one, LookupInput):
                places = [one.slots.index(slot) if slot in one.slots else -1 for slot in range(self._size)]
                one.admits = self._admitting(test, row_of(places), one.admits)
                return True
        return False

    def _admitting(
        self, test: PlainTest, lay: Callable[[Row], Row], before: Callable[[Row], bool] | None
    ) -> Callable[[Row], bool]:
        run, holds = self._run, all_true([test.holds])

        def admits(values: Row) -> bool:
            return (before is None or before(values)) and holds(lay((*values, None)), run)

        return admits

    def _apart(self, node: BagNode) -> tuple[BagNode, Callable[[Row], bool]]:
        """The inside of an EXISTS, and its filter, which may look at the row that is tested."""
        if isinstance(node, FilterBag) and not node.tested.exists:
            return node.inner, self._plain(node.tested)
        return node, _always

    def _matched(
        self,
        kind: Kind,
        left: BagNode,
        right: BagNode,
        holds: Callable[[Row], bool],
        source: FactSource,
        sink: Change,
    ) -> None:
        matched = self._matching(kind, left, right, holds, sink)
        self.bag(right, source, self._builder.bounded(matched.change_right))
        self.bag(left, source, self._builder.bounded(matched.change_left))

    def _matching(
        self, kind: Kind, left: BagNode, right: BagNode, holds: Callable[[Row], bool], sink: Change
    ) -> MatchedRows:
        key = tuple(sorted(left.certain & right.certain))
        shared = tuple(sorted((left.possible & right.possible) - set(key)))
        return MatchedRows(kind, key, shared, holds, sink)

    def _plain(self, tested: Tested) -> Callable[[Row], bool]:
        _steady(tested)
        run, holds = self._run, all_true([test.holds for test in tested.plain])
        return lambda row: holds(row, run)

    def _extending(self, node: Extend, sink: Change) -> Change:
        _steady(node.computed)
        run, slot, term = self._run, node.slot, node.computed.term

        def extended(row: Row, number: int) -> None:
            value = term(row, run)
            if value is None or row[slot] == value:
                sink(row, number)
            elif row[slot] is None:
                sink((*row[:slot], value, *row[slot + 1 :]), number)

        return extended


_MADE_OF_OTHERS = (FilterBag, Extend, UnionBags, LeftJoin, Minus, Grouping)
"""Nodes that are no join."""


def _steady(expression: Tested | Computed) -> None:
    """Refuse what may change without a change of its row."""
    if expression.changing:
        raise NotIncremental("NOW, RAND, UUID, STRUUID and BNODE depend on the evaluation time")
    if expression.nested:
        raise NotIncremental("an EXISTS inside another condition")


def _always(row: Row) -> bool:
    return True
