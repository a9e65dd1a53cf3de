"""AGGREGATE and HAVING of a state, compiled once: over aggregates, the variables of GROUP BY, and aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from obep.algebra.aggregates.accumulator import Accumulator
from obep.algebra.aggregates.make_aggregate import OF_TIME, make_aggregate
from obep.guards.calendar import Moment
from obep.guards.filter_closures import Compiler, EvaluateTerm, compile_condition
from obep.guards.typed_values import ExpressionError, term_of_value
from obep.model import Term
from obep.query.ast import Aggregate, Call, Expression, Node, Projection, Var

GroupKey = tuple[Term | None, ...]
"""The values of the GROUP BY variables."""
Values = tuple[Term | None, ...]
_NOW = "_:now"


class OverRow(NamedTuple):
    """A row of a window: one for each start, end, individuals and solution (STATES 2)."""

    group: GroupKey
    start: int
    end: int
    done: int
    identity: str
    """Start, individuals and solution, as N-Triples: equal rows are one, and rows with one end stand in its
    order."""
    terms: Values
    """The solution, in the order of the window's variables."""
    source: Any = None
    """Whatever the caller wants to find again."""


class OverExpressions:
    """What is computed for a group, over one layout of rows."""

    def __init__(
        self,
        group_by: Sequence[str],
        variables: Sequence[str],
        aggregates: Sequence[Projection],
        having: Expression | None,
        within: int,
    ) -> None:
        self._within = within
        self.each = False
        """Whether only the groups of FOR EACH count."""
        found: dict[Aggregate, str] = {}
        plain = [(one.variable.name, _without_aggregates(one.expression, found)) for one in aggregates]
        condition = None if having is None else _without_aggregates(having, found)
        self.aggregates = tuple(found)
        index = {name: slot for slot, name in enumerate([*group_by, _NOW, *found.values()])}
        self._terms: list[EvaluateTerm] = []
        for name, expression in plain:
            self._terms.append(Compiler(index, {}).term(expression))
            index = {**index, name: len(group_by) + 1 + len(found) + len(self._terms) - 1}
        self._having = None if condition is None else compile_condition(condition, index, {})
        self._arguments = [_argument(node, variables) for node in self.aggregates]
        names = {node.function for node in self.aggregates}
        self.asks_full = "FULL" in names
        self.asks_held = "HELD" in names
        asked = [expression for expression in (having, *(one.expression for one in aggregates)) if expression]
        self.of_time = bool(names & OF_TIME) or any(map(_asks_now, asked))

    def arguments(self, row: OverRow) -> Values:
        """The terms of the aggregates' arguments in a row."""
        return tuple([argument(row) for argument in self._arguments])

    def accumulators(self) -> list[Accumulator]:
        """Empty ones, in the order of `aggregates`."""
        return [make_aggregate(node, self._within) for node in self.aggregates]

    def result(self, group: GroupKey, accumulators: list[Accumulator], now: int) -> tuple[Values, bool]:
        """The values of AGGREGATE at an instant, and whether HAVING is true."""
        row: list[Term | None] = [*group, term_of_value(Moment(now)) if self.of_time else None]
        row += [accumulator.value(now) for accumulator in accumulators]
        values: list[Term | None] = []
        for term in self._terms:
            try:
                values.append(term(row, ()))
            except ExpressionError:
                values.append(None)
            row.append(values[-1])
        return tuple(values), self._having is None or self._having(row, ())


def _argument(node: Aggregate, variables: Sequence[str]) -> Callable[[OverRow], Term | None]:
    argument = node.argument
    if argument is None:
        if node.function == "COUNT" and node.distinct:  # COUNT(DISTINCT *): of different solutions
            return lambda row: "\n".join(["" if term is None else term for term in row.terms])
        return lambda row: None
    index = {name: slot for slot, name in enumerate(variables)}
    if isinstance(argument, Var):
        slot = index.get(argument.name)
        return (lambda row: None) if slot is None else (lambda row: row.terms[slot])
    term = Compiler(index, {"": 0}).term(argument)

    def evaluate(row: OverRow) -> Term | None:
        try:
            return term(row.terms, ((row.start, row.end),))
        except ExpressionError:
            return None

    return evaluate


def _without_aggregates(node: Any, found: dict[Aggregate, str]) -> Any:
    """The expression with a variable of its own in the place of each aggregate, and of NOW()."""
    if isinstance(node, Aggregate):
        return Var(found.setdefault(node, f"_:aggregate{len(found)}"))
    if isinstance(node, Call) and node.function == "NOW":
        return Var(_NOW)
    if isinstance(node, Node):
        parts = {field.name: getattr(node, field.name) for field in fields(node) if field.compare}
        return replace(node, **{name: _without_aggregates(part, found) for name, part in parts.items()})
    if isinstance(node, tuple):
        return tuple([_without_aggregates(part, found) for part in node])
    return node


def _asks_now(expression: Expression) -> bool:
    from obep.query.walk import walk

    return any(isinstance(node, Call) and node.function == "NOW" for node in walk(expression))
