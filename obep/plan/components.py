"""Which events must run together, and by what value the work of each such component can be split.

Comes in: a plan. Goes out: `Component`s, for Spark's buckets and segments. Splitting by a key never changes
an answer (`obep.plan.component_keys`). States that K and the calendar decide are known in every bucket, and
tie nothing together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from obep.model import Term, body_of
from obep.plan import nodes
from obep.plan.component_keys import INDIVIDUAL, KeySearch, static_states
from obep.plan.event_strata import Derived, Needs
from obep.plan.nodes import Node
from obep.plan.plan import EventPlan, Plan
from obep.plan.query_keys import query_keys
from obep.plan.query_plan import query_needs
from obep.plan.split_group import BY_ITEMS
from obep.plan.state_plan import Owner, RowShare, StatePlan
from obep.query import ast
from obep.query.walk import windows_of

Reading = tuple[int, int]
"""An ask, and where the key stands in its solutions."""
SEGMENTS = 4096
"""The segments of a component of one event, if it has a key."""
FEWEST = 64
BY_WHOM = "split by its individual"
BY_QUERY = "events and states run beside a query"
NO_KEY = "no variable is the individual of all parts, and there is no PARTITION BY"


@dataclass(frozen=True)
class Component:
    """Events that depend on each other. `whole`: it reads whole items, for a NOT or a window."""

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
    """The streams whose items it reads; None: all."""
    returned: Mapping[Term, str] = field(default_factory=dict)
    states: frozenset[Term] = frozenset()
    """The states that it decides."""
    copies: frozenset[Term] = frozenset()
    """The states that it reads and that every bucket has."""
    queries: tuple[Term, ...] = ()
    """The queries that it answers."""
    keys: Mapping[Term, str] = field(default_factory=dict)
    """The parameter that each of its states is split by, and the variable of each of its queries."""
    begins: bool = False
    """Whether every bucket must know the first item of the run: a state holds before any item of its key."""
    terms: Mapping[str | None, bool] = field(default_factory=dict)
    """Whose items go to the buckets of their subjects, if they are split: streams (`None`: all); and of
    their objects."""
    split: str = ""
    """The text of `obep explain`: by what it is split, or why it is not."""
    judges: bool = False
    """Whether its buckets match the items themselves, since K changes: each has all of them."""

    @property
    def segments(self) -> int:
        """How many segments its keys are spread over in each bucket: fewer where each has more to run."""
        split = self.keyed and not (self.begins or self.judges or self.queries)
        return max(SEGMENTS // len(self.events), FEWEST) if split else 1

    @property
    def name(self) -> tuple[Term, ...]:
        """A name that no other component has."""
        return (*self.events, *sorted(self.states), *self.queries)

    def plan(self, plan: Plan, bucket: int = 0, buckets: int = 1) -> Plan:
        """The part of the plan that it runs, in one of its buckets."""
        kept = tuple(event for event in plan.events if event.event in self.events)
        goals = {goal for event in kept for goal in (event.event, body_of(event.event))}
        windows = tuple(part for window in plan.windows if (part := window.only(goals)) is not None)
        states = tuple(
            replace(
                self._own(state, bucket, buckets),
                position=sum(one in kept for one in plan.events[: state.position]),
            )
            for state in plan.states
            if state.state in self.states or state.state in self.copies
        )
        graphs = tuple(
            replace(graph, position=sum(one in kept for one in plan.events[: graph.position]))
            for graph in plan.graphs
            if graph.event in self.states
        )
        queries = tuple(query for query in plan.queries if query.iri in self.queries)
        shares = {
            one: RowShare(self.keys[one], bucket, buckets)
            for one in self.queries
            if buckets > 1 and one in self.keys
        }
        parts = (windows, states, graphs)
        return Plan(kept, plan.asks, self.returned, plan.derived, *parts, queries=queries, shares=shares)

    def _own(self, state: StatePlan, bucket: int, buckets: int) -> StatePlan:
        """A state as it runs in a bucket: for the keys of that bucket; a copy reports nothing."""
        if state.state in self.copies:
            return replace(state, moments={}, alerts=())
        if buckets == 1 or state.state not in self.keys:
            return state
        return replace(state, owner=Owner(state.parameters.index(self.keys[state.state]), bucket, buckets))


def components(
    plan: Plan,
    derived: Derived | None = None,
    *,
    judges: bool = False,
    capped: bool = False,
) -> tuple[Component, ...]:
    """The components of a plan, in the order of its events.

    `derived` names, for an event that may be found in the occurrences of composites (a definition or an axiom
    speaks of them), the events that it may be found in. `judges`: K changes while the plan runs. `capped`:
    an event with PARTITION BY remembers so many values at most, so all of them must be in one place.
    """
    planned = {event.event: event for event in plan.events}
    running = [event for event in plan.events if event.root or event.guard_ask is not None or event.window]
    static = static_states(plan)
    heads = {event.event for event in running}
    needs = {event.event: reads_of(event) - static for event in running}
    for state in plan.states:
        heads |= {state.state, *state.moments}
        needs[state.state] = {*state.parts, *state.needs} - static
        needs.update({moment: {state.state} for moment in state.moments})
    for graph in plan.graphs:
        heads.add(graph.event)
        needs[graph.event] = set(graph.needs) - static
    found_in = {event: below for event, below in (derived or {}).items() if event in planned}
    heads |= found_in.keys()
    joined = Needs(needs, found_in)
    needs = joined.needs
    asked = query_needs(plan.queries)
    heads |= asked.keys()
    needs.update({query: below - static for query, below in asked.items()})
    needs = _needed(needs, {*plan.returned, *plan.alerting, *asked})
    sets = joined.sets & needs.keys()
    heads = (heads & needs.keys()) | sets
    rank = {event: number for number, event in enumerate(planned)}
    found = [
        _Building(
            plan,
            [planned[name] for name in sorted(group & rank.keys(), key=rank.__getitem__)],
            group,
            needs,
            heads,
            found_in,
            judges=judges,
            capped=capped,
        ).component()
        for group in _groups(needs, heads, sets)
    ]
    passing = [event for event in plan.returned if event not in heads]
    found.extend(
        Component(
            (event,),
            {event: ()},
            spread=True,
            returned={event: plan.returned[event]},
            copies=_calendars(plan) if judges else frozenset(),
            split=BY_WHOM,
            judges=judges,
        )
        for event in passing
    )
    return tuple(found)


def _calendars(plan: Plan) -> frozenset[Term]:
    """The states that a change of K must leave as they are, wherever they run."""
    return frozenset(one.state for one in plan.states if isinstance(one.definition, ast.DailyState))


def reads_of(event: EventPlan) -> set[Term]:
    """The events and states that an event is made of, as its pattern names them."""
    if event.window:
        return set()
    if event.root is None:
        return {body_of(event.event)}
    return {leaf.event for leaf in event.leaves} | _states_asked(event)


def _states_asked(event: EventPlan) -> set[Term]:
    return {node.state for node in _walk(event.root) if isinstance(node, nodes.InState)}


def _needed(needs: Mapping[Term, set[Term]], shown: set[Term]) -> dict[Term, set[Term]]:
    """The reported definitions and their parts; the others have no effect."""
    found: set[Term] = set()
    waiting = set(shown)
    while waiting:
        name = waiting.pop()
        if name in needs and name not in found:
            found.add(name)
            waiting |= needs[name]
    return {name: below for name, below in needs.items() if name in found}


def _groups(needs: Mapping[Term, set[Term]], heads: set[Term], sets: set[Term]) -> list[set[Term]]:
    """Heads that read each other, directly or by sets, in the order of the last head of each group."""
    leader = {head: head for head in needs}

    def of(head: Term) -> Term:
        while leader[head] != head:
            leader[head] = head = leader[leader[head]]
        return head

    for head in needs:
        for other in needs[head] & heads:
            leader[of(other)] = of(head)
    groups: dict[Term, set[Term]] = {}
    for head in reversed([*needs]):
        if head not in sets:
            groups.setdefault(of(head), set()).add(head)
    return [*reversed(groups.values())]


class _Building:
    """One component on its way."""

    def __init__(
        self,
        plan: Plan,
        events: Sequence[EventPlan],
        group: set[Term],
        needs: Mapping[Term, set[Term]],
        heads: set[Term],
        found_in: Derived,
        *,
        judges: bool,
        capped: bool,
    ) -> None:
        self._plan, self._judges = plan, judges
        self._events = events
        self._names = tuple(event.event for event in events)
        self._states = [state for state in plan.states if state.state in group]
        self._graphs = [graph for graph in plan.graphs if graph.event in group]
        self._queries = tuple(query.iri for query in plan.queries if query.iri in group)
        made = {*self._names, *group}  # a state may look at a window of an event
        self._outside = {read for name in made for read in needs.get(name, ()) if read not in heads}
        self._derived = any(name in found_in for name in self._names)
        self._asked = query_needs(plan.queries)
        self._negated = any(isinstance(n, nodes.Rest) for one in self._events for n in _walk(one.root))
        self._windowed = any(event.window for event in self._events)
        self._capped = capped and any(event.partition_by for event in self._events)

    def component(self) -> Component:
        states = frozenset(one.state for one in self._states) | frozenset(one.event for one in self._graphs)
        copies = self._copies()
        alone = len(self._events) == 1 and self._events[0].root is None and not self._states
        spread = alone and not (self._derived or self._windowed or self._graphs or self._queries)
        keys, split = (None, BY_WHOM) if spread else self._keys()
        begins = keys is not None and self._begins(copies)
        everything = bool(self._negated or states or copies or self._queries)
        whole = keys is None and (everything or self._windowed)
        returned = self._plan.returned
        return Component(
            self._names,
            self._readings(keys),
            keyed=keys is not None,
            spread=spread,
            whole=whole,
            streams=None if everything else frozenset(_windows(self._plan, self._names)),
            returned={one: returned[one] for one in (*self._names, *self._queries) if one in returned},
            states=states,
            copies=copies,
            queries=self._queries,
            keys={one: keys[one] for one in (*states, *self._queries)} if keys is not None else {},
            begins=begins,
            terms=self._terms() if begins else self._terms_of_queries() if keys is not None else {},
            split=split,
            judges=self._judges,
        )

    def _keys(self) -> tuple[dict[Term, str] | None, str]:
        """The key of each event and state, if all of them have one; in words what they are, or why not."""
        if self._queries and not (self._events or self._states or self._graphs or self._judges):
            found, reason = query_keys(self._plan, [q for q in self._plan.queries if q.iri in self._queries])
            if not reason:
                return found, f"split by {', '.join(dict.fromkeys(f'?{key}' for key in found.values()))}"
            return None, f"in one bucket: {reason}"
        reasons = {
            BY_QUERY: bool(self._queries),
            "NOT looks at all items": self._negated,
            "a window is looked at as a whole": self._windowed,
            "events may be found in occurrences of others": self._derived,
            "a graph event asks for states or windows": bool(self._graphs),
            "max_keys counts all values of PARTITION BY": self._capped,
        }
        reason = next((words for words, holds in reasons.items() if holds), "")
        if not reason:
            search = KeySearch(self._plan, self._events, self._states)
            keys = search.keys()
            if keys is not None:
                names = dict.fromkeys(f"?{key}" for key in keys.values() if key != INDIVIDUAL)
                return keys, f"split by {', '.join(names)}" if names else BY_WHOM
            reason = f"no parameter splits all of {search.stuck}" if self._states else NO_KEY
        return None, f"in one bucket: {reason}"

    def _readings(self, keys: Mapping[Term, str] | None) -> dict[Term, tuple[Reading, ...]]:
        reads: dict[Term, tuple[Reading, ...]] = dict.fromkeys(sorted({*self._outside, *self._names}), ())
        for event in self._events if keys is not None else ():
            for leaf in event.leaves:
                if leaf.event in self._outside and keys is not None:
                    place = dict(leaf.columns)[keys[event.event]]
                    reads[leaf.event] = tuple(dict.fromkeys((*reads[leaf.event], (leaf.ask, place))))
        return reads

    def _copies(self) -> frozenset[Term]:
        """The states of K and the calendar that it looks at, and those that these look at."""
        waiting = {name for one in self._events for name in _states_asked(one)}
        waiting |= {need for one in self._states for need in one.needs}
        waiting |= {need for one in self._graphs for need in one.needs}
        waiting |= {need for one in self._queries for need in self._asked[one]}
        waiting |= _calendars(self._plan) if self._judges else frozenset()
        own = {one.state for one in self._states}
        found: set[Term] = set()
        known = {one.state: one for one in self._plan.states}
        while waiting:
            state = waiting.pop()
            if state not in own and state not in found and state in known:
                found.add(state)
                waiting |= known[state].needs
        return frozenset(found)

    def _begins(self, copies: frozenset[Term]) -> bool:
        """Calendars that only WHILE and UNLESS look at are asked when they are needed."""
        looked = {need for one in self._states for need in one.needs}
        for one in self._plan.states:
            if one.state in copies and not (
                isinstance(one.definition, ast.DailyState) and one.state not in looked and not one.parameters
            ):
                return True
        return any(isinstance(one.definition, ast.GroupState | ast.DailyState) for one in self._states)

    def _terms_of_queries(self) -> dict[str | None, bool]:
        """Items that a query may look at, by both ends: its windows hold items, and their triples."""
        seen = [one for one in self._plan.queries if one.iri in self._queries]
        if any(one.timed and not one.windows for one in seen):
            return {None: True}
        return {window.stream: True for one in seen for window in one.windows}

    def _terms(self) -> dict[str | None, bool]:
        found: dict[str | None, bool] = {}
        for one in self._states:
            for name in windows_of(one.definition):
                window = one.windows[name]
                found[window.stream] = found.get(window.stream, False) or window.kind in BY_ITEMS
        return found


def _windows(plan: Plan, names: tuple[Term, ...]) -> Iterator[str]:
    """The streams of the windows that some events look at."""
    goals = {goal for name in names for goal in (name, body_of(name))}
    return (window.stream for window in plan.windows if window.only(goals) is not None)


def _walk(node: Node | None) -> Iterator[Node]:
    if node is not None:
        yield from nodes.walk(node)
