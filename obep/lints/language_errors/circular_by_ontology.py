"""Circles that only T closes: every H is a G, and an H is made of Gs (SPEC §3, strata)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term
from obep.query.ast import CompositeEvent, Name, Var
from obep.query.diagnostics import say
from obep.query.walk import event_needs, reachable

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


def check_circles(bundle: Bundle) -> list[Diagnostic]:
    """OBEP102 for each composite whose occurrences would be parts of further ones, without end."""
    linked = bundle.linked
    needs = event_needs(linked)
    rank = {iri: number for number, iri in enumerate(linked.events)}
    found = []
    for iri, event in linked.events.items():
        if isinstance(event, CompositeEvent):
            kinds = (_kinds(bundle, event) & linked.events.keys()) - {iri}
            below = reachable(iri, needs) if kinds else kinds
            closing = sorted(kinds & below, key=rank.__getitem__)
            found += [_circle(bundle, event, part) for part in closing]
    return found


def _kinds(bundle: Bundle, event: CompositeEvent) -> set[Term]:
    """What T says of every occurrence, by its class and by those that CONSTRUCT gives it."""
    own = {
        triple.object.iri
        for triple in event.construct
        if isinstance(triple.subject, Var)
        and triple.subject.name == "this"
        and isinstance(triple.predicate, Name)
        and triple.predicate.iri == RDF_TYPE
        and isinstance(triple.object, Name)
    }
    own.add(event.name.iri)
    return own.union(*map(bundle.vocabularies.above, own))


def _circle(bundle: Bundle, event: CompositeEvent, part: Term) -> Diagnostic:
    whole, piece = event.name.text, bundle.linked.events[part].name.text
    return say(
        "OBEP102",
        bundle.linked.file_of[event.name.iri],
        event.name.span,
        f"every {whole} is a {piece}, and {whole} is made of {piece}",
        f"Each {whole} would be a part of the next one, without end: {whole} → {piece} → {whole}. The first "
        "is what the ontology or CONSTRUCT says, the second the pattern.",
        f"a {whole} that is no {piece}, or a pattern that does not use {piece}",
    )
