"""Conditions on times that the pattern makes impossible (OBEP219)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple

from obep.errors import Diagnostic
from obep.lints.analysis.incomparable_values import FLIPPED, SECOND
from obep.lints.analysis.number_and_text import ORDER, is_number
from obep.lints.analysis.pattern_layout import Scope
from obep.lints.analysis.time_distances import Distances, Interval, Point
from obep.query.ast import (
    Arithmetic,
    Call,
    Comparison,
    Conjunction,
    Disjunction,
    Duration,
    Expression,
    Literal,
    Negation,
    Optional,
    Or,
    Pattern,
    TimeFunction,
    Within,
)
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import operands, patterns, with_operands
from obep.query.walk import alias_of, leaves, walk

MOST_DIFFERENCES = 4
"""In one comparison; more are not written in practice."""
MILLISECOND = 1000


def out_of_time(scope: Scope) -> Iterator[Diagnostic]:
    """OBEP219: the order and the bounds of the pattern leave no times that meet the condition."""
    timetable = _Timetable(scope, scope.event.pattern)
    for condition in scope.conditions:
        for node in _comparisons(condition.filter.condition):
            times = timetable.of(node)
            if times is None or not times.never(node):
                continue
            yield say(
                "OBEP219",
                scope.file,
                node.span,
                f"{quote(node)} is never true in this pattern",
                f"The order and the bounds of its parts leave no times for it: {times.because(node)}.",
                _instead(scope, node, times),
            )


def _comparisons(condition: Expression) -> Iterator[Comparison]:
    """The comparisons that have to hold: all of them, or one."""
    if isinstance(condition, Conjunction | Disjunction):
        for operand in condition.operands:
            yield from _comparisons(operand)
    elif isinstance(condition, Comparison):
        yield condition


class _Sum(NamedTuple):
    """A sum of instants, some with a minus sign, and a constant in microseconds."""

    kind: str
    """moment, duration, or seconds (a number of them)."""
    points: Counter[Point]
    constant: Fraction

    def scaled(self, factor: int) -> _Sum:
        points = Counter({point: count * factor for point, count in self.points.items()})
        return _Sum(self.kind, points, self.constant * factor)

    def plus(self, other: _Sum, kind: str) -> _Sum:
        points = Counter(self.points)
        points.update(other.points)
        return _Sum(kind, points, self.constant + other.constant)


_KINDS = {
    ("moment", "-", "moment"): "duration",
    ("moment", "+", "duration"): "moment",
    ("moment", "-", "duration"): "moment",
    ("duration", "+", "moment"): "moment",
    **{(kind, sign, kind): kind for kind in ("duration", "seconds") for sign in "+-"},
}


class _Timetable:
    """The constraints of a pattern on the times in comparisons."""

    def __init__(self, scope: Scope, pattern: Pattern) -> None:
        self._scope = scope
        self._pattern = pattern
        self._made: dict[frozenset[str], _Times | None] = {}

    def of(self, node: Comparison) -> _Times | None:
        """Nothing, if it names no times, or its aliases never take part together in what is reported."""
        named = [part for part in walk(node) if isinstance(part, TimeFunction)]
        aliases = frozenset(part.alias for part in named if part.alias is not None)
        places = [self._scope.aliases.get(alias, []) for alias in aliases]
        if not named or not all(len(found) == 1 and found[0].positive for found in places):
            return None
        choices = aliases & self._uncertain
        if choices not in self._made:
            distances = Distances(choices, self._scope.definitions.lasting)
            whole = distances.add(self._pattern)
            self._made[choices] = _Times(distances, whole) if distances.possible() else None
        return self._made[choices]

    @cached_property
    def _uncertain(self) -> frozenset[str]:
        """The aliases that do not take part in every candidate."""
        choices = (node for node in patterns(self._pattern) if isinstance(node, Or | Optional))
        return frozenset(alias_of(leaf) for node in choices for leaf in leaves(node))


class _Times:
    """The times of a pattern's candidates, in which some aliases take part."""

    def __init__(self, distances: Distances, whole: Interval) -> None:
        self._distances = distances
        self._whole = whole

    def never(self, node: Comparison) -> bool:
        """Whether the comparison holds of no times that the pattern leaves."""
        found = self._difference(node)
        if found is None:
            return False
        least, most = self._range(found)
        match node.operator:
            case "<" | "<=":
                return least is not None and (least > 0 or (least == 0 and node.operator == "<"))
            case ">" | ">=":
                return most is not None and (most < 0 or (most == 0 and node.operator == ">"))
            case "=":
                return (least is not None and least > 0) or (most is not None and most < 0)
        return least == most == 0

    def because(self, node: Comparison) -> str:
        """Describe the times that the pattern allows."""
        node = self._constant_last(node)
        found, right = self._difference(node), self._sum(node.right)
        assert found is not None
        assert right is not None
        least, most = self._range(found)
        upper = most is not None and (most < 0 or (most == 0 and node.operator in (">", "!=")))
        left, bound = quote(node.left), most if upper else least
        assert bound is not None
        if not right.points:
            return f"{left} is {_size(right, bound, upper)}"
        words = _ALWAYS if right.kind == "moment" else _MORE
        word = words[0 if least == most else 1 if bound else 2][upper]
        return f"{left} is {word} {quote(node.right)}"

    def constant(self, node: Comparison) -> int:
        """The duration with which times are compared."""
        found = self._difference(node)
        return abs(int(found.constant)) if found else 0

    def _constant_last(self, node: Comparison) -> Comparison:
        left = self._sum(node.left)
        if left is not None and not left.points:
            return Comparison(FLIPPED.get(node.operator, node.operator), node.right, node.left)  # type: ignore[arg-type]
        return node

    def _difference(self, node: Comparison) -> _Sum | None:
        """The left side without the right side."""
        left, right = self._sum(node.left), self._sum(node.right)
        if left is None or right is None or left.kind != right.kind:
            return None
        return left.plus(right.scaled(-1), left.kind)

    def _range(self, found: _Sum) -> tuple[Fraction | None, Fraction | None]:
        """The least and the greatest value of a sum, as far as there is one."""
        more, less = list(found.points.elements()), list(found.scaled(-1).points.elements())
        if len(more) > MOST_DIFFERENCES:
            return None, None
        least, most = self._most(more, less), self._most(less, more)
        return (
            None if least is None else found.constant - least,
            None if most is None else found.constant + most,
        )

    def _most(self, first: list[Point], second: list[Point]) -> int | None:
        """The greatest distance between the two halves of the points, paired in the best way."""
        sums = []
        for order in permutations(second):
            pairs = [self._distances.most(*pair) for pair in zip(first, order, strict=True)]
            if None not in pairs:
                sums.append(sum(one for one in pairs if one is not None))
        return min(sums, default=None)

    def _sum(self, node: Expression) -> _Sum | None:
        """An expression as a sum; nothing, if it is none."""
        match node:
            case TimeFunction(function, alias):
                start, end = self._whole if alias is None else self._distances.aliases[alias]
                if function == "getDURATION":
                    return _Sum("duration", Counter({end: 1, start: -1} if end != start else {}), Fraction(0))
                return _Sum("moment", Counter((start if function == "getSTARTTIME" else end,)), Fraction(0))
            case Duration(micros):
                return _Sum("duration", Counter(), Fraction(micros))
            case Literal():
                number = _exact(node)
                return None if number is None else _Sum("seconds", Counter(), number * SECOND)
            case Negation("-" | "+" as sign, operand):
                inner = self._sum(operand)
                return None if inner is None or inner.kind == "moment" else inner.scaled(int(f"{sign}1"))
            case Call("SECONDS", (argument,)):
                inner = self._sum(argument)
                return inner._replace(kind="seconds") if inner and inner.kind == "duration" else None
            case Arithmetic(sign, left, right):
                one, other = self._sum(left), self._sum(right)
                if one is None or other is None:
                    return None
                if sign == "*":
                    return _product(one, other) or _product(other, one)
                kind = _KINDS.get((one.kind, sign, other.kind))
                return None if kind is None else one.plus(other.scaled(-1 if sign == "-" else 1), kind)
        return None


def _product(one: _Sum, other: _Sum) -> _Sum | None:
    """A sum so many times, for a whole number that is written down: others may be rounded."""
    factor = one.constant / SECOND
    if one.kind != "seconds" or one.points or other.kind == "moment" or factor.denominator != 1:
        return None
    return other.scaled(int(factor))


def _exact(literal: Literal) -> Fraction | None:
    """An integer or a decimal; doubles and floats are rounded."""
    exact = literal.datatype is not None and literal.datatype.iri.endswith(("#integer>", "#decimal>"))
    try:
        number = Decimal(literal.lexical) if exact and is_number(literal) else None
    except InvalidOperation:
        return None
    return Fraction(number) if number is not None and number.is_finite() else None


_ALWAYS = (("always", "always"), ("always after", "always before"), ("never before", "never after"))
_MORE = (
    ("always", "always"),
    ("always more than", "always less than"),
    ("never less than", "never more than"),
)


def _size(constant: _Sum, bound: Fraction, upper: bool) -> str:
    """The upper or lower bound of a value that is a constant plus a difference."""
    micros = int(constant.constant + bound)
    if upper and micros < 0:
        return "always negative"
    next_to_it = micros + 1 if upper else micros - 1
    if next_to_it % MILLISECOND == 0:
        return f"{'less' if upper else 'more'} than {_written(constant.kind, next_to_it)}"
    return f"{'at most' if upper else 'at least'} {_written(constant.kind, micros)}"


def _written(kind: str, micros: int) -> str:
    return quote(Duration(micros)) if kind == "duration" else f"{Decimal(micros) / SECOND:f}"


def _instead(scope: Scope, node: Comparison, times: _Times) -> str:
    """The comparison, or the bound, that was perhaps meant."""
    others = [other for other in _others(node) if not times.never(other)]
    for other in others:
        if not times.never(replace(other, operator=_CONTRARY[other.operator])):
            return quote(other)
    extra = times.constant(node)
    for frame in reversed(
        [n for n in patterns(scope.event.pattern) if isinstance(n, Within)] if extra else ()
    ):
        longer = replace(frame, within=Duration(frame.within.micros + extra))
        found = _Timetable(scope, _with(scope.event.pattern, frame, longer)).of(node)
        if found is not None and not found.never(node):
            return f"… WITHIN {quote(longer.within)}   (or another bound here)"
    if others:
        return f"leave it out: {quote(others[0])} holds anyway"
    return "leave it out, or compare other times"


def _with(pattern: Pattern, old: Pattern, new: Pattern) -> Pattern:
    """A pattern with one part of it replaced."""
    if pattern is old:
        return new
    return with_operands(pattern, [_with(one, old, new) for one in operands(pattern)])


_CONTRARY: dict[str, Any] = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "="}


def _others(node: Comparison) -> Iterator[Comparison]:
    """The comparison with its times turned round, of the whole, or with its sign turned round."""
    left, right = node.left, node.right
    if isinstance(left, Arithmetic) and left.operator == "-":
        yield replace(node, left=Arithmetic("-", left.right, left.left))
    if isinstance(left, TimeFunction) and left.function == "getDURATION" and left.alias is not None:
        yield replace(node, left=replace(left, alias=None))
    if node.operator in ORDER:
        turned: Any = FLIPPED[node.operator]
        yield Comparison(turned, left, right)
