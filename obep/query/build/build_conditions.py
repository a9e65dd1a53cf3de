"""The conditions of FILTER."""

from __future__ import annotations

from typing import Any

from obep.errors import Span
from obep.query import ast
from obep.query.aggregates import AGGREGATES
from obep.query.build.actions import Children, nodes, reading, rule
from obep.query.build.build_names import alias_text
from obep.query.parse.reserved import bare_datatype
from obep.query.parse.spelling import span_between


@rule
def disjunction(children: Children) -> ast.Disjunction:
    return ast.Disjunction(nodes(children), span=span_between(children[0], children[-1]))


@rule
def conjunction(children: Children) -> ast.Conjunction:
    return ast.Conjunction(nodes(children), span=span_between(children[0], children[-1]))


@rule
def comparison(children: Children) -> ast.Comparison:
    left, operator, right = children
    return ast.Comparison(operator.value, left, right, span=span_between(left, right))


@rule
def membership(children: Children) -> ast.Membership:
    operand, operator = children[0], children[1]
    return ast.Membership(
        operand,
        nodes(children[2:]),
        operator.type == "NOT_IN",
        span=span_between(operand, children[-1]),
    )


@rule
def arithmetic(children: Children) -> ast.Arithmetic:
    left, operator, right = children
    return ast.Arithmetic(operator.value, left, right, span=span_between(left, right))


@rule
def negation(children: Children) -> ast.Negation:
    return ast.Negation(children[0].value, children[1], span=span_between(children[0], children[1]))


@rule
def call(children: Children) -> ast.Call | ast.Aggregate:
    function, arguments = children[0], nodes(children[1:])
    span = span_between(function, children[-1])
    if not isinstance(function, ast.Name):
        if function.value.upper() in AGGREGATES:
            return known_aggregate(function, arguments, span=span)
        if function.value in CAST_WORDS:
            function = reading.scope.resolve_class(function)
        else:
            function = function.value.upper()
    return ast.Call(function, arguments, span=span)


def known_aggregate(
    word: Any,
    arguments: tuple[Any, ...],
    *,
    span: Span,
    star: bool = False,
    distinct: bool = False,
    separator: str | None = None,
) -> ast.Aggregate:
    """An aggregate by its name. What its parentheses hold must be what it takes."""
    name = word.value.upper()
    usage = AGGREGATES.get(name)
    percent = arguments[1] if name == "PERCENTILE" and len(arguments) == 2 else None
    if usage is None:
        message, reason = f"{word.value} is no aggregate", "DISTINCT, * and SEPARATOR stand in aggregates."
        reading.scope.error("OBEP190", message, span, reason=reason, remedy="COUNT(DISTINCT ?x)")
    elif (
        len(arguments) + star not in usage.arguments
        or (star and name != "COUNT")
        or (distinct and not usage.distinct)
        or (separator is not None and name != "GROUP_CONCAT")
        or (name == "PERCENTILE" and not _is_percent(percent))
    ):
        reading.scope.error(
            "OBEP191", f"{name} is written {usage.written}", span, reason=usage.reason, remedy=usage.written
        )
    return ast.Aggregate(name, arguments[0] if arguments else None, distinct, separator, percent, span=span)


def _is_percent(value: Any) -> bool:
    """Whether it is a number in (0, 100]."""
    if not isinstance(value, ast.Literal) or bare_datatype(value.lexical) in (None, "boolean"):
        return False
    return 0 < float(value.lexical) <= 100


CAST_WORDS = ("integer", "decimal", "float", "string")


TIME_FUNCTIONS = {word.lower(): word for word in ("getSTARTTIME", "getENDTIME", "getDURATION")}


@rule
def time_function(children: Children) -> ast.TimeFunction:
    token, name_ = children[0], children[2]
    function: Any = TIME_FUNCTIONS[token.value.lower()]
    return ast.TimeFunction(
        function, alias_text(name_) if name_ else None, span=span_between(token, children[-1])
    )
