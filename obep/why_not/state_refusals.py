"""Explain the role of states for an event that was not reported: missing leaves, WHILE and UNLESS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obep.guards.block_queries import Asks
from obep.model import Term
from obep.operators.row_join import Gathering
from obep.plan import nodes
from obep.plan.nodes import Node, Read, walk
from obep.query.state_parts import GRAPH, apart
from obep.why_not.near_matches import Nearly, Recent, parts_below, relaxed
from obep.why_not.refusals import Reason, rows_of
from obep.why_not.state_history import Key, StatesSeen, Telling, moment_lines, while_text
from obep.why_not.target import Question


def missing_moments(
    asked: Question, asks: Asks, recent: Recent, states: StatesSeen, telling: Telling
) -> Iterator[str]:
    """Why the leaves of states that a pattern needs did not come."""
    root = asked.plan.root
    needed = relaxed(root) if root is not None else None
    for leaf in [node for node in walk(needed) if isinstance(node, Read)] if needed is not None else ():
        part = apart(leaf.event)
        if part is not None and part.moment != GRAPH and not recent.get(leaf.alias):
            yield from moment_lines(part, _asked_key(leaf, part.of, asked, asks, states), states, telling)


def _asked_key(leaf: Read, state: Term, asked: Question, asks: Asks, states: StatesSeen) -> Key:
    """The values of the state that the question gives."""
    names = {at: name for name, at in asks.all[leaf.ask].parameters}
    return tuple(asked.bound.get(names.get(at, "")) for at in range(len(states.parameters(state))))


def in_states(root: Node, whole: Nearly, states: StatesSeen, telling: Telling) -> Iterator[Reason]:
    """The reasons of WHILE and UNLESS to refuse a candidate."""
    for node in walk(root):
        extent = parts_below(node, whole) if isinstance(node, nodes.InState) else None
        if extent is None or not isinstance(node, nodes.InState):
            continue
        keys = list(dict.fromkeys(_keys(node, whole)))
        if isinstance(node, nodes.While):
            against = [_not_while(node, key, extent, states, telling) for key in keys]
        else:
            against = [_not_unless(node, key, extent, states, telling) for key in keys]
        if against and None not in against:  # one solution is enough
            kind = "while" if isinstance(node, nodes.While) else "unless"
            yield Reason(kind, against[0] or "", tuple(extent.parts))


def _not_while(
    node: nodes.While, key: Key, extent: Nearly, states: StatesSeen, telling: Telling
) -> str | None:
    name = states.name(node.state, key)
    return while_text(name, states.spells(node.state, key), extent.start, extent.end, telling)


def _not_unless(
    node: nodes.InState, key: Key, extent: Nearly, states: StatesSeen, telling: Telling
) -> str | None:
    for one in states.spells(node.state, key).all:
        if one.begun <= extent.end and (one.ended is None or one.ended > extent.end):
            name = states.name(node.state, one.key)
            return f"{name} held at {telling.at(extent.end)}, since {telling.at(one.begun)}"
    return None


def _keys(node: nodes.InState, whole: Nearly) -> Iterable[Key]:
    """The values of a state's parameters in the solutions of a candidate; `None` where they have none."""
    leaves = [leaf for leaf in walk(node.operand) if isinstance(leaf, Read) and leaf.alias in whole.parts]
    names = node.columns[: node.parameters]
    own = tuple(dict.fromkeys(name for leaf in leaves for name in leaf.variables))
    gather = Gathering([leaf.variables for leaf in leaves], own)
    for row in gather(tuple(rows_of(leaf, whole.parts[leaf.alias]) for leaf in leaves)):
        values = dict(zip(own, row, strict=True))
        yield tuple(values.get(name) for name in names)
