"""The one function that every part of the printer adds its nodes to."""

from __future__ import annotations

from functools import singledispatch

from obep.query import ast

INDENT = "  "
WIDTH = 100
"""A line that grows longer is folded where it can be."""


@singledispatch
def text(node: ast.Node) -> str:
    """The canonical text of a node."""
    raise TypeError(f"{type(node).__name__} has no text of its own")
