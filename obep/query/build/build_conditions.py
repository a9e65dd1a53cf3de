"""The conditions of FILTER."""

from __future__ import annotations

from typing import Any

from obep.query import ast
from obep.query.build.actions import Children, nodes, reading, rule
from obep.query.build.build_names import alias_text
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
def call(children: Children) -> ast.Call:
    function, arguments = children[0], nodes(children[1:])
    span = span_between(function, children[-1])
    if not isinstance(function, ast.Name):
        if function.value in CAST_WORDS:
            function = reading.scope.resolve_class(function)
        else:
            function = function.value.upper()
    return ast.Call(function, arguments, span=span)


CAST_WORDS = ("integer", "decimal", "float", "string")


TIME_FUNCTIONS = {word.lower(): word for word in ("getSTARTTIME", "getENDTIME", "getDURATION")}


@rule
def time_function(children: Children) -> ast.TimeFunction:
    token, name_ = children[0], children[2]
    function: Any = TIME_FUNCTIONS[token.value.lower()]
    return ast.TimeFunction(
        function, alias_text(name_) if name_ else None, span=span_between(token, children[-1])
    )
