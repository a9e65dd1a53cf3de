"""Drop one condition of a composite event at a time (guard, bound, order, …), to find which one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.print.printer import show
from obep.query.walk import walk

Rewrite = Callable[[ast.Pattern], ast.Pattern]
Relaxed = tuple[str, ast.CompositeEvent]
"""The dropped condition, and the event without it."""
RelaxedState = tuple[str, ast.State]
RelaxedGroup = tuple[str, ast.Group]


def relaxations(event: ast.CompositeEvent, *, apart: bool = True) -> Iterator[Relaxed]:
    """The event with one condition less, for each kind of condition that it has.

    `apart`: also without what its parts share, and so without its parameters.
    """
    nodes = list(walk(event.pattern))
    if event.guard is not None:
        yield "its guard", replace(event, guard=None, construct=())
    bounds = [node for node in nodes if isinstance(node, ast.Within)]
    if bounds:
        text = ", ".join(f"WITHIN {show(node.within)}" for node in bounds)
        yield text, _with(event, _unbounded)
    if any(isinstance(node, ast.Seq | ast.Next) for node in nodes):
        yield "the order of its parts", _with(event, _unordered)
    if any(isinstance(node, ast.And) for node in nodes):
        what = "the same instant, which AND requires (JOIN accepts any order),"
        yield what, _with(event, _whenever)
    if any(isinstance(node, ast.Without | ast.NotFollowedBy) for node in nodes):
        yield "what must not happen", _with(event, _undenied)
    beside = [node for node in nodes if isinstance(node, ast.While | ast.Unless)]
    if beside:
        text = ", ".join(f"{node.WORD} {show(node.state)}" for node in beside)
        yield text, _with(event, _anyway)
    lasting = [node.lasting for node in nodes if isinstance(node, ast.Leaf) and node.lasting is not None]
    if lasting:
        yield ", ".join(f"FOR {show(one)}" for one in lasting), _with(event, _however_long)
    shared = sorted(
        {variable.name for node in nodes if isinstance(node, ast.Leaf) for variable in node.parameters}
    )
    if shared and apart:
        names = ", ".join(f"?{name}" for name in shared)
        yield (
            f"its parts having the same {names}",
            replace(_with(event, _apart), parameters=(), partition_by=()),
        )
    if event.policy != "unrestricted":
        yield f"POLICY {event.policy}", replace(event, policy="unrestricted")


def timeless(event: ast.CompositeEvent) -> Relaxed | None:
    """The event without its bounds and its order, if it has both."""
    bounds = [node for node in walk(event.pattern) if isinstance(node, ast.Within)]
    if not bounds or not any(isinstance(node, ast.Seq | ast.Next) for node in walk(event.pattern)):
        return None
    text = ", ".join(f"WITHIN {show(node.within)}" for node in bounds)
    return f"{text} and the order of its parts", _with(_with(event, _unbounded), _unordered)


def undemanding(event: ast.CompositeEvent, *, apart: bool = True) -> ast.CompositeEvent:
    """The event with none of these conditions."""
    for _ in range(10):
        first = next(relaxations(event, apart=apart), None)
        if first is None:
            break
        event = first[1]
    return event


def state_relaxations(state: ast.State) -> Iterator[RelaxedState]:
    """A state with one condition less."""
    if isinstance(state, ast.GroupState) and isinstance(state.group, ast.Group):
        for text, group in group_relaxations(state.group):
            yield text, replace(state, group=group)
    if isinstance(state, ast.OverState):
        if state.having is not None:
            yield f"HAVING ({show(state.having)})", replace(state, having=None)
        if state.each is not None:
            yield f"FOR EACH {show(state.each)}", replace(state, each=None)
    if not isinstance(state, ast.GroupState | ast.DailyState) and state.guard is not None:
        yield "its guard", replace(state, guard=None)


def group_relaxations(group: ast.Group) -> Iterator[RelaxedGroup]:
    """A group with one part less, of those that bind nothing else: conditions, states, MINUS."""
    for number, element in enumerate(group.elements):
        if isinstance(element, ast.Filter | ast.Atom | ast.GroupMinus):
            rest = (*group.elements[:number], *group.elements[number + 1 :])
            yield " ".join(show(element).split()), replace(group, elements=rest)


def _with(event: ast.CompositeEvent, rewrite: Rewrite) -> ast.CompositeEvent:
    return replace(event, pattern=rewritten(event.pattern, rewrite))


def rewritten(pattern: ast.Pattern, rewrite: Rewrite) -> ast.Pattern:
    """The pattern with every part rewritten, the innermost first."""
    changed: dict[str, Any] = {}
    for name in ("operand", "left", "right"):
        if hasattr(pattern, name):
            changed[name] = rewritten(getattr(pattern, name), rewrite)
    if hasattr(pattern, "operands"):
        changed["operands"] = tuple(rewritten(operand, rewrite) for operand in pattern.operands)
    return rewrite(replace(pattern, **changed) if changed else pattern)


def _unbounded(node: ast.Pattern) -> ast.Pattern:
    return node.operand if isinstance(node, ast.Within) else node


def _unordered(node: ast.Pattern) -> ast.Pattern:
    return ast.Join(node.operands) if isinstance(node, ast.Seq | ast.Next) else node


def _whenever(node: ast.Pattern) -> ast.Pattern:
    return ast.Join(node.operands) if isinstance(node, ast.And) else node


def _undenied(node: ast.Pattern) -> ast.Pattern:
    return node.left if isinstance(node, ast.Without | ast.NotFollowedBy) else node


def _anyway(node: ast.Pattern) -> ast.Pattern:
    return node.left if isinstance(node, ast.While | ast.Unless) else node


def _however_long(node: ast.Pattern) -> ast.Pattern:
    if not isinstance(node, ast.Leaf) or node.lasting is None:
        return node
    return replace(node, lasting=None, moment="begin" if node.moment == "episode" else node.moment)


def _apart(node: ast.Pattern) -> ast.Pattern:
    return replace(node, parameters=()) if isinstance(node, ast.Leaf) else node
