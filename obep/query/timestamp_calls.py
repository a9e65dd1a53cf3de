"""C-SPARQL's `timestamp(s, p, o)` and `timestamp(?v)` (D34): when a triple was last seen.

Both are written with C-SPARQL's prefix or without one. Here they become calls of `TIMESTAMP` with the terms
of one triple after the other: of `?v` those of the patterns of its group that have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from obep.query import ast
from obep.query.rebuild import rebuilt
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
    """The group with the triples of all its timestamps."""
    found: _N = _rewritten(node) if any(timestamps(node)) else node
    return found


def without_triple(node: ast.Node) -> Iterator[ast.Call]:
    """The calls `timestamp(?v)` whose group has no triple pattern with ?v."""
    empty = {one.span for one in timestamps(with_triples(node)) if not one.arguments}
    return (one for one in timestamps(node) if len(one.arguments) == 1 and one.span in empty)


def _rewritten(node: Any) -> Any:
    group = node.where if isinstance(node, ast.Select) else node
    patterns = list(_patterns(group)) if isinstance(group, ast.Group) else []

    def change(part: ast.Node) -> ast.Node | None:
        if isinstance(part, ast.Call) and is_timestamp(part.function):
            return replace(part, function=TIMESTAMP, arguments=_triples(part, patterns))
        if part is not node and isinstance(part, ast.Group | ast.Select):
            changed: ast.Node = _rewritten(part)
            return changed
        return None

    return rebuilt(node, change)


def _patterns(group: ast.Group) -> Iterator[ast.TriplePattern]:
    """The patterns of the group itself, and of its parts over windows and graphs."""
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
