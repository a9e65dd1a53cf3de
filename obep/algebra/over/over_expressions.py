"""AGGREGATE and HAVING of a state, compiled once: over aggregates, the variables of GROUP BY, and aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from operator import itemgetter
from typing import Any, NamedTuple

from obep.algebra.aggregates.accumulator import Accumulator, Computed
from obep.algebra.aggregates.make_aggregate import OF_TIME, maker
from obep.algebra.over.figure_compiler import PENDING, Figure, FigureCompiler
from obep.errors import ObepError
from obep.guards.calendar import Moment
from obep.guards.filter_closures import Compiler
from obep.guards.three_valued import Condition
from obep.guards.typed_values import ExpressionError, term_of_value
from obep.model import Term
from obep.query.ast import Aggregate, Arithmetic, Call, Conjunction, Expression, Node, Projection, Var
from obep.query.function_signatures import check_expression
from obep.query.walk import walk

GroupKey = tuple[Term | None, ...]
"""The values of the GROUP BY variables."""
Values = tuple[Term | None, ...]
_NOW = "_:now"


class OverRow(NamedTuple):
    """A row of a window: one for each start, end, individuals and solution (STATES 2).

    Rows in the order of tuples stand in the order of `end`, ties as N-Triples.
    """

    end: int
    order: tuple[Term, ...]
    """The solution without what is unbound, by the names of the variables."""
    start: int
    individuals: str
    terms: Values
    """The solution, in the order of the window's variables."""
    group: GroupKey


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
        self.bare = not aggregates and having is None
        """Whether only groups with rows count."""
        self.lags = False
        """Whether what depends on the time is computed when rows come and leave only."""
        self.each = False
        """Whether only the groups of FOR EACH count."""
        found: dict[Aggregate, str] = {}
        plain = [(one.variable.name, _without_aggregates(one.expression, found)) for one in aggregates]
        condition = None if having is None else _without_aggregates(having, found)
        self.aggregates = tuple(found)
        self._makers = [maker(node, within) for node in self.aggregates]
        layout = _Layout([*group_by, _NOW])
        for place, name in enumerate(found.values()):
            layout.aggregate(name, place, isinstance(self._makers[place](), Computed))
        self._columns = [layout.column(name, expression) for name, expression in plain]
        self._pending = [PENDING] * (len(layout.names) - len(group_by) - 1)
        self._having = [] if condition is None else layout.conditions(condition)
        self.arguments = _arguments(self.aggregates, variables)
        """The terms of the aggregates' arguments in a row."""
        functions = {node.function for node in self.aggregates}
        self.asks_full = "FULL" in functions
        asked = [expression for expression in (having, *(one.expression for one in aggregates)) if expression]
        self.of_time = bool(functions & OF_TIME) or any(map(_asks_now, asked))

    def accumulators(self) -> list[Accumulator]:
        """Empty ones, in the order of `aggregates`."""
        return [make() for make in self._makers]

    def result(self, group: GroupKey, accumulators: list[Accumulator], now: int) -> Values | None:
        """The values of AGGREGATE at an instant, if HAVING is true; only what is asked for is computed."""
        moment = term_of_value(Moment(now)) if self.of_time else None
        row: list[Any] = [*group, moment, *self._pending, accumulators, now]
        try:
            for test in self._having:
                if not test(row, ()):
                    return None
        except ExpressionError:
            return None
        return tuple([column.term(row) for column in self._columns])


class _Layout:
    """The slots of a row: GROUP BY, NOW, figures; at its end the accumulators and the instant."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._figures: dict[str, Figure] = {}

    def aggregate(self, name: str, place: int, is_value: bool) -> None:
        """The next slot: an aggregate's."""
        slot = len(self.names)

        def computed(row: list[Any]) -> Any:
            found = row[slot] = row[-2][place].figure(row[-1])
            return found

        def read(row: list[Any]) -> Any:
            found = row[slot] = row[-2][place].value(row[-1])
            return found

        self._add(name, Figure(slot, is_value, computed if is_value else read))

    def column(self, name: str, expression: Expression) -> Figure:
        """The next slot: what AGGREGATE names."""
        slot = len(self.names)
        if isinstance(expression, Var) and expression.name in self._figures:
            return self._add(name, self._figures[expression.name])
        is_value = isinstance(expression, Arithmetic)
        compiler = self._compiler()
        evaluate: Callable[..., Any] = compiler.value(expression) if is_value else compiler.term(expression)

        def compute(row: list[Any]) -> Any:
            try:
                found = evaluate(row, ())
            except ExpressionError:
                found = None
            row[slot] = found
            return found

        return self._add(name, Figure(slot, is_value, compute))

    def _add(self, name: str, figure: Figure) -> Figure:
        self.names.append(name)
        self._figures[name] = figure
        return figure

    def conditions(self, condition: Expression) -> list[Condition]:
        """What must be true; at the top an error is as good as false, so the first may decide."""
        wrong = check_expression(condition)
        if wrong:
            raise ObepError(*wrong)
        parts = condition.operands if isinstance(condition, Conjunction) else (condition,)
        return [self._compiler().test(part) for part in parts]

    def _compiler(self) -> FigureCompiler:
        return FigureCompiler({name: slot for slot, name in enumerate(self.names)}, self._figures)


def _arguments(nodes: Sequence[Aggregate], variables: Sequence[str]) -> Callable[[OverRow], Values]:
    """What gives the arguments of all aggregates in a row."""
    index = {name: slot for slot, name in enumerate(variables)}
    # Whoever counts rows or time looks at no value.
    slots = [
        index.get(one.argument.name) if isinstance(one.argument, Var) else 0
        for one in nodes
        if isinstance(one.argument, Var) or (one.argument is None and not one.distinct)
    ]
    if variables and len(slots) == len(nodes) > 1 and None not in slots:
        pick = itemgetter(*[slot for slot in slots if slot is not None])
        return lambda row: pick(row[4])
    arguments = [_argument(node, variables) for node in nodes]
    return lambda row: tuple([argument(row) for argument in arguments])


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
    return any(isinstance(node, Call) and node.function == "NOW" for node in walk(expression))
