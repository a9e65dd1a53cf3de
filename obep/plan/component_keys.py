"""By which variable the events and states of a component can be split, so that no answer changes (SPEC §4).

An event is split by a variable of PARTITION BY, or by one that stands for the individual of every leaf, when
the pattern has no NOT, FIRST, LAST or policy. A state is split by a parameter that all it is decided by has;
its rows may be split by any variable, since each row counts for itself (STATES §2). A state that K and the
calendar decide is known everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from obep.model import Term
from obep.plan import nodes
from obep.plan.plan import EventPlan, Plan
from obep.plan.split_group import splits_by
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.query.state_parts import GRAPH, part_of
from obep.query.walk import windows_of

INDIVIDUAL = ""
"""The key of a logical event: its individual."""
STEPS = 10_000
"""The number of choices to try; more are needed only if very many events could be split in several ways."""
_UNSPLIT = (nodes.Rest, nodes.Choice, nodes.Pick)


def static_states(plan: Plan) -> frozenset[Term]:
    """The states that K and the calendar decide."""
    found: set[Term] = set()
    for state in plan.states:
        known = isinstance(state.definition, ast.DailyState | ast.GroupState)
        if known and state.needs <= found and not windows_of(state.definition):
            found.add(state.state)
    return frozenset(found)


class KeySearch:
    """Looks for a key for each event and state of a component."""

    def __init__(self, plan: Plan, events: Sequence[EventPlan], states: Sequence[StatePlan]) -> None:
        self._plan = plan
        self._asks = plan.asks.all
        self._states = {one.state: one for one in states}
        self._inside = {one.event for one in events}
        self._moments = {moment: one.state for one in states for moment in one.moments}
        self._parts = {part for one in states for part in one.parts}
        ranks = {event.event: rank for rank, event in enumerate(plan.events)}
        order: list[tuple[float, EventPlan | StatePlan]] = [(ranks[one.event], one) for one in events]
        order += [(one.position - 0.5, one) for one in states]
        self._order = [one for _, one in sorted(order, key=lambda pair: pair[0])]
        self.stuck = ""
        """The name of what could not be split, where no keys were found."""

    def keys(self) -> dict[Term, str] | None:
        """The variable of each event and the parameter of each state; nothing where one has none."""
        keys: dict[Term, str] = {}
        ahead: list[list[str]] = []
        furthest = -1
        for _ in range(STEPS):
            at = len(ahead)
            if at == len(self._order):
                return keys
            if at > furthest:
                furthest, self.stuck = at, self._order[at].name.partition("#")[0]
            ahead.append([key for key in self._candidates(self._order[at]) if self._follows(at, key, keys)])
            while ahead and not ahead[-1]:
                ahead.pop()
                if ahead:
                    keys.pop(_iri(self._order[len(ahead) - 1]))
            if not ahead:
                return None
            keys[_iri(self._order[len(ahead) - 1])] = ahead[-1].pop(0)
        return None

    def _candidates(self, one: EventPlan | StatePlan) -> Iterable[str]:
        if isinstance(one, StatePlan):
            return one.parameters
        if one.root is None:
            return () if one.window else (INDIVIDUAL,)
        return one.partition_by[:1] if one.partition_by else _shared(one)

    def _follows(self, at: int, key: str, keys: Mapping[Term, str]) -> bool:
        one = self._order[at]
        if isinstance(one, StatePlan):
            return self._state_follows(one, key, keys)
        if one.root is None:
            return True
        return all(self._leaf_follows(one, leaf, key, keys) for leaf in one.leaves) and all(
            self._asks_own(node.state, node.columns[: node.parameters], key, keys)
            for node in nodes.walk(one.root)
            if isinstance(node, nodes.InState)
        )

    def _leaf_follows(self, event: EventPlan, leaf: nodes.Read, key: str, keys: Mapping[Term, str]) -> bool:
        """Whether a leaf has one value of the key (or is taken by rows), also across composites."""
        place = dict(leaf.columns).get(key)
        if place is None:
            return False
        ask = self._asks[leaf.ask]
        name = ask.variables[place]
        below = keys.get(self._moments.get(leaf.event, leaf.event))
        if leaf.event == event.event:  # it is built on itself
            below = key
        given = {variable: ask.declared[position] for variable, position in ask.parameters}
        if leaf.event in self._inside or leaf.event in self._moments:
            if below == INDIVIDUAL:
                return name in ask.names_this
            return below is not None and given.get(name, "") == below
        by_rows = event.event in self._parts and len(event.leaves) == 1
        of_graph = leaf.event == part_of(event.event, GRAPH) and given.get(name) in event.parameters
        return bool(event.partition_by) or by_rows or of_graph or name in ask.names_this

    def _asks_own(self, state: Term, given: Sequence[str], key: str, keys: Mapping[Term, str]) -> bool:
        """Whether a state that is asked for is known everywhere, or is asked for the key's value."""
        if state not in self._states:
            return True
        own = self._states[state]
        place = own.parameters.index(keys[state]) if state in keys else len(given)
        return place < len(given) and given[place] == key

    def _state_follows(self, state: StatePlan, key: str, keys: Mapping[Term, str]) -> bool:
        match state.definition:
            case ast.EventState():
                return all(keys[part] == key for part in state.parts)
            case ast.OverState(over=over, each=each):
                uses = [use for use in (over, each) if isinstance(use, ast.StateUse)]
                rows = isinstance(over, ast.StateUse) or all(keys[part] == key for part in state.parts)
                return rows and all(self._used(use.state, use.parameters, key, keys) for use in uses)
            case ast.GroupState() as group:
                reaching = self._plan.reaching
                return splits_by(group, key, state.windows, reaching, lambda a: self._has(a, key, keys))
        return True  # a calendar

    def _used(
        self, state: ast.Name, parameters: Sequence[ast.Var], key: str, keys: Mapping[Term, str]
    ) -> bool:
        given = [one.name for one in parameters]
        return key in given and self._asks_own(state.iri, given, key, keys)

    def _has(self, atom: ast.Atom, key: str, keys: Mapping[Term, str]) -> bool:
        return self._asks_own(atom.name.iri, [one.name for one in atom.parameters], key, keys)


def _iri(one: EventPlan | StatePlan) -> Term:
    return one.state if isinstance(one, StatePlan) else one.event


def _shared(event: EventPlan) -> tuple[str, ...]:
    """The variables that all leaves have, where the pattern may be split at all."""
    assert event.root is not None
    if event.policy != "unrestricted" or any(isinstance(node, _UNSPLIT) for node in nodes.walk(event.root)):
        return ()
    first, *others = (leaf.variables for leaf in event.leaves)
    return tuple(name for name in first if all(name in other for other in others))
