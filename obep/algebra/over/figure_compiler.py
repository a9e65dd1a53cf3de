"""Closures over rows whose figures are computed when they are first asked for.

A figure is an aggregate or what AGGREGATE makes of some. It stands in a row as a value or as a term: to write
and read the term of a number would cost more than to compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal

from obep.algebra.aggregates.accumulator import Collecting
from obep.algebra.aggregates.argument_figures import COMPARABLE, in_millionths
from obep.algebra.aggregates.make_aggregate import FigureOf
from obep.guards.filter_closures import Compiler, Evaluate, EvaluateTerm
from obep.guards.three_valued import Condition, Row, Times
from obep.guards.typed_values import ExpressionError, Value, parsed, term_of_value
from obep.guards.value_order import OPERATORS, compare
from obep.model import Term
from obep.query.ast import Call, Comparison, Expression, Var
from obep.query.ast import Literal as LiteralNode

PENDING: Any = object()
"""In the slot of a figure that has not been computed."""
_EXACT: frozenset[type] = frozenset({int, Decimal})
"""Numbers that compare as they are."""
Compute = Callable[[Any], Any]
"""Computes a figure of a row, and puts it in its slot; `None` is SPARQL's error."""


class Figure:
    """One figure of a row: whether it is a value or a term, and what computes it."""

    def __init__(self, slot: int, is_value: bool, compute: Compute) -> None:
        self.slot = slot
        self.is_value = is_value
        self.compute = compute

    def term(self, row: Any) -> Term | None:
        """Its term in a row."""
        found = row[self.slot]
        if found is PENDING:
            found = self.compute(row)
        return term_of_value(found) if self.is_value and found is not None else found


class FigureCompiler(Compiler):
    """Some slots of a row hold figures, all others terms."""

    def __init__(self, index: Mapping[str, int], figures: Mapping[str, Figure]) -> None:
        super().__init__(index, {})
        self._figures = figures

    def value(self, node: Expression) -> Evaluate:
        figure = self._figure(node)
        if figure is None:
            return super().value(node)
        slot, compute, is_value = figure.slot, figure.compute, figure.is_value

        def value(row: Row, times: Times) -> Value:
            found: Any = row[slot]
            if found is PENDING:
                found = compute(row)
            if found is None:
                raise ExpressionError
            return found if is_value else parsed[found]

        return value

    def _term_of_variable(self, node: Var) -> EvaluateTerm:
        figure = self._figures.get(node.name)
        if figure is None:
            return super()._term_of_variable(node)

        def term(row: Row, times: Times) -> Term:
            found = figure.term(row)
            if found is None:
                raise ExpressionError
            return found

        return term

    def _figure(self, node: Expression) -> Figure | None:
        return self._figures.get(node.name) if isinstance(node, Var) else None

    def _slot(self, node: Expression) -> int | None:
        # A comparison reads a slot as a term that is there.
        return None if self._figure(node) is not None else super()._slot(node)

    def _comparison(self, node: Comparison) -> Condition:
        figure = self._figure(node.left)
        if figure is None or not isinstance(node.right, LiteralNode):
            return super()._comparison(node)
        slot, compute, is_value = figure.slot, figure.compute, figure.is_value
        sign, apply, constant = node.operator, OPERATORS[node.operator], self.value(node.right)((), ())
        exact = _EXACT if type(constant) in _EXACT else frozenset()

        def with_constant(row: Row, times: Times) -> bool:
            found: Any = row[slot]
            if found is PENDING:
                found = compute(row)
            if not is_value:
                found = parsed[found]
            if type(found) in exact:
                return apply(found, constant)
            if found is None:
                raise ExpressionError
            return compare(sign, found, constant)

        return with_constant

    def _bound(self, node: Call) -> Condition:
        argument = node.arguments[0]
        figure = self._figure(argument)
        if figure is None:
            return super()._bound(node)
        return lambda row, times: figure.term(row) is not None


Quick = Callable[[list[Collecting], int], "bool | Blocked"]
"""A condition over the accumulators of a group at an instant."""
Blocked = Literal["row comes", "row leaves"]
"""A condition is not true, and will not be before that happens."""
_GROWS = {">": "row comes", ">=": "row comes", "<": "row leaves", "<=": "row leaves"}
_SHRINKS = {">": "row leaves", ">=": "row leaves", "<": "row comes", "<=": "row comes"}
_WAITS: dict[str, dict[str, Any]] = {"COUNT": _GROWS, "MAX": _GROWS, "MIN": _SHRINKS}
"""What a comparison waits for that is not true, of figures that rows which come only raise or only lower."""


def quick_test(place: int, figure: FigureOf, sign: str, constant: Value) -> Quick:
    """Compares an aggregate with a constant, without any row; an error is not true."""
    waits: bool | Blocked = _WAITS.get(figure.function, {}).get(sign, False)
    apply, compute = OPERATORS[sign], figure.value or figure.compute
    is_value = figure.is_value or figure.value is not None
    exact = _EXACT if type(constant) in _EXACT else frozenset()

    def test(accumulators: list[Collecting], now: int) -> bool | Blocked:
        found = compute(accumulators[place], now)
        if found is None:
            return False
        if not is_value:
            found = parsed[found]
        if type(found) in exact:
            return apply(found, constant) or waits
        try:
            return compare(sign, found, constant)
        except ExpressionError:
            return False

    if figure.function != "AVG" or (millionths := in_millionths(constant)) is None:
        return test
    if abs(millionths) >= COMPARABLE:
        return test

    def mean_test(accumulators: list[Collecting], now: int) -> bool | Blocked:
        of: Any = accumulators[place]
        passed: bool | None = of.compared_mean(apply, millionths)
        return test(accumulators, now) if passed is None else passed

    return mean_test
