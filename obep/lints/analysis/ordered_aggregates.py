"""Aggregates of the same values that are always in one order: MIN, then AVG, MEDIAN, LAST, …, then MAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import NamedTuple

from obep.lints.analysis.incomparable_values import rounded
from obep.query.ast import Aggregate, Arithmetic, Comparison, Expression, Literal, Var
from obep.query.diagnostics import quote

_BETWEEN = ("AVG", "MEDIAN", "PERCENTILE", "TIMEAVG", "FIRST", "LAST", "SAMPLE")
_PLACES = {"MIN": 0, **dict.fromkeys(_BETWEEN, 1), "MAX": 2}
Named = dict[str, Expression | None]
"""The expressions of AGGREGATE by their variables."""


class Bound(NamedTuple):
    """An aggregate that a condition compares with a number."""

    value: Expression
    operator: str
    number: Decimal
    condition: Expression


def never_more(low: Expression, high: Expression) -> bool:
    """Whether one aggregate is never more than another.

    >>> from obep.query.ast import Var
    >>> least, last, count = (Aggregate(name, Var("x")) for name in ("MIN", "LAST", "COUNT"))
    >>> never_more(least, last), never_more(last, least), never_more(count, Aggregate("COUNT"))
    (True, False, True)
    """
    if not isinstance(low, Aggregate) or not isinstance(high, Aggregate):
        return False
    if low == high:
        return True
    if low.function == high.function == "COUNT":
        if low.argument == high.argument:
            return low.distinct and not high.distinct
        return high.argument is None and not high.distinct
    places = _PLACES.get(low.function), _PLACES.get(high.function)
    if None in places or low.argument != high.argument:
        return False
    return places in ((0, 1), (0, 2), (1, 2))


def out_of_order(part: Expression, named: Named) -> tuple[str, str] | None:
    """Why `MAX(?x) < MIN(?x)` or `AVG(?x) > MAX(?x) + 1` is never true, and what to write instead."""
    if not isinstance(part, Comparison) or part.operator not in ("<", ">"):
        return None
    less, more = (part.left, part.right) if part.operator == "<" else (part.right, part.left)
    difference = _Sum()
    if not (difference.add(less, 1, named) and difference.add(more, -1, named)) or not difference.is_exact():
        return None
    # The condition is: high - low + constant < 0.
    high, low = difference.only(1), difference.only(-1)
    if high is None or low is None or not never_more(low, high):
        return None
    if high == low:
        return f"{quote(less)} is never less than {quote(more)}.", "compare two different values"
    turned = replace(part, operator=">" if part.operator == "<" else "<")
    return f"{quote(low)} is never more than {quote(high)}.", quote(turned)


def nothing_between(bounds: Sequence[Bound]) -> tuple[Expression, str, str] | None:
    """Two conditions on aggregates in an order: `MIN(?x) > 5 && AVG(?x) < 3`."""
    for low, high in permutations(bounds, 2):
        if low.operator not in (">", ">=", "=") or high.operator not in ("<", "<=", "="):
            continue
        if low.value == high.value or not never_more(low.value, high.value):
            continue
        strict = low.operator == ">" or high.operator == "<"
        if rounded(low.number) > rounded(high.number) or (strict and low.number == high.number):
            reason = (
                f"{quote(low.value)} is never more than {quote(high.value)}, so that it excludes "
                f"{quote(low.condition)}."
            )
            return high.condition, reason, f"{quote(high.value)} > {low.number}"
    return None


class _Sum:
    """A sum of aggregates and numbers, some of them taken away."""

    def __init__(self) -> None:
        self._aggregates: list[tuple[int, Aggregate]] = []
        self._numbers: list[Decimal] = []

    def add(self, node: Expression, sign: int, named: Named) -> bool:
        """Add an expression, or take it away; whether it is a sum."""
        match node:
            case Var(name) if (known := named.get(name)) is not None:
                return self.add(known, sign, {key: one for key, one in named.items() if key != name})
            case Aggregate():
                self._aggregates.append((sign, node))
            case Arithmetic("+" | "-" as operator, left, right):
                other = sign if operator == "+" else -sign
                return self.add(left, sign, named) and self.add(right, other, named)
            case Literal(lexical) if node.datatype is not None and (number := _finite(lexical)) is not None:
                self._numbers.append(sign * number)
            case _:
                return False
        return True

    def is_exact(self) -> bool:
        """Whether rounding cannot make it negative: of two aggregates, and one number that does not help."""
        return len(self._aggregates) == 2 and len(self._numbers) < 2 and sum(self._numbers) >= 0

    def only(self, sign: int) -> Aggregate | None:
        """The aggregate that is added, or taken away, if there is one of each."""
        return next((node for one, node in self._aggregates if one == sign), None)


def _finite(lexical: str) -> Decimal | None:
    try:
        number = Decimal(lexical)
    except ArithmeticError:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 300 else None
