"""Guards and templates: blocks, filters, triples."""

from __future__ import annotations

from typing import Any

from obep.query import ast
from obep.query.build.actions import Children, Clause, is_token, nodes, reading, rule
from obep.query.build.build_names import alias_text
from obep.query.parse.spelling import span_between
from obep.query.syntax_errors.refused_sparql import CODE, REFUSED
from obep.query.walk import walk


@rule
def guard(children: Children) -> Any:
    for one in nodes(children, ast.Block, ast.Filter):
        _refuse_groups(one)
    triples = tuple(t for child in children if isinstance(child, list) for t in child)
    node = ast.Guard(
        nodes(children, ast.Block),
        nodes(children, ast.Filter),
        triples,
        span=span_between(children[0], _last(children)),
    )
    return Clause("guard", children[0], node, node)


def _refuse_groups(node: ast.Node) -> None:
    """EXISTS stands in the FILTERs of groups alone."""
    reason, remedy = REFUSED["EXISTS"]
    for found in walk(node):
        if isinstance(found, ast.Exists):
            message = "EXISTS cannot stand in a guard"
            reading.scope.error(CODE, message, found.span, reason=reason, remedy=remedy)


def _last(children: Children) -> Any:
    return next(child for child in reversed(children) if child is not None and not isinstance(child, list))


@rule
def block(children: Children) -> ast.Block:
    aliases = [child for child in children if is_token(child, "EVENT_WORD")]
    return ast.Block(
        tuple(alias_text(token) for token in aliases),
        tuple(t for child in children if isinstance(child, list) for t in child),
        nodes(children, ast.Filter),
        alias_spans=tuple(span_between(token) for token in aliases),
        span=span_between(children[0], children[-1]),
    )


@rule
def construct(children: Children) -> Any:
    triples = tuple(t for child in children if isinstance(child, list) for t in child)
    if not triples:
        reading.scope.error(
            "OBEP019",
            "CONSTRUCT is empty",
            span_between(children[0], children[-1]),
            reason="CONSTRUCT adds triples to what the event reports.",
            remedy="CONSTRUCT { ?this :concerns ?room }",
        )
    return Clause("construct", children[0], children[-1], triples)


@rule
def filter_(children: Children) -> ast.Filter:
    (condition,) = nodes(children)
    return ast.Filter(condition, span=span_between(children[0], children[-1]))


@rule
def triples(children: Children) -> list[Any]:
    """Subject and properties, with `;`, `,` and `[ … ]` written out."""
    subject, properties = children[0], children[1]
    written: list[Any] = []
    if isinstance(subject, tuple):  # [ … ]
        subject, inner = subject
        written.extend(inner)
    written.extend(_written_out(subject, properties or ()))
    return written


def _written_out(subject: Any, properties: Any) -> list[Any]:
    """The triples of a subject: those that name it, each followed by those of its `[ … ]`."""
    result: list[Any] = []
    first = subject
    for verb, objects in properties:
        for found in objects:
            inner: list[Any] = []
            if isinstance(found, tuple):
                found, inner = found
            kind = ast.TriplePattern if isinstance(verb, ast.Name | ast.Var) else ast.PathPattern
            result.append(kind(subject, verb, found, span=span_between(first or verb, found)))
            first = None
            result.extend(inner)
    return result


@rule
def property_list(children: Children) -> list[tuple[Any, list[Any]]]:
    kept = [child for child in children if child is not None and not is_token(child, "SEMICOLON")]
    return list(zip(kept[::2], kept[1::2], strict=True))


@rule
def objects(children: Children) -> list[Any]:
    return [child for child in children if not is_token(child, "COMMA")]


@rule
def blank_properties(children: Children) -> tuple[ast.Var, list[Any]]:
    node = ast.Var(reading.scope.fresh_label(), span=span_between(children[0], children[-1]))
    return node, _written_out(node, children[1] or ())
