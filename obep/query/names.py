"""Questions about the AST that everyone asks: aliases, leaves, dependencies, strata.

Everything here is iterative: what parses may be 100 levels deep, what a program builds deeper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from obep.errors import Span
from obep.query import ast
from obep.query.nearest import nearest

if TYPE_CHECKING:
    from obep.query.link import Linked

__all__ = [
    "Cycle", "alias_of", "all_below", "children", "depends", "leaves", "made_of", "nearest", "strata",
    "too_deep", "walk",
]  # fmt: skip


def alias_of(leaf: ast.Leaf) -> str:
    """The alias of a leaf: the one written, or the name of its event (`:Room` and `Room` are the same)."""
    return leaf.alias if leaf.alias is not None else leaf.event.text.removeprefix(":")


def children(node: ast.Node) -> Iterator[ast.Node]:
    """The nodes directly inside a node, in the order of its fields."""
    for value in _values(node):
        if isinstance(value, ast.Node):
            yield value
        elif isinstance(value, tuple):
            for one in value:
                if isinstance(one, ast.Node):
                    yield one


_FIELDS: dict[str, tuple[str, ...]] = {}


def _values(node: ast.Node) -> Iterator[Any]:
    kind = type(node).__name__
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in fields(node) if field.compare)
    return (getattr(node, name) for name in _FIELDS[kind])


def walk(node: ast.Node) -> Iterator[ast.Node]:
    """A node and all nodes inside it, in reading order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))


def leaves(pattern: ast.Node) -> Iterator[ast.Leaf]:
    """The leaves of a pattern, in reading order."""
    return (node for node in walk(pattern) if isinstance(node, ast.Leaf))


def too_deep(file: ast.QueryFile, limit: int) -> Span | None:
    """The place of the first node that lies deeper inside its event than `limit`."""
    for event in file.events:
        stack = [(child, 0) for child in children(event)]
        while stack:
            node, depth = stack.pop()
            if depth > limit:
                return node.span
            depth += not isinstance(node, ast.Guard | ast.Block)
            stack.extend((child, depth) for child in children(node))
    return None


def depends(event: ast.Event) -> set[str]:
    """The IRIs that an event's definition names: events, classes, properties, individuals."""
    if isinstance(event, ast.CompositeEvent):
        return {leaf.event.iri for leaf in leaves(event.pattern)}
    return {node.iri for node in walk(event.description) if isinstance(node, ast.Name)}


def made_of(linked: Linked) -> dict[str, set[str]]:
    """For each event all others that it is defined by, directly or not; in a circle also itself."""
    needs = {iri: depends(event) & linked.events.keys() for iri, event in linked.events.items()}
    return {iri: all_below(iri, needs) for iri in needs}


def all_below(iri: str, needs: Mapping[str, set[str]]) -> set[str]:
    """All that one reaches by its needs, those of these, and so on."""
    seen: set[str] = set()
    waiting = [iri]
    while waiting:
        for one in needs.get(waiting.pop(), ()):
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return seen


class Cycle(Exception):
    """Events that are defined by each other; `events` begins anywhere and closes with its first."""

    def __init__(self, events: list[str]) -> None:
        super().__init__(" → ".join(events))
        self.events = events


def strata(linked: Linked) -> list[list[str]]:
    """The events in layers: each is defined by events of earlier layers only. Raises Cycle.

    Within a layer the order of definition is kept.
    """
    needs = {iri: depends(event) & linked.events.keys() for iri, event in linked.events.items()}
    level: dict[str, int] = {}
    for root in needs:
        path: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = [(root, iter(sorted(needs[root])))]
        on_path = {root}
        path.append(root)
        while stack:
            iri, rest = stack[-1]
            step = next((n for n in rest if n not in level), None)
            if step is None:
                level[iri] = 1 + max((level[n] for n in needs[iri]), default=-1)
                stack.pop()
                on_path.discard(path.pop())
            elif step in on_path:
                raise Cycle([*path[path.index(step) :], step])
            else:
                stack.append((step, iter(sorted(needs[step]))))
                on_path.add(step)
                path.append(step)
    layers: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for iri in needs:
        layers[level[iri]].append(iri)
    return layers
