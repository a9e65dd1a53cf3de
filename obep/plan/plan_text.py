"""A plan as text: the operators of each event as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.plan import nodes
from obep.plan.nodes import Node, Read
from obep.plan.nodes.node import duration
from obep.query.free_variables import HIDDEN
from obep.query.print.printer import show

if TYPE_CHECKING:
    from obep.plan.plan import EventPlan, Plan


def tree(plan: Plan) -> str:
    """All events, lower strata first, each with its operators."""
    return "\n".join(line for event in plan.events for line in _event(event))


def _event(event: EventPlan) -> Iterator[str]:
    yield f"{event.name}: {', '.join(facts(event))}"
    if event.root is not None:
        yield from _lines(event.root, "  ")


def facts(event: EventPlan) -> Iterator[str]:
    """Describe the static properties of an event."""
    if event.root is None:
        yield "logical" if event.guard_ask is None else "logical with a guard"
    else:
        yield "composite"
    if event.window:
        yield f"over <{event.window}>"
    yield f"stratum {event.stratum}"
    yield "reports at the push" if event.prompt else "reports when the instant closes"
    if event.root is not None:
        yield "looks back for ever" if event.horizon is None else f"looks back {duration(event.horizon)}"
    if event.partition_by:
        yield "by " + ", ".join(f"?{name}" for name in event.partition_by)
    elif event.key is not None:
        yield f"can be split by ?{event.key}"
    if event.policy != "unrestricted":
        yield event.policy


def _lines(node: Node, indent: str) -> Iterator[str]:
    yield indent + label(node)
    for operand in node.operands:
        yield from _lines(operand, indent + "  ")


def label(node: Node) -> str:
    """A node in a line: what it does, on which variables, under which conditions."""
    words = [node.label]
    if isinstance(node, Read):
        words += filter(None, [_variables(node.variables)])
    if isinstance(node, nodes.Binary) and not node.held and not isinstance(node, nodes.Either):
        shared = [name for name in node.left.variables if name in node.right.variables]
        words += [f"on {_variables(shared)}"] if shared else []
    words += [f"if {show(condition.expression)}" for condition in node.conditions]
    return " ".join(words)


def _variables(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"?{name}" for name in names if not name.startswith(HIDDEN))
