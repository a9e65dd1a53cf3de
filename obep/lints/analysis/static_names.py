"""Names that the static graph and the query do not share: a slip in one of them is silent.

Classes and properties of K that nothing uses, and individuals of the query that K has almost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.language_errors.vocabulary_errors import as_written
from obep.model import RDF_TYPE, Term
from obep.ontology.owl.axioms import DIFFERENT_FROM, NAMED_INDIVIDUAL, OWL, RDF, RDFS, SAME_AS, XSD
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS
from obep.ontology.owl.static_graph import Graph
from obep.query import ast
from obep.query.diagnostics import listed, warn
from obep.query.nearest_name import misspelt, split
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

MOST = 50
"""Names of either kind that are compared with the known ones: enough to see a slip, and soon done."""
COMPARED = 20_000
"""Individuals that are compared letter by letter; of more, only those that differ in capitals are found."""
BUILT_IN = tuple(f"<{namespace}" for namespace in (OWL, RDF, RDFS, XSD))
_OF_INDIVIDUALS = {SAME_AS, DIFFERENT_FROM}


@lru_cache(maxsize=1)
def unknown_static_names(bundle: Bundle) -> list[Diagnostic]:
    """OBEP242 for the classes and properties of K that neither T nor the query knows, but should.

    They should where a known name is spelt almost the same, or where T declares others of the namespace.
    """
    unknown = dict(_unknown(bundle))
    if not unknown:
        return []
    file = bundle.linked.file
    slips = [
        f"{as_written(near, file)} instead of {as_written(name, file)}"
        for name, near in unknown.items()
        if near
    ]
    names = listed([as_written(name, file) for name in sorted(unknown, key=lambda name: not unknown[name])])
    return [
        Diagnostic(
            "OBEP242",
            f"the static graph uses {names}, which neither the ontology nor the query has",
            reason="Statements with an unknown name have no effect.",
            remedy=", ".join(slips[:4]) or "check the spelling, or declare it in a VOCAB file",
            severity="warning",
        )
    ]


@lru_cache(maxsize=1)
def misspelt_individuals(bundle: Bundle) -> list[Diagnostic]:
    """OBEP242 for individuals of the query that T and K lack, but one spelt almost the same."""
    linked, t = bundle.linked, bundle.t.individuals
    taken = _no_individuals(bundle)
    named = [
        (name, linked.file_of[iri])
        for iri, event in linked.events.items()
        for name in dict.fromkeys((*_defining(event), *_compared(event, taken)))
        if name.iri not in t
    ]
    strange = unknown_to(bundle.k, {name.iri for name, _ in named})
    known = t | individuals_of(bundle.k) if strange else t
    if len(known) > COMPARED:
        alike = {name.lower() for name in strange}
        known = frozenset(name for name in known if name.lower() in alike)
    return [
        warn(
            "OBEP242", file, name.span, f"{name.text} is unknown",
            "Neither the ontology nor the static graph has an individual of this name, so only items can "
            "have it.",
            as_written(near, file) if ":" in name.text else as_written(near, file).removeprefix(":"),
        )
        for name, file in named
        if name.iri in strange and (near := misspelt(name.iri, known))
    ]  # fmt: skip


def unknown_to(k: Graph, names: Iterable[Term]) -> set[Term]:
    """The names that K does not have as individuals."""
    left = set(names)
    for s, p, o in k.once() if left else ():
        left.discard(s)
        if p != RDF_TYPE:
            left.discard(o)
        if not left:
            break
    return left


def individuals_of(k: Graph) -> frozenset[Term]:
    """The individuals of K that have a name."""
    return frozenset(t for s, p, o in k.once() for t in ((s,) if p == RDF_TYPE else (s, o)) if t[0] == "<")


def _defining(event: ast.Event) -> Iterator[ast.Name]:
    """The individuals of a class expression."""
    for node in walk(event.description) if isinstance(event, ast.LogicalEvent) else ():
        members = node.members if isinstance(node, ast.OneOf) else ()
        value = (node.value,) if isinstance(node, ast.Value) else ()
        yield from (name for name in (*members, *value) if isinstance(name, ast.Name))


def _no_individuals(bundle: Bundle) -> set[Term]:
    """Names that the query and T use in other ways, or make themselves."""
    own, facts = bundle.definitions.axioms, bundle.k.facts
    properties = own.object_properties | own.data_properties | own.annotation_properties
    said = (*bundle.linked.events, *constructed(bundle), *facts.classes, *facts.properties)
    return {*own.classes, *properties, *said}


def _compared(event: ast.Event, taken: Collection[Term]) -> Iterator[ast.Name]:
    """The individuals of a guard: what can be nothing else."""
    if event.guard is None:
        return
    for node in walk(event.guard):
        places: tuple[ast.Node, ...] = ()
        match node:
            case ast.TriplePattern(subject, predicate, object):
                named = isinstance(predicate, ast.Name) and predicate.iri != RDF_TYPE
                places = (subject, object) if named else (subject,)
            case ast.Comparison(_, left, right):
                places = (left, right)
            case ast.Membership(operand, members):
                places = (operand, *members)
            case ast.Call(_, arguments):
                places = arguments
        for one in places:
            if isinstance(one, ast.Name) and one.iri not in taken and not one.iri.startswith(BUILT_IN):
                yield one


def _unknown(bundle: Bundle) -> Iterator[tuple[Term, str]]:
    """Such names, each with the known one that was probably meant, if one is near."""
    definitions, facts = bundle.definitions, bundle.k.facts
    known = definitions.axioms
    classes = known.classes | definitions.guard_classes
    properties = known.object_properties | known.data_properties | definitions.guard_roles
    right = known_names(bundle)
    closed: set[str] | None = None
    for names, alike in ((facts.classes, classes), (facts.properties, properties)):
        strange = (n for n in names if n[0] == "<" and n not in right and not n.startswith(BUILT_IN))
        for name in islice(strange, MOST):
            if closed is None:  # T may be large, and most K have no such name
                t = bundle.t.classes | bundle.t.object_properties | bundle.t.data_properties
                closed = set() if asks_for_all(bundle) else {split(one)[0] for one in t}
            near = misspelt(name, alike)
            if near or split(name)[0] in closed:
                yield name, near or ""


def known_names(bundle: Bundle) -> frozenset[Term]:
    """The classes and properties of T and the query, and those that K declares."""
    definitions, known = bundle.definitions, bundle.definitions.axioms
    classes = known.classes | definitions.guard_classes
    properties = known.object_properties | known.data_properties | definitions.guard_roles
    declared = known.annotation_properties | _declared(bundle) | set(constructed(bundle))
    return classes | properties | declared | bundle.looked_up


def constructed(bundle: Bundle) -> Iterator[Term]:
    """The names in what occurrences add to themselves."""
    for event in bundle.linked.events.values():
        for pattern in event.construct:
            yield from (node.iri for node in walk(pattern) if isinstance(node, ast.Name))


def _declared(bundle: Bundle) -> frozenset[Term]:
    """The classes and properties that K itself declares or has axioms about: the subject of OBEP243."""
    facts = bundle.k.facts
    kinds = {c for c in facts.classes if c.startswith(BUILT_IN)} - {NAMED_INDIVIDUAL}
    about = {p for p in facts.properties if p.startswith(BUILT_IN)} - ANNOTATIONS - _OF_INDIVIDUALS
    triples = bundle.k.once() if kinds or about else ()
    return frozenset(s for s, p, o in triples if p in about or (p == RDF_TYPE and o in kinds))


def asks_for_all(bundle: Bundle) -> bool:
    """Whether a guard asks for every property or class that there is."""
    return any(
        isinstance(node, ast.TriplePattern)
        and (
            isinstance(node.predicate, ast.Var)
            or (node.predicate.iri == RDF_TYPE and isinstance(node.object, ast.Var))
        )
        for event in bundle.linked.events.values()
        if event.guard is not None
        for node in walk(event.guard)
    )
