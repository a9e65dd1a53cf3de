"""A plan as text: a tree for people, Mermaid for pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.plan import nodes
from obep.plan.nodes import Node, Read
from obep.query.ast import Duration
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
    """What is known of an event before anything runs."""
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
    words = [_words(node)]
    if isinstance(node, nodes.Binary) and not node.held and not isinstance(node, nodes.Either):
        shared = [name for name in node.left.variables if name in node.right.variables]
        words += [f"on {_variables(shared)}"] if shared else []
    words += [f"if {show(condition.expression)}" for condition in node.conditions]
    return " ".join(words)


def _words(node: Node) -> str:
    match node:
        case Read():
            name = node.event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
            alias = "" if node.alias == name else f" AS {node.alias}"
            return f"{name}{alias} {_variables(node.variables)}".rstrip()
        case nodes.Pair():
            return node.relation
        case nodes.Pick():
            return f"SEQ with the {node.which} that fits"
        case nodes.Fallback():
            how = {"": "", "naive": ", naive"}.get(node.which, f" with the {node.which} that fits")
            return f"OPTIONAL {node.relation}{how}"
        case nodes.Next():
            return "NEXT"
        case nodes.Either():
            return "OR"
        case nodes.Without():
            return "WITHOUT"
        case nodes.Silence():
            return f"NOT FOLLOWED BY within {duration(node.micros)}"
        case nodes.Choice():
            return node.which.upper()
        case nodes.Settle():
            return "solutions" if node.final else "solutions so far"
        case nodes.Check():
            return "all"
        case nodes.Rest():
            return "NOT"
        case nodes.Within():
            how = "evaluated afresh" if node.replay else "a filter"
            return f"WITHIN {duration(node.micros)} ({how})"
    return type(node).__name__


def duration(micros: int) -> str:
    """A duration as the query language writes it."""
    return show(Duration(micros))


def _variables(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"?{name}" for name in names if not name.startswith(HIDDEN))


def mermaid(plan: Plan) -> str:
    """The same as a flow chart: occurrences flow upwards, to the events that they make."""
    lines = ["flowchart BT"]
    heads = {event.event: f"e{number}" for number, event in enumerate(plan.events)}
    for event in plan.events:
        shape = f"[[{_quoted(event.name)}]]" if event.event in plan.returned else f"[{_quoted(event.name)}]"
        lines.append(f"  {heads[event.event]}{shape}")
    for event in plan.events:
        if event.root is not None:
            _draw(event.root, heads[event.event], heads[event.event] + "n", heads, lines)
    return "\n".join(lines)


def _draw(node: Node, above: str, prefix: str, heads: dict[str, str], lines: list[str]) -> None:
    if isinstance(node, Read) and node.event in heads:
        lines.append(f"  {heads[node.event]} -->|{_quoted(node.alias)}| {above}")
        return
    lines.append(f"  {prefix}({_quoted(label(node))}) --> {above}")
    for number, operand in enumerate(node.operands):
        _draw(operand, prefix, f"{prefix}{number}", heads, lines)


def _quoted(text: str) -> str:
    escaped = text.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    return f'"{escaped}"'
