"""In which order an instant decides its events: each after those that it is made of or may be found in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from obep.model import RDF_TYPE, Term, body_of
from obep.query.ast import CompositeEvent, Event, LogicalEvent, Name
from obep.query.names import all_below, depends, made_of, strata

if TYPE_CHECKING:
    from obep.query.link import Linked

Derived = Mapping[Term, frozenset[Term]]
ANYTHING = "anything"
"""What a template with a variable for a class or a property may speak of."""


def derived(linked: Linked, bundle: Any = None) -> dict[Term, frozenset[Term]]:
    """For each event those composite and guarded ones in whose occurrences it may be found.

    That is where its definition names them, or T leads from them, or from what they construct, to it. An
    occurrence is an item of the next stratum: nothing is found in it that it is itself made of. What looks at
    a stream or a window is found in the items of that stream alone.
    """
    heads = {
        iri: {iri, *_constructed(event)}
        for iri, event in linked.events.items()
        if isinstance(event, CompositeEvent) or event.guard is not None
    }
    parts = made_of(linked)
    found: dict[Term, frozenset[Term]] = {}
    for iri, event in linked.events.items():
        if heads and (isinstance(event, CompositeEvent) or event.on is None):
            names = _leading_to(iri, event, bundle)
            below = frozenset(
                head
                for head, marks in heads.items()
                if head != iri and iri not in parts[head] and (marks & names or ANYTHING in marks)
            )
            if below:
                found[iri] = below
    return found


def in_order(linked: Linked, found_in: Derived) -> list[list[Term]]:
    """The events in layers. What only T makes depend on another comes after it where that is possible."""
    level = {iri: at for at, layer in enumerate(strata(linked)) for iri in layer}
    needs: dict[Term, set[Term]] = {
        iri: depends(event) & linked.events.keys() for iri, event in linked.events.items()
    }
    for iri, below in found_in.items():
        if not any(iri in all_below(head, needs) for head in below):
            needs[iri] = needs[iri] | below
    for _ in level:  # as many rounds as the longest chain can need
        for iri, lower in needs.items():
            level[iri] = max([level[iri], *(level[one] + 1 for one in lower)])
    layers: list[list[Term]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for iri in linked.events:
        layers[level[iri]].append(iri)
    return layers


def _constructed(event: Event) -> Iterator[Term]:
    """The classes and properties that an event's CONSTRUCT speaks of."""
    for triple in event.construct:
        name = triple.predicate
        about = triple.object if isinstance(name, Name) and name.iri == RDF_TYPE else name
        yield about.iri if isinstance(about, Name) else ANYTHING


def _leading_to(iri: Term, event: Event, bundle: Any) -> set[Term]:
    """The names that a derivation of an event may begin with."""
    names = {iri}
    if isinstance(event, LogicalEvent):
        names |= depends(event)
    if bundle is not None and hasattr(bundle, "normal"):
        from obep.ontology.axiom_rules import mentioned
        from obep.ontology.relevance import relevant

        rules = [*bundle.normal.rules, *bundle.normal.asserted]
        used, _ = relevant(rules, (iri, body_of(iri)), bundle.relations)
        names.update(name for rule in used for name in _names(rule))
        if bundle.status[iri] != "exact":  # the reasoner may find what the rules do not
            names.update(name for axiom in bundle.t.axioms for name in mentioned(axiom))
    return names


def _names(value: object) -> Iterator[Term]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for member in value:
            yield from _names(member)
    elif is_dataclass(value):
        for slot in fields(value):
            yield from _names(getattr(value, slot.name))
