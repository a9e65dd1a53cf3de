"""Patterns: chains are folded from the left, neighbours with the same operator into one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from obep.query import ast
from obep.query.build.actions import RULES, Children, nodes, reading, rule
from obep.query.build.build_names import alias_text
from obep.query.parse.spelling import span_between


def _steps(first: Any, steps: Children) -> Any:
    """Fold a chain from the left; neighbours with the same n-ary operator make one node."""
    left: Any = first
    run: tuple[Any, list[Any]] | None = None  # an n-ary node that still grows

    def closed() -> Any:
        return left if run is None else run[0](tuple(run[1]), span=span_between(run[1][0], run[1][-1]))

    for kind, token, operands in steps:
        if kind in (ast.Seq, ast.Next, ast.And, ast.Join):
            if run is not None and run[0] is kind:
                run[1].append(operands[0])
            else:
                run = (kind, [closed(), operands[0]])
            continue
        left, run = closed(), None
        span, operator = span_between(left, operands[-1] or operands[0]), span_between(token)
        if kind is ast.Allen:
            left = ast.Allen(token.value.upper(), left, operands[0], span=span, operator=operator)
        else:
            left = kind(left, *operands, span=span, operator=operator)
    return closed()


@rule
def sequence(children: Children) -> Any:
    return children[0] if len(children) == 1 else _steps(children[0], children[1:])


RULES["combined"] = sequence


@rule
def seq(children: Children) -> Any:
    return ast.Seq, children[0], children[1:]


@rule
def next_(children: Children) -> Any:
    return ast.Next, children[0], children[1:]


@rule
def without(children: Children) -> Any:
    return ast.Without, children[0], children[1:]


@rule
def not_followed_by(children: Children) -> Any:
    return ast.NotFollowedBy, children[0], [children[1], children[3] if len(children) > 2 else None]


@rule
def and_(children: Children) -> Any:
    return ast.And, children[0], children[1:]


@rule
def join(children: Children) -> Any:
    return ast.Join, children[0], children[1:]


@rule
def allen(children: Children) -> Any:
    return ast.Allen, children[0], children[1:]


@rule
def or_(children: Children) -> ast.Or:
    return ast.Or(nodes(children), span=span_between(children[0], children[-1]))


@rule
def within(children: Children) -> ast.Within:
    return ast.Within(children[0], children[2], span=span_between(children[0], children[2]))


def _unary(kind: Any) -> Callable[[Children], Any]:
    return lambda children: kind(children[1], span=span_between(children[0], children[1]))


RULES["not"] = _unary(ast.Not)
RULES["first"] = _unary(ast.First)
RULES["last"] = _unary(ast.Last)
RULES["optional"] = _unary(ast.Optional)
RULES["every"] = _unary(ast.Every)


@rule
def times(children: Children) -> ast.Times:
    count = reading.scope.count(children[2], "TIMES", least=1)
    return ast.Times(children[0], count, span=span_between(children[0], children[2]))


@rule
def parameters(children: Children) -> tuple[ast.Var, ...]:
    return nodes(children)


@rule
def leaf(children: Children) -> ast.Leaf:
    event, variables, _, name_ = children
    last = name_ or (variables[-1] if variables else event)
    return ast.Leaf(
        event, variables or (), alias_text(name_) if name_ else None, span=span_between(event, last)
    )
