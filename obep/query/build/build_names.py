"""Names, variables, literals, durations and instants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.build.actions import RULES, Children, is_token, reading, rule
from obep.query.parse.spelling import span_between


@rule
def name(children: Children) -> ast.Name:
    return reading.scope.resolve(children[0])


@rule
def term_word(children: Children) -> ast.Name:
    return reading.scope.resolve_term(children[0])


@rule
def class_word(children: Children) -> ast.Name:
    return reading.scope.resolve_class(children[0])


@rule
def a(children: Children) -> ast.Name:
    return reading.scope.a(children[0])


@rule
def var(children: Children) -> ast.Var:
    (token,) = children
    text = token.value if token.type == "BLANK" else token.value[1:]
    return ast.Var(text, span=span_between(token))


@rule
def alias(children: Children) -> Any:
    """The token stays, for its place; `:R1` and `R1` are the same alias."""
    (token,) = children
    if ":" in token.value:
        reading.scope.resolve(token)  # an unknown prefix is reported
    return token


def alias_text(token: Any) -> str:
    return str(token.value).removeprefix(":")


@rule
def literal(children: Children) -> ast.Literal:
    first = children[0]
    if first.type == "BOOLEAN":
        return reading.scope.boolean(first)
    if first.type != "STRING":
        return reading.scope.number(first)
    text, span = reading.scope.string(first), span_between(first, children[-1])
    if is_token(children[-1], "LANGUAGE"):
        return ast.Literal(text, language=children[-1].value[1:].lower(), span=span)
    if len(children) > 1:
        return ast.Literal(text, children[-1], span=span)
    return ast.Literal(text, span=span)


RULES["class_literal"] = literal


@rule
def facet_value(children: Children) -> ast.Literal:
    """A bare number takes the restricted datatype (SPEC §2), so it has none here."""
    value: ast.Literal = literal(children)
    return replace(value, datatype=None) if children[0].type == "NUMBER" else value


@rule
def duration(children: Children) -> ast.Duration:
    token = next(child for child in children if is_token(child, "DURATION", "STRING"))
    found = reading.scope.duration(token)
    return replace(found, span=span_between(children[0], children[-1]))


@rule
def instant(children: Children) -> int:
    from obep.formats.timestamps import parse_instant

    token = children[0]
    text = reading.scope.string(token) if token.type == "STRING" else token.value
    try:
        return parse_instant(text)
    except ValueError as problem:
        reading.scope.error(
            "OBEP013",
            f"this instant cannot be read: {problem}",
            span_between(token),
            reason="An instant is a date-time in quotes, or a number of seconds.",
            remedy='"2026-01-01T10:00:00Z"',
        )
        return 0
