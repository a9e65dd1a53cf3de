"""The properties along which events are looked for beyond an item: whoever they lead to must be known.

`inPen some (Pen and …)` asks something of the pen that an item names. Unless the item says that much itself,
or it follows from inPen alone (its range), only K can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set
from typing import TYPE_CHECKING

from obep.engine.defined import definitions_of
from obep.model import RDF_TYPE, Term
from obep.ontology import rules as r
from obep.ontology.axioms import THING, Inverse, inverse
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


def asked_beside(bundle: Bundle, of: Listening) -> dict[Term, set[frozenset[Term]]]:
    """The properties that an individual must have together with other names, each with those sets of names.

    `Probe and oxygen some …` asks of whoever has oxygen to be a probe: if no item says so, K must.
    """
    ways = _ways(bundle)
    known = {iri: one for iri, one in defined(bundle).items() if ways[iri] <= 1}
    found: dict[Term, set[frozenset[Term]]] = {}
    for event in of.events:
        if ways[event.name.iri] <= 1:
            for reached, own in _together(event.description, known, frozenset(_of_this(event))):
                for name in own if len(reached | own) > 1 else ():
                    found.setdefault(name, set()).add((reached | own) - {name})
    properties = bundle.definitions.axioms.object_properties | bundle.definitions.axioms.data_properties
    return {name: others for name, others in found.items() if name in properties}


def _together(
    part: ast.Description, known: Unfolded, own: frozenset[Term], reached: frozenset[Term] = frozenset()
) -> Iterator[tuple[frozenset[Term], frozenset[Term]]]:
    """For each individual that a description asks for: the property that leads to it, and what must be said
    of it."""
    whole = list(_conjuncts(part, known))
    own |= {one.name.iri for one in whole if isinstance(one, ast.ClassName)} - {THING}
    own |= {
        one.property.iri
        for one in whole
        if isinstance(one, ast.Some | ast.Value) and isinstance(one.property, ast.Name)
    }
    yield reached, own
    for one in whole:
        if isinstance(one, ast.Some) and isinstance(one.property, ast.Name) and one.filler is not None:
            yield from _together(one.filler, known, frozenset(), frozenset({one.property.iri}))


def _conjuncts(
    part: ast.Description, known: Unfolded, seen: frozenset[Term] = frozenset()
) -> Iterator[ast.Description]:
    match part:
        case ast.Intersection(operands):
            for operand in operands:
                yield from _conjuncts(operand, known, seen)
        case ast.ClassName(name) if name.iri in known and name.iri not in seen:
            yield from _conjuncts(known[name.iri], known, seen | {name.iri})
        case _:
            yield part


def _of_this(event: ast.LogicalEvent) -> Iterator[Term]:
    """What the guard of a logical event asks of its individual."""
    for one in event.guard.own if event.guard is not None else ():
        if isinstance(one.subject, ast.Var) and one.subject.name == "this":
            if isinstance(one.predicate, ast.Name) and one.predicate.iri != RDF_TYPE:
                yield one.predicate.iri
            elif isinstance(one.predicate, ast.Name) and isinstance(one.object, ast.Name):
                yield one.object.iri


def following(bundle: Bundle, said: Set[Term]) -> set[Term]:
    """The classes and properties that may follow where some are said, whatever their values are."""
    found: set[Term] = {*said, THING}
    size = 0
    while len(found) > size:
        size = len(found)
        said = {name for name in found if name in bundle.relations}
        roles = {number for name in said for number, _ in bundle.relations.above(name)}
        for rule in bundle.rules:
            match rule:
                case r.Sub(premises, head) if found.issuperset(premises):
                    found.add(head)
                case r.Exists(role, _, head) | r.Count(role, _, _, head) | r.SelfIn(role, head):
                    if bundle.relations.of(role)[0] in roles:
                        found.add(head)
                case r.Witness(premise, role) | r.Fill(premise, role) if premise in found:
                    found.add(_named(role))
                case r.DataWitness(premise, property) if premise in found:
                    found.add(property)
                case r.Chain(first, _, sup) if bundle.relations.of(first)[0] in roles:
                    found.add(_named(sup))
    known = bundle.definitions.axioms
    return found | {
        name
        for name in known.object_properties | known.data_properties
        if name in bundle.relations and bundle.relations.of(name)[0] in roles
    }


def _named(role: r.Role) -> Term:
    return role.property if isinstance(role, Inverse) else role


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
