"""Compute the triples that T and a graph entail: the classes and properties of named individuals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.closure.runnable import LookedAt, build_reading, relations_of
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import DIFFERENT_FROM, SAME_AS
from obep.ontology.owl.static_graph import Graph
from obep.ontology.rules.normal_form import Normaliser
from obep.ontology.rules.program import Names
from obep.ontology.rules.relevance import relevant
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.rule_kinds import EMPTY_PROPERTIES, UNEQUAL_TO_ITSELF, Bound, Rule


class Entailment:
    """The sure rules of T, for graphs that use these names and those of T."""

    def __init__(self, axioms: Axioms) -> None:
        to = Normaliser()
        for always in (UNEQUAL_TO_ITSELF, *EMPTY_PROPERTIES):
            to.emit(always)
        for axiom in axioms.axioms:
            to.add(axiom)
        self._axioms = axioms
        self._rules: list[Rule] = [rule for rule, bound in to.normal.rules.items() if bound != Bound.UPPER]
        self._every = [*to.normal.rules]

    @cached_property
    def _relations(self) -> Relations:
        known = self._axioms
        return relations_of(self._every, self._rules, known, known.object_properties | known.data_properties)

    def leading_to(self, classes: frozenset[Term], properties: frozenset[Term]) -> set[Term]:
        """The classes and properties from which some of these may follow, themselves among them.

        rdf:type stands for all classes.
        """
        known, relations = self._axioms, self._relations
        goals = {*classes, *(known.classes if RDF_TYPE in properties else ())}
        numbers = {relations.of(p)[0] for p in properties if p in relations}
        _, seen = relevant(self._rules, (*goals, *numbers), relations)
        leading = [p for p in known.object_properties | known.data_properties if p in relations]
        found = {p for p in leading if not seen.isdisjoint(relations.numbers_above(p))}
        return {*goals, *properties, *found, *(known.classes & seen)}

    def triples(self, graph: Iterable[Triple]) -> Iterator[Triple]:
        """All certain entailments; raises `Contradiction`."""
        known, relations = self._axioms, self._relations
        properties = known.object_properties | known.data_properties
        names = Names(())
        names.intern(self._rules)
        looked_at = LookedAt(known, (), known.classes, properties)
        store = build_reading(self._rules, relations, names, looked_at, Graph(graph)).store
        classes = {number: name for name, number in names.concepts.items() if name in known.classes}
        terms, width = store.terms, len(relations)
        for x, types in enumerate(store.types):
            if _is_named(terms[x]):
                yield from ((terms[x], RDF_TYPE, classes[c]) for c in types if c in classes)
        of: dict[int, list[tuple[Term, bool]]] = {}
        for name in sorted((*properties, SAME_AS, DIFFERENT_FROM)):
            if name in relations:
                number, backwards = relations.of(name)
                of.setdefault(number, []).append((name, backwards))
        for key, ends in store.forwards.items():
            x, number = divmod(key, width)
            for y in ends if _is_named(terms[x]) else ():
                if _is_named(terms[y], literal=True):
                    for name, backwards in of.get(number, ()):
                        s, o = (terms[y], terms[x]) if backwards else (terms[x], terms[y])
                        if not s.startswith('"'):
                            yield s, name, o


def _is_named(term: Term, *, literal: bool = False) -> bool:
    return term.startswith(("<", "_")) or (literal and term.startswith('"'))
