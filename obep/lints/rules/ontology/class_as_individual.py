"""a class in place of an individual

What it does: Finds `p value C` where C is a class or an event, and not an individual of the ontology or the
static graph.

Why: `by value Point` means that the value is `Point` itself. For a member of the class write `by some Point`.
Write a text in quotes: `state value "open"`.

Example:

    EVENT Off AS (by value Point)

Fix:

    EVENT Off AS (by some Point)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.static_names import misspelt_individuals, unknown_to
from obep.model import RDF_TYPE, Term
from obep.query import ast
from obep.query.diagnostics import quote, warn
from obep.query.nearest_name import split
from obep.query.walk import event_needs, reachable, walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP252"
NAME = "class-as-individual"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    linked = bundle.linked
    misspelt = {one.span for one in misspelt_individuals(bundle)}
    classes, static = bundle.definitions.axioms.classes, bundle.k.facts.classes
    named = [
        (iri, node, node.value)
        for iri, event in linked.events.items()
        if isinstance(event, ast.LogicalEvent)
        for node in walk(event.description)
        if isinstance(node, ast.Value)
        and isinstance(node.value, ast.Name)
        and (node.value.iri in classes or node.value.iri in static)
        and node.value.iri not in bundle.t.individuals
        and node.value.span not in misspelt
    ]
    strange = unknown_to(bundle.k, {name.iri for _, _, name in named}) - set(_made(bundle)) if named else ()
    return [
        warn(
            CODE, linked.file_of[iri], name.span,
            f"{name.text} is {'an event' if name.iri in linked.events else 'a class'}; value takes an "
            "individual",
            f"{quote(node)} asks for {name.text} itself, not for a member; neither the ontology nor the "
            "static graph has an individual of this name.",
            _meant(bundle, iri, node, name),
        )
        for iri, node, name in named
        if name.iri in strange
    ]  # fmt: skip


def _meant(bundle: Bundle, event: Term, node: ast.Value, name: ast.Name) -> str:
    """Suggest `some`; a text in quotes if the event would be defined by itself."""
    property = quote(node.property)
    circle = {name.iri, *reachable(name.iri, event_needs(bundle.linked))}
    if event not in circle:
        return f"{property} some {name.text}"
    if isinstance(node.property, ast.Name) and node.property.iri not in bundle.t.object_properties:
        return f'{property} value "{split(name.text)[1]}"   if it is a text'
    return f"{property} value …   with the name of an individual"


def _made(bundle: Bundle) -> Iterator[Term]:
    """The individuals in the CONSTRUCTs of occurrences."""
    for event in bundle.linked.events.values():
        for triple in event.construct:
            typed = isinstance(triple.predicate, ast.Name) and triple.predicate.iri == RDF_TYPE
            places = (triple.subject,) if typed else (triple.subject, triple.object)
            yield from (place.iri for place in places if isinstance(place, ast.Name))
