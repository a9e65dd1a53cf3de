"""C-SPARQL's `timestamp(s, p, o)` and `timestamp(?v)` (D34): when a triple was last seen.

Both are written with C-SPARQL's prefix or without one. Here they become calls of `TIMESTAMP` with the terms
of one triple after the other: of `?v` those of the patterns of its group that have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from obep.query import ast
from obep.query.walk import walk

TIMESTAMP = "TIMESTAMP"
_N = TypeVar("_N", bound=ast.Node)
Patterns = Sequence[ast.TriplePattern]


def is_timestamp(function: str | ast.Name) -> bool:
    """Whether a function is C-SPARQL's timestamp."""
    if isinstance(function, str):
        return function.upper() == TIMESTAMP
    return function.iri.lower().endswith(("#timestamp>", "/timestamp>"))


def timestamps(node: ast.Node) -> Iterator[ast.Call]:
    """The calls of it in a part of a query."""
    return (one for one in walk(node) if isinstance(one, ast.Call) and is_timestamp(one.function))


def with_triples(node: _N) -> _N:
    """The same with the triples of all its timestamps."""
    return _rewritten(node, ()) if any(timestamps(node)) else node


def _rewritten(node: _N, patterns: Patterns) -> _N:
    if isinstance(node, ast.Call) and is_timestamp(node.function):
        return replace(node, function=TIMESTAMP, arguments=_triples(node, patterns))
    if isinstance(node, ast.Group):
        patterns = list(_patterns(node))
    elif isinstance(node, ast.Select):
        patterns = list(_patterns(node.where))
    changed = {}
    for field in fields(node):
        before = getattr(node, field.name)
        after = _part(before, patterns)
        if after is not before:
            changed[field.name] = after
    return replace(node, **changed) if changed else node


def _part(value: Any, patterns: Patterns) -> Any:
    if isinstance(value, tuple) and any(isinstance(one, ast.Node) for one in value):
        return tuple(_part(one, patterns) for one in value)
    return _rewritten(value, patterns) if isinstance(value, ast.Node) else value


def _patterns(group: ast.Group) -> Iterator[ast.TriplePattern]:
    """Those of the group itself, and of its parts over windows and graphs."""
    for element in group.elements:
        if isinstance(element, ast.Bgp):
            yield from (one for one in element.patterns if isinstance(one, ast.TriplePattern))
        elif isinstance(element, ast.WindowGroup | ast.GraphGroup):
            yield from _patterns(element.group)


def _triples(call: ast.Call, patterns: Patterns) -> tuple[ast.Expression, ...]:
    if len(call.arguments) != 1:
        return call.arguments
    (of,) = call.arguments
    found: list[Any] = []
    for one in patterns:
        terms = (one.subject, one.predicate, one.object)
        if of in terms:
            found += terms
    return tuple(found)
