"""Closures over rows in which computed figures stand as values.

To write and read their terms would cost more than to compute them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obep.guards.filter_closures import Compiler, Evaluate, EvaluateTerm
from obep.guards.three_valued import Condition, Row, Times
from obep.guards.typed_values import ExpressionError, Value, term_of_value
from obep.model import Term
from obep.query.ast import Call, Expression, Var


class FigureCompiler(Compiler):
    """Some slots of a row hold values, all others terms."""

    def __init__(self, index: Mapping[str, int], figures: frozenset[str]) -> None:
        super().__init__(index, {})
        self._figures = figures

    def value(self, node: Expression) -> Evaluate:
        if not isinstance(node, Var) or node.name not in self._figures:
            return super().value(node)
        slot = self._index[node.name]

        def figure(row: Row, times: Times) -> Value:
            found: Any = row[slot]
            if found is None:
                raise ExpressionError
            return found  # type: ignore[no-any-return]  # a value in the place of a term

        return figure

    def _term_of_variable(self, node: Var) -> EvaluateTerm:
        if node.name not in self._figures:
            return super()._term_of_variable(node)
        value = self.value(node)

        def term(row: Row, times: Times) -> Term:
            return term_of_value(value(row, times))

        return term

    def _slot(self, node: Expression) -> int | None:
        # A comparison reads a slot as a term.
        return None if isinstance(node, Var) and node.name in self._figures else super()._slot(node)

    def _bound(self, node: Call) -> Condition:
        argument = node.arguments[0]
        slot = self._index.get(argument.name) if isinstance(argument, Var) else None
        if slot is None:
            return lambda row, times: False
        return lambda row, times: row[slot] is not None
