"""Whether the names of a query are known: in definitions they must be, in guards they should be.

In: a linked query, T and K. Out: diagnostics with the nearest known name. Without VOCAB there is no T to know
them from, and every name that a definition uses is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.axioms import NOTHING, OWL, RDF, RDFS, THING, XSD, Axioms
from obep.ontology.expressions import is_number
from obep.ontology.literals import known_datatype
from obep.query import ast
from obep.query.checks.report import say
from obep.query.names import walk
from obep.query.nearest import nearest

if TYPE_CHECKING:
    from obep.ontology.compile import Bundle
    from obep.query.link import Linked

_BUILT_IN = (f"<{OWL}", f"<{RDF}", f"<{RDFS}", f"<{XSD}")


def check_names(linked: Linked, axioms: Axioms, k: Sequence[Triple]) -> list[Diagnostic]:
    """Errors for unknown names in definitions, warnings for those in guards."""
    found: list[Diagnostic] = []
    defined = {name for iri in linked.events for name in _used(linked.events[iri])}
    guards = any(event.guard is not None for event in linked.events.values())
    known = _Known(axioms, k if guards else (), linked.events, defined)
    for iri, event in linked.events.items():
        file = linked.file_of[iri]
        if isinstance(event, ast.LogicalEvent) and linked.vocab:
            found += _Definition(file, axioms, linked.events).check(event.description)
        found += _guard(event, file, known)
    return found


def _used(event: ast.Event) -> Iterator[Term]:
    if isinstance(event, ast.LogicalEvent):
        yield from (node.iri for node in walk(event.description) if isinstance(node, ast.Name))
    for pattern in event.construct:
        yield from (node.iri for node in walk(pattern) if isinstance(node, ast.Name))


class _Definition:
    """The names of one definition."""

    def __init__(self, file: ast.QueryFile, axioms: Axioms, events: Iterable[Term]) -> None:
        self._file, self._axioms, self._events = file, axioms, set(events)

    def check(self, description: ast.Description) -> Iterator[Diagnostic]:
        for node in walk(description):
            match node:
                case ast.ClassName(name):
                    yield from self._class(name)
                case ast.Restriction(datatype):
                    if not self._is_datatype(datatype):
                        yield self._unknown("datatype", datatype, self._axioms.datatypes)
                case (
                    ast.Some(property)
                    | ast.Only(property)
                    | ast.Value(property)
                    | ast.HasSelf(property)
                    | ast.Cardinality(_, _, property)
                ):
                    yield from self._property(property)

    def _is_datatype(self, name: ast.Name) -> bool:
        return is_number(name) or known_datatype(name.iri) or name.iri in self._axioms.datatypes

    def _class(self, name: ast.Name) -> Iterator[Diagnostic]:
        known = self._axioms.classes
        if name.iri in known or name.iri in self._events or name.iri in (THING, NOTHING):
            return
        if not self._is_datatype(name):
            yield self._unknown("class", name, known | self._events)

    def _property(self, property: ast.Property) -> Iterator[Diagnostic]:
        name = property.property if isinstance(property, ast.Inverse) else property
        known = self._axioms.object_properties | self._axioms.data_properties
        if name.iri not in known:
            yield self._unknown("property", name, known)
        elif isinstance(property, ast.Inverse) and name.iri in self._axioms.data_properties:
            yield say(
                "OBEP307",
                self._file,
                property.span,
                f"{name.text} leads to literals, so it has no inverse",
                "Only object properties can be read backwards.",
            )

    def _unknown(self, kind: str, name: ast.Name, known: Iterable[Term]) -> Diagnostic:
        other = {
            "class": (self._axioms.object_properties | self._axioms.data_properties, "a property"),
            "property": (self._axioms.classes, "a class"),
        }.get(kind)
        near = _near(name, known, self._file)
        reason = f"The ontology knows no {kind} of that name."
        if other is not None and name.iri in other[0]:
            reason = f"In the ontology it is {other[1]}."
        elif name.iri in self._axioms.annotation_properties:
            reason = "In the ontology it is an annotation, which says nothing about the things themselves."
        return say(
            "OBEP306", self._file, name.span, f"the {kind} {name.text} is unknown", reason,
            near or "declare it in a VOCAB file",
        )  # fmt: skip


class _Known:
    """What a guard may speak of without a warning."""

    def __init__(
        self, axioms: Axioms, k: Sequence[Triple], events: Iterable[Term], defined: set[Term]
    ) -> None:
        properties = axioms.object_properties | axioms.data_properties | axioms.annotation_properties
        self.names = {*axioms.classes, *properties, *events, *defined}
        for _, p, o in k:
            self.names.add(o if p == RDF_TYPE else p)

    def __contains__(self, name: Term) -> bool:
        return name in self.names or name.startswith(_BUILT_IN)


def _guard(event: ast.Event, file: ast.QueryFile, known: _Known) -> Iterator[Diagnostic]:
    if not known.names:
        return
    for name in dict.fromkeys(asked(event)):
        if name.iri not in known:
            yield say(
                "OBEP242", file, name.span, f"nobody knows {name.text}",
                "Neither the ontology, nor the static graph, nor a definition uses this name, so only items "
                "can have it.",
                _near(name, known.names, file) or "check its spelling",
            )  # fmt: skip


def asked(event: ast.Event) -> Iterator[ast.Name]:
    """The properties and classes that an event's guard asks about."""
    if event.guard is None:
        return
    for pattern in (*event.guard.own, *(t for block in event.guard.blocks for t in block.triples)):
        if isinstance(pattern.predicate, ast.Name):
            if pattern.predicate.iri != RDF_TYPE:
                yield pattern.predicate
            elif isinstance(pattern.object, ast.Name):
                yield pattern.object


def check_strict(bundle: Bundle) -> list[Diagnostic]:
    """The paper's `allowed(E)` as a rule (SPEC D7): a guard speaks of its events' vocabulary only."""
    linked = bundle.linked
    return [
        say(
            "OBEP310", linked.file_of[iri], name.span,
            f"{name.text} is not in the vocabulary of {event.name.text}",
            "With --strict a guard may only use the names of its events' definitions, with the classes and "
            "properties below and above them.",
            "use it in the definition, or run without --strict",
        )
        for iri, event in linked.events.items()
        for name in dict.fromkeys(asked(event))
        if name.iri not in bundle.vocabulary(iri)
    ]  # fmt: skip


def incomplete(bundle: Bundle) -> list[Diagnostic]:
    """The events that need the reasoner, as errors: complete answers are required, and there is no Java."""
    linked = bundle.linked
    return [
        say(
            "OBEP346", linked.file_of[iri], linked.events[iri].name.span,
            f"{linked.events[iri].name.text} {words}",
            "Complete answers are required, and there is no Java.",
            "install a Java (pip install 'obep[java]' brings one), or run without --require-complete",
        )
        for iri, words in bundle.status.items()
        if words != "exact"
    ]  # fmt: skip


def _near(name: ast.Name, known: Iterable[Term], file: ast.QueryFile) -> str:
    """The known name that was probably meant, as this file would write it."""
    prefixes = sorted(((p.iri, p.prefix) for p in file.prefixes), key=lambda pair: -len(pair[0]))
    written = {_short(term, prefixes): None for term in sorted(known) if not term.startswith("~")}
    found = nearest(name.text if ":" in name.text else f":{name.text}", written)
    if found is None:
        return ""
    return found.removeprefix(":") if ":" not in name.text else found


def _short(term: Term, prefixes: Iterable[tuple[str, str]]) -> str:
    for iri, prefix in prefixes:
        if term.startswith(f"<{iri}"):
            return f"{prefix.removesuffix(':')}:{term[len(iri) + 1 : -1]}"
    return term
