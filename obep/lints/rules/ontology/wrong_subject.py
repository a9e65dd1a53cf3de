"""a property asked of the wrong subject

What it does: Finds a guard block that asks for a property of the definition at a subject that never has it.

Why: A property of the definition is read from the explanation only ([what a block can
see](guards.md#what-a-block-can-see)). If only the reading has the property there, the pen does not.

Example:

    EVENT Low AS (Reading and oxygen some number[< 5]) IF { ?this :inPen ?pen . ?pen :oxygen ?x }

Fix:

    EVENT Low AS (Reading and oxygen some number[< 5]) IF { ?this :inPen ?pen ; :oxygen ?x }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import Diagnostic
from obep.lints.language_errors.vocabulary_errors import as_written
from obep.model import RDF_TYPE, Term, body_of
from obep.ontology.owl import axioms as a
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.axiom_rules import mentioned
from obep.query import ast
from obep.query.diagnostics import quote, warn
from obep.query.walk import alias_of, event_needs, leaves, reachable

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP250"
NAME = "wrong-subject"
SEVERITY = "warning"

THIS = "this"
Path = tuple[r.Role, ...]
"""The properties that lead from `?this` to something."""


class _Asked(NamedTuple):
    """A property that a block asks of something, and the event whose explanation it looks at."""

    triple: ast.TriplePattern
    property: ast.Name
    of_this: bool
    event: Term


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    found = {}
    asked = [(iri, one) for iri, event in bundle.linked.events.items() for one in _asked(event, bundle)]
    explanations = _Explanations(bundle)
    for iri, one in asked:
        path = explanations.said_of(one)
        if path is not None:
            found[iri, one.triple.span] = _warning(bundle, iri, one, path)
    return list(found.values())


def _asked(event: ast.Event, bundle: Bundle) -> Iterator[_Asked]:
    """The properties that blocks ask of `?this`, or of what stands beside it, of logical events."""
    if event.guard is None:
        return
    if isinstance(event, ast.LogicalEvent):
        yield from _in_block(event.guard.own, {THIS}, event.name.iri)
        return
    if isinstance(event, ast.GraphEvent):
        return
    for leaf in leaves(event.pattern):
        if isinstance(bundle.linked.events.get(leaf.event.iri), ast.LogicalEvent):
            blocks = [b for b in event.guard.blocks if not b.aliases or alias_of(leaf) in b.aliases]
            names = {THIS, *(variable.name for variable in leaf.parameters)}
            yield from _in_block([t for b in blocks for t in b.triples], names, leaf.event.iri)


def _in_block(triples: Iterable[ast.TriplePattern], this: set[str], event: Term) -> Iterator[_Asked]:
    triples = list(triples)
    beside = {
        triple.object.name
        for triple in triples
        if isinstance(triple.subject, ast.Var)
        and triple.subject.name in this
        and isinstance(triple.object, ast.Var)
        and isinstance(triple.predicate, ast.Name)
        and triple.predicate.iri != a.SAME_AS
    } - this
    for triple in triples:
        name, subject = triple.predicate, triple.subject
        if isinstance(name, ast.Name) and name.iri != RDF_TYPE and isinstance(subject, ast.Var):
            known = {subject.name} & (this | beside)
            yield from (_Asked(triple, name, one in this, event) for one in known)


class _Explanations:
    """The subjects of a property in explanations of logical events, as far as T shows."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def said_of(self, asked: _Asked) -> Path | None:
        """The way to the only ones that have a property, if those are others than the ones asked."""
        bundle, vocabularies = self._bundle, self._bundle.vocabularies
        name = asked.property.iri
        ways = {name, *vocabularies.above(name), *vocabularies.below(name)}
        places = _Places(bundle, ways)
        places.add(bundle.definitions.bodies[asked.event], ())
        if places.unclear or not places.paths or not ways.isdisjoint(bundle.k.facts.properties):
            return None
        if asked.of_this:
            (path, *others), needed = sorted(places.paths, key=str), places.of_this
            if others or len(path) != 1 or not isinstance(path[0], str):
                return None
        else:
            path, needed = (), places.of_others
            if places.paths != {()}:
                return None
        certain = self._apart and self._is_plain(asked.event) and self._only_there(ways)
        return path if certain and needed.isdisjoint(self._following(ways)) else None

    @cached_property
    def _rules(self) -> list[tuple[r.Rule, frozenset[Term]]]:
        """Each rule with its names."""
        normal = self._bundle.normal
        return [(rule, frozenset(mentioned(rule))) for rule in (*normal.rules, *normal.asserted)]

    @cached_property
    def _named_in_t(self) -> frozenset[Term]:
        return frozenset(name for axiom in self._bundle.t.axioms for name in mentioned(axiom))

    @cached_property
    def _apart(self) -> bool:
        """Nothing is made to be beside itself, or to be the same as another one."""
        bundle = self._bundle
        reflexive = any(isinstance(one, a.Reflexive) for one in bundle.t.axioms)
        return not (reflexive or bundle.k.facts.same_as or any(map(self._merges, bundle.rules)))

    def _merges(self, rule: r.Rule) -> bool:
        """Whether a rule may find that two individuals are the same."""
        match rule:
            case r.Merge(_, role):
                return role not in self._bundle.definitions.axioms.data_properties
            case r.Is() | r.Key():
                return True
        return False

    def _is_plain(self, event: Term) -> bool:
        """Whether its definition says all: nothing else makes it happen, and nothing is added to it."""
        linked, status = self._bundle.linked, self._bundle.status
        if event in self._named_in_t or any(
            status.get(e, "exact") != "exact" for e in (event, body_of(event))
        ):
            return False
        below = [linked.events[iri] for iri in (event, *reachable(event, event_needs(linked)))]
        return all(isinstance(one, ast.LogicalEvent) and not one.construct for one in below)

    def _only_there(self, ways: set[Term]) -> bool:
        """Whether T finds these properties nowhere else, and does no more with them than with a domain."""
        for rule, names in self._rules:
            if ways.isdisjoint(names):
                continue
            match rule:
                case r.Exists() | r.Count() | r.Witness() | r.DataWitness():
                    pass
                case r.SubRole(sub=str(), sup=str()) | r.Merge(role=str()):
                    pass
                case _:
                    return False
        return True

    def _following(self, names: set[Term]) -> set[Term]:
        """All classes that may follow from having a property.

        What follows from an event alone follows from what makes it happen, so it needs no way of its own.
        """
        events = self._bundle.linked.events.keys() - self._named_in_t
        reached = set(names)
        size = 0
        while size < len(reached):
            size = len(reached)
            for rule, named in self._rules:
                head = getattr(rule, "head", None)
                if head in events or head is None or reached.isdisjoint(named - {head}):
                    continue
                reached.add(head)
        return reached


class _Places:
    """The subjects of a property in a class expression."""

    def __init__(self, bundle: Bundle, ways: set[Term]) -> None:
        self._bundle = bundle
        self._ways = ways
        self.paths: set[Path] = set()
        self.unclear = False
        """Whether it is also asserted in another way: negatively, or with a maximum number."""
        self.of_this: set[Term] = set()
        self.of_others: set[Term] = set()
        """The classes that are asked for."""

    def add(self, part: a.ClassExpression, path: Path) -> None:
        match part:
            case a.Class(iri) if iri in self._bundle.definitions.bodies:
                (self.of_others if path else self.of_this).add(iri)
                self.unclear = self.unclear or iri in self._bundle.definitions.guarded
                self.add(self._bundle.definitions.bodies[iri], path)
            case a.Class(iri):
                (self.of_others if path else self.of_this).add(iri)
            case a.And(operands) | a.Or(operands):
                for operand in operands:
                    self.add(operand, path)
            case a.Some(property, filler) | a.Min(_, property, filler):
                self._has(property, path)
                self.add(filler, (*path, property))
            case a.Value(property) | a.DataSome(property) | a.DataValue(property) | a.DataMin(_, property):
                self._has(property, path)
            case _ if not self._ways.isdisjoint(mentioned(part)):
                self.unclear = True

    def _has(self, property: r.Role, path: Path) -> None:
        if property in self._ways:
            self.paths.add(path)
        elif isinstance(property, a.Inverse) and property.property in self._ways:
            self.unclear = True


def _warning(bundle: Bundle, iri: Term, one: _Asked, path: Path) -> Diagnostic:
    file = bundle.linked.file_of[iri]
    event, property = bundle.linked.events[one.event].name.text, one.property.text
    subject, object = quote(one.triple.subject), quote(one.triple.object)
    if path:
        way = as_written(str(path[0]), file)
        whose, instead = f"what ?this has by {way}", f"?this {way} [ {property} {object} ]"
    else:
        whose, instead = "?this", f"?this {property} {object}"
    return warn(
        CODE,
        file,
        one.triple.span,
        f"{property} is asked of {subject}, and {event} says it of {whose}",
        f"{property} defines {event}: so it is matched against the explanation alone, and there only "
        f"{whose} has it.",
        f"{instead}   (or {subject} ?p {object} . FILTER(?p = {property}), which matches the whole item)",
    )
