"""Which axioms make some triples contradict T, as far as the rules know it: a smallest set, for dead letters.

The reasoner is not asked: a dead letter is written while a run goes on, and there may be many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.runnable import (
    LookedAt,
    assert_triples,
    build_program,
    closed,
    possible_program,
    relations_of,
)
from obep.ontology.closure.store import Store
from obep.ontology.hermit.justify import one_minimal
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.literals import holds, value
from obep.ontology.owl.verbalise import show, show_triple
from obep.ontology.rules.exactness import profile
from obep.ontology.rules.locality import parts_of
from obep.ontology.rules.normal_form import Normaliser
from obep.ontology.rules.program import Names, Program
from obep.ontology.rules.rule_kinds import UNEQUAL_TO_ITSELF, Bound, Rule

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

SIZES = (16, 64, 256)
"""How many axioms are looked at, the nearest first; what needs more is not shown."""
SHOWN = 3
"""The most axioms that are shown; more are hard to read together."""
REMEMBERED = 10_000


class ContradictionAxioms:
    """Finds the axioms of contradictions; remembers them by what the triples have in common."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._known: dict[object, str] = {}

    def words(self, clash: Sequence[Triple]) -> str:
        """The axioms that triples contradict, in words; nothing if that is not known, or they are many."""
        key = self._key(clash)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            axioms = self._smallest(clash)
            lines = sorted(map(show, axioms)) if len(axioms) <= SHOWN else []
            found = self._known[key] = "; ".join(lines)
        return found

    def contradiction(self, clash: Sequence[Triple]) -> str:
        """Triples that contradict T, and the axioms that they contradict."""
        said = ", ".join(sorted(show_triple(triple, typed=True) for triple in clash))
        because = self.words(clash)
        return f"{said}: {because}" if because else said

    def _key(self, clash: Sequence[Triple]) -> object:
        """What the axioms depend on: own names have numbers, literals a datatype and the tests they pass."""
        store = self._bundle.lower.store
        datatypes = self._bundle.definitions.axioms.datatype_definitions
        own: dict[object, int] = {}

        def part(term: Term, property: Term) -> object:
            if term in store.ids:
                return term
            if term[0] != '"':
                return own.setdefault(term, len(own))
            tests = self._bundle.value_tests.of(property)
            passed = tuple([n for n, range in enumerate(tests) if holds(range, term, datatypes)])
            return own.setdefault(value(term), len(own)), term.rpartition('"')[2], passed

        return tuple([(part(s, p), p, o if p == RDF_TYPE else part(o, p)) for s, p, o in clash])

    def _smallest(self, clash: Sequence[Triple]) -> frozenset[ax.Axiom]:
        near = self._nearest(clash)
        for size in SIZES:
            some = near[:size]
            if self._clashes(some, clash):
                return one_minimal(lambda fewer: self._clashes(fewer, clash), some)
            if len(some) < size:
                break
        return frozenset()

    def _clashes(self, axioms: Sequence[ax.Axiom], clash: Sequence[Triple]) -> bool:
        """Whether the rules of some axioms alone find the contradiction."""
        to = Normaliser()
        to.emit(UNEQUAL_TO_ITSELF)
        for axiom in axioms:
            to.add(axiom)
        known = self._only(axioms, clash)
        sure = [rule for rule, bound in to.normal.rules.items() if bound != Bound.UPPER]
        relations = relations_of(to.normal.rules, sure, known)
        names, looked_at = Names(()), LookedAt(known, ())
        same = any(p == ax.SAME_AS for _, p, _ in clash)

        def static(some: list[Rule]) -> tuple[Program, Store]:
            names.intern(some)
            program = build_program(some, relations, names, looked_at, equality=same)
            return program, closed(program, (), known, upper=True)

        rules = profile(to.normal.rules, to.normal, relations, self._datatypes, static).lower
        names.intern(rules)
        program, _, store = possible_program(rules, relations, names, looked_at, same)
        closure = assert_triples(program, store, clash)
        closure.run()
        return bool(closure.clashes)

    def _only(self, axioms: Sequence[ax.Axiom], clash: Sequence[Triple]) -> Axioms:
        """T as it would be with these axioms alone; its datatypes stay defined."""
        full = self._bundle.definitions.axioms
        names = {part for axiom in axioms for _, part in parts_of(axiom) if isinstance(part, str)}
        names.update(term for triple in clash for term in triple)
        defined = tuple(ax.DatatypeDefinition(name, range) for name, range in self._datatypes.items())
        return Axioms(
            (*axioms, *(one for one in defined if one not in axioms)),
            full.classes & names,
            full.object_properties & names,
            full.data_properties & names,
        )

    def _nearest(self, clash: Sequence[Triple]) -> list[ax.Axiom]:
        """The axioms by how far their names lie from those of the triples, in an order that is always so."""
        near: set[Term] = {term for triple in clash for term in triple if term[0] != '"'}
        seen = set(near)
        found: dict[ax.Axiom, None] = {}
        while near and len(found) < SIZES[-1]:
            layer = {axiom for name in near for axiom in self._users.get(name, ()) if axiom not in found}
            found |= dict.fromkeys(sorted(layer, key=repr))
            near = {name for axiom in layer for name in _names(axiom)} - seen
            seen |= near
        return list(found)

    @cached_property
    def _users(self) -> dict[Term, list[ax.Axiom]]:
        """The axioms that speak of a name."""
        found: dict[Term, list[ax.Axiom]] = defaultdict(list)
        for axiom in self._bundle.module.axioms:
            for name in _names(axiom):
                found[name].append(axiom)
        return found

    @cached_property
    def _datatypes(self) -> dict[Term, ax.DataRange]:
        return self._bundle.definitions.axioms.datatype_definitions


def _names(axiom: ax.Axiom) -> set[Term]:
    words = (f"<{ax.OWL}", f"<{ax.XSD}", f"<{ax.RDFS}")
    parts = {part for _, part in parts_of(axiom) if isinstance(part, str) and part.startswith("<")}
    return {name for name in parts if not name.startswith(words)}
