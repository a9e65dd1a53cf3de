"""The accumulator of an aggregate that stands in a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from obep.algebra.aggregates.accumulator import Accumulator, Collecting, Computed, Distinct, DistinctComputed
from obep.algebra.aggregates.argument_figures import FIGURES, VALUES, ArgumentFigures
from obep.algebra.aggregates.counts import CountRows, CountValues, GroupConcat, Sample
from obep.algebra.aggregates.extremes import Extreme, Median, Percentile
from obep.algebra.aggregates.presence import Full, Held
from obep.algebra.aggregates.row_order import Changes, First, Last, Rate, TimeAverage, Travel, Turns
from obep.algebra.aggregates.sums import Average, Deviation, Slope, Sum
from obep.query.ast import Aggregate, Expression

_OF_VALUES: dict[str, Callable[[], Accumulator]] = {
    "COUNT": CountValues,
    "SUM": Sum,
    "AVG": Average,
    "MIN": lambda: Extreme(greatest=False),
    "MAX": lambda: Extreme(greatest=True),
    "SAMPLE": Sample,
    "STDDEV": Deviation,
    "MEDIAN": Median,
}
_OF_ORDER: dict[str, Callable[[], Accumulator]] = {
    "FIRST": First,
    "LAST": Last,
    "RATE": Rate,
    "SLOPE": Slope,
    "TIMEAVG": TimeAverage,
    "CHANGES": Changes,
    "TRAVEL": Travel,
    "TURNS": Turns,
}

_COSTS = {"COUNT": 0, "MIN": 1, "MAX": 1}
OF_TIME = frozenset({"TIMEAVG", "HELD"})
"""These change with the time alone: they are computed at rows of their own group and at multiples of STEP."""


class FigureOf(NamedTuple):
    """An aggregate of an accumulator."""

    compute: Callable[[Any, int], Any]
    """Of the accumulator at an instant; `None` is SPARQL's error."""
    is_value: bool
    """Whether that is a value, and not a term."""
    value: Callable[[Any, int], Any] | None = None
    """What computes the value of a term, where that need not be read."""
    cost: int = 2
    """How long it takes: nothing (0), little (1) or longer."""
    function: str = ""
    """Its name, where rows leave in the order of their ends, and DISTINCT is not asked for."""


class Shared(NamedTuple):
    """An accumulator of one or several aggregates."""

    make: Callable[[], Collecting]
    """Makes empty ones, for each group one."""
    node: Aggregate
    """One of its aggregates: its argument is that of all."""
    figures: dict[Aggregate, FigureOf]


def shared_accumulators(nodes: Sequence[Aggregate], within: int, *, in_order: bool) -> list[Shared]:
    """The accumulators for some aggregates: where rows leave in the order of their ends, one for an argument.

    COUNT(*) is counted by the first of them.
    """
    found: dict[Expression | None, list[Aggregate]] = {}
    alone: list[Shared] = []
    for node in nodes:
        if in_order and node.function in FIGURES and not node.distinct:
            found.setdefault(node.argument, []).append(node)
        else:
            make = maker(node, within)
            computed = isinstance(make(), Computed)
            figure = FigureOf(_figure if computed else _value, computed)
            alone.append(Shared(make, node, {node: figure}))
    counted = found.pop(None, [])
    lots = [*found.values()] or [[]]
    return [_shared([*lot, *([] if n else counted)]) for n, lot in enumerate(lots) if lot or counted] + alone


def _shared(nodes: list[Aggregate]) -> Shared:
    functions = frozenset(node.function for node in nodes)
    figures = {
        node: FigureOf(
            _compute(node),
            node.function not in VALUES,
            VALUES.get(node.function),
            _COSTS.get(node.function, 2),
            node.function,
        )
        for node in nodes
    }
    return Shared(lambda: ArgumentFigures(functions), nodes[0], figures)


def _compute(node: Aggregate) -> Callable[[Any, int], Any]:
    return ArgumentFigures.count_rows if node.argument is None else FIGURES[node.function]


def _figure(accumulator: Any, now: int) -> Any:
    return accumulator.figure(now)


def _value(accumulator: Any, now: int) -> Any:
    return accumulator.value(now)


def make_aggregate(node: Aggregate, within: int = 0) -> Accumulator:
    """Make an empty accumulator; FULL and HELD need the width of the window, in microseconds."""
    return maker(node, within)()


def maker(node: Aggregate, within: int = 0) -> Callable[[], Accumulator]:
    """Return a function that makes an empty accumulator for each group."""
    make = _maker(node, within)
    if not node.distinct or (node.function == "COUNT" and node.argument is None):
        return make
    if node.function in _OF_ORDER or node.function in ("FULL", "HELD"):
        raise ValueError(f"{node.function} has no DISTINCT: it is about rows in their order")

    def distinct() -> Accumulator:
        inner = make()
        return DistinctComputed(inner) if isinstance(inner, Computed) else Distinct(inner)

    return distinct


def _maker(node: Aggregate, within: int) -> Callable[[], Accumulator]:
    name = node.function
    if name == "FULL":
        return lambda: Full(within)
    if name == "HELD":
        return lambda: Held(within)
    if name == "COUNT" and node.argument is None:
        return lambda: CountRows(node.distinct)
    if name == "GROUP_CONCAT":
        separator = " " if node.separator is None else node.separator
        return lambda: GroupConcat(separator)
    if name == "PERCENTILE":
        percent = percent_of(node)
        return lambda: Percentile(percent)
    make = _OF_VALUES.get(name) or _OF_ORDER.get(name)
    if make is None:
        raise ValueError(f"{name} is no aggregate")
    return make


def percent_of(node: Aggregate) -> Fraction:
    """The p of `PERCENTILE(?x, p)`. Raises ValueError if it is not a number with 0 < p <= 100."""
    try:
        percent = Fraction(node.percent.lexical if node.percent else "")
    except (ValueError, ZeroDivisionError):
        percent = Fraction(0)
    if not 0 < percent <= 100:
        raise ValueError("the p of PERCENTILE(?x, p) is a number above 0 and at most 100")
    return percent
