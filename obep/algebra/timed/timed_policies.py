"""SEQ and OPTIONALSEQ under a POLICY (D23): which solutions make pairs, and which an answer uses up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from obep.algebra.evaluation import Evaluation
from obep.algebra.timed.timed_joins import TimedSeq, is_before
from obep.algebra.timed.timed_node import Operand, Round, TimedNode
from obep.algebra.timed.timed_options import OptionalSeq
from obep.algebra.timed.timed_solution import Solution, together
from obep.algebra.timed.timed_tests import TimedTest
from obep.query import ast

Choose = Callable[[list[Solution]], list[Solution]]


def _first(solutions: list[Solution]) -> list[Solution]:
    """Those that no other one ends before."""
    end = min(one.end for one in solutions if one.end is not None)
    return [one for one in solutions if one.start is not None and one.start <= end]


def _last(solutions: list[Solution]) -> list[Solution]:
    """Those that no other one starts after."""
    start = max(one.start for one in solutions if one.start is not None)
    return [one for one in solutions if one.end is not None and one.end >= start]


class TimedLeaf(TimedNode):
    """The solutions of a group, each with a mark of its own in a hidden slot."""

    def __init__(self, inner: TimedNode, slot: int) -> None:
        self._inner, self._slot = inner, slot
        self.parts = (inner,)
        self.certain, self.possible = inner.certain, inner.possible

    @property
    def marks(self) -> frozenset[int]:
        return frozenset({self._slot})

    def timeless(self, run: Evaluation) -> list[Solution]:
        return self._inner.timeless(run)

    def found(self, round_: Round) -> list[Solution]:
        return [*map(self._marked, self._inner.found(round_))]

    def _marked(self, solution: Solution) -> Solution:
        row = [*solution.row]
        row[self._slot] = f"{self._slot} {solution.start} {solution.end} {solution.row}"
        return solution._replace(row=tuple(row))


class _Choice:
    """Which of the left solutions a right one goes with."""

    def __init__(self, policy: ast.Policy, within: int | None) -> None:
        self._naive = policy == "naive"
        self._choose = _first if policy == "chronological" else _last
        self._within = within

    def __call__(self, lefts: Iterable[Solution], right: Solution, operand: Operand) -> list[Solution]:
        """`lefts` fit; under naive only the last of all solutions of the operand count."""
        assert right.end is not None
        since = None if self._within is None else right.end - self._within
        near = [one for one in lefts if since is None or (one.start is not None and one.start > since)]
        if self._naive:
            latest = operand.latest_start
            return [one for one in near if latest is None or (one.end is not None and one.end >= latest)]
        return self._choose(near) if near else near


class ChosenSeq(TimedSeq):
    """`P SEQ Q`: for each Q some of the P before it."""

    def __init__(self, left: TimedNode, right: TimedNode, within: int | None, policy: ast.Policy) -> None:
        super().__init__(left, right, within)
        self._choice = _Choice(policy, within)

    def _joined(self, lefts: list[Solution], rights: list[Solution]) -> Iterator[Solution]:
        for right in rights:
            fitting = [left for left in self._left.before(right.row) if is_before(left, right)]
            for left in self._choice(fitting, right, self._left):
                yield together(left, right)


class ChosenOptionalSeq(OptionalSeq):
    """`P OPTIONALSEQ Q`: for each Q some of the P before it that pass, or none if there is none."""

    def __init__(self, main: TimedNode, other: TimedNode, passes: TimedTest, policy: ast.Policy) -> None:
        super().__init__(main, other, passes)
        self._choice = _Choice(policy, passes.within)

    def _looked_at(self, main: Solution, run: Evaluation) -> Iterable[Solution]:
        fitting = [one for one in self._partners(main) if self._passes(together(main, one), run)]
        if not fitting:
            return (main,)
        return [together(main, one) for one in self._choice(fitting, main, self._other)]
