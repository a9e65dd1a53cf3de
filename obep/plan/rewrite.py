"""Rewrite a tree before it runs: each rule is a function, their order is the tuple `RULES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from obep.plan import nodes
from obep.plan.nodes import Condition, Node

Conditions = tuple[Condition, ...]
Rule = Callable[[Node, Conditions], Node]


def rewrite(root: Node, conditions: Conditions) -> Node:
    """The tree after all rules."""
    for rule in RULES:
        root = rule(root, conditions)
    return root


def settle_choices(node: Node, conditions: Conditions = ()) -> Node:
    """Below FIRST and LAST only a negation, NEXT or OPTIONAL decides what it asks (SPEC D9)."""
    if isinstance(node, nodes.Choice):
        return nodes.Settle(_hold(node), final=True)
    if isinstance(node, nodes.Fallback) and node.which == "naive":
        # It chooses before any guard, too; but whether an l fits is decided with all guards.
        left, right = (nodes.Settle(_hold(one), final=True, keep=True) for one in (node.left, node.right))
        return replace(node, left=left, right=right)
    return node.with_operands(settle_choices)


def _hold(node: Node) -> Node:
    if isinstance(node, nodes.Rest):
        return replace(node.with_operands(settle_choices), held=True)
    if isinstance(node, nodes.Negation):
        left, right = nodes.Settle(_hold(node.left)), settle_choices(node.right)
        return replace(node, left=left, right=right, held=True)
    if isinstance(node, nodes.InState):
        return replace(node, operand=nodes.Settle(_hold(node.operand)), held=True)
    if isinstance(node, nodes.Next | nodes.Fallback):
        keep = isinstance(node, nodes.Fallback) and node.which == "naive"
        left, right = (nodes.Settle(_hold(operand), keep=keep) for operand in (node.left, node.right))
        return replace(node, left=left, right=right, held=True)
    return replace(node.with_operands(_hold), held=True)


def place_conditions(node: Node, conditions: Conditions) -> Node:
    """Each FILTER goes to the lowest nodes that have its variables and aliases; the top decides the rest."""
    whole = tuple(condition for condition in conditions if condition.whole or not condition.needs)
    others = tuple(condition for condition in conditions if condition not in whole)
    placed = _place(node, others)
    return nodes.Check(placed, conditions=whole) if whole else placed


def _place(node: Node, conditions: Conditions) -> Node:
    node = node.with_operands(lambda operand: _place(operand, conditions))
    if isinstance(node, nodes.Settle) and node.final:
        here = [condition for condition in conditions if condition.needs <= node.scope]
    elif isinstance(node, nodes.While):
        here = [one for one in conditions if one.needs <= node.scope and not _settled(one, node.operand)]
    elif node.decides or (isinstance(node, nodes.Binary) and not node.held):
        here = [condition for condition in conditions if _belongs(condition, node)]
    else:
        here = []
    return replace(node, conditions=tuple(here))


def _settled(condition: Condition, below: Node) -> bool:
    """Whether a node below has decided a condition for good."""
    return condition.needs <= below.scope and below.sure.issuperset(condition.variables)


def _belongs(condition: Condition, node: Node) -> bool:
    """Whether this is a lowest node with all that the condition needs, or adds to what was unbound below."""
    left, right = node.operands
    if isinstance(node, nodes.Either):
        return False
    if not condition.needs <= left.scope | right.scope:
        return False
    for one, other in ((left, right), (right, left)):
        if condition.needs <= one.scope:
            unsure = {f"?{name}" for name in condition.variables if name not in one.sure}
            return bool(unsure & other.scope) and not isinstance(node, nodes.Negation)
    return True


def choose_windows(node: Node, conditions: Conditions = ()) -> Node:
    """WITHIN is a filter, unless what lies outside of the window could change what is inside."""
    node = node.with_operands(choose_windows)
    if isinstance(node, nodes.Within) and not _filters(node.operand):
        direct = _direct(node.operand)
        return replace(node, replay=True) if direct is None else replace(node, operand=direct)
    return node


def _direct(node: Node) -> Node | None:
    """What stands directly below a WITHIN and chooses when the window is looked at: it can keep to the window
    by itself, if nothing below it chooses. `None` for anything else."""
    match node:
        case nodes.Check():
            operand = _direct(node.operand)
            return None if operand is None else replace(node, operand=operand)
        case nodes.Settle(operand=nodes.Choice(which="first") as choice) if _filters(choice.operand):
            return replace(node, operand=replace(choice, windowed=True))
        case nodes.Pick() | nodes.Fallback() if node.which != "naive":
            return node if _filters(node.left) and _filters(node.right) else None
        case nodes.Pair():
            left, right = (one if _filters(one) else _direct_choice(one) for one in (node.left, node.right))
            return None if left is None or right is None else replace(node, left=left, right=right)
    return None


def _direct_choice(node: Node) -> Node | None:
    return _direct(node) if isinstance(node, nodes.Settle) else None


def _filters(node: Node) -> bool:
    """Whether evaluation over the window alone finds just what a filter on `since` leaves (SPEC §4)."""
    return node.steady and all(_filters(operand) for operand in node.operands)


def spread_horizons(node: Node, conditions: Conditions = ()) -> Node:
    """Compute how far back each operator has to remember."""
    return _spread(node, None)


def _spread(node: Node, horizon: int | None) -> Node:
    below = horizon
    if isinstance(node, nodes.Within):
        horizon = node.micros if horizon is None else min(horizon, node.micros)
        below = None if node.replay else horizon
    elif isinstance(node, nodes.Negation):
        back = node.denied(horizon, _filters(node.right))
        left, right = _spread(node.left, horizon), _spread(node.right, back)
        return replace(node, left=left, right=right, horizon=horizon)
    elif isinstance(node, nodes.Rest):
        below = 1 if node.operand.rooted and _filters(node.operand) else None
    return replace(node.with_operands(lambda operand: _spread(operand, below)), horizon=horizon)


RULES: tuple[Rule, ...] = (settle_choices, place_conditions, choose_windows, spread_horizons)
