"""In which order an instant decides its events: each after those that it is made of or may be found in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from obep.model import RDF_TYPE, Term, body_of
from obep.query.ast import CompositeEvent, Event, LogicalEvent, Name, Var
from obep.query.free_variables import HIDDEN
from obep.query.walk import components, depends, event_needs, layered, needs_of, reachable

if TYPE_CHECKING:
    from obep.query.link import Linked

Derived = Mapping[Term, frozenset[Term]]
ANYTHING = "anything"
"""The subject of a template with a variable for a class or a property."""


def derived(linked: Linked, bundle: Any = None) -> dict[Term, frozenset[Term]]:
    """For each event those composite and guarded ones in whose occurrences it may be found.

    That is where its definition names them, or T leads from them, or from what they construct, to it. An
    occurrence is an item of the next stratum: nothing is found in it that it is itself made of. What looks at
    a stream or a window is found in the items of that stream alone.
    """
    by_mark: dict[Term, list[Term]] = {}
    for iri, event in linked.events.items():
        if isinstance(event, CompositeEvent) or event.guard is not None:
            for mark in {iri, *_constructed(event)}:
                by_mark.setdefault(mark, []).append(iri)
    needs = event_needs(linked, earlier=True)
    parts = cache(lambda head: reachable(head, needs))
    origins = _origins(linked, by_mark, bundle)
    found: dict[Term, frozenset[Term]] = {}
    for iri, event in linked.events.items():
        if by_mark and (isinstance(event, CompositeEvent) or event.on is None):
            heads = {head for mark in (ANYTHING, *origins[iri]) for head in by_mark.get(mark, ())} - {iri}
            below = frozenset(head for head in heads if iri not in parts(head))
            if below:
                found[iri] = below
    return _ending(found, needs, linked)


def _ending(
    found: dict[Term, frozenset[Term]], needs: dict[Term, set[Term]], linked: Linked
) -> dict[Term, frozenset[Term]]:
    """The same without what closes a circle in which each round has a new name: it would have no end.

    Strata are in an order, so one of two has to be below the other: the one that is defined first, where
    nothing else says so. Where a round brings nothing new, a circle ends by itself.
    """
    both = {iri: needs[iri] | found.get(iri, frozenset()) for iri in needs}
    for group in components(both, both.__getitem__):
        if len(group) > 1 and any(_names_anew(linked.events[iri]) for iri in group):
            inside = set(group)
            members = [iri for iri in reversed(linked.events) if iri in inside]
            order = {iri: needs[iri] & inside for iri in members}
            for iri, head in product(members, members):
                if head in found.get(iri, ()):
                    if iri in reachable(head, order):
                        found[iri] -= {head}
                    else:
                        order[iri].add(head)
    return {iri: below for iri, below in found.items() if below}


def _names_anew(event: Event) -> bool:
    """Whether each occurrence brings a name of its own."""
    places = (place for triple in event.construct for place in (triple.subject, triple.object))
    blank = any(isinstance(place, Var) and place.name.startswith(HIDDEN) for place in places)
    return isinstance(event, CompositeEvent) or blank


def in_order(linked: Linked, found_in: Derived) -> list[list[Term]]:
    """The events and states in layers. What only T makes depend on another comes after it where it can."""
    needs = needs_of(linked)
    for iri, below in found_in.items():
        if not any(iri in reachable(head, needs) for head in below):
            needs[iri] = needs[iri] | below
    return layered(needs)


def _constructed(event: Event) -> Iterator[Term]:
    """The classes and properties in an event's CONSTRUCT."""
    for triple in event.construct:
        name = triple.predicate
        about = triple.object if isinstance(name, Name) and name.iri == RDF_TYPE else name
        yield about.iri if isinstance(about, Name) else ANYTHING


def _origins(linked: Linked, marks: Iterable[Term], bundle: Any) -> dict[Term, set[Term]]:
    """For each event the marks that a derivation of it may begin with."""
    marks = list(marks)
    found = {
        iri: {iri, *depends(event)} if isinstance(event, LogicalEvent) else {iri}
        for iri, event in linked.events.items()
    }
    if not marks or not hasattr(bundle, "leading_marks"):  # nothing is asked, or nothing is known of T
        return found
    goals = [goal for iri in linked.events for goal in (iri, body_of(iri))]
    reached = bundle.leading_marks(marks, goals)
    for iri, names in found.items():
        names.update(reached[iri], reached[body_of(iri)])
        if bundle.status[iri] != "exact":  # the reasoner may find what the rules do not
            names |= bundle.names_in_t
    return found
