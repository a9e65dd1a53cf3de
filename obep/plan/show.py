"""A plan as text: a tree for people, Mermaid for pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.plan.nodes import Node

if TYPE_CHECKING:
    from obep.plan.plan import Plan


def tree(plan: Plan) -> str:
    """All events, lower strata first."""
    return "\n".join(
        line for event in plan.events for line in (event.name, *(_lines(event.root, 1) if event.root else ()))
    )


def _lines(node: Node, depth: int) -> Iterator[str]:
    yield "  " * depth + type(node).__name__
    for operand in node.operands:
        yield from _lines(operand, depth + 1)


def mermaid(plan: Plan) -> str:
    """The same as a flow chart."""
    raise NotImplementedError
