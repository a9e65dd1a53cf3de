"""What is known of a query only when all its files are there: which names are states.

A leaf that names a state is an episode of it; a group in a MATCH is a leaf of a graph event without a name of
its own; a RETURN of states returns alerts. To resolve a query twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from obep.query.ast import (
    CompositeEvent,
    Event,
    EventState,
    GraphEvent,
    GroupLeaf,
    Leaf,
    Name,
    OverState,
    Pattern,
    QueryFile,
    Return,
    State,
    StateUse,
    Var,
)
from obep.query.group_walk import group_variables
from obep.query.pattern_walk import operands, patterns, with_operands

GROUP = "urn:obep:group:"
"""Graph events that a MATCH has without naming them have IRIs of this kind."""


def resolve_states(files: Sequence[QueryFile]) -> list[QueryFile]:
    """The files with their leaves, groups and RETURNs resolved."""
    events = {event.name.iri for file in files for event in file.events}
    states = {state.name.iri for file in files for state in file.states} - events
    if not states and not any(_has_group(event) for file in files for event in file.events):
        return list(files)
    return [_Resolving(file, frozenset(states)).file() for file in files]


def _has_group(event: Event) -> bool:
    return isinstance(event, CompositeEvent) and any(
        isinstance(p, GroupLeaf) for p in patterns(event.pattern)
    )


class _Resolving:
    """One file on its way."""

    def __init__(self, file: QueryFile, states: frozenset[str]) -> None:
        self._file = file
        self._states = states
        self._groups: list[GraphEvent] = []

    def file(self) -> QueryFile:
        events = tuple(self._event(event) for event in self._file.events)
        states = tuple(self._state(state) for state in self._file.states)
        return replace(
            self._file,
            events=(*events, *self._groups),
            states=states,
            returns=tuple(one for clause in self._file.returns for one in self._returned(clause)),
        )

    def _event(self, event: Event) -> Event:
        if not isinstance(event, CompositeEvent):
            return event
        return replace(event, pattern=self._pattern(event.pattern, event.name, count(1)))

    def _state(self, state: State) -> State:
        numbers = count(1)
        if isinstance(state, EventState):
            start, end = (self._pattern(one, state.name, numbers) for one in (state.start, state.end))
            return replace(state, start=start, end=end)
        if isinstance(state, OverState) and not isinstance(state.over, StateUse):
            return replace(state, over=self._pattern(state.over, state.name, numbers))
        return state

    def _pattern(self, root: Pattern, owner: Name, numbers: Iterator[int]) -> Pattern:
        """The pattern with its leaves resolved, without recursion."""
        done: list[Pattern] = []
        stack: list[tuple[Pattern, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            below = operands(node)
            if isinstance(node, Leaf):
                done.append(self._leaf(node))
            elif isinstance(node, GroupLeaf):
                done.append(self._group(node, owner, next(numbers)))
            elif ready:
                made = with_operands(node, done[-len(below) :])
                del done[-len(below) :]
                done.append(made)
            else:
                stack.append((node, True))
                stack += [(one, False) for one in reversed(below)]
        return done[0]

    def _leaf(self, leaf: Leaf) -> Leaf:
        is_state = leaf.moment == "event" and leaf.event.iri in self._states
        return replace(leaf, moment="episode") if is_state else leaf

    def _group(self, node: GroupLeaf, owner: Name, number: int) -> Leaf:
        text = f"{owner.text.strip('<>')}-group{number}"
        name = Name(text, f"<{GROUP}{owner.iri.strip('<>')}:{number}>", span=node.span)
        variables = tuple(Var(one, span=node.span) for one in group_variables(node.group))
        self._groups.append(GraphEvent(name, node.group, variables, span=node.span))
        return Leaf(name, variables, node.alias or f"group{number}", span=node.span)

    def _returned(self, clause: Return) -> Iterator[Return]:
        alerts = tuple(name for name in clause.events if name.iri in self._states)
        if not alerts or clause.form != "event":
            yield clause
            return
        others = tuple(name for name in clause.events if name.iri not in self._states)
        if others:
            yield replace(clause, events=others)
        yield replace(clause, events=alerts, form="alerts")
