"""a property that an event does not pass on

What it does: Finds a guard that reads a property of another event, if the occurrences of that event never
have the property. The other event is a composite event, or a logical event with a guard.

Why: The graph of an occurrence contains its explanation and the triples of its CONSTRUCT, but not the rest of
the items. So the guard never holds.

Example:

    EVENT Hot AS Observation IF { ?this :result ?v FILTER(?v > 30) }
    EVENT Twice MATCH Hot AS a SEQ Hot AS b WITHIN 5 min IF { EVENT a { ?x :result ?u . } }

Fix:

    EVENT Hot AS Observation IF { ?this :result ?v FILTER(?v > 30) } CONSTRUCT { ?this :result ?v }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term
from obep.ontology.owl.axioms import Inverse
from obep.ontology.rules import rule_kinds as r
from obep.query.ast import CompositeEvent, Name, Not
from obep.query.diagnostics import warn
from obep.query.walk import alias_of, event_needs, leaves, reachable, walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP244"
NAME = "property-not-carried"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    linked = bundle.linked
    rules = (*bundle.normal.rules, *bundle.normal.asserted)
    found = {}
    for iri, event in linked.events.items():
        for name, asked in _asked(event) if isinstance(event, CompositeEvent) else ():
            if _hands_on_parts_only(bundle, asked) and not may_be_there(bundle, name.iri, asked, rules):
                found[iri, name.span] = _warning(bundle, iri, name, linked.events[asked].name.text)
    return list(found.values())


def _asked(event: CompositeEvent) -> Iterator[tuple[Name, Term]]:
    """The properties that blocks ask for, each with the event that is asked."""
    for block in event.guard.blocks if event.guard else ():
        for leaf in leaves(event.pattern):
            if not block.aliases or alias_of(leaf) in block.aliases:
                for triple in block.triples:
                    if isinstance(triple.predicate, Name) and triple.predicate.iri != RDF_TYPE:
                        yield triple.predicate, leaf.event.iri


def _hands_on_parts_only(bundle: Bundle, asked: Term) -> bool:
    """A plain logical event leaves its item to guards, and what NOT leaves of one may hold anything."""
    events = bundle.linked.events
    event = events.get(asked)
    if event is None or not (isinstance(event, CompositeEvent) or event.guard is not None):
        return False
    below = (events[iri] for iri in {asked, *reachable(asked, event_needs(bundle.linked))})
    return not any(
        isinstance(node, Not)
        for one in below
        if isinstance(one, CompositeEvent)
        for node in walk(one.pattern)
    )


def may_be_there(bundle: Bundle, name: Term, asked: Term, rules: Iterable[object]) -> bool:
    """Whether a property is passed on, known before, or follows from such a one by these rules."""
    ways = ways_to_have(bundle, name, rules)
    return ways is None or not ways.isdisjoint(bundle.vocabulary(asked))


def ways_to_have(bundle: Bundle, name: Term, rules: Iterable[object]) -> set[Term] | None:
    """The properties of which one must be passed on; `None`: it is known, or follows by these rules."""
    ways = {name, *bundle.vocabularies.below(name)}
    known = any(p in ways for _, p, _ in bundle.k) or any(_leads_to(rule, ways) for rule in rules)
    return None if known else ways


def _leads_to(rule: object, ways: set[Term]) -> bool:
    """Whether a rule finds one of these properties in something else."""
    if isinstance(rule, r.Chain):
        return _property(rule.sup) in ways and not {_property(rule.first), _property(rule.second)} <= ways
    if isinstance(rule, r.JoinEdge):
        return _property(rule.sup) in ways
    return isinstance(rule, r.Fill | r.SelfOut | r.Edge) and _property(rule.role) in ways


def _property(role: object) -> Term:
    return role.property if isinstance(role, Inverse) else str(role)


def _warning(bundle: Bundle, iri: Term, name: Name, asked: str) -> Diagnostic:
    return warn(
        CODE,
        bundle.linked.file_of[iri],
        name.span,
        f"{name.text} is never found in {asked}",
        f"{asked} passes on only its explanation and its CONSTRUCT, and "
        f"neither its definition nor the static graph has {name.text}.",
        f"CONSTRUCT {{ … {name.text} … }} in {asked}, or {name.text} in its definition",
    )
