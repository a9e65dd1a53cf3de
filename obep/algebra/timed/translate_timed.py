"""Groups whose triples have times, as nodes of timed solutions (DIALECTS 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import product
from math import prod
from typing import NamedTuple

from obep.algebra.bag_node import BagNode
from obep.algebra.group_expressions import GroupCompiler
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
from obep.algebra.timed.timed_policies import ChosenOptionalSeq, ChosenSeq, TimedLeaf
from obep.algebra.timed.timed_rows import NoTriples, TimedExtend, TimedFilter, TimedProjection, TimedValues
from obep.algebra.timed.timed_tests import TimedTest, lasts_less, shortest, timed_test
from obep.algebra.timed.triple_history import GroupInHistory, History
from obep.algebra.translate import deeper, layout_of
from obep.algebra.translate_path import Place, triple_match
from obep.errors import ObepError, fail
from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast
from obep.query.free_variables import HIDDEN
from obep.query.group_walk import group_variables, projected
from obep.query.walk import children, walk

MOST_WAYS = 256
"""The ways in which the paths of one group may match together."""
MOST_PAIRS = 65_536
"""The pairs of triple patterns in all ways together: each pattern begins a plan of the others."""


class _Branch(NamedTuple):
    """One way to match a path, or triple patterns side by side."""

    patterns: tuple[tuple[Place, Place, Place], ...] = ()
    excluded: tuple[tuple[int, frozenset[Term]], ...] = ()
    equal: tuple[tuple[Place, Place], ...] = ()
    """The two ends of paths that take no step here."""


class _Group(NamedTuple):
    """A group without its own filters, and these."""

    node: TimedNode
    passes: TimedTest


class _NotJoined(Exception):
    """The group of an EXISTS means something else for each solution: it cannot be joined with them."""


class TimedScope:
    """Translates the groups of one scope, which share a layout."""

    def __init__(
        self,
        layout: RowLayout,
        history: History | None = None,
        depth: int = 0,
        policy: ast.Policy = "unrestricted",
    ) -> None:
        """`policy` is that of the SEQs and OPTIONALSEQs outside optional and negated operands (D23)."""
        self.layout = layout
        self._policy = policy
        self._depth = depth
        self._compiler = GroupCompiler(layout, self.exists)
        self._history = history or History()
        self._reach = self._history.reach
        self._outside: frozenset[int] = frozenset()
        """What the solutions bind that an EXISTS around this place looks at, and is joined with."""

    def group(self, group: ast.Group, within: int | None = None) -> TimedNode:
        """The solutions of a group that last less than `within`."""
        node, passes = self._parts(group, within)
        return TimedFilter(node, passes) if _filters(group) else node

    @contextmanager
    def _unrestricted(self) -> Iterator[None]:
        """Inside an optional or negated operand."""
        policy, self._policy = self._policy, "unrestricted"
        try:
            yield
        finally:
            self._policy = policy

    def _leaf(self, node: TimedNode) -> TimedNode:
        """A solution of it can be used up, under a policy that does so."""
        if self._policy not in ("chronological", "recent"):
            return node
        return TimedLeaf(node, self.layout.hidden("leaf"))

    def exists(self, group: ast.Group) -> BagNode:
        """The group of an EXISTS in an expression."""
        if self._outside:
            raise _NotJoined
        with self._unrestricted():
            found = GroupInHistory(self.group(group), self._history)
        self._history.groups.append(found)
        return found

    def _parts(self, group: ast.Group, within: int | None, *, joins: bool = True) -> _Group:
        """`joins`: whether its EXISTS are about its own solutions alone, and can be joined with these."""
        beside = sum(len(one.groups) - 1 for one in group.elements if isinstance(one, ast.SideBySide))
        filters = sum(isinstance(one, ast.Filter | ast.Timewindow) for one in group.elements)
        depth, self._depth = self._depth, deeper(self._depth, len(group.elements) + beside - filters)
        plain, exists = _split(_filters(group))
        bound = shortest((within, lasts_less(plain)))
        node: TimedNode = NoTriples()
        for element in group.elements:
            if isinstance(element, ast.Filter | ast.Timewindow):
                continue
            if isinstance(element, ast.GroupOptional):
                node = TimedOptional(node, *self._optional(node, element.group), self._reach)
            elif isinstance(element, ast.GroupMinus):
                with self._unrestricted():
                    node = TimedMinus(node, self.group(element.group), self._reach)
            elif isinstance(element, ast.Bind):
                slot = self.layout.slot(element.variable)
                node = TimedExtend(node, slot, self._compiler.computed(element.expression))
            else:
                one = self._element(element, bound)
                node = one if isinstance(node, NoTriples) else SideBySide(node, one, bound)
        node, later = self._with_exists(node, exists) if joins else (node, exists)
        passes = timed_test(self._compiler, (*plain, *later))
        self._depth = depth
        return _Group(node, passes)

    def _optional(self, main: TimedNode, operand: ast.TimedOperand) -> tuple[TimedNode, TimedTest]:
        """An optional operand, and the filters of its group: they are about it and its partner (D21)."""
        with self._unrestricted():
            if isinstance(operand, ast.Group):
                node, passes = self._parts(operand, None, joins=False)
            else:
                node, passes = self._operand(operand, None), timed_test(self._compiler, ())
        self._check_bound(main, node)
        return node, passes

    def _check_bound(self, main: TimedNode, other: TimedNode) -> None:
        """Inside an EXISTS that is joined with solutions: an operand must not have a variable of theirs that
        its partner may not bind."""
        if (other.possible & self._outside) - main.certain:
            raise _NotJoined

    def _with_exists(
        self, node: TimedNode, exists: Sequence[ast.Exists]
    ) -> tuple[TimedNode, list[ast.Exists]]:
        """The solutions that pass, and each EXISTS that must be asked for one solution at a time."""
        later = []
        for one in exists:
            outside, depth, known = self._outside, self._depth, len(self._history.groups)
            try:
                self._check_filters(one.group, node)
                self._outside = outside | node.possible
                with self._unrestricted():
                    inner = self._parts(one.group, None)
                self._outside = outside
                self._check_bound(node, inner.node)
                node = TimedExists(node, inner.node, inner.passes, one.negated, self._reach)
            except _NotJoined:
                if outside:
                    raise
                self._outside, self._depth = outside, depth
                del self._history.groups[known:]
                later.append(one)
        return node, later

    def _check_filters(self, group: ast.Group, node: TimedNode) -> None:
        """A BIND, or a FILTER deep inside EXISTS, must not ask for a variable from outside of it."""
        bound = {name for name, slot in self.layout.slots.items() if slot in node.possible}
        for inner in (one for one in walk(group) if isinstance(one, ast.Group)):
            own = set(group_variables(inner, {}))
            for element in inner.elements:
                deep = isinstance(element, ast.Filter) and inner is not group
                if (deep or isinstance(element, ast.Bind)) and (bound - own) & {*mentioned(element, {})}:
                    raise _NotJoined

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
            node = self.group(operand, within)
            return node if _sequences(operand) else self._leaf(node)
        if isinstance(operand, ast.GroupUnion):
            return TimedUnion(tuple(self._operand(one, within) for one in operand.groups))
        policy = self._policy
        if operand.operator == "SEQ":
            both = self._both(operand, within)
            if policy == "unrestricted":
                return TimedSeq(*both, within)
            return ChosenSeq(*both, within, policy)
        if operand.operator == "EQUALS":
            return TimedEquals(*self._both(operand, within), within)
        if operand.operator == "OPTIONALSEQ":
            main = self._operand(operand.right, within)
            other, passes = self._optional(main, operand.left)
            if policy == "unrestricted":
                return OptionalSeq(main, other, passes)
            return ChosenOptionalSeq(main, self._leaf(other), passes, policy)
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
        scope = TimedScope(layout, self._history, self._depth, self._policy)
        node = scope.group(select.where, within)
        for one in select.projection:
            if one.expression is not None:
                computed = scope._compiler.computed(one.expression)
                node = TimedExtend(node, layout.slot(one.variable), computed)
        return TimedProjection(node, layout, projected(select, {}), self.layout)

    def _bgp(self, bgp: ast.Bgp, within: int | None) -> TimedNode:
        ways = _combined([self._ways(pattern) for pattern in bgp.patterns])
        branches = [reduce(_side_by_side, way, _Branch()) for way in ways]
        hidden = frozenset(slot for name, slot in self.layout.slots.items() if name.startswith(HIDDEN))
        nodes = []
        for one in branches:
            ends = _united_ends(one.equal)
            if ends is None:
                continue  # two constants would have to be the same
            places = [[ends.get(place, place) for place in triple] for triple in one.patterns]
            patterns = tuple(triple_match(*triple) for triple in places)
            nodes.append(TimedBgp(patterns, hidden, dict(one.excluded), within, _slots_of(ends)))
        return nodes[0] if len(nodes) == 1 else TimedUnion(tuple(nodes))

    def _ways(self, pattern: ast.TriplePattern | ast.PathPattern) -> list[_Branch]:
        subject, object_ = self._place(pattern.subject), self._place(pattern.object)
        if isinstance(pattern, ast.PathPattern):
            return self._path(subject, pattern.path, object_)
        return [_Branch(((subject, self._place(pattern.predicate), object_),))]

    def _path(self, subject: Place, path: ast.Path, object_: Place) -> list[_Branch]:
        """The ways to match a path, each by triple patterns alone."""
        if isinstance(path, ast.Name):
            return [_Branch(((subject, path.iri, object_),))]
        if isinstance(path, ast.PathInverse):
            return self._path(object_, path.path, subject)
        if isinstance(path, ast.PathAlternative):
            return [way for one in path.branches for way in self._path(subject, one, object_)]
        if isinstance(path, ast.PathSequence):
            between = [self.layout.hidden("path") for _ in path.steps[1:]]
            ends: list[Place] = [subject, *between, object_]
            steps = [self._path(ends[at], step, ends[at + 1]) for at, step in enumerate(path.steps)]
            return [reduce(_side_by_side, way) for way in _combined(steps)]
        if isinstance(path, ast.PathRepeat):
            if path.times != "?":
                raise _repeated(path.times)
            return [*self._path(subject, path.path, object_), *self._no_step(subject, object_)]
        ways = []
        for names, here, there in ((path.forward, subject, object_), (path.backward, object_, subject)):
            if names or (names is path.forward and not path.backward):
                between_ = self.layout.hidden("path")
                excluded = (between_, frozenset(name.iri for name in names))
                ways.append(_Branch(((here, between_, there),), (excluded,)))
        return ways

    def _no_step(self, subject: Place, object_: Place) -> list[_Branch]:
        """Both ends are one term: a constant, or else the subject or object of any triple."""
        same = ((subject, object_),)
        if not (isinstance(subject, int) and isinstance(object_, int)):
            return [_Branch(equal=same)]
        between, other = self.layout.hidden("path"), self.layout.hidden("path")
        triples: list[tuple[Place, Place, Place]] = [(subject, between, other), (other, between, subject)]
        return [_Branch((triple,), equal=same) for triple in triples]

    def _place(self, node: ast.Var | ast.Name | ast.Literal) -> Place:
        return self.layout.slot(node) if isinstance(node, ast.Var) else term_of(node)


def _sequences(node: ast.Node) -> bool:
    """Whether a SEQ or OPTIONALSEQ stands in it, outside optional and negated operands."""
    if isinstance(node, ast.TimedJoin):
        if node.operator in ("SEQ", "OPTIONALSEQ"):
            return True
        return _sequences(node.left) or (node.operator == "EQUALS" and _sequences(node.right))
    if isinstance(node, ast.GroupOptional | ast.GroupMinus | ast.Exists):
        return False
    return any(map(_sequences, children(node)))


def lasts_less_than(select: ast.Select) -> int | None:
    """How long its solutions may last by the FILTERs of its outermost group; `None`: nothing bounds it."""
    return lasts_less(_filters(select.where))


def asks_history(select: ast.Select) -> bool:
    """Whether an EXISTS of its WHERE is evaluated over all triples, for each solution."""
    history = History()
    TimedScope(layout_of(select), history).group(select.where)
    return bool(history.groups)


def _side_by_side(one: _Branch, other: _Branch) -> _Branch:
    return _Branch(
        (*one.patterns, *other.patterns), (*one.excluded, *other.excluded), (*one.equal, *other.equal)
    )


def _united_ends(equal: Iterable[tuple[Place, Place]]) -> dict[Place, Place] | None:
    """For each end but one of those that are the same, that one: a constant if there is any; `None` if two
    constants differ."""
    ends: dict[Place, Place] = {}
    for pair in equal:
        one, other = (ends.get(place, place) for place in pair)
        if one == other:
            continue
        if isinstance(one, str):
            one, other = other, one
        if isinstance(one, str):
            return None
        ends = {place: other if end == one else end for place, end in ends.items()} | {one: other}
    return ends


def _slots_of(ends: Mapping[Place, Place]) -> dict[int, Place]:
    return {slot: end for slot, end in ends.items() if isinstance(slot, int)}


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


def _no_times(kind: str) -> ObepError:
    what = {"GraphGroup": "GRAPH", "WindowGroup": "WINDOW", "Atom": "a state"}.get(kind, kind)
    return fail(
        "OBEP702",
        f"{what} has no place in a pattern over timed triples",
        reason="Static triples match without GRAPH; windows and states have evaluation times, not intervals.",
        remedy="write the triples without it, or a query over windows",
    )


def _not_in_sub_select(what: str, remedy: str) -> ObepError:
    return fail("OBEP702", f"{what} in a sub-select over timed triples", remedy=remedy)


def _combined(ways: Sequence[list[_Branch]]) -> Iterable[tuple[_Branch, ...]]:
    """One way of each path or pattern with one of each other."""
    if (count := prod(map(len, ways))) > MOST_WAYS:
        raise fail(
            "OBEP702",
            f"the paths can match in {count} ways, more than {MOST_WAYS}",
            reason="Each p? and each | multiplies the ways, and each way is a pattern of its own.",
            remedy="split the group into rules with CONSTRUCT, or write fewer p? and |",
        )
    patterns = sum(max(len(one.patterns) for one in way) for way in ways)
    if count * patterns**2 > MOST_PAIRS:
        raise fail(
            "OBEP702",
            f"a group of {patterns} triple patterns{f' in {count} ways' if count > 1 else ''} is too large",
            reason="Any of its triples may come last, so there is a plan that begins with each of them.",
            remedy="split the group into rules with CONSTRUCT",
        )
    return product(*ways)


def _repeated(times: str) -> ObepError:
    return fail(
        "OBEP702",
        f"the path {times} is not supported over timed triples",
        reason="Each step would have its own interval.",
        remedy="a rule: CONSTRUCT { ?x :reaches ?z } WHERE { { ?x :reaches ?y } { ?y :next ?z } }",
    )
