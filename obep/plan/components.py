"""Which events must run together, and by what value the work of each such component can be split.

Comes in: a plan. Goes out: `Component`s, for Spark's buckets and segments. Splitting by a key never changes
an answer (SPEC §4): by a variable of PARTITION BY, or by one that stands for the individual of every leaf,
when the pattern has no NOT, FIRST, LAST or policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from obep.guards.block_queries import Ask
from obep.model import Term, body_of
from obep.plan import nodes
from obep.plan.nodes import Node
from obep.plan.plan import EventPlan, Plan

Reading = tuple[int, int]
"""An ask, and where the key stands in its solutions."""
SEGMENTS = 4096
"""The segments of a component of one event, if it has a key."""
FEWEST = 64
BY_WHOM = "split by whom it happens to"
NO_KEY = "no variable stands for the individual of all parts, and nothing says PARTITION BY"


@dataclass(frozen=True)
class Component:
    """Events that depend on each other. `whole`: it wants the items themselves, for a NOT or a window."""

    events: tuple[Term, ...]
    reads: Mapping[Term, tuple[Reading, ...]]
    """The events that it takes from items, each with where its key stands; nowhere: it is not split by rows.

    Its own events are among them: an item may say, or T may lead from it, that one of them has happened.
    """
    keyed: bool = False
    spread: bool = False
    """Nothing is remembered: its occurrences may go anywhere, by their individual."""
    whole: bool = False
    streams: frozenset[str] | None = None
    """Of which streams it wants the items; `None`: of all."""
    returned: Mapping[Term, str] = field(default_factory=dict)
    states: frozenset[Term] = frozenset()
    """The states that it decides."""
    split: str = ""
    """How people may be told that it is split, or why it is not."""

    @property
    def segments(self) -> int:
        """How many segments its keys are spread over in each bucket: fewer where each has more to run."""
        return max(SEGMENTS // len(self.events), FEWEST) if self.keyed else 1

    def plan(self, plan: Plan) -> Plan:
        """The part of the plan that it runs."""
        kept = tuple(event for event in plan.events if event.event in self.events)
        goals = {goal for event in kept for goal in (event.event, body_of(event.event))}
        windows = tuple(part for window in plan.windows if (part := window.only(goals)) is not None)
        states = tuple(
            replace(state, position=sum(one in kept for one in plan.events[: state.position]))
            for state in plan.states
            if state.state in self.states
        )
        graphs = tuple(
            replace(graph, position=sum(one in kept for one in plan.events[: graph.position]))
            for graph in plan.graphs
            if graph.event in self.states
        )
        return Plan(kept, plan.asks, self.returned, plan.derived, windows, states, graphs)


def components(plan: Plan, derived: Mapping[Term, frozenset[Term]] | None = None) -> tuple[Component, ...]:
    """The components of a plan, in the order of its events.

    `derived` names, for an event that may be found in the occurrences of composites (a definition or an axiom
    speaks of them), the events that it may be found in.
    """
    planned = {event.event: event for event in plan.events}
    running = [event for event in plan.events if event.root or event.guard_ask is not None or event.window]
    heads = {event.event for event in running}
    needs = {event.event: _reads(event) for event in running}
    for state in plan.states:
        heads |= {state.state, *state.moments}
        needs[state.state] = {*state.parts, *state.needs}
        needs.update({moment: {state.state} for moment in state.moments})
    for graph in plan.graphs:
        heads.add(graph.event)
        needs[graph.event] = set(graph.needs)
    for event, below in (derived or {}).items():
        if event in planned:
            needs.setdefault(event, set()).update(below)
            heads.add(event)
    shown = {*plan.returned, *plan.alerting}
    found = [
        _component(
            plan, group, [planned[head] for head in planned if head in group], needs, heads, derived or {}
        )
        for group in _groups(needs, heads)
        if any(event in shown for event in group)  # nobody sees the others
    ]
    passing = [event for event in plan.returned if event not in heads]
    found.extend(
        Component((event,), {event: ()}, spread=True, returned={event: plan.returned[event]}, split=BY_WHOM)
        for event in passing
    )
    return tuple(found)


def _reads(event: EventPlan) -> set[Term]:
    if event.window:
        return set()
    if event.root is None:
        return {body_of(event.event)}
    return {leaf.event for leaf in event.leaves} | {
        node.state for node in _walk(event.root) if isinstance(node, nodes.InState)
    }


def _groups(needs: Mapping[Term, set[Term]], heads: set[Term]) -> list[set[Term]]:
    """Heads that read each other, directly or not."""
    groups: list[set[Term]] = []
    for head in needs:
        mine = {head, *(needs[head] & heads)}
        apart = [group for group in groups if not group & mine]
        joined = mine.union(*(group for group in groups if group & mine))
        groups = [*apart, joined]
    return groups


def _component(
    plan: Plan,
    group: set[Term],
    events: list[EventPlan],
    needs: Mapping[Term, set[Term]],
    heads: set[Term],
    found_in: Mapping[Term, frozenset[Term]],
) -> Component:
    names = tuple(event.event for event in events)
    outside = {read for name in names for read in needs.get(name, ()) if read not in heads}
    derived = any(event.event in found_in for event in events)
    negated = any(isinstance(node, nodes.Rest) for event in events for node in _walk(event.root))
    states = frozenset(state.state for state in plan.states if state.state in group)
    states |= frozenset(graph.event for graph in plan.graphs if graph.event in group)
    whole = negated or bool(states) or any(event.window for event in events)
    keys = None if derived or whole else _keys(events, plan.asks.all)
    reads: dict[Term, tuple[Reading, ...]] = dict.fromkeys(sorted({*outside, *names}), ())
    if keys is not None:
        for event in events:
            for leaf in event.leaves:
                if leaf.event in outside:
                    place = dict(leaf.columns)[keys[event.event]]
                    reads[leaf.event] = tuple(dict.fromkeys((*reads[leaf.event], (leaf.ask, place))))
    guarded_alone = len(events) == 1 and events[0].root is None and not (derived or whole)
    if keys is not None:
        split = f"split by {', '.join(dict.fromkeys(f'?{key}' for key in keys.values()))}"
    elif guarded_alone:
        split = BY_WHOM
    else:
        reasons = {"NOT looks at all items": negated, "a state knows the whole stream": bool(states)}
        reasons |= {"a window is looked at as a whole": whole}
        reasons |= {"events may be found in occurrences of others": derived, NO_KEY: True}
        split = f"in one bucket: {next(reason for reason, holds in reasons.items() if holds)}"
    return Component(
        names,
        reads,
        keyed=keys is not None,
        spread=guarded_alone,
        whole=whole,
        streams=None if negated or states else frozenset(_windowed(plan, names)),
        states=states,
        returned={name: plan.returned[name] for name in names if name in plan.returned},
        split=split,
    )


def _windowed(plan: Plan, names: tuple[Term, ...]) -> Iterator[str]:
    """The streams of the windows that some events look at."""
    goals = {goal for name in names for goal in (name, body_of(name))}
    return (window.stream for window in plan.windows if window.only(goals) is not None)


def _keys(events: list[EventPlan], asks: Sequence[Ask]) -> dict[Term, str] | None:
    """For each event of a component the variable to split by; `None` where one has none."""
    keys: dict[Term, str] = {}
    inside = {event.event for event in events}
    for event in events:
        if event.root is None:
            return None
        candidates = event.partition_by[:1] if event.partition_by else _shared(event)
        key = next((name for name in candidates if _follows(event, name, keys, inside, asks)), None)
        if key is None:
            return None
        keys[event.event] = key
    return keys


def _shared(event: EventPlan) -> tuple[str, ...]:
    """The variables that all leaves bind to a single value, where the pattern may be split at all."""
    unsplit = (nodes.Rest, nodes.Choice, nodes.Pick)
    if event.policy != "unrestricted" or any(isinstance(node, unsplit) for node in _walk(event.root)):
        return ()
    first, *others = (leaf.variables for leaf in event.leaves)
    return tuple(name for name in first if all(name in other for other in others))


def _follows(
    event: EventPlan, key: str, keys: Mapping[Term, str], inside: set[Term], asks: Sequence[Ask]
) -> bool:
    """Whether each leaf has one value of the key (or is partitioned by it), also across composites."""
    for leaf in event.leaves:
        place = dict(leaf.columns).get(key)
        if place is None:
            return False
        ask = asks[leaf.ask]
        name = ask.variables[place]
        if leaf.event in inside:
            given = {variable: ask.declared[position] for variable, position in ask.parameters}
            if given.get(name, "") != keys.get(leaf.event):
                return False
        elif not event.partition_by and name not in ask.names_this:
            return False
    return True


def _walk(node: Node | None) -> Iterator[Node]:
    if node is not None:
        yield node
        for operand in node.operands:
            yield from _walk(operand)
