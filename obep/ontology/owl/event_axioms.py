"""The events of a query as axioms: what they mean, which names they use, what guards look at.

In: a linked query and T. Out: `Definitions`. `EVENT H AS B` is `H EquivalentTo B`; with a guard only
`H SubClassOf B`, and B alone goes by the name of `body_of(H)` (contracts: the engine applies the guard).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term, body_of
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import (
    BOTTOM_DATA_PROPERTY,
    BOTTOM_OBJECT_PROPERTY,
    Class,
    ClassExpression,
    EquivalentClasses,
    SubClassOf,
)
from obep.ontology.owl.manchester_to_owl import Translation
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import leaves, walk

if TYPE_CHECKING:
    from obep.query.link import Linked


@dataclass(frozen=True)
class Definitions:
    """The axioms that the events add to T."""

    axioms: Axioms
    """T with the definitions, for a reasoner."""
    bodies: Mapping[Term, ClassExpression]
    guarded: frozenset[Term]
    goals: tuple[Term, ...]
    """Every class that is reported: the events, and the bodies of guarded ones."""
    streams: Mapping[Term, str]
    """The stream or window that an event looks at, for those with ON."""
    windowed: frozenset[Term]
    """The goals that are looked for in windows, never in an item."""
    guard_classes: frozenset[Term]
    guard_roles: frozenset[Term]
    any_predicate: bool
    """Whether a guard asks about any property."""
    units: Mapping[Term, Mapping[str, str]] = field(default_factory=dict)
    """By property and dimension, the unit that definitions ask for."""


def define(linked: Linked, axioms: Axioms) -> Definitions:
    """The definitions of a query over T."""
    logical = {iri: e for iri, e in linked.events.items() if isinstance(e, ast.LogicalEvent)}
    translation = Translation(axioms, (event.description for event in logical.values()))
    bodies = {iri: translation.expression(event.description) for iri, event in logical.items()}
    guarded = frozenset(iri for iri, event in logical.items() if event.guard is not None)
    goals = (*linked.events, *(body_of(iri) for iri in logical if iri in guarded))
    streams = {iri: event.on for iri, event in logical.items() if event.on is not None}
    streams |= {body_of(iri): on for iri, on in streams.items() if iri in guarded}
    windowed = frozenset(goal for goal, on in streams.items() if on in linked.window_names)
    written = [
        SubClassOf(Class(iri), body) if iri in guarded else EquivalentClasses((Class(iri), body))
        for iri, body in bodies.items()
    ]
    written += [SubClassOf(bodies[iri], Class(body_of(iri))) for iri in logical if iri in guarded]
    known = axioms | translation.used | Axioms(tuple(written), classes=frozenset(goals)) | _EMPTY
    queries = [query.register for query in linked.queries.values()]
    groups = (*linked.states.values(), *linked.on_items.values(), *queries)
    grouped = [pattern for one in groups for pattern in group_patterns(one)]
    classes, roles = looked_at(linked.events.values(), known)
    more_classes, more_roles = asked_for(grouped, known)
    patterns = [*grouped, *(pattern for event in linked.events.values() for pattern in _patterns(event))]
    any_predicate = any(isinstance(pattern.predicate, ast.Var) for pattern in patterns)
    classes, roles = classes | more_classes, roles | more_roles
    units = translation.units.by_property
    return Definitions(known, bodies, guarded, goals, streams, windowed, classes, roles, any_predicate, units)


_EMPTY = Axioms(
    object_properties=frozenset({BOTTOM_OBJECT_PROPERTY}), data_properties=frozenset({BOTTOM_DATA_PROPERTY})
)
"""The properties that no T has to declare, and that contradict it where something has them."""


def misfits(linked: Linked, axioms: Axioms, unknown: Collection[Term] = ()) -> list[Diagnostic]:
    """Misplaced names in the definitions, except in those that use `unknown` names."""
    logical = {iri: e for iri, e in linked.events.items() if isinstance(e, ast.LogicalEvent)}
    translation = Translation(axioms, (event.description for event in logical.values()))
    found = []
    for iri, event in logical.items():
        if iri not in unknown:
            translation.misfits.clear()
            translation.expression(event.description)
            for code, span, message, reason, remedy in translation.misfits:
                found.append(say(code, linked.file_of[iri], span, message, reason, remedy))
    return found


def looked_at(events: Iterable[ast.Event], known: Axioms) -> tuple[frozenset[Term], frozenset[Term]]:
    """The classes and properties that the guards ask about; a variable asks about all."""
    return asked_for((pattern for event in events for pattern in _patterns(event)), known)


def asked_for(
    patterns: Iterable[ast.TriplePattern], known: Axioms
) -> tuple[frozenset[Term], frozenset[Term]]:
    """The classes and properties that patterns ask about."""
    classes: set[Term] = set()
    roles: set[Term] = set()
    for pattern in patterns:
        predicate, object = pattern.predicate, pattern.object
        if isinstance(predicate, ast.Var):
            roles |= known.object_properties | known.data_properties
            classes |= known.classes
        elif predicate.iri != RDF_TYPE:
            roles.add(predicate.iri)
        elif isinstance(object, ast.Name):
            classes.add(object.iri)
        else:
            classes |= known.classes
    return frozenset(classes), frozenset(roles)


def group_patterns(node: ast.Node) -> Iterator[ast.TriplePattern]:
    """The triple patterns of a group or guard; a property of a path is one with any ends."""
    for one in walk(node):
        if isinstance(one, ast.TriplePattern):
            yield one
        elif isinstance(one, ast.PathPattern):
            for name in walk(one.path):
                if isinstance(name, ast.Name):
                    yield ast.TriplePattern(one.subject, name, one.object)
            if any(isinstance(step, ast.PathNegated) for step in walk(one.path)):
                yield ast.TriplePattern(one.subject, ast.Var("_:any"), one.object)


def _patterns(event: ast.Event) -> Iterator[ast.TriplePattern]:
    if event.guard is not None:
        yield from event.guard.own
        for block in event.guard.blocks:
            yield from block.triples


def names_of(
    event: Term, linked: Linked, bodies: Mapping[Term, ClassExpression], *, body: bool = False
) -> frozenset[Term]:
    """The names in an event's definition; of a composite, those of the events in its pattern, and its own.

    `body`: only what a guarded event says, not what it constructs afterwards.
    """
    from obep.ontology.rules.axiom_rules import mentioned

    found: set[Term] = set()
    waiting, seen = [event], set()
    while waiting:
        iri = waiting.pop()
        if iri in seen or iri not in linked.events:
            continue
        seen.add(iri)
        definition = linked.events[iri]
        found.add(iri)
        if isinstance(definition, ast.LogicalEvent):
            names = set(mentioned(bodies[iri]))
            found |= names
            waiting += names
        elif isinstance(definition, ast.CompositeEvent):
            waiting += [leaf.event.iri for leaf in leaves(definition.pattern)]
        for pattern in definition.construct if not (body and iri == event) else ():
            for place in (pattern.predicate, pattern.object):
                if isinstance(place, ast.Name) and place.iri != RDF_TYPE:
                    found.add(place.iri)
    return frozenset(name for name in found if name.startswith("<"))
