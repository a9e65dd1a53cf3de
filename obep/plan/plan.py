"""A plan: the events in the order in which an instant decides them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from obep.guards.block_queries import Asks
from obep.model import Term
from obep.plan.event_families import Family, families
from obep.plan.event_strata import Derived
from obep.plan.nodes import Check, Either, Node, Read, Within, walk
from obep.plan.shared_patterns import Feed, share
from obep.plan.state_plan import GraphPlan, RowShare, StatePlan
from obep.plan.window_plan import WindowPlan
from obep.query.ast import Guard, TriplePattern
from obep.query.free_variables import HIDDEN
from obep.query.linked_queries import LinkedQuery
from obep.query.print.printer import show

A_WHILE = 1_000_000
"""The time after which candidates that are kept for one instant only are dropped, in microseconds."""


@dataclass(frozen=True)
class EventPlan:
    """How the occurrences of one event come about.

    A composite has a `root`; a guarded logical event a `guard_ask`; any other logical event only passes
    through.
    """

    event: Term
    name: str
    stratum: int
    root: Node | None = None
    guard_ask: int | None = None
    wide: bool = False
    """The guard looks at the whole item, so a second item of the instant may add to it."""
    variables: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    policy: str = "unrestricted"
    construct: tuple[TriplePattern, ...] = ()
    guard: Guard | None = None
    bounded: bool = False
    """It rests on an event that runs as a lower bound: there may be more, or with a negation less."""
    family: Family | None = None
    """The common pattern of events that differ in one thing."""
    hidden: bool = False
    """A part of a state: an event that is not written in the query."""
    window: str = ""
    """The window over whose items together a logical event is looked for."""
    earlier: frozenset[Term] = frozenset()
    """The events that it reads from before only: they are built on it (D40)."""

    @cached_property
    def blocks(self) -> Mapping[str, tuple[str, ...]]:
        """The guard's blocks as text, by alias; filters over several aliases under the alias ``."""
        found: dict[str, tuple[str, ...]] = {}
        for block in self.guard.blocks if self.guard is not None else ():
            names = block.aliases or tuple(leaf.alias for leaf in self.leaves)
            for name in names:
                found[name] = (*found.get(name, ()), show(block))
        filters = self.guard.filters if self.guard is not None else ()
        return {**found, "": tuple(map(show, filters))}

    @cached_property
    def prompt(self) -> bool:
        """Whether it reports when an item is pushed, and need not wait for the end of the instant."""
        return self.root.prompt if self.root is not None else not (self.wide or self.window)

    @cached_property
    def consumes(self) -> bool:
        return self.policy in ("chronological", "recent")

    @cached_property
    def horizon(self) -> int | None:
        """How far back an answer may reach, in microseconds; None is without a limit."""
        node = self.root
        while isinstance(node, Check):
            node = node.operand
        return node.horizon if node is not None else 0

    @cached_property
    def longest(self) -> int | None:
        """The longest of all horizons in the tree, after which nothing bounded is left."""
        bounds = [max(node.horizon or 0, node.keeps or 0) for node in walk(self.root)] if self.root else []
        longest = max(bounds, default=0)
        return max(longest, A_WHILE) if longest == 1 else longest or None

    @cached_property
    def forgets(self) -> int | None:
        """The time after its last occurrence when no state but deadlines is left; None is never."""
        bounds = [_bound(node) for node in _remembering(self.root)] if self.root else []
        if self.root and not self.root.punctual:  # what was reported is remembered, too
            bounds.append(self.horizon)
        return None if None in bounds else max((bound for bound in bounds if bound is not None), default=0)

    @cached_property
    def visible(self) -> tuple[tuple[str, int], ...]:
        """The variables that the bindings of its occurrences show, and where their values stand."""
        return tuple((name, at) for at, name in enumerate(self.variables) if not name.startswith(HIDDEN))

    @cached_property
    def key(self) -> str | None:
        """A variable by whose value the work can be split without changing the answer (SPEC §4)."""
        from obep.plan.split_key import key_of

        return key_of(self)

    @cached_property
    def leaves(self) -> tuple[Read, ...]:
        return tuple(leaf for leaf in walk(self.root) if isinstance(leaf, Read)) if self.root else ()


@dataclass(frozen=True)
class Plan:
    """All events of a query, lower strata first."""

    events: tuple[EventPlan, ...]
    asks: Asks
    returned: Mapping[Term, str] = field(default_factory=dict)
    """The events that are returned, each with its form (`event` or `rdf`)."""
    derived: Derived = field(default_factory=dict)
    """Events that may be found in the occurrences of others, each with those."""
    windows: tuple[WindowPlan, ...] = ()
    states: tuple[StatePlan, ...] = ()
    graphs: tuple[GraphPlan, ...] = ()
    """Graph events on items that ask for states or windows."""
    reaching: frozenset[Term] | None = None
    """The classes whose members the triples of other subjects may decide; `None`: T may reach anywhere."""
    queries: tuple[LinkedQuery, ...] = ()
    """Queries over windows, each after those whose answers it reads."""
    has_k: bool = False
    """Whether there is a static graph."""
    shares: Mapping[Term, RowShare] = field(default_factory=dict)
    """The rows that queries give here, if a component is split."""

    @cached_property
    def alerting(self) -> tuple[Term, ...]:
        """The states of which alerts are returned."""
        return tuple(state.state for state in self.states if state.alerts)

    @cached_property
    def shared(self) -> tuple[tuple[EventPlan, ...], Mapping[str, EventPlan]]:
        """Its events as they run, and by name the sub-patterns that several of them have in common."""
        alike = {
            event.event: event.root
            for event in self.events
            if event.root is not None and not event.partition_by and not event.consumes
        }
        # A state is loaded by these names, also by the same events in another order.
        found = {f"family:{min(one.members)}": one for one in families(alike, self._plain)}
        members = {event: name for name, family in found.items() for event in family.members}
        alone = {event: root for event, root in alike.items() if event not in members}
        common, fed = share(alone | {name: family.root for name, family in found.items()})
        for event, name in members.items():
            fed[event] = Feed(name, (alike[event],), horizon=alike[event].horizon)
        events = tuple(replace(event, root=fed.get(event.event, event.root)) for event in self.events)
        shared = {name: EventPlan(name, name, 0, root=root) for name, root in common.items()}
        shared |= {name: EventPlan(name, name, 0, root=fed[name], family=one) for name, one in found.items()}
        return events, shared

    @property
    def _plain(self) -> frozenset[Term]:
        """The logical events that are found in items only: their occurrences come before all others."""
        logical = (one for one in self.events if one.root is None and one.guard_ask is None)
        return frozenset(one.event for one in logical if not one.window) - self.derived.keys()

    def __getitem__(self, event: Term) -> EventPlan:
        return next(planned for planned in self.events if planned.event == event)

    def __str__(self) -> str:
        from obep.plan.plan_text import tree

        return tree(self)


def _remembering(node: Node) -> Iterator[Node]:
    """The nodes whose operators may remember something: not leaves, filters, or what a replay makes anew."""
    if isinstance(node, Read | Feed):
        return
    replay = isinstance(node, Within) and node.replay
    if replay or not (isinstance(node, Check | Within) or (isinstance(node, Either) and not node.view)):
        yield node
    if not replay:
        for operand in node.operands:
            yield from _remembering(operand)


def _bound(node: Node) -> int | None:
    bounds = [bound for bound in (node.horizon, node.keeps) if bound is not None]
    return max(bounds, default=None)
