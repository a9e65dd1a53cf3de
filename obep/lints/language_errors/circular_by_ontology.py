"""Circles that T may close: every H is a G, and an H is made of Gs (SPEC §3, strata); rules of EP-SPARQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.algebra.timed.timed_layers import Rule, layers
from obep.errors import Diagnostic, ObepError
from obep.model import RDF_TYPE, Term
from obep.ontology.bundle.following_names import following
from obep.query.ast import CompositeEvent, ConstructQuery, Name, Var
from obep.query.diagnostics import say
from obep.query.linked_queries import timed_programs
from obep.query.walk import event_needs, reachable

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle


def check_circles(bundle: Bundle) -> list[Diagnostic]:
    """OBEP102 for each composite whose occurrences would be parts of further ones, without end."""
    linked = bundle.linked
    needs = event_needs(linked, earlier=True)
    rank = {iri: number for number, iri in enumerate(linked.events)}
    found = []
    for iri, event in linked.events.items():
        if isinstance(event, CompositeEvent):
            kinds = (_kinds(bundle, event) & linked.events.keys()) - {iri}
            below = reachable(iri, needs) if kinds else kinds
            closing = sorted(kinds & below, key=rank.__getitem__)
            found += [_circle(bundle, event, part) for part in closing]
    return [*found, *_negated_rules(bundle)]


def _negated_rules(bundle: Bundle) -> Iterator[Diagnostic]:
    """OBEP714 for rules that depend on themselves through a negation (D26)."""
    linked = bundle.linked
    timed = [query for query in linked.queries.values() if query.timed and query.language != "csparql"]
    for together in timed_programs(timed):
        rules = [
            Rule(query.name, query.register.form.template, query.register.form.select.where)
            for query in together
            if isinstance(query.register.form, ConstructQuery)
        ]
        naive = together[0].settings.get("policy") == "naive"
        try:
            layers(rules, lambda name: following(bundle, {name}, alone=False), naive=naive)
        except ObepError as error:
            (cycle,) = error.diagnostics
            place = next(query for query in together if cycle.message.endswith(f" {query.name}"))
            yield say("OBEP714", linked.file, place.register.span, cycle.message, cycle.reason, cycle.remedy)


def _kinds(bundle: Bundle, event: CompositeEvent) -> set[Term]:
    """The classes of every occurrence by T, from its class and its CONSTRUCT."""
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
