"""From the linked query to the plan: one tree for each composite event, in the order of the strata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from obep.errors import Diagnostic, ObepError
from obep.guards.block_queries import Ask, Asks
from obep.guards.block_solutions import is_narrow
from obep.model import Term
from obep.plan import nodes
from obep.plan.event_strata import NONE, derived, in_order
from obep.plan.nodes import Condition, Node, Read
from obep.plan.nodes.node import PLANNED
from obep.plan.plan import EventPlan, Plan
from obep.plan.rewrite import rewrite
from obep.plan.state_plan import GraphPlan, StatePlan, plan_graph, plan_state, with_history
from obep.plan.times_expansion import Chain, Copies
from obep.plan.window_plan import plan_windows
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.linked_queries import LinkedQuery, layered_queries
from obep.query.state_expansion import Moment, looks_around
from obep.query.walk import alias_of, depends, needs_of, reachable

if TYPE_CHECKING:
    from obep.query.link import Linked


VocabularyOf = Callable[[Term], frozenset[Term]]


@dataclass(frozen=True, slots=True)
class Manner:
    """The way in which the occurrences of an event are made; see `nodes.Read`."""

    late: bool = False
    deep: bool = False
    long: bool = False
    apart: bool = False
    lasts: int | None = None


def plan(linked: Linked, asks: Asks, bundle: Any = None) -> Plan:
    """The plan of a query.

    Without a bundle nothing is known of its logical events: every block counts as one that looks at the whole
    item, every occurrence as one that may last.
    """
    planned: list[EventPlan] = []
    manners: dict[Term, Manner] = {}
    vocabulary: VocabularyOf = bundle.vocabulary if bundle else lambda _: frozenset()
    found_in = derived(linked, bundle)
    bounded: set[Term] = set(bundle.bounded) if bundle else set()
    states: list[StatePlan] = []
    graphs: list[GraphPlan] = []
    named = needs_of(linked, earlier=True) if linked.earlier else {}
    for stratum, members in enumerate(in_order(linked, found_in)):
        for iri in members:
            if iri in linked.states:
                states.append(plan_state(linked, iri, stratum, len(planned)))
                continue
            if iri in linked.on_items:
                manners[iri] = Manner(lasts=1)
                if looks_around(linked.on_items[iri]):
                    graphs.append(plan_graph(linked, iri, stratum, len(planned)))
                continue
            if iri in linked.moments:
                manners[iri] = _moment_manner(linked.moments[iri])
                continue
            event = linked.events[iri]
            if isinstance(event, ast.LogicalEvent):
                if not found_in.get(iri, NONE).isdisjoint(bounded):
                    bounded.add(iri)
                planned.append(_logical(event, asks, stratum, vocabulary, linked))
                manners[iri] = _logical_manner(event, linked, found_in.get(iri, NONE), manners)
                if bundle is None:
                    manners[iri] = replace(manners[iri], long=True, apart=True, lasts=None)
            elif isinstance(event, ast.CompositeEvent):
                earlier = linked.earlier.get(iri, frozenset())
                manners.update(dict.fromkeys(earlier - manners.keys(), Manner(long=True)))
                root = _Building(event, asks, manners, vocabulary, linked).root()
                if iri in linked.earlier and not (root.punctual and root.rooted):
                    raise ObepError(_found_late(linked, event))
                parts: set[str] = reachable(iri, named) if iri in linked.earlier else depends(event)
                if not bounded.isdisjoint(parts):
                    bounded.add(iri)
                composite = replace(_composite(event, root, stratum), earlier=earlier)
                planned.append(replace(composite, bounded=iri in bounded, hidden=iri in linked.hidden))
                manners[iri] = _composite_manner(root, found_in.get(iri, NONE), manners)
    return Plan(
        tuple(planned),
        asks,
        _returned(linked),
        found_in,
        plan_windows(linked),
        with_history(states, planned),
        tuple(graphs),
        _reaching(bundle) if states or linked.queries else None,
        _queries(linked),
        bool(linked.queries) and bundle is not None and any(True for _ in bundle.k.once()),
    )


def _found_late(linked: Linked, event: ast.CompositeEvent) -> Diagnostic:
    """OBEP102 if a part is late only by an axiom of T."""
    name = event.name.text
    reason = f"A part of {name} is found in an event that may be decided after its end (DURING, a window)."
    message = f"the event {name} is defined by itself"
    remedy = "parts that are decided at their end"
    return say("OBEP102", linked.file_of[event.name.iri], event.name.span, message, reason, remedy)


def _queries(linked: Linked) -> tuple[LinkedQuery, ...]:
    """The queries, each after those that it reads."""
    return tuple(linked.queries[iri] for layer in layered_queries(linked.queries) for iri in layer)


def _reaching(bundle: Any) -> frozenset[Term] | None:
    """The classes whose members the triples of other subjects may decide, if T does not reach anywhere."""
    if bundle is None or bundle.k.facts.same_as:
        return None
    reaching: frozenset[Term] | None = bundle.reaching()
    return reaching


def _returned(linked: Linked) -> Mapping[Term, str]:
    """The events that are returned, each with its form."""
    found: dict[Term, str] = {}
    for clause in linked.returns:
        if clause.which == "listed":
            names = [name.iri for name in clause.events if name.iri not in linked.states]
        else:
            names = [
                iri
                for iri, event in linked.events.items()
                if iri not in linked.hidden and (clause.which == "all" or event.named)
            ]
        found.update(dict.fromkeys(names, clause.form))
    for iri, query in linked.queries.items():
        found[iri] = "rdf" if isinstance(query.register.form, ast.ConstructQuery) else "rows"
    return found


def _logical(
    event: ast.LogicalEvent, asks: Asks, stratum: int, vocabulary: VocabularyOf, linked: Linked
) -> EventPlan:
    ask = asks.of(event.name.iri, "") if event.guard is not None else None
    return EventPlan(
        event.name.iri,
        event.name.text,
        stratum,
        guard_ask=ask.number if ask else None,
        wide=ask is not None and not narrow(ask, vocabulary(ask.event)),
        variables=ask.variables if ask else (),
        construct=event.construct,
        guard=event.guard,
        hidden=event.name.iri in linked.hidden,
        window=next((window.name for window in linked.windows if window.name == event.on), ""),
    )


def narrow(ask: Ask, vocabulary: frozenset[Term]) -> bool:
    """Whether an ask looks at the explanation alone, so that equal occurrences have equal solutions (D7)."""
    return all(is_narrow(triple, vocabulary) for triple in ask.triples)


def _logical_manner(
    event: ast.LogicalEvent, linked: Linked, found_in: Iterable[Term], manners: Mapping[Term, Manner]
) -> Manner:
    """A logical event that is found in the occurrences of another has their times."""
    window = event.on in linked.window_names
    return Manner(
        late=window or any(manner.late for manner in _manners(found_in, manners)),
        deep=any(manner.deep for manner in _manners(found_in, manners)),
        long=window or any(manner.long for manner in _manners(found_in, manners)),
        apart=event.on is not None,
        lasts=None if window else _longest(1, _manners(found_in, manners)),
    )


def _composite_manner(root: Node, found_in: Iterable[Term], manners: Mapping[Term, Manner]) -> Manner:
    """T may say that another composite is one of this kind, too."""
    return Manner(
        late=not root.punctual or any(manner.late for manner in _manners(found_in, manners)),
        deep=not root.rooted or any(manner.deep for manner in _manners(found_in, manners)),
        long=not root.point or any(manner.long for manner in _manners(found_in, manners)),
        lasts=_longest(root.reach, _manners(found_in, manners)),
    )


def _moment_manner(moment: Moment) -> Manner:
    """A state reports at once; only a whole episode, and one that has lasted, is longer than an instant."""
    if moment.kind != "episode":
        return Manner(lasts=1)
    return Manner(long=True, lasts=None if moment.lasting is None else moment.lasting + 1)


def _longest(own: int | None, below: Iterable[Manner]) -> int | None:
    for manner in below:
        if own is None or manner.lasts is None:
            return None
        own = max(own, manner.lasts)
    return own


def _manners(events: Iterable[Term], known: Mapping[Term, Manner]) -> Iterator[Manner]:
    return (known.get(iri, _UNKNOWN) for iri in events)


_UNKNOWN = Manner(late=True, deep=True, long=True)


def _composite(event: ast.CompositeEvent, root: Node, stratum: int) -> EventPlan:
    return EventPlan(
        event.name.iri,
        event.name.text,
        stratum,
        root=root,
        variables=root.variables,
        parameters=tuple(v.name for v in event.parameters),
        partition_by=tuple(v.name for v in event.partition_by),
        policy=event.policy,
        construct=event.construct,
        guard=event.guard,
    )


class _Building:
    """One composite's pattern on its way to a tree."""

    def __init__(
        self,
        event: ast.CompositeEvent,
        asks: Asks,
        manners: Mapping[Term, Manner],
        vocabulary: VocabularyOf,
        linked: Linked,
    ) -> None:
        self._states = linked.states
        self._on_items = linked.on_items
        self._windows = {window.name: window for window in linked.windows}
        self._event = event
        self._asks = asks
        self._manners = manners
        self._vocabulary = vocabulary
        self._copies = Copies(event, lambda leaf: self._ask(leaf).variables, alias_of)

    def root(self) -> Node:
        conditions = [
            copy
            for cross in self._asks.filters(self._event.name.iri)
            for copy in self._copies.conditions(
                Condition(cross.condition, cross.variables, cross.named, cross.whole)
            )
        ]
        return rewrite(_Place(self, self._event.policy).node(self._event.pattern), tuple(conditions))

    def _ask(self, leaf: ast.Leaf) -> Ask:
        return self._asks.at(self._event.name.iri, leaf)

    def _read(self, leaf: ast.Leaf, chain: Chain) -> Read:
        ask = self._ask(leaf)
        name = self._copies.name
        manner = self._manners.get(leaf.event.iri, Manner())
        from_block = {
            part.name for t in ask.triples for part in (t.subject, t.object) if isinstance(part, ast.Var)
        }
        return Read(
            leaf.event.iri,
            self._copies.alias(alias_of(leaf), chain),
            ask.number,
            tuple((name(f"?{v}", chain)[1:], at) for at, v in enumerate(ask.variables)),
            frozenset(name(f"?{v}", chain)[1:] for v, _ in ask.parameters if v not in from_block),
            frozenset(name(f"?{v}", chain)[1:] for v in ask.names_this),
            free=not (ask.variables or ask.triples or ask.filters or ask.parameters),
            late=manner.late,
            deep=manner.deep,
            long=manner.long,
            lasts=manner.lasts,
            apart=manner.apart,
            wide=leaf.event.iri in self._on_items or not narrow(ask, self._vocabulary(ask.event)),
        )

    def node(self, pattern: ast.Pattern, place: _Place) -> Node:
        """The node of a pattern: by the rule that stands beside the node's class, but for what is copied."""
        if isinstance(pattern, ast.Leaf):
            read = self._read(pattern, place.chain)
            return read if pattern.window is None else _in_window(read, self._windows[pattern.window])
        if isinstance(pattern, ast.Times):
            copies = place.copies(pattern) if pattern.count > 1 else (place.node(pattern.operand),)
            return reduce(nodes.Next, copies)
        return PLANNED[type(pattern)](pattern, place)

    def state(self, use: ast.StateUse, chain: Chain) -> tuple[str, tuple[str, ...], int]:
        known = (*use.parameters, *use.scoped)
        columns = tuple(self._copies.name(f"?{one.name}", chain)[1:] for one in known)
        most = len(self._states[use.state.iri].parameters)
        return use.state.iri, columns, min(most, len(columns))


def _in_window(read: Read, window: ast.Window) -> nodes.InWindow:
    """A leaf on a window."""
    return nodes.InWindow(
        read,
        window.name,
        window.range.micros if window.range is not None else None,
        window.until.micros if window.until is not None else 0,
        window.step.micros if window.step is not None else 1,
        window.start,
        window.end,
        window.event is None,
    )


@dataclass(frozen=True)
class _Place:
    """Where a pattern stands: in which copies of TIMES, and under which policy."""

    building: _Building
    policy: str
    """The policy of the SEQs here: none inside a negation."""
    chain: Chain = ()

    def node(self, operand: ast.Pattern) -> Node:
        return self.building.node(operand, self)

    def negated(self, operand: ast.Pattern) -> Node:
        return self.building.node(operand, replace(self, policy="unrestricted"))

    def copies(self, pattern: ast.Times) -> Iterator[Node]:
        """The operand of TIMES, as often as it is asked for."""
        for number in range(1, pattern.count + 1):
            chain = (*self.chain, (id(pattern), number))
            yield self.building.node(pattern.operand, replace(self, chain=chain))

    def state(self, use: ast.StateUse) -> tuple[str, tuple[str, ...], int]:
        return self.building.state(use, self.chain)
