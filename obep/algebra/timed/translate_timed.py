"""Groups whose triples have times, as nodes of timed solutions (DIALECTS 3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

from obep.algebra.bag_node import BagNode
from obep.algebra.group_expressions import GroupCompiler
from obep.algebra.nodes.basic_graph_pattern import TripleMatch
from obep.algebra.nodes.values_table import ValuesTable
from obep.algebra.row_layout import RowLayout, mentioned
from obep.algebra.timed.timed_bgp import TimedBgp
from obep.algebra.timed.timed_joins import SideBySide, TimedEquals, TimedSeq, TimedUnion
from obep.algebra.timed.timed_node import TimedNode
from obep.algebra.timed.timed_options import (
    EqualsOptional,
    OptionalSeq,
    TimedExists,
    TimedMinus,
    TimedOptional,
)
from obep.algebra.timed.timed_rows import NoTriples, TimedExtend, TimedFilter, TimedProjection, TimedValues
from obep.algebra.timed.timed_tests import TimedTest, shortest, timed_test
from obep.algebra.translate import check_depth, layout_of
from obep.algebra.translate_path import Place, triple_match
from obep.errors import ObepError, fail
from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast
from obep.query.free_variables import HIDDEN
from obep.query.group_walk import group_variables, projected
from obep.query.walk import walk


class _Branch(NamedTuple):
    """One way to match a path, or triple patterns side by side."""

    patterns: tuple[TripleMatch, ...] = ()
    excluded: tuple[tuple[int, frozenset[Term]], ...] = ()


class _Group(NamedTuple):
    """A group without its own filters, and these."""

    node: TimedNode
    passes: TimedTest
    exists: tuple[ast.Exists, ...]


class TimedScope:
    """Translates the groups of one scope, which share a layout."""

    def __init__(self, layout: RowLayout, depth: int = 0) -> None:
        self.layout = layout
        self._depth = depth
        self._compiler = GroupCompiler(layout, _refuse_exists)
        self._outside: frozenset[int] = frozenset()
        """What the solutions bind that an EXISTS around this place looks at."""

    def group(self, group: ast.Group, within: int | None = None) -> TimedNode:
        """The solutions of a group that last less than `within`."""
        found = self._parts(group, within)
        node = self._with_exists(found.node, found.exists)
        return TimedFilter(node, found.passes) if _filters(group) else node

    def _parts(self, group: ast.Group, within: int | None) -> _Group:
        check_depth(self._depth)
        self._depth += 1
        plain, exists = _split(_filters(group))
        passes = timed_test(self._compiler, plain)
        bound = shortest((within, passes.within))
        node: TimedNode = NoTriples()
        for element in group.elements:
            if isinstance(element, ast.Filter | ast.Timewindow):
                continue
            if isinstance(element, ast.GroupOptional):
                node = TimedOptional(node, *self._optional(node, element.group))
            elif isinstance(element, ast.GroupMinus):
                node = TimedMinus(node, self.group(element.group))
            elif isinstance(element, ast.Bind):
                slot = self.layout.slot(element.variable)
                node = TimedExtend(node, slot, self._compiler.computed(element.expression))
            else:
                one = self._element(element, bound)
                node = one if isinstance(node, NoTriples) else SideBySide(node, one, bound)
        self._depth -= 1
        return _Group(node, passes, exists)

    def _optional(self, main: TimedNode, operand: ast.TimedOperand) -> tuple[TimedNode, TimedTest]:
        """An optional operand, and the filters of its group: they are about it and its partner (D21)."""
        if not isinstance(operand, ast.Group):
            node, passes = self._operand(operand, None), timed_test(self._compiler, ())
        else:
            node, passes, exists = self._parts(operand, None)
            if exists:
                raise _exists_in_optional()
        self._refuse_unbound(main, node)
        return node, passes

    def _refuse_unbound(self, main: TimedNode, other: TimedNode) -> None:
        """Refuse, inside EXISTS, an operand that has a variable from outside which its partner may not bind:
        its solutions are joined with the row outside, and not looked for with the terms of that row."""
        loose = (other.possible & self._outside) - main.certain
        for name, slot in self.layout.slots.items():
            if slot in loose:
                raise _joined_variable(name)

    def _with_exists(self, node: TimedNode, exists: Sequence[ast.Exists]) -> TimedNode:
        for one in exists:
            self._refuse_outer(one.group, node)
            outside, self._outside = self._outside, self._outside | node.possible
            inner = self._parts(one.group, None)
            other = self._with_exists(inner.node, inner.exists)
            self._outside = outside
            self._refuse_unbound(node, other)
            node = TimedExists(node, other, inner.passes, one.negated)
        return node

    def _refuse_outer(self, group: ast.Group, node: TimedNode) -> None:
        """Refuse a filter deep inside EXISTS that asks for a variable from outside of it."""
        bound = {name for name, slot in self.layout.slots.items() if slot in node.possible}
        nested = [one for one in walk(group) if isinstance(one, ast.Group) and one is not group]
        for inner in nested:
            own = set(group_variables(inner, {}))
            for element in inner.elements:
                if isinstance(element, ast.Filter | ast.Bind):
                    for name in mentioned(element, {}):
                        if name in bound - own:
                            raise _outer_variable(name)

    def _element(self, element: ast.GroupElement, within: int | None) -> TimedNode:
        if isinstance(element, ast.Bgp):
            return self._bgp(element, within)
        if isinstance(element, ast.Group | ast.GroupUnion | ast.TimedJoin):
            return self._operand(element, within)
        if isinstance(element, ast.SideBySide):
            groups = [self.group(one, within) for one in element.groups]
            return reduce(lambda one, other: SideBySide(one, other, within), groups)
        if isinstance(element, ast.Values):
            rows = tuple(tuple(None if one is None else term_of(one) for one in row) for row in element.rows)
            return TimedValues(ValuesTable(tuple(map(self.layout.slot, element.variables)), rows))
        if isinstance(element, ast.Select):
            return self._select(element, within)
        raise _no_times(type(element).__name__)

    def _operand(self, operand: ast.TimedOperand, within: int | None) -> TimedNode:
        if isinstance(operand, ast.Group):
            return self.group(operand, within)
        if isinstance(operand, ast.GroupUnion):
            return TimedUnion(tuple(self.group(one, within) for one in operand.groups))
        if operand.operator == "SEQ":
            return TimedSeq(*self._both(operand, within), within)
        if operand.operator == "EQUALS":
            return TimedEquals(*self._both(operand, within), within)
        if operand.operator == "OPTIONALSEQ":
            main = self._operand(operand.right, within)
            return OptionalSeq(main, *self._optional(main, operand.left))
        main = self._operand(operand.left, within)
        return EqualsOptional(main, *self._optional(main, operand.right))

    def _both(self, operand: ast.TimedJoin, within: int | None) -> tuple[TimedNode, TimedNode]:
        return self._operand(operand.left, within), self._operand(operand.right, within)

    def _select(self, select: ast.Select, within: int | None) -> TimedNode:
        if select.group_by or select.having or any(isinstance(one, ast.Aggregate) for one in walk(select)):
            raise _not_in_sub_select("an aggregate", "aggregate over a window")
        if select.order_by or select.limit is not None or select.offset:
            raise _not_in_sub_select("ORDER BY, LIMIT or OFFSET", "write it at the top of the query")
        layout = RowLayout([*group_variables(select.where, {}), *mentioned(select, {})])
        scope = TimedScope(layout, self._depth)
        node = scope.group(select.where, within)
        for one in select.projection:
            if one.expression is not None:
                computed = scope._compiler.computed(one.expression)
                node = TimedExtend(node, layout.slot(one.variable), computed)
        return TimedProjection(node, layout, projected(select, {}), self.layout)

    def _bgp(self, bgp: ast.Bgp, within: int | None) -> TimedNode:
        ways = product(*(self._ways(pattern) for pattern in bgp.patterns))
        branches = [reduce(_side_by_side, way, _Branch()) for way in ways]
        hidden = frozenset(slot for name, slot in self.layout.slots.items() if name.startswith(HIDDEN))
        nodes = tuple(TimedBgp(one.patterns, hidden, dict(one.excluded), within) for one in branches)
        return nodes[0] if len(nodes) == 1 else TimedUnion(nodes)

    def _ways(self, pattern: ast.TriplePattern | ast.PathPattern) -> list[_Branch]:
        subject, object_ = self._place(pattern.subject), self._place(pattern.object)
        if isinstance(pattern, ast.PathPattern):
            return self._path(subject, pattern.path, object_)
        return [_Branch((triple_match(subject, self._place(pattern.predicate), object_),))]

    def _path(self, subject: Place, path: ast.Path, object_: Place) -> list[_Branch]:
        """The ways to match a path, each by triple patterns alone."""
        if isinstance(path, ast.Name):
            return [_Branch((triple_match(subject, path.iri, object_),))]
        if isinstance(path, ast.PathInverse):
            return self._path(object_, path.path, subject)
        if isinstance(path, ast.PathAlternative):
            return [way for one in path.branches for way in self._path(subject, one, object_)]
        if isinstance(path, ast.PathSequence):
            between = [self.layout.hidden("path") for _ in path.steps[1:]]
            ends: list[Place] = [subject, *between, object_]
            steps = [self._path(ends[at], step, ends[at + 1]) for at, step in enumerate(path.steps)]
            return [reduce(_side_by_side, way) for way in product(*steps)]
        if isinstance(path, ast.PathRepeat):
            raise _repeated(path.times)
        ways = []
        for names, here, there in ((path.forward, subject, object_), (path.backward, object_, subject)):
            if names or (names is path.forward and not path.backward):
                between_ = self.layout.hidden("path")
                excluded = (between_, frozenset(name.iri for name in names))
                ways.append(_Branch((triple_match(here, between_, there),), (excluded,)))
        return ways

    def _place(self, node: ast.Var | ast.Name | ast.Literal) -> Place:
        return self.layout.slot(node) if isinstance(node, ast.Var) else term_of(node)


def lasts_less_than(select: ast.Select) -> int | None:
    """How long its solutions may last by the FILTERs of its outermost group; `None`: nothing bounds it."""
    plain, _ = _split(_filters(select.where))
    return timed_test(GroupCompiler(layout_of(select), _refuse_exists), plain).within


def _side_by_side(one: _Branch, other: _Branch) -> _Branch:
    return _Branch((*one.patterns, *other.patterns), (*one.excluded, *other.excluded))


def _filters(group: ast.Group) -> list[ast.Expression]:
    """The conditions of a group; TIMEWINDOW d says that a solution lasts less than d (DIALECTS 7)."""
    found: list[ast.Expression] = []
    for element in group.elements:
        if isinstance(element, ast.Filter):
            found.append(element.condition)
        elif isinstance(element, ast.Timewindow):
            found.append(ast.Comparison("<", ast.TimeFunction("getDURATION", None), element.length))
    return found


def _split(conditions: Sequence[ast.Expression]) -> tuple[list[ast.Expression], tuple[ast.Exists, ...]]:
    """Plain conditions, and each [NOT] EXISTS that is a conjunct."""
    plain: list[ast.Expression] = []
    exists: list[ast.Exists] = []
    for one in conditions:
        for part in one.operands if isinstance(one, ast.Conjunction) else (one,):
            if isinstance(part, ast.Exists):
                exists.append(part)
            else:
                plain.append(part)
    return plain, tuple(exists)


def _refuse_exists(group: ast.Group) -> BagNode:
    raise fail(
        "OBEP710",
        "EXISTS inside an expression is not supported over timed triples",
        remedy="FILTER EXISTS { … } by itself, or as a part of &&",
    )


def _outer_variable(name: str) -> ObepError:
    return fail(
        "OBEP710",
        f"a filter deep inside EXISTS asks for ?{name} from outside",
        remedy="put the FILTER into the outermost braces of EXISTS",
    )


def _joined_variable(name: str) -> ObepError:
    return fail(
        "OBEP710",
        f"an optional or negated part inside EXISTS asks for ?{name} from outside",
        remedy=f"a pattern beside that part, inside EXISTS, that binds ?{name}",
    )


def _exists_in_optional() -> ObepError:
    return fail(
        "OBEP710",
        "EXISTS in the FILTER of an optional part is not supported over timed triples",
        remedy="braces of its own, where it is about that part alone: OPTIONAL { { … FILTER EXISTS { … } } }",
    )


def _no_times(kind: str) -> ObepError:
    what = {"GraphGroup": "GRAPH", "WindowGroup": "WINDOW", "Atom": "a state"}.get(kind, kind)
    return fail(
        "OBEP711",
        f"{what} has no place in a pattern over timed triples",
        reason="Static triples match without GRAPH; windows and states have evaluation times, not intervals.",
        remedy="write the triples without it, or a query over windows",
    )


def _not_in_sub_select(what: str, remedy: str) -> ObepError:
    return fail("OBEP712", f"{what} in a sub-select over timed triples", remedy=remedy)


def _repeated(times: str) -> ObepError:
    return fail(
        "OBEP713",
        f"the path {times} is not supported over timed triples",
        reason="Each step would have a time of its own.",
        remedy="a rule: CONSTRUCT { ?x :reaches ?z } WHERE { { ?x :reaches ?y } { ?y :next ?z } }",
    )
