"""SEQ, the most common pattern, where l is always there before r: no memory of r, no other detours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeGuard

from obep.model import Occurrence
from obep.operators.candidates import SINCE, Candidate, Emit, Enter, Rows
from obep.operators.instant_memory import Instants
from obep.operators.instant_memory import cut as cut_shelf
from obep.operators.memory import Memory, cut
from obep.operators.operator import Operator, Place, grows
from obep.operators.pair import Pair, Union
from obep.plan import nodes
from obep.plan.nodes import Node, Read, ReadAny

_NEVER = 1 << 62


class Sequence(Operator):
    """Keeps the l by key, in the order of their end; each r finds those before it.

    The ways in are closures: they run for every occurrence. The shortest are for leaves (`leaf_entrances`),
    where a pair has the rows of its l and nothing else is to be looked at.
    """

    field_name = "sequence (SEQ)"
    state: ClassVar[tuple[str, ...]] = ("lefts",)

    def __init__(self, node: nodes.Pair, emit: Emit, *, consumes: bool = False) -> None:
        self.emit = emit
        self.union = Union(node, "SEQ")
        self.left_view: Operator | None = None
        self.right_view: Operator | None = None
        joining = self.union.joining
        plain = joining.trivial and self.union.test is None and self.union.clash is None
        self._short = plain and _direct(node.left) and len(joining.left_key) == 1 and not consumes
        self._reach = node.horizon if node.horizon is not None else _NEVER
        self.lefts: Memory
        if self._short:
            self.lefts = instants = Instants(joining.key_left, node.horizon)
            self.take_right: Emit = self._right_of_instants(instants)
        else:
            in_order = node.left.point and node.left.rooted  # by end is by since, too
            self.lefts = Memory(joining.key_left, node.horizon, in_order=in_order)
            self.take_right = self._right(in_order)
        self.take_left: Emit = self.lefts.adder()

    @staticmethod
    def suits(node: nodes.Pair) -> bool:
        """Whether l is always there before r, and nothing changes afterwards."""
        views = node.left.view or node.right.view
        return node.relation == "SEQ" and node.left.punctual and not views and not node.held

    def _right(self, in_order: bool) -> Emit:
        union, emit, lefts, reach = self.union, self.emit, self.lefts, self._reach
        test, clash = union.test, union.clash
        join, key_of, same_rows = union.joining.join, union.joining.key_right, union.joining.trivial
        buckets = lefts.buckets

        def take_right(right: Candidate) -> None:
            right_start, end, done, right_since, right_parts, right_rows = right
            before = done - reach
            if len(right_rows) == 1:
                bucket = buckets.get(key_of(right_rows[0]))
                if not bucket:
                    return
                if in_order and bucket[0][SINCE] <= before:
                    cut(bucket, before)
            else:
                bucket = lefts.partners(right, key_of, None, right_start - 1)
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

    def _right_of_instants(self, lefts: Instants) -> Emit:
        emit, reach, join = self.emit, self._reach, self.union.joining.join
        key_of = self.union.joining.key_right

        def take_right(right: Candidate) -> None:
            right_start, end, done, right_since, right_parts, right_rows = right
            before = done - reach
            if right_since <= before:
                return
            for start, _, _, _, parts, rows in lefts.partners(right, key_of, before + 1, right_start - 1):
                if len(rows) != 1:
                    rows = join(rows, right_rows)
                since = start if start < right_since else right_since
                emit((start, end, done, since, parts + right_parts, rows))

        return take_right

    def leaf_entrances(self, node: nodes.Pair) -> tuple[Enter | None, Enter | None]:
        """Closures from the occurrence of a leaf straight to its place, or to its pairs."""
        if not isinstance(self.lefts, Instants) or not _direct(node.left):
            return None, None
        ((mine,), (other,)) = self.union.joining.left_key, self.union.joining.right_key
        right = self._right_leaf(self.lefts, other) if _direct(node.right) else None
        return _left_leaf(self.lefts, mine), right

    def _right_leaf(self, lefts: Instants, place: int) -> Enter:
        get, emit, general, reach = lefts.shelves.get, self.emit, self.take_right, self._reach
        join = self.union.joining.join

        def enter(occurrence: Occurrence, rows: Rows) -> None:
            if not rows:
                return
            at = occurrence.start
            if len(rows) != 1:
                general((at, at, at, at, (occurrence,), rows))
                return
            shelf = get(rows[0][place])
            if not shelf:
                return
            if shelf[0][0] <= at - reach:
                cut_shelf(shelf, at - reach)
                if not shelf:
                    return
            if shelf[-1][0] < at and not lefts.several:
                for start, left, left_rows in shelf:
                    emit((start, at, at, start, (left, occurrence), left_rows))
                return
            for start, left, left_rows in shelf:
                if start >= at:
                    break
                if len(left_rows) != 1:
                    left_rows = join(left_rows, rows)
                emit((start, at, at, start, (left, occurrence), left_rows))

        return enter

    def memories(self) -> Iterable[Memory]:
        return (self.lefts,)


def _left_leaf(lefts: Instants, place: int) -> Enter:
    get, add = lefts.shelves.get, lefts.add

    def enter(occurrence: Occurrence, rows: Rows) -> None:
        if not rows:
            return
        at = occurrence.start
        shelf = get(rows[0][place])
        if shelf and len(rows) == 1 and at < lefts.quick_until:
            shelf.append((at, occurrence, rows))
        else:
            add((at, at, at, at, (occurrence,), rows))

    return enter


def _direct(node: Node) -> TypeGuard[Read]:
    """Whether it is a leaf whose occurrences are instants, with the rows of an ask as they are."""
    instant = node.point and node.punctual and node.rooted
    if not isinstance(node, Read) or isinstance(node, ReadAny):
        return False
    return instant and not node.free and not node.held


@grows(nodes.Pair)
def _(node: nodes.Pair, place: Place) -> Operator | None:
    """A SEQ whose operands come in order has a class of its own."""
    if not Sequence.suits(node):
        pair = Pair(node, place.emit)
        pair.left_view = place.grow(node.left, pair.take_left)
        pair.right_view = place.grow(node.right, pair.take_right)
        return place.add(pair)
    operator = Sequence(node, place.emit, consumes=place.consumes)
    from_left, from_right = operator.leaf_entrances(node)  # only for an operand that is a leaf
    operator.left_view = place.grow(node.left, operator.take_left)
    place.shorten(from_left)
    operator.right_view = place.grow(node.right, operator.take_right)
    place.shorten(from_right)
    return place.add(operator)
