"""Find the variables of a guard's node and the aliases whose times it reads; rename them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from obep.query.ast import Node, TimeFunction, Var
from obep.query.walk import walk

N = TypeVar("N", bound=Node)

THIS = "this"
HIDDEN = "_:"
"""Variables whose names begin with this are solved for but not shown: blank nodes of a block, and the
`?this` of an alias where a filter needs it outside of that alias."""


def variables(*roots: Node) -> tuple[str, ...]:
    """The names of the variables, each once, in the order of their first mention."""
    return tuple(dict.fromkeys(node.name for root in roots for node in walk(root) if isinstance(node, Var)))


def timed(node: Node) -> frozenset[str | None]:
    """The aliases whose times a condition reads; `None` is the whole candidate."""
    return frozenset(part.alias for part in walk(node) if isinstance(part, TimeFunction))


def rename_variable(node: N, old: str, new: str) -> N:
    """A copy of the node with another name for one variable."""

    def change(part: Node) -> Node:
        return replace(part, name=new) if isinstance(part, Var) and part.name == old else part

    return cast(N, mapped(node, change))


def rename_times(node: N, new: str) -> N:
    """A copy of the node with one alias in all its time functions."""

    def change(part: Node) -> Node:
        return replace(part, alias=new) if isinstance(part, TimeFunction) else part

    return cast(N, mapped(node, change))


def mapped(value: object, change: Callable[[Node], Node]) -> object:
    """The same node, with each part of it changed."""
    if isinstance(value, tuple):
        members = tuple(mapped(member, change) for member in value)
        return members if any(a is not b for a, b in zip(members, value, strict=True)) else value
    if not isinstance(value, Node):
        return value
    changed: dict[str, Any] = {}
    for slot in fields(value):
        if slot.compare:
            old = getattr(value, slot.name)
            new = mapped(old, change)
            if new is not old:
                changed[slot.name] = new
    return change(replace(value, **changed) if changed else value)
