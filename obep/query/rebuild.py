"""An AST with some of its nodes replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from obep.query import ast


def rebuilt(node: Any, change: Callable[[ast.Node], ast.Node | None]) -> Any:
    """A node with other nodes in place of those that `change` has some for, the outermost ones first."""
    new = change(node)
    if new is not None:
        return new
    changed = {}
    for name in node.__dataclass_fields__:
        before = getattr(node, name)
        after = _rebuilt_part(before, change)
        if after is not before:
            changed[name] = after
    return replace(node, **changed) if changed else node


def _rebuilt_part(value: Any, change: Callable[[ast.Node], ast.Node | None]) -> Any:
    if isinstance(value, tuple):
        parts = tuple(_rebuilt_part(one, change) for one in value)
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return rebuilt(value, change) if isinstance(value, ast.Node) else value
