"""A pattern that may have a partner: OPTIONALSEQ, EQUALSOPTIONAL, OPTIONAL; or must have none: MINUS."""

from __future__ import annotations

from collections.abc import Iterable

from obep.algebra.bag_node import united
from obep.algebra.evaluation import Evaluation
from obep.algebra.timed.timed_joins import is_before
from obep.algebra.timed.timed_node import Operand, Retried, Round, TimedNode, distinct
from obep.algebra.timed.timed_solution import Solution, together
from obep.algebra.timed.timed_tests import TimedTest, shortest


class _Beside(TimedNode):
    """A mandatory operand and another one that is looked at beside each of its solutions."""

    def __init__(
        self, main: TimedNode, other: TimedNode, within: int | None, reach: int | None = None
    ) -> None:
        """`reach`: what is out of the RANGE of its stream when a solution ends is not there (D37)."""
        self._main, self._other = main, Operand(other, main, shortest((within, reach)))
        self._reach = reach
        self.parts = (main, self._other)
        self.certain, self.possible = main.certain, main.possible

    def timeless(self, run: Evaluation) -> list[Solution]:
        self._other.timeless(run)
        return distinct(one for main in self._main.timeless(run) for one in self._looked_at(main, run))

    def found(self, round_: Round) -> list[Solution]:
        self._other.look(round_)
        mains = self._main.found(round_)
        return distinct(one for main in mains for one in self._looked_at(main, round_.run))

    def _looked_at(self, main: Solution, run: Evaluation) -> Iterable[Solution]:
        raise NotImplementedError

    def _up_to(self, main: Solution) -> Iterable[Solution]:
        """The compatible solutions of the other operand that end no later."""
        for one in self._other.before(main.row):
            if one.end is None or (main.end is not None and not one.is_over(self._reach, main.end)):
                yield one
        if main.end is not None:
            for one in self._other.now(main.row):
                if not one.is_over(self._reach, main.end):
                    yield one


class _Optional(_Beside):
    """Each solution with all partners that pass the filter of the optional group, or else alone."""

    def __init__(
        self, main: TimedNode, other: TimedNode, passes: TimedTest, reach: int | None = None
    ) -> None:
        super().__init__(main, other, passes.within, reach)
        self.possible = main.possible | other.possible
        self._passes = passes

    def _looked_at(self, main: Solution, run: Evaluation) -> Iterable[Solution]:
        joined = (together(main, other) for other in self._partners(main))
        return [one for one in joined if self._passes(one, run)] or [main]

    def _partners(self, main: Solution) -> Iterable[Solution]:
        raise NotImplementedError


class TimedOptional(_Optional):
    """`P OPTIONAL Q`: a Q that ends no later (D20)."""

    def _partners(self, main: Solution) -> Iterable[Solution]:
        return self._up_to(main)


class OptionalSeq(_Optional):
    """`P OPTIONALSEQ Q`: Q, and the P before it."""

    def _partners(self, main: Solution) -> Iterable[Solution]:
        return (one for one in self._other.before(main.row) if is_before(one, main))


class EqualsOptional(_Optional):
    """`P EQUALSOPTIONAL Q`: P, and the Q at the same time."""

    def _partners(self, main: Solution) -> Iterable[Solution]:
        if main.end is None:
            return ()
        return (one for one in self._other.now(main.row) if one.start == main.start)


class TimedMinus(_Beside):
    """`P MINUS Q`: no Q that ends no later and shares a variable."""

    def __init__(self, main: TimedNode, other: TimedNode, reach: int | None = None) -> None:
        super().__init__(main, other, None, reach)
        self._shared = sorted(main.possible & other.possible)

    def _looked_at(self, main: Solution, run: Evaluation) -> Iterable[Solution]:
        for other in self._up_to(main):
            if any(main.row[slot] is not None and other.row[slot] is not None for slot in self._shared):
                return ()
        return (main,)


class TimedExists(Retried, _Beside):
    """`FILTER [NOT] EXISTS { Q }`: a Q, or none, that ends no later."""

    def __init__(
        self,
        main: TimedNode,
        other: TimedNode,
        passes: TimedTest,
        negated: bool,
        reach: int | None = None,
    ) -> None:
        Retried.__init__(self)
        _Beside.__init__(self, main, other, None, reach)
        self._passes, self._negated = passes, negated

    def found(self, round_: Round) -> list[Solution]:
        """Solutions without a Q in an earlier round may have one now; rules never remove one."""
        mains = {**self._refused, **dict.fromkeys(self._main.found(round_))}
        self._other.look(round_)
        found = [main for main in mains if self._looked_at(main, round_.run)]
        self._refused = {} if self._negated else {one: None for one in mains if one not in set(found)}
        return found

    def _looked_at(self, main: Solution, run: Evaluation) -> Iterable[Solution]:
        tried = (other._replace(row=united(main.row, other.row)) for other in self._up_to(main))
        there = any(self._passes(one, run) for one in tried)
        return () if there is self._negated else (main,)
