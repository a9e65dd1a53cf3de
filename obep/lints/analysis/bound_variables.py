"""Find the variables that a pattern always binds, and those of a state or an event."""

from __future__ import annotations

from obep.lints.analysis.event_order import Definitions
from obep.query.ast import (
    Atom,
    Bgp,
    Bind,
    GraphGroup,
    Group,
    GroupUnion,
    Guard,
    Leaf,
    Node,
    Not,
    NotFollowedBy,
    Optional,
    Or,
    Pattern,
    Repeated,
    Select,
    StateUse,
    Unless,
    Values,
    Var,
    While,
    WindowGroup,
    Without,
)
from obep.query.pattern_walk import operands
from obep.query.walk import alias_of, walk


def always_bound(pattern: Pattern | StateUse, guard: Guard | None, definitions: Definitions) -> set[str]:
    """The variables that every candidate of a pattern binds: those of all alternatives of an OR."""
    if isinstance(pattern, StateUse):
        return _names(pattern.parameters) | in_scope(pattern.state.iri, definitions)
    if isinstance(pattern, Leaf):
        return _of_leaf(pattern, guard, definitions)
    if isinstance(pattern, Not | Optional):
        return set()
    if isinstance(pattern, Without | NotFollowedBy | Unless):
        return always_bound(pattern.left, guard, definitions)
    if isinstance(pattern, While):
        left = always_bound(pattern.left, guard, definitions)
        return left | always_bound(pattern.state, guard, definitions)
    if isinstance(pattern, Repeated):
        return always_bound(pattern.operand, guard, definitions)
    below = [always_bound(operand, guard, definitions) for operand in operands(pattern)]
    if isinstance(pattern, Or):
        return set.intersection(*below)
    return set().union(*below)


def _of_leaf(leaf: Leaf, guard: Guard | None, definitions: Definitions) -> set[str]:
    found = _names(leaf.parameters) | in_scope(leaf.event.iri, definitions)
    for block in guard.blocks if guard else ():
        if not block.aliases or alias_of(leaf) in block.aliases:
            found |= {node.name for triple in block.triples for node in walk(triple) if isinstance(node, Var)}
    return found


def always_bound_in(node: Node, definitions: Definitions) -> set[str]:
    """The variables that every solution of a group binds: those of all alternatives of a UNION."""
    match node:
        case Bgp():
            return {one.name for one in walk(node) if isinstance(one, Var)}
        case Atom():
            return _names(node.parameters) | in_scope(node.name.iri, definitions)
        case Bind():
            return {node.variable.name}
        case Values():
            rows = node.rows
            return {one.name for at, one in enumerate(node.variables) if all(row[at] for row in rows)}
        case GroupUnion():
            return set.intersection(*(always_bound_in(one, definitions) for one in node.groups))
        case GraphGroup(graph=named) | WindowGroup(window=named):
            own = {named.name} if isinstance(named, Var) else set()
            return always_bound_in(node.group, definitions) | own
        case Group():
            return set().union(*(always_bound_in(one, definitions) for one in node.elements))
        case Select():
            found = always_bound_in(node.where, definitions)
            if node.values is not None:
                found |= always_bound_in(node.values, definitions)
            found |= {one.variable.name for one in node.group_by if one.expression is not None}
            computed = {one.variable.name for one in node.projection if one.expression is not None}
            shown = _names(tuple(one.variable for one in node.projection))
            return (found & shown) | computed if node.projection else found
    return set()


def in_scope(iri: str, definitions: Definitions) -> set[str]:
    """The variables of a state's definition: its bindings join by name (STATES 2)."""
    state = definitions.states.get(iri)
    return {node.name for node in walk(state) if isinstance(node, Var)} if state is not None else set()


def _names(variables: tuple[Var, ...]) -> set[str]:
    return {variable.name for variable in variables}
