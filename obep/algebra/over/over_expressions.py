"""AGGREGATE and HAVING of a state, compiled once: over aggregates, the variables of GROUP BY, and aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from operator import itemgetter
from typing import Any, Final, NamedTuple

from obep.algebra.aggregates.accumulator import Collecting
from obep.algebra.aggregates.argument_figures import ArgumentFigures
from obep.algebra.aggregates.make_aggregate import OF_TIME, FigureOf, shared_accumulators
from obep.algebra.over.figure_compiler import PENDING, Blocked, Figure, FigureCompiler, Quick, quick_test
from obep.errors import ObepError
from obep.guards.calendar import Moment
from obep.guards.filter_closures import Compiler
from obep.guards.three_valued import Condition
from obep.guards.typed_values import ExpressionError, term_of_value
from obep.model import Term
from obep.query.ast import (
    Aggregate,
    Arithmetic,
    Call,
    Comparison,
    Conjunction,
    Expression,
    Literal,
    Node,
    Projection,
    Var,
)
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


KeptRow = tuple[int, tuple[Term, ...], int, str, Values, Any]
"""The same while it is in a window, with its group itself: a plain tuple, since there are many."""
END: Final = 0
ORDER: Final = 1
START: Final = 2
TERMS: Final = 4
GROUP: Final = 5
MAX_BECAUSE = 100
"""The rows of a group, the last ones, whose sources are kept, where no setting says how many (STATES 3)."""


class OverExpressions:
    """The expressions of a group, over one layout of rows."""

    def __init__(
        self,
        group_by: Sequence[str],
        variables: Sequence[str],
        aggregates: Sequence[Projection],
        having: Expression | None,
        within: int,
        *,
        in_order: bool = True,
        max_because: int = MAX_BECAUSE,
    ) -> None:
        """`in_order`: rows leave in the order of their ends. `max_because`: how many of a group's last rows
        keep their sources."""
        self.max_because = max_because
        self.blocked: bool | Blocked = False
        """What the last `result` waits for, if it was nothing."""
        self.failed: Quick | None = None
        """The part of HAVING that was not true in it, if that was a quick one."""
        self.bare = not aggregates and having is None
        """Whether only groups with rows count."""
        self.lags = False
        """Whether what depends on the time is computed when rows come and leave only."""
        self.each = False
        """Whether only the groups of FOR EACH count."""
        self.lazy = False
        """Whether the values of a group that holds on are computed only when they are read."""
        found: dict[Aggregate, str] = {}
        plain = [(one.variable.name, _without_aggregates(one.expression, found)) for one in aggregates]
        condition = None if having is None else _without_aggregates(having, found)
        self.aggregates = tuple(found)
        layout = _Layout([*group_by, _NOW])
        accumulators = shared_accumulators(self.aggregates, within, in_order=in_order)
        self._makers = [one.make for one in accumulators]
        for place, one in enumerate(accumulators):
            for node, figure in one.figures.items():
                layout.aggregate(found[node], place, figure)
        self._columns = [layout.column(name, expression) for name, expression in plain]
        self._pending = [PENDING] * (len(layout.names) - len(group_by) - 1)
        self._quick: list[Quick] = []
        self._having: list[Condition] = []
        if condition is not None:
            self._quick, self._having = layout.conditions(condition)
        nodes = [one.node for one in accumulators]
        self.arguments = [_argument(node, variables) for node in nodes]
        """Functions that compute the arguments of the accumulators from a row."""
        only = nodes[0].argument if len(nodes) == 1 else None
        known = isinstance(only, Var) and only.name in variables
        self.slot = variables.index(only.name) if isinstance(only, Var) and known else None
        """Where the argument of the only accumulator stands in the terms of a row, if it is a variable."""
        figures = self.slot is not None and isinstance(self._makers[0](), ArgumentFigures)
        self.figures_slot = self.slot if figures else None
        """The same, if that accumulator is `ArgumentFigures`."""
        functions = {node.function for node in self.aggregates}
        self.asks_full = "FULL" in functions
        asked = [expression for expression in (having, *(one.expression for one in aggregates)) if expression]
        self.of_time = bool(functions & OF_TIME) or any(map(_asks_now, asked))
        self.may_be_lazy = (
            not (self._having or self.of_time or self.asks_full or self.bare)
            and bool(self._makers)
            and all(isinstance(make(), ArgumentFigures) for make in self._makers)
        )
        """Whether HAVING is decided, and AGGREGATE computed, from figures of rows that can be copied."""

    def accumulators(self) -> list[Collecting]:
        """Empty ones, in the order of `aggregates`."""
        return [make() for make in self._makers]

    def result(self, group: GroupKey, accumulators: list[Collecting], now: int) -> Values | None:
        """The values of AGGREGATE at an instant, if HAVING is true; only what is asked for is computed."""
        return self.values(group, accumulators, now) if self.passes(accumulators, now) else None

    def passes(self, accumulators: list[Collecting], now: int) -> bool:
        """Whether the quick parts of HAVING are true."""
        for quick in self._quick:
            passed = quick(accumulators, now)
            if passed is not True:
                self.blocked, self.failed = passed, quick
                return False
        self.blocked, self.failed = False, None
        return True

    def values(self, group: GroupKey, accumulators: list[Collecting], now: int) -> Values | None:
        """The values of AGGREGATE, if the other parts of HAVING are true."""
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
        self._aggregates: dict[int, tuple[int, FigureOf]] = {}
        """By their slots: of which accumulator they are."""

    def aggregate(self, name: str, place: int, figure: FigureOf) -> None:
        """The next slot: an aggregate's."""
        slot = len(self.names)
        compute_of = figure.compute

        def compute(row: list[Any]) -> Any:
            found = row[slot] = compute_of(row[-2][place], row[-1])
            return found

        self._add(name, Figure(slot, figure.is_value, compute))
        self._aggregates[slot] = (place, figure)

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

    def conditions(self, condition: Expression) -> tuple[list[Quick], list[Condition]]:
        """What must be true, the quickest first: at the top an error is as good as false, in any order."""
        wrong = check_expression(condition)
        if wrong:
            raise ObepError(*wrong)
        parts = condition.operands if isinstance(condition, Conjunction) else (condition,)
        quick: list[tuple[int, Quick]] = []
        others: list[Condition] = []
        for part in parts:
            place, of = self._aggregate_of(part)
            if of is not None and isinstance(part, Comparison):
                constant = self._compiler().value(part.right)((), ())
                quick.append((of.cost, quick_test(place, of, part.operator, constant)))
            else:
                others.append(self._compiler().test(part))
        return [test for _, test in sorted(quick, key=itemgetter(0))], others

    def _aggregate_of(self, part: Expression) -> tuple[int, FigureOf | None]:
        """The aggregate that is compared with a constant, and nothing else."""
        if isinstance(part, Comparison) and isinstance(part.left, Var) and isinstance(part.right, Literal):
            figure = self._figures.get(part.left.name)
            if figure is not None and figure.slot in self._aggregates:
                return self._aggregates[figure.slot]
        return 0, None

    def _compiler(self) -> FigureCompiler:
        return FigureCompiler({name: slot for slot, name in enumerate(self.names)}, self._figures)


def _argument(node: Aggregate, variables: Sequence[str]) -> Callable[[KeptRow], Term | None]:
    argument = node.argument
    if argument is None:
        if node.function == "COUNT" and node.distinct:  # COUNT(DISTINCT *): of different solutions
            return lambda row: "\n".join(["" if term is None else term for term in row[TERMS]])
        return lambda row: None
    index = {name: slot for slot, name in enumerate(variables)}
    if isinstance(argument, Var):
        slot = index.get(argument.name)
        return (lambda row: None) if slot is None else (lambda row: row[TERMS][slot])
    term = Compiler(index, {"": 0}).term(argument)

    def evaluate(row: KeptRow) -> Term | None:
        try:
            return term(row[TERMS], ((row[START], row[END]),))
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
