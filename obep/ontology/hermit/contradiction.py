"""Why something cannot be: a minimal set of axioms and assertions that contradict each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from obep.model import Term
from obep.ontology.hermit.justify import one_minimal
from obep.ontology.hermit.reasoner import Reasoner
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import OWL, RDFS, XSD, Assertion, Axiom
from obep.ontology.owl.verbalise import show
from obep.ontology.rules.locality import parts_of

SHOWN = 12
"""Lines of a reason."""


def minimal_clash(
    axioms: Axioms, abox: Sequence[Assertion], reasoner: Reasoner, given: Sequence[Assertion] = ()
) -> tuple[Axiom, ...]:
    """Axioms of T and assertions of the ABox that contradict each other (and `given`), none of them to spare.

    T and the ABox must be inconsistent. First the assertions are cut down, which is cheap while T stays
    loaded, then the axioms, beginning with those that have to do with the assertions left.
    """
    facts = sorted(
        one_minimal(lambda some: not reasoner.consistent(axioms, (*given, *some)), list(abox)), key=repr
    )
    fixed = (*given, *facts)

    def clashes(some: Sequence[Axiom]) -> bool:
        return not reasoner.consistent(replace(axioms, axioms=tuple(some)), fixed)

    ordered = _nearest_first(axioms.axioms, fixed)
    size = 32
    while size < len(ordered) and not clashes(ordered[:size]):
        size *= 2
    return (*sorted(one_minimal(clashes, ordered[:size]), key=repr), *facts)


def in_words(axioms: Iterable[Axiom]) -> str:
    """The axioms, one a line."""
    lines = [show(axiom) for axiom in axioms]
    if len(lines) > SHOWN:
        lines = [*lines[: SHOWN - 1], f"… and {len(lines) - SHOWN + 1} more"]
    return "\n".join(f"  {line}" for line in lines)


def _nearest_first(axioms: Sequence[Axiom], start: Sequence[Assertion]) -> list[Axiom]:
    """The axioms by how far their names lie from those of the assertions."""
    names = {axiom: _names(axiom) for axiom in axioms}
    users: dict[Term, list[Axiom]] = defaultdict(list)
    for axiom, used in names.items():
        for name in used:
            users[name].append(axiom)
    ordered: dict[Axiom, None] = {}
    near = {name for assertion in start for name in _names(assertion)}
    seen = set(near)
    while near:
        layer = [axiom for name in sorted(near) for axiom in users[name] if axiom not in ordered]
        ordered.update(dict.fromkeys(layer))
        near = {name for axiom in layer for name in names[axiom]} - seen
        seen |= near
    return [*ordered, *(axiom for axiom in names if axiom not in ordered)]


def _names(axiom: Axiom) -> set[Term]:
    own = {part for _, part in parts_of(axiom) if isinstance(part, str) and part.startswith("<")}
    return {name for name in own if not name.startswith((f"<{OWL}", f"<{XSD}", f"<{RDFS}"))}
