"""Questions about the AST that everyone asks: aliases, leaves, dependencies, strata.

Everything here is iterative: what parses may be 100 levels deep, what a program builds deeper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from obep.errors import Span
from obep.query import ast
from obep.query.nearest_name import nearest

if TYPE_CHECKING:
    from obep.query.link import Linked

__all__ = [
    "Cycle", "alias_of", "children", "components", "declarations", "depends", "event_needs", "layered",
    "leaves", "nearest", "needs_of", "reachable", "statements", "strata", "too_deep", "walk",
]  # fmt: skip


def alias_of(leaf: ast.Leaf) -> str:
    """The alias of a leaf: the one written, or the name of its event (`:Room` and `Room` are the same)."""
    return leaf.alias if leaf.alias is not None else leaf.event.text.removeprefix(":")


def children(node: ast.Node) -> list[ast.Node]:
    """The nodes directly inside a node, in the order of its fields."""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(
            field.name for field in fields(node) if field.compare and not _PLAIN.match(str(field.type))
        )
    found: list[ast.Node] = []
    for name in names:
        value = getattr(node, name)
        if isinstance(value, ast.Node):
            found.append(value)
        elif value.__class__ is tuple:
            for one in value:
                if isinstance(one, ast.Node):
                    found.append(one)
                elif one.__class__ is tuple:  # the rows of VALUES
                    found += [inner for inner in one if isinstance(inner, ast.Node)]
    return found


_FIELDS: dict[type[ast.Node], tuple[str, ...]] = {}
_PLAIN = re.compile(r"(?:str|int|bool)(?: \| None)?\Z|Choice\[|AllenRelation|Policy|Moment|Extent")
"""The types of fields that hold no nodes."""


def walk(node: ast.Node) -> Iterator[ast.Node]:
    """A node and all nodes inside it, in reading order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += reversed(children(current))


def units_in(node: ast.Node) -> list[str]:
    """The units of the numbers in a class expression, each once, as they are written."""
    units = (one.unit for one in walk(node) if isinstance(one, ast.Facet) and one.unit is not None)
    return list(dict.fromkeys(one.text if isinstance(one, ast.Name) else one.lexical for one in units))


def leaves(pattern: ast.Node) -> Iterator[ast.Leaf]:
    """The leaves of a pattern, in reading order."""
    return (node for node in walk(pattern) if isinstance(node, ast.Leaf))


def declarations(file: ast.QueryFile) -> list[ast.Event | ast.State]:
    """The events and states of a file, in the order of the text."""
    return sorted((*file.events, *file.states), key=lambda one: one.span.start)


def statements(file: ast.QueryFile) -> list[ast.Event | ast.State | ast.Register]:
    """The events, states and queries of a file, in the order of the text."""
    return sorted((*file.events, *file.states, *file.queries), key=lambda one: one.span.start)


def too_deep(file: ast.QueryFile, limit: int) -> Span | None:
    """The place of the first node that lies deeper inside its event than `limit`."""
    for declared in statements(file):
        stack = [(child, 0) for child in children(declared)]
        while stack:
            node, depth = stack.pop()
            if depth > limit:
                return node.span
            depth += not isinstance(node, ast.Guard | ast.Block)
            stack += [(child, depth) for child in children(node)]
    return None


def depends(definition: ast.Event | ast.State) -> set[str]:
    """The IRIs that a definition names: events, states, classes, properties.

    An individual (`state value Faulted`) is none of them, though its name may be that of an event.
    """
    if isinstance(definition, ast.LogicalEvent | ast.ClassState):
        return _of_description(definition.description)
    return used_definitions(definition)


def used_definitions(whole: ast.Node) -> set[str]:
    """The IRIs of the events and states that the patterns and groups of a node name."""
    found: set[str] = set()
    for node in walk(whole):
        if isinstance(node, ast.Leaf):
            found.add(node.event.iri)
        elif isinstance(node, ast.StateUse):
            found.add(node.state.iri)
        elif isinstance(node, ast.Atom):
            found.add(node.name.iri)
    return found


def _of_description(description: ast.Description) -> set[str]:
    found: set[str] = set()
    stack: list[ast.Node] = [description]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            found.add(node.iri)
        elif isinstance(node, ast.Value):
            stack.append(node.property)
        elif not isinstance(node, ast.OneOf):
            stack += children(node)
    return found


def windows_of(node: ast.Node) -> tuple[str, ...]:
    """The windows that a definition is ON, and those that its groups or leaves name, in this order."""
    found = [getattr(node, "on", None)]
    found += [one.window for one in walk(node) if isinstance(one, ast.WindowGroup | ast.Leaf)]
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str)))


def needs_of(linked: Linked, *, earlier: bool = False) -> dict[str, set[str]]:
    """For each event and each state the others that its definition names, or that its windows hold.

    What it reads from before only (D40) is among them if it is asked for: it does not have to come first.
    """
    held = {window.name: window.event.iri for window in linked.windows if window.event is not None}
    known = linked.events.keys() | linked.states.keys()
    needs: dict[str, set[str]] = {}
    for iri, definition in (*linked.events.items(), *linked.states.items()):
        needs[iri] = depends(definition) & known
        if held:
            looked = held if _asks_all(definition) else windows_of(definition)
            needs[iri] |= {held[window] for window in looked if window in held} & known
        needs[iri] |= linked.needs.get(iri, set()) & known
    if not earlier:
        for iri, before in linked.earlier.items():
            needs[iri] -= before
    return needs


def _asks_all(definition: ast.Node) -> bool:
    """Whether it looks at all windows, by `WINDOW ?w`."""
    return any(
        isinstance(one, ast.WindowGroup) and isinstance(one.window, ast.Var) for one in walk(definition)
    )


def event_needs(linked: Linked, *, earlier: bool = False) -> dict[str, set[str]]:
    """For each event the others that its definition names, itself or by its states."""
    needs = needs_of(linked, earlier=earlier)
    if not linked.states:
        return needs
    return {iri: _through(iri, needs, linked.states) for iri in linked.events}


def _through(iri: str, needs: Mapping[str, set[str]], states: Mapping[str, ast.State]) -> set[str]:
    found: set[str] = set()
    waiting, seen = [iri], {iri}
    while waiting:
        for one in needs[waiting.pop()]:
            if one not in states:
                found.add(one)
            elif one not in seen:
                seen.add(one)
                waiting.append(one)
    return found


_T = TypeVar("_T", bound=Hashable)


def reachable(start: _T, leads_to: Mapping[_T, Iterable[_T]]) -> set[_T]:
    """All nodes that are reachable from a node; the node itself only if it is on a cycle."""
    seen: set[_T] = set()
    waiting = [start]
    while waiting:
        for one in leads_to.get(waiting.pop(), ()):
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return seen


def components(starts: Iterable[_T], following: Callable[[_T], Iterable[_T]]) -> Iterator[list[_T]]:
    """Strongly connected components, each after all that it leads to (Tarjan, without recursion)."""
    number: dict[_T, int] = {}
    lowest: dict[_T, int] = {}
    waiting: list[_T] = []
    done: set[_T] = set()
    for start in starts:
        if start in number:
            continue
        number[start] = lowest[start] = len(number)
        waiting.append(start)
        path = [(start, iter(following(start)))]
        while path:
            here, rest = path[-1]
            for other in rest:
                if other not in number:
                    number[other] = lowest[other] = len(number)
                    waiting.append(other)
                    path.append((other, iter(following(other))))
                    break
                if other not in done:
                    lowest[here] = min(lowest[here], number[other])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[here])
                if lowest[here] == number[here]:
                    component = [waiting.pop()]
                    while component[-1] != here:
                        component.append(waiting.pop())
                    done.update(component)
                    yield component


class Cycle(Exception):
    """Events that are defined by each other; `events` begins anywhere and closes with its first."""

    def __init__(self, events: list[str]) -> None:
        super().__init__(" → ".join(events))
        self.events = events


def strata(linked: Linked) -> list[list[str]]:
    """The events and states in layers: each is defined by those of earlier layers only. Raises Cycle."""
    return layered(needs_of(linked))


def layered(needs: Mapping[str, set[str]], sets: Container[str] = ()) -> list[list[str]]:
    """Order nodes in layers, each as early as possible. Within a layer the order of `needs` is kept.

    A node of `sets` only stands for those that it needs, and is in no layer.
    """
    level: dict[str, int] = {}
    for root in needs:
        if root in level:
            continue
        path = [root]
        stack: list[tuple[str, Iterator[str]]] = [(root, iter(sorted(needs[root])))]
        on_path = {root}
        while stack:
            iri, rest = stack[-1]
            step = next((n for n in rest if n not in level), None)
            if step is None:
                level[iri] = max((level[n] for n in needs[iri]), default=-1) + (iri not in sets)
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
        if iri not in sets:
            layers[level[iri]].append(iri)
    return layers
