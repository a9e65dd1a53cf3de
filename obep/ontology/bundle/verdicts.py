"""What is known about events before the first item comes: which can never happen, which are the same.

In: a bundle. Out: the same bundle with warnings and with what HermiT found out about T, or an `ObepError`.
Where the rules are exact they decide this themselves; otherwise HermiT does, if it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from obep.errors import Diagnostic, ObepError, fail
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.cache import Folder, axioms_hash, content_hash
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.runnable import (
    SHARED,
    Contradiction,
    assert_triples,
    build_reading,
    closed,
)
from obep.ontology.closure.store import Store
from obep.ontology.hermit.java import REMEDY, has_java, missing_part
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import NOTHING, THING, Class, ClassAssertion, EquivalentClasses
from obep.ontology.owl.static_graph import Graph
from obep.ontology.owl.verbalise import name, show_triple
from obep.ontology.rules.locality import reaches_across
from obep.ontology.rules.program import BOTTOM, Names, witness_name
from obep.ontology.rules.rule_kinds import Symbol, Witness
from obep.query.ast import Description, LogicalEvent
from obep.query.diagnostics import say, warn
from obep.query.walk import depends

if TYPE_CHECKING:
    from obep.ontology.hermit.reasoner import Hierarchy

_SOMEBODY = "<urn:obep:somebody>"
_PART = "<urn:obep:part:"
NO_JAVA = "OBEP340"
GAVE_UP = "OBEP343"
LARGE = 3_000
"""Axioms that HermiT is given only where the rules are not exact."""
NO_ANSWER = (NO_JAVA, "OBEP342", GAVE_UP)
"""Codes of a reasoner that is not there, cannot read T, or takes too long."""


def settled(bundle: Bundle) -> Bundle:
    """The bundle with its verdicts."""
    bundle = _decided(bundle)
    bundle.diagnostics.extend(_ruled_out_by_k(bundle))
    return bundle


def _decided(bundle: Bundle) -> Bundle:
    """The bundle with what T says of its events, and K closed."""
    if bundle.exact:
        _close(bundle)
        _by_rules(bundle)
        return bundle
    if bundle.exact_for_most and len(bundle.module.axioms) > LARGE:
        _close(bundle)  # the rules decide all items; HermiT could only find events that are the same
        return bundle
    why = missing_part()
    if bundle.java:
        try:
            bundle = _by_hermit(bundle)  # what it said before is remembered, and needs no Java
            if has_java():
                return bundle
            bundle.java = False
        except ObepError as error:
            if error.code not in NO_ANSWER:
                raise
            if error.code != GAVE_UP:
                bundle.java = False
            if error.code != NO_JAVA:
                why = error.diagnostics[0].message
    _close(bundle)
    for event, words in bundle.status.items():
        if words != "exact":
            bundle.diagnostics.append(_bounded(bundle, event, words, why))
    for event, words in bundle.guard_status.items():
        if bundle.status[event] == "exact":
            bundle.diagnostics.append(_bounded(bundle, event, words, why))
    return bundle


def _close(bundle: Bundle) -> None:
    """Closes K, which finds what surely contradicts T."""
    try:
        _ = bundle.lower
    except Contradiction as found:
        raise _contradiction(bundle, found.individuals) from None


def _contradiction(bundle: Bundle, individuals: list[Term]) -> ObepError:
    """The error, with a minimal set of axioms and assertions; of assertions alone where there is no Java."""
    from obep.ontology.bundle.review import contradiction
    from obep.ontology.hermit.justify import one_minimal
    from obep.ontology.hermit.reasoner import shared_reasoner
    from obep.ontology.rules.locality import Components

    component = Components(bundle.module, bundle.k).of([(one, RDF_TYPE, "") for one in individuals[:1]])
    if bundle.java:
        try:
            return contradiction(bundle.module, component, shared_reasoner())
        except ObepError as error:
            if error.code not in NO_ANSWER:
                raise

    def clashes(some: Sequence[Triple]) -> bool:
        try:
            build_reading(
                bundle.profile.lower, bundle.relations, Names(()), bundle.names_looked_at, Graph(some)
            )
        except Contradiction:
            return True
        return False

    words = "\n".join(f"  {show_triple(triple)}" for triple in sorted(one_minimal(clashes, component)))
    return fail(
        "OBEP345",
        "the ontology and the static graph contradict each other",
        reason=f"With the ontology, these cannot all be true:\n{words}"
        if words
        else "The ontology alone does.",
        remedy="take one of them back; from a contradiction every event would follow",
    )


# --- by the rules alone


def _by_rules(bundle: Bundle) -> None:
    """An instance of each event, and what follows from that alone."""
    follows = dict(_what_follows(bundle, bundle.bare_store))
    impossible = [event for event, found in follows.items() if found is None]
    if impossible:
        raise ObepError(*(_impossible(bundle, event) for event in impossible))
    events = list(follows)
    rank = {event: n for n, event in enumerate(events)}
    for event, found in follows.items():
        both = [rank[one] for one in found or () if one in rank and event in (follows[one] or ())]
        if min(both, default=rank[event]) < rank[event]:
            bundle.diagnostics.append(_same(bundle, event, events[min(both)]))


def _what_follows(bundle: Bundle, store: Store) -> Iterator[tuple[Term, set[Term] | None]]:
    """Each event with its consequences beside a store; events that differ by guards differ by their names."""
    events = bundle.linked.events
    named = {name for event in events.values() for name in depends(event)}
    named |= bundle.names_in_t.union(bundle.k.facts.classes)
    known: dict[Description, tuple[Term, set[Term] | None]] = {}
    for iri, event in events.items():
        if not isinstance(event, LogicalEvent) or event.guard is None or iri in named:
            yield iri, _consequences(bundle, iri, store)
            continue
        if event.description not in known:
            known[event.description] = iri, _consequences(bundle, iri, store)
        first, found = known[event.description]
        yield iri, {iri if one == first else one for one in found} if found is not None else None


def _consequences(bundle: Bundle, event: Term, store: Store) -> set[Term] | None:
    """The events that everything of one event's class belongs to, beside a store; `None` if there can be
    nothing."""
    goals = bundle.goal_numbers
    somebody: Triple = (_SOMEBODY, RDF_TYPE, event)
    closure = assert_triples(bundle.lower_asserted, store, (somebody,))
    closure.run()
    if closure.clashes:
        return None
    x = closure.number(_SOMEBODY)
    return {goals[c] for c, y, _ in closure.hits if y == x} & bundle.linked.events.keys()


# --- by HermiT


def _by_hermit(bundle: Bundle) -> Bundle:
    from obep.ontology.bundle.review import clear_static, review
    from obep.ontology.hermit.reasoner import shared_reasoner

    folder = bundle.cache_dir
    parts = {f"{_PART}{symbol[1:]}>": body for symbol, body in bundle.normal.named.items()}
    named = tuple(EquivalentClasses((Class(iri), body)) for iri, body in parts.items())
    found = review(bundle.linked, bundle.module | Axioms(named, frozenset(parts)), cache_dir=folder)
    better = Bundle(
        bundle.linked,
        bundle.t,
        bundle.k,
        named=bundle.named,
        subsumptions=tuple(_subsumptions(found.hierarchy)),
        diagnostics=[*bundle.diagnostics, *found.warnings],
        java=True,
        cache_dir=bundle.chosen_dir,
        max_explanations=bundle.max_explanations,
        max_work=bundle.max_work,
    )
    _close(better)
    clear_static(better.module, _suspects(better), shared_reasoner(), folder)
    return better


def _subsumptions(hierarchy: Hierarchy) -> Iterable[tuple[Symbol, Symbol]]:
    """What HermiT found, in the symbols of the rules."""

    def symbol(iri: Term) -> Symbol:
        return f"~{iri[len(_PART) : -1]}" if iri.startswith(_PART) else iri

    for group in hierarchy.groups:
        for one, other in zip(group, group[1:] + group[:1], strict=True):
            if one != other and NOTHING not in group:
                yield symbol(one), symbol(other)
    for child, parents in hierarchy.parents.items():
        for parent in parents:
            if child != NOTHING and parent != THING:
                yield symbol(child), symbol(parent)
    for impossible in hierarchy.unsatisfiable:
        yield symbol(impossible), NOTHING


def _suspects(bundle: Bundle) -> Iterator[tuple[Triple, ...]]:
    """The components of K that the upper reading finds contradictory: they may be."""
    from obep.ontology.rules.locality import Components

    if not bundle.k or not bundle.open_consistency():
        return
    components = Components(bundle.module, [one for one in bundle.k if bundle.means_something(one)])
    if bundle.opaque() or not (blamed := _blamed(bundle)).isdisjoint(bundle.upper.program.universal):
        yield from components.all()
        return
    store, seen = bundle.upper.store, set[Term]()
    for x, types in enumerate(store.types):
        term = store.terms[x]
        if blamed.isdisjoint(types) or term in seen or term.startswith("~"):
            continue
        component = components.of([(term, RDF_TYPE, "")])
        seen.update(name for s, p, o in component for name in ((s,) if p == RDF_TYPE else (s, o)))
        yield component


def _blamed(bundle: Bundle) -> set[int]:
    """What the upper reading finds contradictory: what cannot be, and all that promises such a witness."""
    store, number = bundle.upper.store, bundle.upper.program.names.concepts
    promises = [
        (number[rule.premise], store.types[witness])
        for rule in bundle.profile.upper
        if isinstance(rule, Witness)
        and rule.premise in number
        and (witness := store.ids.get(witness_name(rule.role, rule.filler))) is not None
    ]
    blamed = {BOTTOM}
    while more := {c for c, of_witness in promises if not blamed.isdisjoint(of_witness)} - blamed:
        blamed |= more
    return blamed


# --- what K rules out


def _ruled_out_by_k(bundle: Bundle) -> Iterator[Diagnostic]:
    """Warnings of events that can never happen beside K; K may change, so they are no errors."""
    if not bundle.k or not reaches_across(bundle.module):
        return
    perhaps = []
    for event, found in _what_follows(bundle, bundle.lower.store):
        if found is None:
            yield _excluded(bundle, event, partial(_possible_by_rules, bundle, event))
        elif bundle.java and bundle.open_consistency(asserted=True) and _may_be_excluded(bundle, event):
            perhaps.append(event)
    try:
        for event in _excluded_by_hermit(bundle, perhaps) if perhaps else ():
            yield _excluded(bundle, event, partial(_possible_by_hermit, bundle, (event,)))
    except ObepError as error:  # undecided: the warning is missing
        if error.code not in NO_ANSWER:
            raise


def _possible_by_rules(bundle: Bundle, event: Term, some: Sequence[Triple]) -> bool:
    """Whether something can be of an event's class beside some triples."""
    store = closed(bundle.lower_asserted, some, bundle.definitions.axioms)
    return _consequences(bundle, event, store) is not None


def _may_be_excluded(bundle: Bundle, event: Term) -> bool:
    """Whether the upper reading finds a contradiction in K beside something of an event's class."""
    if bundle.opaque(asserted=True):
        return True
    store = bundle.upper.store
    closure = assert_triples(bundle.upper_asserted, store, ((_SOMEBODY, RDF_TYPE, event),))
    closure.run()
    return (
        bool(closure.clashes)
        or BOTTOM in closure.program.universal
        or any(BOTTOM in types for types in store.types)
    )


def _excluded_by_hermit(bundle: Bundle, events: Sequence[Term]) -> list[Term]:
    """Those of some events that K and T rule out; remembered, and first asked about all together."""
    folder = None if bundle.cache_dir is None else Folder(bundle.cache_dir / "excluded")
    key = content_hash((axioms_hash(bundle.module), bundle.k.digest, list(events)))
    found = None if folder is None else folder.read(key, list[str])
    if found is None:
        k = tuple(bundle.k)
        together = _possible_by_hermit(bundle, events, k)
        found = [e for e in events if not together and not _possible_by_hermit(bundle, (e,), k)]
        if folder is not None:
            folder.write(key, found)
    return found


def _possible_by_hermit(bundle: Bundle, events: Sequence[Term], some: Sequence[Triple]) -> bool:
    """Whether T and some triples have a model in which there is something of each event's class."""
    from obep.ontology.hermit.reasoner import shared_reasoner

    abox = [a for triple in some if (a := bundle.module.assertion(triple)) is not None]
    abox += [ClassAssertion(Class(event), f"<urn:obep:{number}>") for number, event in enumerate(events)]
    return shared_reasoner().consistent(bundle.module, abox)


# --- words


def _impossible(bundle: Bundle, event: Term) -> Diagnostic:
    """The error, with the axioms that rule the event out where there is a Java to find them."""
    from obep.ontology.bundle.review import impossible_event
    from obep.ontology.hermit.reasoner import shared_reasoner

    linked = bundle.linked
    if bundle.java:
        try:
            return impossible_event(linked, bundle.module, event, shared_reasoner())
        except ObepError as error:
            if error.code not in NO_ANSWER:
                raise
    return say(
        "OBEP344", linked.file_of[event], linked.events[event].name.span, f"{name(event)} can never happen",
        "The ontology and the definition contradict each other.",
        "correct the definition, or the axiom that rules it out",
    )  # fmt: skip


def _excluded(bundle: Bundle, event: Term, possible: Callable[[Sequence[Triple]], bool]) -> Diagnostic:
    """The warning, with a minimal set of K's triples that rule the event out, if K is not too large."""
    from obep.ontology.hermit.justify import one_minimal

    linked, k = bundle.linked, tuple(bundle.k) if len(bundle.k) < SHARED else ()
    smallest = sorted(one_minimal(lambda some: not possible(some), k)) if k else ()
    lines = "".join(f"\n  {show_triple(triple)}" for triple in smallest)
    return warn(
        "OBEP219", linked.file_of[event], linked.events[event].name.span,
        f"{name(event)} can never happen while the static graph stays as it is",
        f"The ontology and the static graph exclude it{':' if lines else '.'}{lines}",
        "correct the definition or the static graph, unless the graph changes while the query runs",
    )  # fmt: skip


def _same(bundle: Bundle, event: Term, other: Term) -> Diagnostic:
    linked = bundle.linked
    return warn(
        "OBEP240", linked.file_of[event], linked.events[event].name.span,
        f"{name(event)} and {name(other)} are the same event",
        "Their definitions mean the same: whenever one happens, so does the other.",
        "keep one of them, if that is not what you want",
    )  # fmt: skip


def _bounded(bundle: Bundle, event: Term, words: str, why: str) -> Diagnostic:
    linked = bundle.linked
    reason = "It runs as a lower bound: what is reported is right, but some may be missing."
    if bundle.java:  # it is there, and gave up on T: it may do better with an item
        reason = (
            "It is not decided whether the event can happen, whether it is the same as another one, and "
            "whether the static graph contradicts the ontology. The reasoner is asked again for items; where "
            "it gives up again, what is reported is right, but some may be missing."
        )
    return warn(
        "OBEP241", linked.file_of[event], linked.events[event].name.span,
        f"{name(event)} {words}, and {why}", reason,
        REMEDY if why == missing_part() else "simplify these axioms",
    )  # fmt: skip
