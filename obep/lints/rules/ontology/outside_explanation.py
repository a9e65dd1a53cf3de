"""a block that reads the explanation only

What it does: Finds a guard block that asks for a subclass of a class of the definition.

Why: Such a class belongs to the vocabulary of the definition, so the block reads it from the explanation
([what a block can see](guards.md#what-a-block-can-see)). An explanation contains no more than is needed: if a
property entails that something is a pen, the explanation does not say which kind of pen it is.

Example:

    EVENT LowO2 AS (Pen and oxygen some number[< 5]) IF { ?this a :NurseryPen }

Fix:

    EVENT LowO2 AS (NurseryPen and oxygen some number[< 5])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term, body_of
from obep.ontology.owl import axioms as a
from obep.ontology.owl.event_axioms import names_of
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.axiom_rules import mentioned
from obep.query import ast
from obep.query.diagnostics import listed, quote, warn
from obep.query.walk import alias_of, event_needs, leaves, reachable

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP247"
NAME = "outside-explanation"
SEVERITY = "warning"


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    asked = [(iri, *one) for iri, event in bundle.linked.events.items() for one in _asked(event)]
    if not asked:
        return []
    explanations = _Explanations(bundle)
    found = {}
    for iri, triple, name, whose in asked:
        why = explanations.never_say(name.iri, whose)
        if why is not None:
            found[iri, name.span] = _warning(bundle, iri, triple, name, why)
    return list(found.values())


def _asked(event: ast.Event) -> Iterator[tuple[ast.TriplePattern, ast.Name, Term]]:
    """The classes that a guard asks for, each with the event whose explanation it looks at."""
    if event.guard is None:
        return
    blocks = [(event.guard.own, body_of(event.name.iri))]
    if isinstance(event, ast.CompositeEvent):
        blocks = [
            (block.triples, leaf.event.iri)
            for block in event.guard.blocks
            for leaf in leaves(event.pattern)
            if not block.aliases or alias_of(leaf) in block.aliases
        ]
    for triples, whose in blocks:
        for triple in triples:
            named = isinstance(triple.predicate, ast.Name) and triple.predicate.iri == RDF_TYPE
            if named and isinstance(triple.object, ast.Name):
                yield triple, triple.object, whose


class _Why(NamedTuple):
    """Why an explanation of an event does not say a class."""

    event: Term
    above: tuple[Term, ...]
    """The classes of the definition that it lies below."""
    outside: tuple[Term, ...]
    """The names from which T derives it; none if the classes above follow from the definition's
    properties."""


class _Explanations:
    """The content of explanations of events, as far as T determines it."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._names = bundle.t.classes | bundle.t.object_properties | bundle.t.data_properties
        self._rules = (*bundle.normal.rules, *bundle.normal.asserted)
        self._defined = {
            iri for iri, same in bundle.t.equivalents() if not all(isinstance(one, a.Class) for one in same)
        }

    def never_say(self, name: Term, whose: Term) -> _Why | None:
        """Why a class below those of a definition is in none of its explanations; `None` if it may be."""
        bundle = self._bundle
        vocabularies, vocabulary = bundle.vocabularies, bundle.vocabulary(whose)
        event = whose if whose in bundle.linked.events else whose.removesuffix("#body>") + ">"
        own = names_of(event, bundle.linked, bundle.definitions.bodies, body=event != whose)
        above = vocabularies.above(name) & own
        between = vocabularies.below(name) & own
        if name not in vocabulary or name in own or between or not above:
            return None
        kinds = {name, *vocabularies.below(name)} | (vocabularies.above(name) - own)
        given = vocabulary & (bundle.t.object_properties | bundle.t.data_properties)
        if any({*mentioned(rule)} & kinds and {*mentioned(rule)} & given for rule in self._rules):
            return None  # the class alone gives what the definition asks for
        ways = [self._names_in(rule) for rule in self._leading_to(name)]
        if any(way <= vocabulary for way in ways):
            return None
        superclasses = tuple(sorted(above))
        if all(self._follows_anyway(one, event) for one in above):
            return _Why(event, superclasses, ())
        if name in self._defined and ways and not self._is_known({name, *vocabularies.below(name)}):
            return _Why(event, superclasses, tuple(sorted(set.union(*map(set, ways)) - vocabulary)))
        return None

    def _is_known(self, classes: set[Term]) -> bool:
        return not classes.isdisjoint(self._bundle.k.facts.classes)

    def _leading_to(self, name: Term) -> Iterator[r.Rule]:
        """The rules that find a class, or one below it, in more than a class below it."""
        wanted = {name, *self._bundle.vocabularies.below(name)}
        for rule in self._rules:
            if getattr(rule, "head", None) in wanted and not (
                isinstance(rule, r.Sub) and len(rule.premises) == 1
            ):
                yield rule

    def _names_in(self, rule: r.Rule) -> frozenset[Term]:
        """The names of T that a rule needs, also by what has no name of its own."""
        found: set[Term] = set()
        waiting: list[r.Rule] = [rule]
        seen: set[Term] = set()
        while waiting:
            one = waiting.pop()
            premises = set(mentioned(one)) - {getattr(one, "head", "")}
            found |= premises & self._names
            nameless = {name for name in premises if name.startswith("~")} - seen
            seen |= nameless
            waiting += [other for other in self._rules if getattr(other, "head", None) in nameless]
        return frozenset(found)

    def _follows_anyway(self, name: Term, event: Term) -> bool:
        """Whether a class follows from the rest of each definition that names it."""
        events, bodies = self._bundle.linked.events, self._bundle.definitions.bodies
        below = [event, *reachable(event, event_needs(self._bundle.linked))]
        if any(name == place.iri for iri in below for place in _constructed(events[iri])):
            return False
        found = [one for iri in below if iri in bodies for one in self._places(bodies[iri], name, ())]
        return bool(found) and all(found)

    def _places(self, part: a.ClassExpression, name: Term, given: Iterable[r.Role | Term]) -> Iterator[bool]:
        """For each place of a class in an expression whether it follows from what stands beside it.

        `given` are the properties that lead away from the place, and the classes of it.
        """
        match part:
            case a.Class(iri=iri) if iri == name:
                yield any(self._gives(one, name) for one in given)
            case a.And(operands=operands):
                for operand in operands:
                    others = [one for other in operands if other is not operand for one in _of_itself(other)]
                    yield from self._places(operand, name, (*given, *others))
            case a.Some(property=role, filler=filler):
                yield from self._places(filler, name, (a.inverse(role),))
            case _ if name in set(mentioned(part)):
                yield False

    def _gives(self, one: r.Role | Term, name: Term) -> bool:
        """Whether having a property, or being of a class, is enough to be of another class."""
        above, relations = self._bundle.vocabularies.above, self._bundle.relations
        if one in self._bundle.t.classes:
            return name in above(str(one)) and one not in above(name)
        for rule in self._rules:
            match rule:
                case r.Exists(role=role, filler=a.THING, head=head):
                    if (
                        one in relations
                        and role in relations
                        and relations.of(role) in relations.above(one)
                        and name in {head, *above(head)}
                    ):
                        return True
                case r.Count(property=property, range=a.Datatype(iri=a.LITERAL), least=1, head=head):
                    if one in (property, *self._bundle.vocabularies.below(property)) and name in {
                        head,
                        *above(head),
                    }:
                        return True
        return False


def _of_itself(part: a.ClassExpression) -> Iterator[r.Role | Term]:
    """The properties that an expression says an individual to have, and its class."""
    match part:
        case a.Class(iri=iri):
            yield iri
        case (
            a.Some(property=role)
            | a.Value(property=role)
            | a.DataSome(property=role)
            | a.DataValue(property=role)
        ):
            yield role


def _constructed(event: ast.Event) -> Iterator[ast.Name]:
    for triple in event.construct:
        yield from (place for place in (triple.predicate, triple.object) if isinstance(place, ast.Name))


def _warning(bundle: Bundle, iri: Term, triple: ast.TriplePattern, name: ast.Name, why: _Why) -> Diagnostic:
    from obep.lints.language_errors.vocabulary_errors import as_written

    file = bundle.linked.file_of[iri]
    event = bundle.linked.events[why.event].name.text
    above = listed([as_written(one, file) for one in why.above])
    subject = quote(triple.subject)
    if why.outside:
        outside = listed([as_written(one, file) for one in why.outside])
        because = f"the ontology finds it by {outside}, which an explanation of {event} has no need of"
    else:
        because = f"there {above} follows from other things, so no explanation says which one it is"
    return warn(
        CODE,
        file,
        triple.span,
        f"{subject} a {name.text} is matched against the explanation of {event} alone",
        f"{name.text} lies below {above}, which defines {event}: so it is matched against the explanation "
        f"alone, and {because}.",
        f"{subject} a ?kind . FILTER(?kind = {name.text})   (matches the whole item and the static graph)",
    )
