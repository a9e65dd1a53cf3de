"""The aggregates of OVER (STATES 2, D18) over the rows of one group, each as its sentence says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from obep.model import SECOND, Term
from obep.query import ast
from oracle.guard_semantics import Row
from oracle.states.state_numbers import (
    RANKS,
    Length,
    Number,
    SparqlError,
    Value,
    compare,
    evaluate,
    instant,
    number,
    term_of,
    value_of,
)


@dataclass(frozen=True)
class OverRow:
    """A row of OVER: what makes it one, and when it is there: [done, leaves)."""

    start: int
    end: int
    individuals: tuple[object, ...]
    solution: Row
    done: int
    leaves: int

    @property
    def order(self) -> tuple[object, ...]:
        """By `end`; ties by the row as N-Triples, its variables in the order of their names."""
        return (self.end, [term for _, term in sorted(self.solution)])


@dataclass(frozen=True)
class GroupOfRows:
    """What an aggregate may ask of its group at the instant t."""

    rows: tuple[OverRow, ...]
    t: int
    full: bool
    held: int

    def aggregate(self, node: ast.Expression) -> Value:
        """The value of an aggregate (or of NOW())."""
        match node:
            case ast.Call("NOW"):
                return instant(self.t)
            case ast.Aggregate("FULL"):
                return self.full
            case ast.Aggregate("HELD"):
                return Length(self.held)
            case ast.Aggregate("COUNT", None, distinct):
                return _count(len({r.solution for r in self.rows}) if distinct else len(self.rows))
            case ast.Aggregate():
                return self._over_values(node)
        raise NotImplementedError(f"the oracle has no {type(node).__name__} here")

    def _over_values(self, node: ast.Aggregate) -> Value:
        pairs: list[tuple[OverRow, Value]] = []
        failed = False
        for row in sorted(self.rows, key=lambda r: r.order):  # type: ignore[arg-type, return-value]
            try:
                pairs.append((row, evaluate(node.argument, dict(row.solution))))  # type: ignore[arg-type]
            except SparqlError:
                failed = True
        if node.distinct:
            pairs = list({_term(row, node, value): (row, value) for row, value in reversed(pairs)}.values())
        if node.function == "COUNT":
            return _count(len(pairs))
        if failed:
            raise SparqlError("a row has no value")
        terms = [_term(row, node, value) for row, value in pairs]
        if node.function in ("SAMPLE", "GROUP_CONCAT"):
            return _of_terms(node, terms)
        if node.function in ("FIRST", "LAST"):
            if not terms:
                raise SparqlError("of nothing")
            return value_of(terms[0 if node.function == "FIRST" else -1])
        if node.function == "CHANGES":
            return _count(sum(compare("!=", a, b) for (_, a), (_, b) in pairwise(pairs)))
        if node.function in ("MIN", "MAX") and terms:
            return value_of((min if node.function == "MIN" else max)(terms, key=_sorting))
        return of_numbers(node, [(row.end, number(value)) for row, value in pairs], self.t)


def _term(row: OverRow, node: ast.Aggregate, value: Value) -> Term:
    """As it was written, where the argument is a variable."""
    return dict(row.solution)[node.argument.name] if isinstance(node.argument, ast.Var) else term_of(value)


def _sorting(term: Term) -> tuple[object, ...]:
    """The order of ORDER BY (SPARQL 1.1, 15.1): blank nodes, IRIs, literals. It leaves open how literals of
    different kinds are ordered; here numbers come first, then texts, then all else as written."""
    if not term.startswith('"'):
        return (term.startswith("<"), term)
    value = value_of(term)
    if isinstance(value, Number):
        return (2, 0, value.value, term)
    return (2, 1 if term.endswith('"') else 2, term)


def _of_terms(node: ast.Aggregate, terms: Sequence[Term]) -> Value:
    if node.function == "SAMPLE":
        if not terms:
            raise SparqlError("of nothing")
        return value_of(min(terms))
    between = " " if node.separator is None else node.separator
    return '"' + between.join(t[1 : t.rindex('"')] if t[0] == '"' else t[1:-1] for t in sorted(terms)) + '"'


def _count(amount: int) -> Number:
    return Number(Fraction(amount), "integer")


def of_numbers(node: ast.Aggregate, points: Sequence[tuple[int, Number]], t: int) -> Value:
    """The aggregates of numbers; points are (instant, value) in order."""
    values = [value for _, value in points]
    kind = RANKS[max((RANKS.index(v.type) for v in values), default=0)]
    broken = kind if kind in ("float", "double") else "decimal"
    amounts = [v.value for v in values]
    match node.function:
        case "SUM":
            return Number(_exact_sum(amounts), kind)
        case "AVG":
            return Number(_exact_sum(amounts) / len(amounts), broken) if amounts else _count(0)
        case "TRAVEL":
            return Number(_exact_sum([abs(b - a) for a, b in pairwise(amounts)]), kind)
        case "TURNS":
            steps = [b - a for a, b in pairwise(amounts) if b != a]
            return _count(sum((a > 0) != (b > 0) for a, b in pairwise(steps)))
    if not points:
        raise SparqlError("of nothing")
    match node.function:
        case "MEDIAN":
            ranked = sorted(amounts)
            middle = len(ranked) // 2
            if len(ranked) % 2:
                return Number(ranked[middle], kind)
            return Number(_exact_sum(ranked[middle - 1 : middle + 1]) / 2, broken)
        case "PERCENTILE":
            share = Fraction(node.percent.lexical) / 100  # type: ignore[union-attr]
            if not 0 < share <= 1:
                raise SparqlError("a percentile is more than 0 and at most 100")
            return Number(sorted(amounts)[math.ceil(share * len(amounts)) - 1], kind)
        case "STDDEV":
            mean = _exact_sum(amounts) / len(amounts)
            return Number(math.sqrt(_exact_sum([(x - mean) ** 2 for x in amounts]) / len(amounts)), "double")
        case "RATE":
            return Number((amounts[-1] - amounts[0]) / _seconds(points[0][0], points[-1][0]), broken)
        case "SLOPE":
            return Number(_slope(points), broken)
        case "TIMEAVG":
            return Number(_time_average(points, t), broken)
    raise NotImplementedError(f"the oracle has no {node.function}")


def _exact_sum(amounts: Sequence[Fraction | float]) -> Fraction | float:
    """Exact, rounded once (D18): of doubles too."""
    if all(math.isfinite(x) for x in amounts):
        return sum((Fraction(x) for x in amounts), Fraction(0))
    return sum(float(x) for x in amounts)


def _seconds(first: int, last: int) -> Fraction:
    if first == last:
        raise SparqlError("over no time")
    return Fraction(last - first, SECOND)


def _slope(points: Sequence[tuple[int, Number]]) -> Fraction:
    """Least squares by second."""
    _seconds(min(at for at, _ in points), max(at for at, _ in points))
    xs = [Fraction(at, SECOND) for at, _ in points]
    ys = [Fraction(v.value) for _, v in points]
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    up = sum(((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)), Fraction(0))
    return up / sum(((x - x0) ** 2 for x in xs), Fraction(0))


def _time_average(points: Sequence[tuple[int, Number]], t: int) -> Fraction | float:
    """Each value counts for the time until the next one, the last until t."""
    if points[0][0] == t:
        return points[-1][1].value
    nexts = [*(at for at, _ in points[1:]), t]
    weighted = [v.value * (until - at) for (at, v), until in zip(points, nexts, strict=True)]
    return _exact_sum(weighted) / (t - points[0][0])
