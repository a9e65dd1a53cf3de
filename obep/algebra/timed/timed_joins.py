"""Two patterns, both of which have a solution: side by side, SEQ, EQUALS; and UNION."""

from __future__ import annotations

from collections.abc import Iterator

from obep.algebra.evaluation import Evaluation, check_solutions
from obep.algebra.timed.timed_node import Operand, Round, TimedNode, distinct
from obep.algebra.timed.timed_solution import Solution, together


class _Both(TimedNode):
    joins_timeless = False
    """Whether two solutions of K join: a comparison of intervals is false where there are none."""

    def __init__(self, left: TimedNode, right: TimedNode, within: int | None) -> None:
        self._left, self._right = Operand(left, right, within), Operand(right, left, within)
        self.parts = (self._left, self._right)
        self.certain = left.certain | right.certain
        self.possible = left.possible | right.possible

    def timeless(self, run: Evaluation) -> list[Solution]:
        self._right.timeless(run)
        return distinct(
            together(one, other)
            for one in self._left.timeless(run)
            for other in self._right.before(one.row)
            if self.joins_timeless
        )

    def found(self, round_: Round) -> list[Solution]:
        lefts, rights = self._left.look(round_), self._right.look(round_)
        found: dict[Solution, None] = {}
        for solution in self._joined(lefts, rights):
            found[solution] = None
            check_solutions(len(found))
        return list(found)

    def _joined(self, lefts: list[Solution], rights: list[Solution]) -> Iterator[Solution]:
        raise NotImplementedError


class SideBySide(_Both):
    """`P Q`: at any times."""

    joins_timeless = True

    def _joined(self, lefts: list[Solution], rights: list[Solution]) -> Iterator[Solution]:
        for left in lefts:
            for right in self._right.before(left.row):
                yield together(left, right)
            for right in self._right.now(left.row):
                yield together(left, right)
        for right in rights:
            for left in self._left.before(right.row):
                yield together(left, right)
            for left in self._left.now(right.row):
                yield together(left, right)


class TimedSeq(_Both):
    """`P SEQ Q`: Q starts after the end of P."""

    def _joined(self, lefts: list[Solution], rights: list[Solution]) -> Iterator[Solution]:
        for right in rights:
            for left in self._left.before(right.row):
                if is_before(left, right):
                    yield together(left, right)


class TimedEquals(_Both):
    """`P EQUALS Q`: the same interval."""

    def _joined(self, lefts: list[Solution], rights: list[Solution]) -> Iterator[Solution]:
        for left in lefts:
            for right in self._right.now(left.row):
                if left.start == right.start:
                    yield together(left, right)
        for right in rights:
            for left in self._left.now(right.row):
                if left.start == right.start:
                    yield together(left, right)


class TimedUnion(TimedNode):
    """`P UNION Q`."""

    def __init__(self, branches: tuple[TimedNode, ...]) -> None:
        self.parts = self._branches = branches
        self.certain = frozenset.intersection(*(one.certain for one in branches))
        self.possible = frozenset[int]().union(*(one.possible for one in branches))

    def timeless(self, run: Evaluation) -> list[Solution]:
        return distinct(solution for one in self._branches for solution in one.timeless(run))

    def found(self, round_: Round) -> list[Solution]:
        return distinct(solution for one in self._branches for solution in one.found(round_))


def is_before(one: Solution, other: Solution) -> bool:
    """Whether a solution ends before another starts; false where one has no interval."""
    return one.end is not None and other.start is not None and one.end < other.start
