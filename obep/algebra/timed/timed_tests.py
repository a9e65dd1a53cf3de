"""Conditions over timed solutions, and what they say about how long one may last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from obep.algebra.evaluation import Evaluation
from obep.algebra.group_expressions import GroupCompiler, Tested, has_exists
from obep.algebra.timed.timed_solution import Solution
from obep.guards.calendar import Lapse
from obep.guards.guard_terms import term_of
from obep.guards.typed_values import parse_term
from obep.query.ast import (
    Call,
    Comparison,
    Conjunction,
    Duration,
    Exists,
    Expression,
    Literal,
    Node,
    TimeFunction,
)
from obep.query.walk import children


class TimedTest:
    """Conditions that must all be true of a solution; `within`: it lasts less than that."""

    def __init__(self, tested: Tested, conditions: Sequence[Expression]) -> None:
        self._holds = tested.holds
        self._asks_times = any(map(_asks_times, conditions))
        self.within = lasts_less(conditions)
        self.looks_back = has_exists(*conditions)
        """Whether triples that come later in an instant may make it true."""

    def __call__(self, solution: Solution, run: Evaluation) -> bool:
        if not self._asks_times:
            return self._holds(solution.row, run)
        if solution.start is None or solution.end is None:
            return False  # a comparison with no interval
        return self._holds(solution.row, run.over(solution.start, solution.end))


def timed_test(compiler: GroupCompiler, conditions: Sequence[Expression]) -> TimedTest:
    """The FILTERs of a group as one test."""
    return TimedTest(compiler.tested(*conditions), conditions)


def shortest(bounds: Iterable[int | None]) -> int | None:
    """The least of some bounds; `None` is none."""
    return min((one for one in bounds if one is not None), default=None)


def lasts_less(conditions: Iterable[Expression]) -> int | None:
    """How long a solution that passes may last; `None`: nothing bounds it."""
    return shortest(_within(part) for one in conditions for part in _parts(one))


def _asks_times(node: Node) -> bool:
    """Whether a condition is about the interval of the solution; the group of EXISTS has its own."""
    if isinstance(node, Exists):
        return False
    of_time = isinstance(node, TimeFunction) or (isinstance(node, Call) and node.function == "NOW")
    return of_time or any(map(_asks_times, children(node)))


def _parts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Conjunction):
        for one in condition.operands:
            yield from _parts(one)
    else:
        yield condition


def _within(condition: Expression) -> int | None:
    """`getDURATION() < d`: a solution that has begun d ago, or earlier, cannot pass any more."""
    if not isinstance(condition, Comparison):
        return None
    left, sign, right = condition.left, condition.operator, condition.right
    if sign in (">", ">="):
        left, right, sign = right, left, "<" if sign == ">" else "<="
    if sign not in ("<", "<=") or not isinstance(left, TimeFunction) or left.function != "getDURATION":
        return None
    micros = _micros(right)
    return None if micros is None else micros + (sign == "<=")


def _micros(node: Expression) -> int | None:
    if isinstance(node, Duration):
        return node.micros
    if isinstance(node, Literal):
        value = parse_term(term_of(node))
        return int(value) if isinstance(value, Lapse) else None
    return None
