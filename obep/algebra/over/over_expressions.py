"""AGGREGATE and HAVING of a state, compiled once: over aggregates, the variables of GROUP BY, and aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from obep.algebra.aggregates.accumulator import Accumulator, Computed
from obep.algebra.aggregates.make_aggregate import OF_TIME, maker
from obep.algebra.over.figure_compiler import FigureCompiler
from obep.errors import ObepError
from obep.guards.calendar import Moment
from obep.guards.filter_closures import Compiler
from obep.guards.three_valued import Condition
from obep.guards.typed_values import ExpressionError, term_of_value
from obep.model import Term
from obep.query.ast import Aggregate, Arithmetic, Call, Expression, Node, Projection, Var
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
        self.each = False
        """Whether only the groups of FOR EACH count."""
        found: dict[Aggregate, str] = {}
        plain = [(one.variable.name, _without_aggregates(one.expression, found)) for one in aggregates]
        condition = None if having is None else _without_aggregates(having, found)
        self.aggregates = tuple(found)
        self._makers = [maker(node, within) for node in self.aggregates]
        layout = _Layout([*group_by, _NOW, *found.values()])
        computed = [isinstance(make(), Computed) for make in self._makers]
        layout.figures |= {name for name, yes in zip(found.values(), computed, strict=True) if yes}
        self._first = len(layout.names)
        self._columns = [layout.column(name, expression) for name, expression in plain]
        self._having = None if condition is None else layout.condition(condition)
        # What HAVING asks for is computed first, the rest only for what holds.
        names = _asked(condition) if condition is not None else set()
        for name, expression in reversed(plain):
            names |= _asked(expression) if name in names else set()
        slots = list(enumerate(found.values(), len(group_by) + 1))
        every = [(slot, place, computed[place], name) for place, (slot, name) in enumerate(slots)]
        self._aggregates_first = [one[:3] for one in every if one[3] in names]
        self._aggregates_then = [one[:3] for one in every if one[3] not in names]
        placed = [(self._first + place, evaluate) for place, (_, evaluate) in enumerate(self._columns)]
        self._columns_first = [one for one, (name, _) in zip(placed, plain, strict=True) if name in names]
        self._columns_then = [one for one, (name, _) in zip(placed, plain, strict=True) if name not in names]
        self._arguments = [_argument(node, variables) for node in self.aggregates]
        functions = {node.function for node in self.aggregates}
        self.asks_full = "FULL" in functions
        asked = [expression for expression in (having, *(one.expression for one in aggregates)) if expression]
        self.of_time = bool(functions & OF_TIME) or any(map(_asks_now, asked))

    def arguments(self, row: OverRow) -> Values:
        """The terms of the aggregates' arguments in a row."""
        return tuple([argument(row) for argument in self._arguments])

    def accumulators(self) -> list[Accumulator]:
        """Empty ones, in the order of `aggregates`."""
        return [make() for make in self._makers]

    def result(self, group: GroupKey, accumulators: list[Accumulator], now: int) -> Values | None:
        """The values of AGGREGATE at an instant, if HAVING is true."""
        row: list[Any] = [*group, term_of_value(Moment(now)) if self.of_time else None]
        row += [None] * (self._first - len(row) + len(self._columns))
        if self._having is not None:
            _fill(row, accumulators, now, self._aggregates_first, self._columns_first)
            try:
                if not self._having(row, ()):
                    return None
            except ExpressionError:
                return None
        _fill(row, accumulators, now, self._aggregates_then, self._columns_then)
        values = zip(self._columns, row[self._first :], strict=True)
        return tuple(
            [term_of_value(value) if figure and value is not None else value for (figure, _), value in values]
        )


def _fill(
    row: list[Any],
    accumulators: list[Any],
    now: int,
    aggregates: list[tuple[int, int, bool]],
    columns: list[tuple[int, Callable[..., Any]]],
) -> None:
    """Computes some slots of a row: of aggregates, and of what is made of them."""
    for slot, place, computed in aggregates:
        row[slot] = accumulators[place].figure(now) if computed else accumulators[place].value(now)
    for slot, evaluate in columns:
        try:
            row[slot] = evaluate(row, ())
        except ExpressionError:
            row[slot] = None


class _Layout:
    """The slots of a row, and which of them hold values instead of terms."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.figures: set[str] = set()

    def column(self, name: str, expression: Expression) -> tuple[bool, Callable[..., Any]]:
        """The next slot: whether it holds a value, and what computes it."""
        figure = isinstance(expression, Arithmetic) or (
            isinstance(expression, Var) and expression.name in self.figures
        )
        compiler = self._compiler()
        evaluate: Callable[..., Any] = compiler.value(expression) if figure else compiler.term(expression)
        self.names.append(name)
        if figure:
            self.figures.add(name)
        return figure, evaluate

    def condition(self, condition: Expression) -> Condition:
        wrong = check_expression(condition)
        if wrong:
            raise ObepError(*wrong)
        return self._compiler().test(condition)

    def _compiler(self) -> FigureCompiler:
        return FigureCompiler({name: slot for slot, name in enumerate(self.names)}, frozenset(self.figures))


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


def _asked(expression: Expression) -> set[str]:
    """The variables of an expression."""
    return {node.name for node in walk(expression) if isinstance(node, Var)}


def _asks_now(expression: Expression) -> bool:
    return any(isinstance(node, Call) and node.function == "NOW" for node in walk(expression))
