"""Whether the names of a query are known: in definitions they must be, in guards and groups they should be.

In: a linked query, T and K. Out: diagnostics with the nearest known name. Without VOCAB there is no T to know
them from, and every name that a definition uses is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import Diagnostic
from obep.lints.language_errors.foreign_prefixes import foreign_prefixes
from obep.model import RDF_TYPE, Term, body_of
from obep.ontology.hermit.java import REMEDY, missing_part
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import EMPTY, NOTHING, OWL, RDF, RDFS, THING, UNIVERSAL, XSD
from obep.ontology.owl.event_axioms import misfits
from obep.ontology.owl.literals import DATATYPES
from obep.ontology.owl.manchester_to_owl import is_number
from obep.ontology.owl.static_graph import Graph
from obep.query import ast
from obep.query.diagnostics import say, warn
from obep.query.nearest_name import misspelt, nearest
from obep.query.parse.file_scope import namespaces
from obep.query.walk import alias_of, leaves, walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.query.link import Linked

_BUILT_IN = (f"<{OWL}", f"<{RDF}", f"<{RDFS}", f"<{XSD}")
_OF_OCCURRENCES = ("<https://w3id.org/obep#", "<http://www.w3.org/ns/prov#")
_XSD_WORDS = frozenset(("boolean", "double", "int", "long", "short", "byte", "date", "dateTime", "anyURI"))
"""As bare words these are datatypes that lack their prefix, unless T says otherwise."""


def check_names(
    linked: Linked, axioms: Axioms, k: Graph, given: Iterable[Term] = (), named: Iterable[Graph] = ()
) -> list[Diagnostic]:
    """Errors for names in definitions that are unknown or do not fit, warnings in guards and groups.

    `given` are the names that mappings write, `named` the static graphs that have names.
    """
    asking = list(_asking(linked))
    known = _Known(linked, axioms, (k, *named) if asking else (), given)
    names = _Names(axioms, linked.events, open=not linked.vocab)
    unknown: dict[Term, list[Unknown]] = {}
    for iri, event in linked.events.items():
        if isinstance(event, ast.LogicalEvent) and (found := list(names.unknown(event.description))):
            unknown[iri] = found
    for iri, state in linked.states.items():
        if isinstance(state, ast.ClassState):
            unknown[iri] = [one for one in names.unknown(state.description) if names.is_wrong(one, known)]
    said, foreign = _said(unknown, linked, axioms)
    said += misfits(linked, axioms, unknown)
    for node, file in asking:
        said += _unknown_asked(node, file, known, foreign)
    return list(dict.fromkeys(said))  # the group of a MATCH is an event, too


def _asking(linked: Linked) -> Iterator[tuple[ast.Node, ast.QueryFile]]:
    """The guards, and, where T knows names, the groups of states, events and queries."""
    for iri, event in linked.events.items():
        if event.guard is not None:
            yield event.guard, linked.file_of[iri]
    if not linked.vocab:
        return
    for iri, event in linked.events.items():
        if isinstance(event, ast.GraphEvent):
            yield event.group, linked.file_of[iri]
    for iri, state in linked.states.items():
        yield state, linked.file_of[iri]
    for file in linked.files:
        for query in file.queries:
            yield from ((event.group, file) for event in query.events)
            yield query.form if isinstance(query.form, ast.Select) else query.form.select, file


def _said(
    unknown: dict[Term, list[Unknown]], linked: Linked, axioms: Axioms
) -> tuple[list[Diagnostic], set[str]]:
    """The findings about unknown names, and the namespaces that were reported by their prefix."""
    said: list[Diagnostic] = []
    foreign: set[str] = set()
    for file in linked.files:
        here = [one for iri, found in unknown.items() if linked.file_of[iri] is file for one in found]
        names = [one.name for one in here]
        for group, diagnostic in foreign_prefixes(file, names, _names(axioms)) if names else ():
            said.append(diagnostic)
            foreign.add(group.namespace)
        said += [_unknown(one, file, axioms) for one in here if not _lies_in(one.name, foreign)]
    return said, foreign


def _lies_in(name: ast.Name, namespaces: Iterable[str]) -> bool:
    return any(name.iri.startswith(f"<{namespace}") for namespace in namespaces)


class Unknown(NamedTuple):
    """An unknown name, and which kind it has to be of."""

    kind: str
    name: ast.Name
    known: frozenset[Term]


def _used(linked: Linked) -> Iterator[Term]:
    """The names in the class expressions of events, and in what events and queries construct."""
    for event in linked.events.values():
        parts: tuple[ast.Node, ...] = event.construct
        for one in (*parts, event.description) if isinstance(event, ast.LogicalEvent) else parts:
            yield from (node.iri for node in walk(one) if isinstance(node, ast.Name))
    for query in linked.queries.values():
        form = query.register.form
        for pattern in form.template if isinstance(form, ast.ConstructQuery) else ():
            yield from (node.iri for node in walk(pattern) if isinstance(node, ast.Name))


class _Names:
    """The names that definitions may use. Where they are open (no VOCAB), only OWL's, XSD's can be wrong."""

    def __init__(self, axioms: Axioms, events: Iterable[Term], *, open: bool) -> None:
        self._open = open
        self._classes = axioms.classes | frozenset(events)
        self._properties = axioms.object_properties | axioms.data_properties
        self._datatypes = axioms.datatypes | DATATYPES

    def unknown(self, description: ast.Description) -> Iterator[Unknown]:
        for one in self._all(description):
            if not self._open or one.name.iri.startswith(_BUILT_IN) or one.name.text in _XSD_WORDS:
                yield one

    def is_wrong(self, one: Unknown, known: _Known) -> bool:
        """Whether a state does not mean this name: it is of another kind in T, or a slip of a known one.

        States look at items as they are, which may have names that T has not.
        """
        if one.kind == "datatype" or one.name.iri in self._classes | self._properties:
            return True
        return not known.may_have(one.name.iri) and misspelt(one.name.iri, one.known) is not None

    def _all(self, description: ast.Description) -> Iterator[Unknown]:
        for node in walk(description):
            match node:
                case ast.ClassName(name):
                    yield from self._class(name)
                case ast.Restriction(datatype):
                    if not self._is_datatype(datatype):
                        yield Unknown("datatype", datatype, self._datatypes)
                case (
                    ast.Some(property)
                    | ast.Only(property)
                    | ast.Value(property)
                    | ast.HasSelf(property)
                    | ast.Cardinality(_, _, property)
                ):
                    yield from self._property(property)

    def _is_datatype(self, name: ast.Name) -> bool:
        return is_number(name) or name.iri in self._datatypes

    def _class(self, name: ast.Name) -> Iterator[Unknown]:
        if name.iri in self._classes or name.iri in (THING, NOTHING):
            return
        if (name.iri.startswith(f"<{XSD}") and not self._is_datatype(name)) or name.text in _XSD_WORDS:
            yield Unknown("datatype", name, self._datatypes)
        elif not self._is_datatype(name):
            yield Unknown("class", name, self._classes)

    def _property(self, property: ast.Property) -> Iterator[Unknown]:
        name = property.property if isinstance(property, ast.Inverse) else property
        if name.iri not in self._properties | UNIVERSAL | EMPTY and not self._open:
            yield Unknown("property", name, self._properties)


def _unknown(one: Unknown, file: ast.QueryFile, axioms: Axioms) -> Diagnostic:
    kind, name, known = one
    reason = f"The ontology knows no {kind} of that name."
    remedy = _near(name, known, file) or "declare it in a VOCAB file"
    if kind == "class" and name.iri in axioms.object_properties | axioms.data_properties:
        reason, remedy = "In the ontology it is a property.", f"{name.text} some …"
    elif kind == "property" and name.iri in axioms.classes:
        reason, remedy = "In the ontology it is a class.", f"a property before it: p some {name.text}"
    elif name.iri in axioms.annotation_properties:
        reason = "In the ontology it is an annotation property, which has no logical meaning."
        remedy = "declare it as an owl:ObjectProperty or owl:DatatypeProperty"
    elif name.text in _XSD_WORDS:
        reason = "Of XML Schema's datatypes only integer, decimal, float and string need no prefix."
        remedy = f"xsd:{name.text}"
    elif name.iri.startswith(_BUILT_IN):
        reason = f"There is no such {kind}, or none that obep can compute with."
        if kind == "datatype":
            remedy = _near(name, known, file) or "xsd:string, xsd:double, xsd:dateTime or another datatype"
    return say("OBEP306", file, name.span, f"the {kind} {name.text} is unknown", reason, remedy)


def _names(axioms: Axioms) -> frozenset[Term]:
    """All names that T declares."""
    properties = axioms.object_properties | axioms.data_properties | axioms.annotation_properties
    return axioms.classes | properties | axioms.datatypes


class _Known:
    """The names that a guard or a group may use without a warning."""

    def __init__(
        self, linked: Linked, axioms: Axioms, graphs: Iterable[Graph], given: Iterable[Term]
    ) -> None:
        properties = axioms.object_properties | axioms.data_properties | axioms.annotation_properties
        static = [name for k in graphs for name in (*k.facts.classes, *k.facts.properties)]
        own = (*linked.events, *linked.states, *_used(linked))
        self.names = frozenset((*axioms.classes, *properties, *own, *static, *given))
        self._models = bool(linked.models)
        self.closed = bool(axioms.classes or properties or static) and not self._models
        """Without T and K, or where items change K, any name may be right; then only what looks like a slip
        is spoken of."""

    def __contains__(self, name: Term) -> bool:
        return name in self.names or name.startswith((*_BUILT_IN, *_OF_OCCURRENCES))

    def may_have(self, name: Term) -> bool:
        """Whether a state may look for a name: it is known, or items may bring it into K."""
        return name in self or self._models


def _unknown_asked(
    node: ast.Node, file: ast.QueryFile, known: _Known, foreign: set[str]
) -> Iterator[Diagnostic]:
    for name in dict.fromkeys(_asked_by(walk(node))):
        if name.iri in known or _lies_in(name, foreign):
            continue
        near = _near(name, known.names, file)
        closed = known.closed and file.language == "obep"  # elsewhere T may be nothing but static data
        if closed or (near if isinstance(node, ast.Guard) else misspelt(name.iri, known.names)):
            yield warn(
                "OBEP242", file, name.span, f"{name.text} is unknown",
                "Neither the ontology, nor the static graph, nor a definition uses this name, so only items "
                "can have it.",
                near or "check its spelling",
            )  # fmt: skip


def asked(event: ast.Event) -> Iterator[ast.Name]:
    """The properties and classes that an event's guard asks about."""
    if event.guard is not None:
        yield from _asked_by(walk(event.guard))


def _asked_by(nodes: Iterable[ast.Node]) -> Iterator[ast.Name]:
    for node in nodes:
        match node:
            case ast.TriplePattern(_, ast.Name(iri=iri) as predicate, object):
                if iri != RDF_TYPE:
                    yield predicate
                elif isinstance(object, ast.Name):
                    yield object
            case ast.PathPattern(_, path):  # what a class in a path is, its other steps decide
                steps = (one for one in walk(path) if isinstance(one, ast.Name))
                yield from (name for name in steps if name.iri != RDF_TYPE)


def check_strict(bundle: Bundle) -> list[Diagnostic]:
    """The paper's `allowed(E)` as a rule (SPEC D7): a block uses its alias's vocabulary only."""
    linked = bundle.linked
    found = {
        (iri, name.span): say(
            "OBEP310", linked.file_of[iri], name.span,
            f"{name.text} is not in the vocabulary of {whose}",
            "With --strict a guard may only use the names of its events' definitions, with the classes and "
            "properties below and above them.",
            "use it in the definition, or run without --strict",
        )
        for iri, event in linked.events.items()
        for name, whose, allowed in _demands(event)
        if name.iri not in bundle.vocabulary(allowed)
    }  # fmt: skip
    return list(found.values())


def _demands(event: ast.Event) -> Iterator[tuple[ast.Name, str, Term]]:
    """The names that a guard asks about, of which event each, and whose vocabulary must have it."""
    if event.guard is None:
        return
    if isinstance(event, ast.LogicalEvent):
        yield from ((name, event.name.text, body_of(event.name.iri)) for name in asked(event))
        return
    if isinstance(event, ast.GraphEvent):
        return
    for block in event.guard.blocks:
        for leaf in leaves(event.pattern):
            if not block.aliases or alias_of(leaf) in block.aliases:
                yield from ((name, leaf.event.text, leaf.event.iri) for name in _asked_by(block.triples))


def incomplete(bundle: Bundle) -> list[Diagnostic]:
    """The events that need the reasoner, as errors: complete answers are required, and it is not there."""
    linked = bundle.linked
    return [
        say(
            "OBEP340", linked.file_of[iri], linked.events[iri].name.span,
            f"{linked.events[iri].name.text} {words}",
            f"Complete answers are required, and {missing_part()}.",
            f"{REMEDY}, or run without --require-complete",
        )
        for iri, words in (*bundle.status.items(), *bundle.guard_status.items())
        if words != "exact"
    ]  # fmt: skip


def _near(name: ast.Name, known: frozenset[Term], file: ast.QueryFile) -> str:
    """The known name that was probably meant, as this file would write it."""
    return _nearest(name.text, known, _prefixes(file))


@lru_cache(maxsize=256)
def _nearest(text: str, known: frozenset[Term], prefixes: tuple[tuple[str, str], ...]) -> str:
    """The same; very many rules ask for one name."""
    found = nearest(text if ":" in text else f":{text}", _written(known, prefixes))
    if found is None:
        return ""
    return found.removeprefix(":") if ":" not in text else found


def as_written(term: Term, file: ast.QueryFile) -> str:
    """A name as a file would write it."""
    return _short(term, _prefixes(file))


def _prefixes(file: ast.QueryFile) -> tuple[tuple[str, str], ...]:
    """The namespaces of a file with their prefixes, the longest first."""
    return tuple(sorted(((iri, p) for p, iri in namespaces(file).items()), key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=8)
def _written(known: frozenset[Term], prefixes: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Known names as a file would write them; made once for all that is unknown in it."""
    return tuple(_short(term, prefixes) for term in sorted(known) if not term.startswith("~"))


def _short(term: Term, prefixes: Iterable[tuple[str, str]]) -> str:
    for iri, prefix in prefixes:
        local = term[len(iri) + 1 : -1]
        if term.startswith(f"<{iri}") and "#" not in local:  # behind a prefix that begins a comment
            return f"{prefix}:{local}"
    return term
