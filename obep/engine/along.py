"""The properties along which events are looked for beyond an item: whoever they lead to must be known.

`inPen some (Pen and …)` asks something of the pen that an item names. Unless the item says that much itself,
or it follows from inPen alone (its range), only K can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from obep.engine.defined import definitions_of
from obep.model import RDF_TYPE, Term
from obep.ontology import rules as r
from obep.ontology.axioms import THING, inverse
from obep.ontology.listening import Listening
from obep.query import ast
from obep.query.names import walk

if TYPE_CHECKING:
    from obep.ontology.compile import Bundle

Unfolded = Mapping[Term, ast.Description]
"""What classes are defined to be, by T or as events."""


def asked_along(bundle: Bundle, of: Listening) -> dict[Term, frozenset[Term]]:
    """Those properties, each with the names that are asked of whoever it leads to.

    Only what must be so counts: what stands in a union, or follows in another way too, may well be found.
    """
    ways = _ways(bundle)
    known = {iri: one for iri, one in defined(bundle).items() if ways[iri] <= 1}
    asked: dict[Term, set[Term]] = {}
    for event in of.events:
        if ways[event.name.iri] <= 1:
            for property, filler in _somes(event.description, known):
                asked.setdefault(property, set()).update(_names(filler, known))
    for property, names in _guards(of):
        asked.setdefault(property, set()).update(names)
    for first, second in list(_chains(bundle, asked)):
        asked.setdefault(first, set()).add(second)
    found: dict[Term, frozenset[Term]] = {}
    for property in sorted(bundle.definitions.axioms.object_properties | asked.keys()) if asked else ():
        names = {name for other in asked if bundle.implies(property, other) for name in asked[other]}
        if names and (names := names - _following(property, bundle)):
            found[property] = frozenset(names)
    return found


def defined(bundle: Bundle) -> Unfolded:
    """The classes that T defines, and the logical events."""
    events = bundle.linked.events.items()
    own = {iri: event.description for iri, event in events if isinstance(event, ast.LogicalEvent)}
    return {**definitions_of(bundle.t), **own}


def _ways(bundle: Bundle) -> Counter[r.Symbol]:
    """How many rules conclude a concept, but for those that only say of what an event is one."""
    own = set(bundle.linked.events)
    heads = [rule for rule in bundle.rules if isinstance(rule, r.Sub | r.Exists | r.Count)]
    return Counter(rule.head for rule in heads if not (isinstance(rule, r.Sub) and own & {*rule.premises}))


def _chains(bundle: Bundle, asked: Collection[Term]) -> Iterator[tuple[Term, Term]]:
    """The first and the second property of the chains that make one which is asked along."""
    for rule in bundle.rules:
        if isinstance(rule, r.Chain):
            first, second, sup = rule.first, rule.second, rule.sup
            named = isinstance(sup, str) and any(bundle.implies(sup, other) for other in asked)
            if named and isinstance(first, str) and isinstance(second, str):
                yield first, second


def _somes(
    part: ast.Description, known: Unfolded, seen: frozenset[Term] = frozenset()
) -> Iterator[tuple[Term, ast.Description]]:
    """The properties that must lead somewhere, and what must hold there."""
    match part:
        case ast.ClassName(name) if name.iri in known and name.iri not in seen:
            yield from _somes(known[name.iri], known, seen | {name.iri})
        case ast.Intersection(operands):
            for operand in operands:
                yield from _somes(operand, known, seen)
        case ast.Some(ast.Name() as property, filler) if filler is not None:
            yield property.iri, filler
            yield from _somes(filler, known, seen)


def _names(part: ast.Description, known: Unfolded, seen: frozenset[Term] = frozenset()) -> Iterator[Term]:
    """The classes and properties of which one must be said for a part to hold; none of a union."""
    match part:
        case ast.ClassName(name):
            if name.iri in known and name.iri not in seen:
                yield from _names(known[name.iri], known, seen | {name.iri})
            yield name.iri
        case ast.Intersection(operands):
            for operand in operands:
                yield from _names(operand, known, seen)
        case ast.Some(ast.Name() as property) | ast.Value(ast.Name() as property):
            yield property.iri


def _following(property: Term, bundle: Bundle) -> set[Term]:
    """The classes that follow for whoever something has the property to."""
    found = {THING}
    if property not in bundle.relations:
        return found
    back = bundle.relations.above(inverse(property))
    for rule in bundle.rules:
        if isinstance(rule, r.Exists) and bundle.relations.of(rule.role) in back:
            found.add(rule.head)
    subs = [rule for rule in bundle.rules if isinstance(rule, r.Sub)]
    while more := {rule.head for rule in subs if found.issuperset(rule.premises)} - found:
        found |= more
    return found


def _guards(of: Listening) -> Iterator[tuple[Term, set[Term]]]:
    """`?this :inPen ?pen . ?pen a :Nursery`: the properties to a variable of which more is asked."""
    for block in of.blocks:
        for one in block:
            if isinstance(one.predicate, ast.Name) and isinstance(one.object, ast.Var):
                more = [other for other in block if other.subject == one.object and other != one]
                names = {node.iri for other in more for node in walk(other) if isinstance(node, ast.Name)}
                if names - {RDF_TYPE} and one.predicate.iri != RDF_TYPE:
                    yield one.predicate.iri, names - {RDF_TYPE}
