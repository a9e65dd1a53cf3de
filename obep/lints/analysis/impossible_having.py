"""Find a HAVING that no group can meet, for OBEP219."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation, localcontext
from operator import eq, ge, gt, le, lt, ne

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.ordered_aggregates import Bound, nothing_between, out_of_order
from obep.query.ast import (
    Aggregate,
    Comparison,
    Conjunction,
    Duration,
    Expression,
    Literal,
    OverState,
    Var,
)
from obep.query.diagnostics import quote, say
from obep.query.parse.spelling import LONGEST

CODE = "OBEP219"

_ANY_EXPONENT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""For constants such as 1e9999999, which the default context cannot add to."""

_NEVER_NEGATIVE = ("COUNT", "STDDEV", "CHANGES", "TRAVEL", "TURNS")
_WHOLE = ("COUNT", "CHANGES", "TURNS")
_NUMBERS = (*_NEVER_NEGATIVE, "SUM", "AVG", "RATE", "SLOPE", "MEDIAN", "PERCENTILE", "TIMEAVG")
_NUMBER, _DURATION = "a number", "a duration"
_KINDS = {"HELD": _DURATION, "FULL": "true or false", "GROUP_CONCAT": "text"}
_HOLDS = {"<": lt, ">": gt, "<=": le, ">=": ge, "=": eq, "!=": ne}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}


def never_held(definitions: Definitions) -> Iterator[Diagnostic]:
    for file in definitions.linked.files:
        for state in file.states:
            if not isinstance(state, OverState) or state.having is None:
                continue
            wrong = _impossible(state, state.having)
            if wrong is not None:
                part, reason, remedy = wrong
                message = f"{quote(part)} is never true, so {state.name.text} never holds"
                yield say(CODE, file, part.span, message, reason, remedy)


def _impossible(state: OverState, having: Expression) -> tuple[Expression, str, str] | None:
    named = {one.variable.name: one.expression for one in state.aggregates}
    ranges: dict[str, _Range] = {}
    bounds: list[Bound] = []
    for part in having.operands if isinstance(having, Conjunction) else (having,):
        if isinstance(part, Literal) and part.lexical == "false":
            return part, "It is a constant.", "leave HAVING out"
        if (unlike := _unlike(part, named) or out_of_order(part, named)) is not None:
            return part, *unlike
        if _false(part):
            return part, "It compares two constants.", "compare an aggregate"
        found = _compared(part, named)
        if found is None:
            continue
        value, operator, constant = found
        bounds.append(Bound(value, operator, constant, part))
        key = quote(value)
        first = key not in ranges
        kept = ranges.setdefault(key, _Range(value, state))
        if not kept.take(operator, constant):
            if first and kept.counts_rows and _holds_of_none(operator, constant):
                reason = "Every group has at least one row."
                return part, reason, f"FOR EACH S({_shown(state)})   has a group for each of which S holds"
            if first and _is_held(value):
                within = quote(state.within)
                return part, f"{key} is from 0 s to {within}, the time of WITHIN.", f"{key} < {within}"
            reason = f"{key} is never negative." if first else "The conditions leave no value together."
            least = quote(Duration(int(constant))) if _is_held(value) else max(constant, Decimal(1))
            return part, reason, f"{key} >= {least}"
    return nothing_between(bounds)


def _unlike(part: Expression, named: dict[str, Expression | None]) -> tuple[str, str] | None:
    """Why a comparison of two kinds of values is never true, and what to write instead."""
    if not isinstance(part, Comparison) or part.operator not in _MIRRORED:
        return None
    left, right = (_kind(side, named) for side in (part.left, part.right))
    if left is None or right is None or left == right:
        return None
    reason = f"{quote(part.left)} is {left}, and {quote(part.right)} is {right}: neither is more or less."
    for number, other, shape in (
        (part.right, left, f"{quote(part.left)} {part.operator} %s"),
        (part.left, right, f"%s {part.operator} {quote(part.right)}"),
    ):
        seconds = _number(number)
        if other == _DURATION and seconds is not None and abs(seconds) * 1_000_000 <= LONGEST:
            return reason, shape % quote(Duration(int(abs(seconds) * 1_000_000)))
    return reason, "compare values of one kind"


def _kind(side: Expression, named: dict[str, Expression | None]) -> str | None:
    """The kind of value that an expression certainly has."""
    if isinstance(side, Var):
        side = named.get(side.name) or side
    if isinstance(side, Aggregate):
        return _NUMBER if side.function in _NUMBERS else _KINDS.get(side.function)
    if isinstance(side, Duration):
        return _DURATION
    if not isinstance(side, Literal) or side.language:
        return None
    if _number(side) is not None:
        return _NUMBER
    return "text" if side.datatype is None else None


def _false(part: Expression) -> bool:
    """Whether two numbers are compared, and the comparison is false."""
    if not isinstance(part, Comparison):
        return False
    left, right = _number(part.left), _number(part.right)
    return left is not None and right is not None and not _HOLDS[part.operator](left, right)


def _holds_of_none(operator: str, constant: Decimal) -> bool:
    """Whether a COUNT of 0 would meet the condition."""
    return constant >= 0 if operator == "<=" else constant > 0 if operator == "<" else constant == 0


def _shown(state: OverState) -> str:
    return ", ".join(f"?{variable.name}" for variable in state.parameters)


def _compared(
    part: Expression, named: dict[str, Expression | None]
) -> tuple[Expression, str, Decimal] | None:
    """A value that is compared with a number, the sign, and the number."""
    if not isinstance(part, Comparison) or part.operator not in _MIRRORED:
        return None
    left, operator, right = part.left, part.operator, part.right
    number, value = _constant(right), left
    sign: str = operator
    if number is None:
        number, value, sign = _constant(left), right, _MIRRORED[operator]
    if number is None or _constant(value) is not None:
        return None
    if isinstance(value, Var):
        value = named.get(value.name) or value
    return value, sign, number


def _constant(node: Expression) -> Decimal | None:
    """A number, or the microseconds of a duration: what is compared with one is never compared with both."""
    return Decimal(node.micros) if isinstance(node, Duration) else _number(node)


def _is_held(value: Expression) -> bool:
    return isinstance(value, Aggregate) and value.function == "HELD"


def _number(node: Expression) -> Decimal | None:
    if not isinstance(node, Literal) or node.datatype is None:
        return None
    if node.datatype.iri.rpartition("#")[2] not in ("integer>", "decimal>", "double>"):
        return None
    try:
        found = Decimal(node.lexical)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


class _Range:
    """The values that the conditions so far leave."""

    def __init__(self, value: Expression, state: OverState) -> None:
        known = isinstance(value, Aggregate) and value.function in _NEVER_NEGATIVE
        self.counts_rows = (
            isinstance(value, Aggregate)
            and value.function == "COUNT"
            and value.argument is None
            and bool(state.parameters)
            and state.each is None
        )
        self._whole = isinstance(value, Aggregate) and value.function in _WHOLE
        self._low = Decimal(int(self.counts_rows)) if known or _is_held(value) else None
        self._high = Decimal(state.within.micros) if _is_held(value) else None
        self._above = self._below = False  # whether the ends themselves are left out

    def take(self, operator: str, number: Decimal) -> bool:
        """Narrow the range by a condition; whether anything is left."""
        if operator in (">", ">=", "=") and (self._low is None or number >= self._low):
            self._above = operator == ">" or (self._above and number == self._low)
            self._low = number
        elif operator == "=" and self._low is not None and number < self._low:
            return False
        if operator in ("<", "<=", "=") and (self._high is None or number <= self._high):
            self._below = operator == "<" or (self._below and number == self._high)
            self._high = number
        elif operator == "=" and self._high is not None and number > self._high:
            return False
        return self._left()

    def _left(self) -> bool:
        if self._low is None or self._high is None:
            return True
        if self._whole:
            with localcontext(_ANY_EXPONENT):
                least = self._low.to_integral_value(rounding="ROUND_CEILING")
                least += self._above and least == self._low
                most = self._high.to_integral_value(rounding="ROUND_FLOOR")
                most -= self._below and most == self._high
                return least <= most
        return self._low < self._high or (self._low == self._high and not self._above and not self._below)
