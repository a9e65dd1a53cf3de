"""Values of terms, and the expressions of AGGREGATE and HAVING over them (SPARQL 1.1, STATES 2).

A value is a Number, a bool, a Length (a duration), a datetime, or the term itself. SPARQL's error is
`SparqlError`. Numbers are exact until they are doubles (D18).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from obep.model import SECOND, Term
from obep.query import ast
from oracle.guard_semantics import XSD
from oracle.states.state_calendar import EPOCH, micros

INTEGERS = ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "unsignedInt")
RANKS = ("integer", "decimal", "float", "double")


class SparqlError(Exception):
    """What SPARQL calls an error: it is not true, and leaves a variable unbound."""


@dataclass(frozen=True)
class Number:
    value: Fraction | float
    type: str
    """One of RANKS."""


@dataclass(frozen=True)
class Length:
    micros: int


Value = Number | bool | Length | datetime | Term


def value_of(term: Term) -> Value:
    """What a term stands for; itself where that is nothing that we compare."""
    if not (term.startswith('"') and term.endswith(">") and "^^<" in term):
        return term
    lexical, datatype = term[1 : term.rindex('"^^<')], term[term.rindex("^^<") + 3 : -1]
    name = datatype.removeprefix(XSD)
    try:
        if name in INTEGERS:
            return Number(Fraction(int(lexical)), "integer")
        if name == "decimal":
            return Number(Fraction(lexical), "decimal")
        if name in ("double", "float"):
            return Number(float(lexical.replace("INF", "inf")), name)
        if name == "boolean":
            return {"true": True, "1": True, "false": False, "0": False}[lexical]
        if name == "dateTime":
            at = datetime.fromisoformat(lexical)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
        if name == "dayTimeDuration":
            return Length(_length(lexical))
    except (ValueError, KeyError):
        return term
    return term


def _length(lexical: str) -> int:
    """`PT…S`, as much of it as the oracle writes itself."""
    return int(Fraction(lexical.removeprefix("PT").removesuffix("S")) * SECOND)


def term_of(value: Value) -> Term:
    """A term for a value; `comparable` makes its exact form unimportant."""
    match value:
        case bool():
            return f'"{str(value).lower()}"^^<{XSD}boolean>'
        case Number(number, "integer"):
            return f'"{int(number)}"^^<{XSD}integer>'
        case Number(number, "decimal"):
            return f'"{float(number):.12f}"^^<{XSD}decimal>'
        case Number(number, kind):
            shown = repr(float(number)).replace("inf", "INF").replace("nan", "NaN")
            return f'"{shown}"^^<{XSD}{kind}>'
        case Length(length):
            return f'"PT{float(Fraction(length, SECOND)):.6f}S"^^<{XSD}dayTimeDuration>'
        case datetime():
            return f'"{value.isoformat()}"^^<{XSD}dateTime>'
    return value


def comparable(term: Term) -> object:
    """Numbers by value to nine digits, durations in microseconds, instants, all else as written."""
    match value_of(term):
        case Number(number, _):
            return ("number", f"{float(number):.9g}")
        case Length(length):
            return ("duration", length)
        case datetime() as at:
            return ("instant", micros(at))
    return term


def number(value: Value) -> Number:
    if isinstance(value, Number):
        return value
    raise SparqlError(f"{value!r} is no number")


def truth(value: Value) -> bool:
    """The effective boolean value."""
    match value:
        case bool():
            return value
        case Number(amount, _):
            return amount != 0 and amount == amount
        case str() if value.startswith('"') and "^^" not in value:
            return value != '""'
    raise SparqlError(f"{value!r} is neither true nor false")


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    match operator, left, right:
        case "-", datetime(), datetime():
            return Length(micros(left) - micros(right))
        case "-", Length(), Length():
            return Length(left.micros - right.micros)
        case "+", Length(), Length():
            return Length(left.micros + right.micros)
        case "+", datetime(), Length():
            return left + timedelta(microseconds=right.micros)
        case "-", datetime(), Length():
            return left - timedelta(microseconds=right.micros)
    a, b = number(left), number(right)
    kind = RANKS[max(RANKS.index(a.type), RANKS.index(b.type))]
    if operator == "/" and kind == "integer":
        kind = "decimal"
    x, y = (a.value, b.value) if kind in ("integer", "decimal") else (float(a.value), float(b.value))
    if operator == "/" and y == 0:
        if kind == "decimal":
            raise SparqlError("division by zero")
        return Number(math.nan if x == 0 or x != x else math.copysign(math.inf, x), kind)
    return Number({"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else x}[operator], kind)


def compare(operator: str, left: Value, right: Value) -> bool:
    if isinstance(left, Number) and isinstance(right, Number):
        a, b = left.value, right.value
    elif isinstance(left, Length) and isinstance(right, Length):
        a, b = left.micros, right.micros
    elif (isinstance(left, datetime) and isinstance(right, datetime)) or (
        isinstance(left, bool) and isinstance(right, bool)
    ):
        a, b = left, right  # type: ignore[assignment]
    elif operator in ("=", "!="):
        return (left == right) == (operator == "=")
    elif isinstance(left, str) and isinstance(right, str) and left[:1] == right[:1] == '"':
        a, b = left, right  # type: ignore[assignment]
    else:
        raise SparqlError("these do not compare")
    return {"=": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[operator]


Leaf = Callable[[ast.Expression], Value]


def evaluate(node: ast.Expression, env: Mapping[str, Term], other: Leaf | None = None) -> Value:
    """An expression over variables; `other` knows what only the place knows (aggregates, NOW)."""

    def value(part: ast.Expression) -> Value:
        return evaluate(part, env, other)

    match node:
        case ast.Var(name):
            if name not in env:
                raise SparqlError(f"?{name} is unbound")
            return value_of(env[name])
        case ast.Name(_, iri):
            return iri
        case ast.Literal(lexical, datatype, language):
            text = f'"{lexical}"' + (f"^^{datatype.iri}" if datatype else f"@{language}" if language else "")
            return value_of(text)
        case ast.Duration(length):
            return Length(length)
        case ast.Comparison(operator, left, right):
            return compare(operator, value(left), value(right))
        case ast.Arithmetic(operator, left, right):
            return arithmetic(operator, value(left), value(right))
        case ast.Negation("!", operand):
            return not truth(value(operand))
        case ast.Negation("-", operand):
            return arithmetic("-", Number(Fraction(0), "integer"), value(operand))
        case ast.Negation("+", operand):
            return number(value(operand))
        case ast.Conjunction(operands):
            return _connected(operands, value, stops=False)
        case ast.Disjunction(operands):
            return _connected(operands, value, stops=True)
        case ast.Membership(operand, members, negated):
            mine = value(operand)
            return any(compare("=", mine, value(member)) for member in members) != negated
        case ast.Call("BOUND", (ast.Var(name),)):
            return name in env
        case ast.Call("IF", (condition, yes, no)):
            return value(yes) if truth(value(condition)) else value(no)
        case ast.Call("COALESCE", arguments):
            return _first_without_error(arguments, value)
        case ast.Call(str() as function, arguments) if function != "NOW":
            return call(function, *map(value, arguments))
    if other is None:
        raise NotImplementedError(f"the oracle has no {type(node).__name__} here")
    return other(node)


def _connected(operands: tuple[ast.Expression, ...], value: Leaf, stops: bool) -> bool:
    failed = False
    for operand in operands:
        try:
            if truth(value(operand)) == stops:
                return stops
        except SparqlError:
            failed = True
    if failed:
        raise SparqlError("an operand is an error")
    return not stops


def _first_without_error(operands: tuple[ast.Expression, ...], value: Leaf) -> Value:
    for operand in operands:
        try:
            return value(operand)
        except SparqlError:
            continue
    raise SparqlError("COALESCE of errors")


REAL: dict[str, Callable[[float], float]] = {
    "SQRT": math.sqrt, "LN": math.log, "EXP": math.exp,
    "SIN": math.sin, "COS": math.cos, "ATAN": math.atan,
}  # fmt: skip


def call(function: str, *arguments: Value) -> Value:
    """The functions that HAVING and FILTER know (STATES 2), and the few of SPARQL that tests use."""
    match function, arguments:
        case "ABS", (Number(amount, kind),):
            return Number(abs(amount), kind)
        case "FLOOR" | "CEIL", (Number(amount, kind),):
            return Number(Fraction((math.floor if function == "FLOOR" else math.ceil)(amount)), kind)
        case "SECONDS", (Length(length),):
            return Number(Fraction(length, SECOND), "decimal")
        case "LOCAL", (datetime() as at, str() as zone):
            return at.astimezone(ZoneInfo(zone.strip('"')))
        case "HOURS" | "MINUTES" | "DAY" | "MONTH" | "YEAR", (datetime() as at,):
            name = {"HOURS": "hour", "MINUTES": "minute"}.get(function, function.lower())
            return Number(Fraction(getattr(at, name)), "integer")
        case "POW", (Number(base, _), Number(power, _)):
            return _real(lambda: math.pow(base, power))
        case name, (Number(amount, _),) if name in REAL:
            return _real(lambda: REAL[name](float(amount)))
    if function in (*REAL, "POW", "ABS", "FLOOR", "CEIL", "SECONDS", "LOCAL", "HOURS", "MINUTES", "DAY"):
        raise SparqlError(f"{function} of {arguments!r}")
    raise NotImplementedError(f"the oracle has no {function}")


def _real(compute: Callable[[], float]) -> Number:
    try:
        return Number(compute(), "double")
    except (ValueError, OverflowError) as problem:
        raise SparqlError(str(problem)) from problem


def instant(t: int) -> datetime:
    return EPOCH + timedelta(microseconds=t)
