"""The events that read a stream, and what guards ask of its items. An event with `ON` reads one stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from obep.model import Term
from obep.ontology.owl.event_axioms import Definitions, asked_for
from obep.query import ast
from obep.query.walk import alias_of, leaves

if TYPE_CHECKING:
    from obep.query.link import Linked


FEW = 10
"""Events of a stream that are looked at one by one."""


@dataclass(frozen=True)
class Listening:
    """What is looked for in the items of a stream."""

    events: tuple[ast.LogicalEvent, ...]
    """The logical events that read it."""
    goals: tuple[Term, ...]
    """Their classes, with those of the composite events, which read occurrences."""
    classes: frozenset[Term]
    """Those that guards ask for in its items."""
    roles: frozenset[Term]
    blocks: tuple[tuple[ast.TriplePattern, ...], ...]
    """What guards ask of single items, by blocks: no windows, nothing that several items make up."""
    alone: bool
    """Whether some event does not read it."""

    def alone_with(self, event: ast.LogicalEvent) -> Listening:
        """One event by itself, without guards."""
        return replace(self, events=(event,), goals=(event.name.iri,), classes=frozenset())


def listening(linked: Linked, definitions: Definitions, stream: str) -> Listening:
    """The events that read a stream, itself or in a window."""
    windows = {window.name: window.stream for window in linked.windows}
    elsewhere = {goal for goal, on in definitions.streams.items() if windows.get(on, on) != stream}
    events = tuple(
        event
        for iri, event in linked.events.items()
        if isinstance(event, ast.LogicalEvent) and iri not in elsewhere
    )
    goals = tuple(goal for goal in definitions.goals if goal not in elsewhere)
    asked = [one for event in linked.events.values() for one in _asked(event, linked, elsewhere)]
    classes, roles = asked_for((pattern for block, _ in asked for pattern in block), definitions.axioms)
    blocks = tuple(block for block, single in asked if single)
    return Listening(events, goals, classes, roles, blocks, alone=bool(elsewhere))


def _asked(
    event: ast.Event, linked: Linked, elsewhere: set[Term]
) -> Iterator[tuple[tuple[ast.TriplePattern, ...], bool]]:
    """The blocks of a guard over items of the stream, each with whether one item has to show all of it.

    `elsewhere` are the events that do not read the stream.
    """
    if event.guard is None or event.name.iri in elsewhere:
        return
    if isinstance(event, ast.LogicalEvent):
        for triples in (event.guard.own, *(block.triples for block in event.guard.blocks)):
            yield triples, _single(event.name.iri, linked)
        return
    if isinstance(event, ast.GraphEvent):
        return
    yield event.guard.own, False
    hearing = {
        alias_of(leaf): _single(leaf.event.iri, linked)
        for leaf in leaves(event.pattern)
        if _hears(leaf.event.iri, linked, elsewhere)
    }
    for block in event.guard.blocks:
        mine = [single for alias, single in hearing.items() if not block.aliases or alias in block.aliases]
        if mine:
            yield block.triples, any(mine)


def _single(iri: Term, linked: Linked) -> bool:
    """Whether an event is found in one item."""
    event = linked.events.get(iri)
    return isinstance(event, ast.LogicalEvent) and event.on not in linked.window_names


def _hears(iri: Term, linked: Linked, elsewhere: set[Term]) -> bool:
    """Whether an event, or a part of it, reads the stream."""
    event = linked.events.get(iri)
    if isinstance(event, ast.CompositeEvent):
        return any(_hears(leaf.event.iri, linked, elsewhere) for leaf in leaves(event.pattern))
    return event is not None and iri not in elsewhere
