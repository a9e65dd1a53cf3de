"""What the reasoner has to say at compile time about T, K and the events.

In: T with the definitions (`H EquivalentTo B`), the components of K that the rules could not clear. Out: the
subsumptions that the rules may use, and warnings; or an `ObepError` with every event that can never happen,
or with a minimal set of axioms that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from obep.errors import Diagnostic, ObepError, fail
from obep.model import Term, Triple
from obep.ontology.bundle.cache import Folder, axioms_hash, content_hash
from obep.ontology.hermit.canonical_names import canonical
from obep.ontology.hermit.classify import classify
from obep.ontology.hermit.contradiction import in_words, minimal_clash
from obep.ontology.hermit.reasoner import Hierarchy, Inconsistent, Reasoner, shared_reasoner
from obep.ontology.hermit.reasoner_protocol import Question
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Class, ClassAssertion
from obep.ontology.owl.verbalise import name
from obep.ontology.rules.locality import fixed_names

if TYPE_CHECKING:
    from obep.query.link import Linked


@dataclass(frozen=True)
class Review:
    """What is worth knowing before the first item comes."""

    hierarchy: Hierarchy
    warnings: tuple[Diagnostic, ...] = ()


def review(
    linked: Linked,
    axioms: Axioms,
    *,
    cache_dir: Path | None = None,
) -> Review:
    """Classifies T with the definitions."""
    reasoner = shared_reasoner()
    hierarchy = classify(axioms, cache_dir)
    if isinstance(hierarchy, Inconsistent):
        raise contradiction(axioms, (), reasoner)
    impossible = [event for event in linked.events if event in set(hierarchy.unsatisfiable)]
    if impossible:
        raise ObepError(*(impossible_event(linked, axioms, event, reasoner) for event in impossible))
    return Review(hierarchy, tuple(_equivalents(linked, hierarchy)))


def clear_static(
    axioms: Axioms,
    components: Iterable[tuple[Triple, ...]],
    reasoner: Reasoner,
    cache_dir: Path | None = None,
) -> None:
    """Raises OBEP345 for the first component of K that contradicts T; alike ones are looked at once."""
    fixed, t = fixed_names(axioms), axioms_hash(axioms)
    folder = None if cache_dir is None else Folder(cache_dir / "clear")
    seen: set[str] = set()
    for component in components:
        shape, _ = canonical(Question((), component, ()), fixed)
        key = content_hash((t, shape.background))
        if key in seen:
            continue
        seen.add(key)
        if folder is not None and folder.read(key, bool):
            continue
        abox = [a for triple in component if (a := axioms.assertion(triple)) is not None]
        if not reasoner.consistent(axioms, abox):
            raise contradiction(axioms, component, reasoner)
        if folder is not None:
            folder.write(key, True)


def contradiction(axioms: Axioms, triples: Iterable[Triple], reasoner: Reasoner) -> ObepError:
    """The error for T and triples of K that have no model together."""
    abox = [a for triple in triples if (a := axioms.assertion(triple)) is not None]
    smallest = minimal_clash(axioms, abox, reasoner)
    return fail(
        "OBEP345",
        "the ontology and the static graph contradict each other"
        if abox
        else "the ontology contradicts itself",
        reason=f"These cannot all be true:\n{in_words(smallest)}",
        remedy="take one of them back; from a contradiction every event would follow",
    )


def impossible_event(linked: Linked, axioms: Axioms, event: Term, reasoner: Reasoner) -> Diagnostic:
    """The error for an event that T rules out, with the axioms that do."""
    instance = ClassAssertion(Class(event), "<urn:obep:x>")
    smallest = minimal_clash(axioms, (), reasoner, given=(instance,))
    return _at(
        linked,
        event,
        "OBEP344",
        f"{name(event)} can never happen",
        reason=f"Nothing can be a {name(event)}, because of:\n{in_words(smallest)}",
        remedy="correct the definition, or the axiom that rules it out",
    )


def _equivalents(linked: Linked, hierarchy: Hierarchy) -> Iterable[Diagnostic]:
    order = {event: i for i, event in enumerate(linked.events)}
    for group in hierarchy.groups:
        first, *others = sorted((c for c in group if c in order), key=order.__getitem__) or [""]
        for other in others:
            yield _at(
                linked,
                other,
                "OBEP240",
                f"{name(other)} and {name(first)} are the same event",
                reason="Their definitions mean the same: whenever one happens, so does the other.",
                remedy="keep one of them, if that is not what you want",
                warning=True,
            )


def _at(
    linked: Linked, event: Term, code: str, message: str, *, reason: str, remedy: str, warning: bool = False
) -> Diagnostic:
    """A diagnostic with its caret under the name of the event."""
    file, span = linked.file_of[event], linked.events[event].name.span
    lines = file.text.splitlines()
    return Diagnostic(
        code,
        message,
        file=file.name,
        span=span,
        reason=reason,
        remedy=remedy,
        line_text=lines[span.line - 1] if span.line <= len(lines) else "",
        severity="warning" if warning else "error",
    )
