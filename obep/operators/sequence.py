"""SEQ, the most common pattern, where l is always there before r: no memory of r, no other detours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, TypeGuard

from obep.model import Occurrence
from obep.operators.candidates import END, SINCE, Candidate, Emit
from obep.operators.memory import Memory, cut
from obep.operators.operator import Operator
from obep.operators.pair import Union
from obep.plan import nodes
from obep.plan.nodes import Node, Read

Take = Callable[[Occurrence], None]


class Sequence(Operator):
    """Keeps the l by key, in the order of their end; each r finds those before it.

    The two ways in are closures: they run for every occurrence.
    """

    state: ClassVar[tuple[str, ...]] = ("lefts",)

    def __init__(self, node: nodes.Pair, emit: Emit) -> None:
        self.emit = emit
        self.union = Union(node, "SEQ")
        self._in_order = node.left.point and node.left.rooted  # by end is by since, too
        self.lefts = Memory(self.union.key_left, node.horizon, in_order=self._in_order)
        self.left_view: Operator | None = None
        self.right_view: Operator | None = None
        self.take_left: Emit = self.lefts.adder()
        self.take_right: Emit = self._finder(node)

    @staticmethod
    def suits(node: nodes.Pair) -> bool:
        """Whether l is always there before r, and nothing changes afterwards."""
        views = node.left.view or node.right.view
        return node.relation == "SEQ" and node.left.punctual and not views and not node.held

    def leaf_takers(self, node: nodes.Pair) -> tuple[Take | None, Take | None]:
        """For operands that are leaves: closures from the occurrence straight to its place, or its pairs.

        Only where a pair has the rows of its l, nothing else is to be looked at, and an occurrence is an
        instant: then its start is its end, and when it was detected.
        """
        joining = self.union.joining
        plain = joining.trivial and self.union.test is None and self.union.clash is None
        if not (plain and _instant(node.left) and len(joining.left_key) == 1):
            return None, None
        ((mine,), (other,)) = joining.left_key, joining.right_key
        return (
            self._left_leaf(node.left.ask, mine) if _direct(node.left) else None,
            self._right_leaf(node.right.ask, other, node.horizon) if _direct(node.right) else None,
        )

    def _left_leaf(self, ask: int, place: int) -> Take:
        lefts, get, add = self.lefts, self.lefts.buckets.get, self.lefts.add

        def take(occurrence: Occurrence) -> None:
            rows = occurrence.solutions.get(ask)
            if not rows:
                return
            at = occurrence.start
            candidate = (at, at, at, at, (occurrence,), rows)
            held = get(rows[0][place])
            if held and len(rows) == 1 and at < lefts.quick_until:
                held.append(candidate)
            else:
                add(candidate)

        return take

    def _right_leaf(self, ask: int, place: int, horizon: int | None) -> Take:
        lefts, get, emit, general = self.lefts, self.lefts.buckets.get, self.emit, self.take_right
        join = self.union.joining.join
        reach = horizon if horizon is not None else 1 << 62

        def take(occurrence: Occurrence) -> None:
            rows = occurrence.solutions.get(ask)
            if not rows:
                return
            at = occurrence.start
            if len(rows) != 1:
                general((at, at, at, at, (occurrence,), rows))
                return
            bucket = get(rows[0][place])
            if not bucket:
                return
            if bucket[0][SINCE] <= at - reach:
                cut(bucket, at - reach)
                if not bucket:
                    return
            own = (occurrence,)
            if bucket[-1][END] < at and not lefts.several:
                for start, _, _, _, parts, left_rows in bucket:
                    emit((start, at, at, start, parts + own, left_rows))
                return
            for start, end, _, _, parts, left_rows in bucket:
                if end >= at:
                    break
                if len(left_rows) != 1:
                    left_rows = join(left_rows, rows)
                emit((start, at, at, start, parts + own, left_rows))

        return take

    def _finder(self, node: nodes.Pair) -> Emit:
        union, emit, lefts = self.union, self.emit, self.lefts
        joining, test, clash = union.joining, union.test, union.clash
        join, key_of, same_rows = joining.join, joining.key_right, joining.trivial
        buckets = lefts.buckets
        horizon = node.horizon if node.horizon is not None else 1 << 62
        in_order = self._in_order

        def take_right(right: Candidate) -> None:
            right_start, end, done, right_since, right_parts, right_rows = right
            if len(right_rows) == 1:
                bucket: Iterable[Candidate] | None = buckets.get(key_of(right_rows[0]))
                if not bucket:
                    return
                if in_order and bucket[0][SINCE] <= done - horizon:  # type: ignore[index]
                    cut(bucket, done - horizon)  # type: ignore[arg-type]
            else:
                bucket = lefts.partners(right, key_of, None, right_start - 1)
            before = done - horizon
            if right_since <= before:
                return
            for start, left_end, _, since, parts, rows in bucket:
                if left_end >= right_start:
                    break
                if since <= before or (clash is not None and clash(parts, right_parts)):
                    continue
                if not (same_rows and len(rows) == 1):
                    rows = join(rows, right_rows)
                    if not rows:
                        continue
                parts = parts + right_parts
                if test is not None:
                    rows = test(rows, parts, start, end)
                    if not rows:
                        continue
                emit((start, end, done, since if since < right_since else right_since, parts, rows))

        return take_right

    def memories(self) -> Iterable[Memory]:
        return (self.lefts,)


def _instant(node: Node) -> bool:
    return node.point and node.punctual and node.rooted


def _direct(node: Node) -> TypeGuard[Read]:
    """Whether occurrences come in with the rows of an ask, as they are."""
    return isinstance(node, Read) and _instant(node) and not node.free and not node.held
