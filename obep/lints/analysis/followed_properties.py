"""The properties that lead from an item to individuals of which a definition or a guard asks more.

`inPen some (Pen and …)` asks something of the pen that an item names. Unless the item says that much itself,
or it follows from inPen alone (its range), only K can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from obep.model import RDF_TYPE, Term
from obep.ontology.bundle.stream_readers import Listening
from obep.ontology.owl.axioms import THING, inverse
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.role_relations import Directed
from obep.query import ast
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

Unfolded = Mapping[Term, ast.Description]
"""Definitions of classes, in T or as events."""


class Along(NamedTuple):
    """The conditions on the values of a property."""

    names: frozenset[Term]
    """Of the individuals that it leads to."""
    ends: frozenset[Term]
    """The properties that are looked for by it. Others that serve the same end do as well."""


class Beside(NamedTuple):
    """The names that an individual must have beside a property."""

    reached: frozenset[Term]
    """The property that leads to it, unless it is the individual of the event."""
    names: frozenset[Term]


def asked_along(bundle: Bundle, of: Listening) -> dict[Term, Along]:
    """Those properties, each with the names that are asked of the individuals it leads to.

    Only what must be so counts: what stands in a union, or follows in another way too, may well be found.
    In a window another item may say it.
    """
    ways, windows = _ways(bundle), bundle.linked.window_names
    known = {iri: one for iri, one in defined(bundle).items() if ways[iri] <= 1}
    asked: dict[Term, set[Term]] = {}
    for event in of.events:
        if ways[event.name.iri] <= 1 and event.on not in windows:
            for property, filler in _somes(event.description, known):
                asked.setdefault(property, set()).update(_names(filler, known))
    for property, names in _guards(of):
        asked.setdefault(property, set()).update(names)
    ends = {property: {property} for property in asked}
    for first, second, others in list(_chains(bundle, asked)):
        asked.setdefault(first, set()).add(second)
        ends.setdefault(first, {first}).update(others)
    found: dict[Term, Along] = {}
    ranges = _Ranges(bundle)
    for property in sorted(bundle.definitions.axioms.object_properties | asked.keys()) if asked else ():
        served = [other for other in asked if bundle.implies(property, other)]
        names = {name for other in served for name in asked[other]}
        if names and (names := names - ranges.of(property)):
            found[property] = Along(
                frozenset(names), frozenset(end for other in served for end in ends[other])
            )
    return found


def asked_beside(bundle: Bundle, of: Listening) -> dict[Term, set[Beside]]:
    """The properties that an individual must have together with other names, each with those sets of names.

    `Probe and oxygen some …` asks that what has oxygen is a probe: if no item says so, K must.
    """
    ways = _ways(bundle)
    known = {iri: one for iri, one in defined(bundle).items() if ways[iri] <= 1}
    found: dict[Term, set[Beside]] = {}
    for event in of.events:
        if ways[event.name.iri] <= 1:
            for reached, own in _together(event.description, known, frozenset(_of_this(event))):
                for name in own if len(reached | own) > 1 else ():
                    found.setdefault(name, set()).add(Beside(reached, (reached | own) - {name}))
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
    """The conditions of a logical event's guard on its individual."""
    for one in event.guard.own if event.guard is not None else ():
        if isinstance(one.subject, ast.Var) and one.subject.name == "this":
            if isinstance(one.predicate, ast.Name) and one.predicate.iri != RDF_TYPE:
                yield one.predicate.iri
            elif isinstance(one.predicate, ast.Name) and isinstance(one.object, ast.Name):
                yield one.object.iri


def defined(bundle: Bundle) -> Unfolded:
    """The classes that T defines, and the logical events."""
    from obep.why_not.class_definitions import definitions_of

    events = bundle.linked.events.items()
    own = {iri: event.description for iri, event in events if isinstance(event, ast.LogicalEvent)}
    return {**definitions_of(bundle.t), **own}


def _ways(bundle: Bundle) -> Counter[r.Symbol]:
    """The number of rules that conclude a concept, except those from the class of an event."""
    own = set(bundle.linked.events)
    heads = [rule for rule in bundle.rules if isinstance(rule, r.Sub | r.Exists | r.Count)]
    return Counter(rule.head for rule in heads if not (isinstance(rule, r.Sub) and own & {*rule.premises}))


def _chains(bundle: Bundle, asked: Collection[Term]) -> Iterator[tuple[Term, Term, list[Term]]]:
    """The first and the second property of the chains that make some which are asked along, and those."""
    for rule in bundle.rules:
        if isinstance(rule, r.Chain):
            first, second, sup = rule.first, rule.second, rule.sup
            made = [one for one in asked if isinstance(sup, str) and bundle.implies(sup, one)]
            if made and isinstance(first, str) and isinstance(second, str):
                yield first, second, made


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
    """The classes and properties of which one is needed for a part to hold; none for a union."""
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


class _Ranges:
    """The classes of the individuals that a property leads to."""

    def __init__(self, bundle: Bundle) -> None:
        self._relations = bundle.relations
        self._heads: dict[Directed, set[r.Symbol]] = {}
        self._uses: dict[r.Symbol, list[r.Sub]] = {}
        for rule in bundle.rules:
            if isinstance(rule, r.Exists):
                self._heads.setdefault(self._relations.of(rule.role), set()).add(rule.head)
            elif isinstance(rule, r.Sub):
                for premise in rule.premises or (THING,):
                    self._uses.setdefault(premise, []).append(rule)

    def of(self, property: Term) -> set[r.Symbol]:
        back = self._relations.above(inverse(property)) if property in self._relations else ()
        found: set[r.Symbol] = {THING, *(head for one in back for head in self._heads.get(one, ()))}
        new = list(found)
        while new:
            for rule in self._uses.get(new.pop(), ()):
                if rule.head not in found and found.issuperset(rule.premises):
                    found.add(rule.head)
                    new.append(rule.head)
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
