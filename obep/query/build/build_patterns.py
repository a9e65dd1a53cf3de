"""Patterns: chains are folded from the left, neighbours with the same operator into one node."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

from obep.query import ast
from obep.query.build.actions import RULES, Children, is_token, nodes, reading, rule
from obep.query.build.build_names import alias_text
from obep.query.parse.spelling import span_between
from obep.query.walk import walk


def _steps(first: Any, steps: Children) -> Any:
    """Fold a chain from the left; neighbours with the same n-ary operator make one node."""
    left: Any = first
    run: tuple[Any, list[Any]] | None = None  # an n-ary node that still grows

    def closed() -> Any:
        return left if run is None else run[0](tuple(run[1]), span=span_between(run[1][0], run[1][-1]))

    for kind, token, operands, *end in steps:
        if issubclass(kind, ast.Chain):
            if run is not None and run[0] is kind:
                run[1].append(operands[0])
            else:
                run = (kind, [closed(), operands[0]])
            continue
        left, run = closed(), None
        last = end[0] if end else operands[-1] or operands[0]
        span, operator = span_between(left, last), span_between(token)
        if kind is ast.Allen:
            left = ast.Allen(token.value.upper(), left, operands[0], span=span, operator=operator)
        else:
            left = kind(left, *operands, span=span, operator=operator)
    return closed()


@rule
def sequence(children: Children) -> Any:
    return children[0] if len(children) == 1 else _steps(children[0], children[1:])


RULES["combined"] = sequence


def _step(kind: type[ast.PatternNode]) -> Callable[[Children], Any]:
    return lambda children: (kind, children[0], children[1:])


def _prefixed(kind: type[ast.Prefixed]) -> Callable[[Children], Any]:
    return lambda children: kind(children[1], span=span_between(children[0], children[1]))


for kind in get_args(ast.Pattern):  # the rule of `NotFollowedBy` is `not_followed_by`
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    if issubclass(kind, ast.Chain | ast.Sided | ast.Allen | ast.BesideState):
        RULES[name] = _step(kind)
    elif issubclass(kind, ast.Prefixed):
        RULES[name] = _prefixed(kind)


@rule
def repeated(children: Children) -> Any:
    _, every, _, until, _, number, last = children
    at_most = None if number is None else reading.scope.count(number, "AT MOST", least=1)
    return ast.Repeated, children[0], [every, until, at_most], last or until or every


@rule
def not_followed_by(children: Children) -> Any:
    return ast.NotFollowedBy, children[0], [children[1], children[3] if len(children) > 2 else None]


@rule
def or_(children: Children) -> ast.Or:
    return ast.Or(nodes(children), span=span_between(children[0], children[-1]))


@rule
def within(children: Children) -> ast.Within:
    return ast.Within(children[0], children[2], span=span_between(children[0], children[2]))


@rule
def times(children: Children) -> ast.Times:
    count = reading.scope.count(children[2], "TIMES", least=1)
    return ast.Times(children[0], count, span=span_between(children[0], children[2]))


@rule
def parameters(children: Children) -> tuple[ast.Var, ...]:
    return nodes(children)


MOMENTS: dict[str, Any] = {"BEGIN": "begin", "END_OF": "end"}


@rule
def leaf(children: Children) -> ast.Leaf:
    """`H(?v) AS a`, `S FOR d`, `H IN <w>`, `BEGIN S`, `END S FOR d`."""
    event, *_ = nodes(children, ast.Name)
    variables = next((child for child in children if isinstance(child, tuple)), ())
    window = next((child.value[1:-1] for child in children if is_token(child, "IRI")), None)
    alias = next((alias_text(child) for child in children if is_token(child, "EVENT_WORD")), None)
    last = next(child for child in reversed(children) if child)
    return ast.Leaf(
        event,
        variables,
        alias,
        window=window,
        moment=MOMENTS.get(getattr(children[0], "type", ""), "event"),
        lasting=next(iter(nodes(children, ast.Duration)), None),
        span=span_between(children[0], last[-1] if isinstance(last, tuple) else last),
    )


@rule
def group_leaf(children: Children) -> ast.GroupLeaf:
    inner, _, name = children
    _refuse_operators(inner)
    return ast.GroupLeaf(inner, alias_text(name) if name else None, span=span_between(inner, name or inner))


def _refuse_operators(group: ast.Group | ast.Select) -> None:
    """`{ A SEQ B }` reads as a triple with the property SEQ; parentheses are meant."""
    for node in walk(group):
        if isinstance(node, ast.TriplePattern) and getattr(node.predicate, "text", "") in OPERATORS:
            reading.scope.error(
                "OBEP066",
                "the braces of a MATCH hold triples; a pattern stands in parentheses",
                span_between(node.predicate),
                reason="{ … } in a MATCH is a graph pattern, as in SPARQL, so this is a property.",
                remedy=f"( … {getattr(node.predicate, 'text', '')} … )",
            )


OPERATORS = frozenset(("SEQ", "NEXT", "WITHOUT", "OR", "AND", "EQUALS", "JOIN", *get_args(ast.AllenRelation)))
