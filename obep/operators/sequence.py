"""SEQ, the most common pattern, where l is always there before r: no memory of r, no other detours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from obep.operators.candidates import SINCE, Candidate, Emit
from obep.operators.memory import Memory
from obep.operators.operator import Operator
from obep.operators.pair import Union
from obep.plan import nodes


class Sequence(Operator):
    """Keeps the l by key, in the order of their end; each r finds those before it.

    The two ways in are closures: they run for every occurrence.
    """

    state: ClassVar[tuple[str, ...]] = ("lefts",)

    def __init__(self, node: nodes.Pair, emit: Emit) -> None:
        self.emit = emit
        self.union = Union(node, "SEQ")
        self.lefts = Memory(self.union.key_left, node.horizon)
        self.left_view: Operator | None = None
        self.right_view: Operator | None = None
        self.take_left: Emit = self.lefts.adder()
        self.take_right: Emit = self._finder(node)

    @staticmethod
    def suits(node: nodes.Pair) -> bool:
        """Whether l is always there before r, and nothing changes afterwards."""
        views = node.left.view or node.right.view
        return node.relation == "SEQ" and node.left.punctual and not views and not node.held

    def _finder(self, node: nodes.Pair) -> Emit:
        union, emit, lefts = self.union, self.emit, self.lefts
        joining, test, clash = union.joining, union.test, union.clash
        join, key_of, same_rows = joining.join, joining.key_right, joining.trivial
        buckets = lefts.buckets
        horizon = node.horizon if node.horizon is not None else 1 << 62
        in_order = node.left.point and node.left.rooted  # by end is by since, too

        def take_right(right: Candidate) -> None:
            right_start, end, done, right_since, right_parts, right_rows = right
            if len(right_rows) == 1:
                bucket: Iterable[Candidate] | None = buckets.get(key_of(right_rows[0]))
                if not bucket:
                    return
                if in_order and bucket[0][SINCE] <= done - horizon:  # type: ignore[index]
                    _cut(bucket, done - horizon)  # type: ignore[arg-type]
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


def _cut(bucket: list[Candidate], before: int) -> None:
    """Take away what lies beyond the horizon, where all of it stands at the front."""
    count = 1
    while count < len(bucket) and bucket[count][SINCE] <= before:
        count += 1
    del bucket[:count]
