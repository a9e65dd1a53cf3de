"""The events of a linked query, in an order where parts come before what is built of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from obep.query.ast import (
    ClassName,
    CompositeEvent,
    Description,
    Event,
    Intersection,
    LogicalEvent,
    QueryFile,
    State,
)
from obep.query.link import Linked
from obep.query.nearest_name import nearest, split
from obep.query.walk import components, event_needs, needs_of, walk

SUGGESTIONS = 50


@dataclass(frozen=True)
class Definitions:
    """Facts about the rest of the query for the rules."""

    linked: Linked
    _asked: Iterator[int] = field(default_factory=count, compare=False, repr=False)

    def near(self, word: str, known: Iterable[str]) -> str | None:
        """The nearest name, for the first mistakes only: to look for it costs as much as there are names."""
        return nearest(word, known) if next(self._asked) < SUGGESTIONS else None

    def near_variable(self, name: str, bound: Iterable[str]) -> str | None:
        """The variable that was probably meant: the nearest, or the only one that is shorter or longer.

        ?high is no slip of ?hi, but nothing else can have been meant by it.
        """
        known = list(bound)
        near = self.near(name, known)
        longer = [one for one in known if one.startswith(name) and len(name) > 1]
        shorter = [one for one in known if name.startswith(one) and len(one) > 1]
        only = [*longer, *shorter]
        return near or (only[0] if len(only) == 1 else None)

    @property
    def events(self) -> dict[str, Event]:
        return self.linked.events

    @property
    def states(self) -> dict[str, State]:
        return self.linked.states

    @cached_property
    def definitions(self) -> dict[str, Event | State]:
        """The events and the states by their names."""
        return {**self.events, **self.states}

    @cached_property
    def known_states(self) -> list[str]:
        """The names of all states, as their definitions write them."""
        return [state.name.text for state in self.states.values()]

    @cached_property
    def known(self) -> list[str]:
        """The names of all events, as their definitions write them."""
        return [event.name.text for event in self.events.values()]

    @cached_property
    def by_local_name(self) -> dict[str, Event]:
        """The events by their names without prefix, as aliases are written."""
        return {split(event.name.text)[1]: event for event in self.events.values()}

    @cached_property
    def classes(self) -> frozenset[str]:
        """The classes that the definitions mention."""
        logical = (event for event, _ in self.all() if isinstance(event, LogicalEvent))
        return frozenset(p.name.iri for e in logical for p in walk(e.description) if isinstance(p, ClassName))

    def all(self) -> Iterator[tuple[Event, QueryFile]]:
        """Every definition, those that define an event again included."""
        return ((event, file) for file in self.linked.files for event in file.events)

    @cached_property
    def parts(self) -> dict[str, list[str]]:
        """The events that each event is built on, itself or by its states, sorted by their definition."""
        return self._sorted(event_needs(self.linked), self.events)

    @cached_property
    def needs(self) -> dict[str, list[str]]:
        """The events and states that each event or state is built on, sorted by their definition."""
        return self._sorted(needs_of(self.linked), self.definitions)

    def _sorted(self, needs: Mapping[str, set[str]], among: Iterable[str]) -> dict[str, list[str]]:
        rank = {iri: number for number, iri in enumerate(among)}
        return {iri: sorted(parts, key=rank.__getitem__) for iri, parts in needs.items()}

    @cached_property
    def groups(self) -> list[list[str]]:
        """The events in an order where parts come first; events in one circle come as one group."""
        return [group[::-1] for group in components(self.parts, self.parts.__getitem__)]

    @cached_property
    def circles(self) -> list[list[str]]:
        """The shortest circle through the first member of each group of events and states that depends on
        itself."""
        groups = [group[::-1] for group in components(self.needs, self.needs.__getitem__)]
        return [
            _circle(group, self.needs)
            for group in groups
            if len(group) > 1 or group[0] in self.needs[group[0]]
        ]

    @cached_property
    def in_circles(self) -> frozenset[str]:
        """The events that depend on themselves."""
        return frozenset(iri for g in self.groups if len(g) > 1 or g[0] in self.parts[g[0]] for iri in g)

    def may_be_one(self, left: LogicalEvent, right: LogicalEvent) -> bool:
        """Whether one individual may be of both, by the classes that they name: a Tank is hardly a Valve."""
        kinds, others = self._kinds(left), self._kinds(right)
        return not kinds or not others or not kinds.isdisjoint(others)

    def _kinds(self, event: LogicalEvent) -> set[str]:
        """The classes that an individual has to be of; events that are among them say which."""
        found: set[str] = set()
        seen = {event.name.iri}
        todo: list[Description] = [event.description]
        while todo:
            match todo.pop():
                case Intersection(operands):
                    todo += operands
                case ClassName(name):
                    other = self.events.get(name.iri)
                    if isinstance(other, LogicalEvent) and name.iri not in seen:
                        seen.add(name.iri)
                        todo.append(other.description)
                    elif other is None:
                        found.add(name.iri)
        return found

    def composite(self, iri: str) -> CompositeEvent | None:
        event = self.events.get(iri)
        return event if isinstance(event, CompositeEvent) else None


def _circle(group: list[str], parts: dict[str, list[str]]) -> list[str]:
    """The shortest way from the first event of a group back to itself."""
    start, inside = group[0], set(group)
    came_from: dict[str, str] = {}
    wave = [start]
    while wave:
        following: list[str] = []
        for here in wave:
            for part in parts[here]:
                if part == start:
                    way = [here]
                    while way[-1] != start:
                        way.append(came_from[way[-1]])
                    return way[::-1]
                if part in inside and part not in came_from:
                    came_from[part] = here
                    following.append(part)
        wave = following
    raise AssertionError("a group of several events has a circle")
