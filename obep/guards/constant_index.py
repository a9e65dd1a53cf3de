"""Which of many comparisons with constants may hold: an index in place of one test after the other.

It only leaves out what is surely not true. What it names is tested as if there were no index, so a filter
means the same with it and without.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from obep.guards.guard_terms import term_of
from obep.guards.typed_values import Iri, Value, parse_term
from obep.guards.value_order import as_double
from obep.query.ast import Comparison, Conjunction, Expression, Literal, Name

MIRRORED = {"=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The operators that are indexed, each with how it reads from the other side."""
EXACT: tuple[type, ...] = (int, Decimal)
NAMED: tuple[type, ...] = (str, Iri)


class Compared(NamedTuple):
    """Something that is compared with a constant."""

    subject: Expression
    operator: str
    constant: Value


def comparisons(condition: Expression) -> list[Compared]:
    """The comparisons with constants that must be true where a condition is; those that can be indexed."""
    parts = condition.operands if isinstance(condition, Conjunction) else (condition,)
    found = (_comparison(part) for part in parts if isinstance(part, Comparison))
    return [one for one in found if one is not None]


def _comparison(node: Comparison) -> Compared | None:
    if node.operator not in MIRRORED:
        return None
    operator: str = node.operator
    if isinstance(node.right, Name | Literal):
        subject, other = node.left, node.right
    elif isinstance(node.left, Name | Literal):
        subject, operator, other = node.right, MIRRORED[node.operator], node.left
    else:
        return None
    constant = parse_term(term_of(other))
    if type(constant) in EXACT or (type(constant) in NAMED and operator == "="):
        return Compared(subject, operator, constant)
    return None


class Index:
    """Comparisons of one value with constants, each meant by a number."""

    def __init__(self, entries: Iterable[tuple[int, str, Value]]) -> None:
        """The number, the operator and the constant of each."""
        self._all: list[int] = []
        self._named: dict[tuple[type, Value], list[int]] = {}
        ordered: dict[str, list[tuple[Any, int]]] = {}
        for number, operator, constant in entries:
            self._all.append(number)
            if type(constant) in EXACT:
                ordered.setdefault(operator, []).append((constant, number))
            else:
                self._named.setdefault((type(constant), constant), []).append(number)
        self._ordered = [_Ordered(operator, sorted(found)) for operator, found in ordered.items()]

    def may_hold(self, value: Value) -> Sequence[int]:
        """The numbers of those that may be true of a value; all others are not."""
        kind = type(value)
        if kind in EXACT or (isinstance(value, float) and kind is float and value == value):
            return [number for one in self._ordered for number in one.may_hold(value, kind is float)]
        if kind in NAMED:
            return self._named.get((kind, value), ())
        return self._all


class _Ordered:
    """Comparisons by one operator with numbers, in the order of these."""

    def __init__(self, operator: str, entries: list[tuple[Any, int]]) -> None:
        self._operator = operator
        self._exact = [constant for constant, _ in entries]
        self._doubles = [as_double(constant) for constant, _ in entries]  # no less in order
        self._numbers = [number for _, number in entries]

    def may_hold(self, value: Any, double: bool) -> list[int]:
        constants = self._doubles if double else self._exact
        match self._operator:
            case ">":
                return self._numbers[: bisect_left(constants, value)]
            case ">=":
                return self._numbers[: bisect_right(constants, value)]
            case "<":
                return self._numbers[bisect_right(constants, value) :]
            case "<=":
                return self._numbers[bisect_left(constants, value) :]
        return self._numbers[bisect_left(constants, value) : bisect_right(constants, value)]
