"""HermiT itself: one T inside it, and the ABox of a question laid over it.

In: axioms and assertions. Out: whether there is a model; the hierarchy of the classes. Only `reasoner` comes
here; what Java throws passes through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from obep.model import Term
from obep.ontology.automata import Rewriting, Words, without_complex_roles
from obep.ontology.axioms import (
    NOTHING,
    Assertion,
    Axiom,
    Axioms,
    Class,
    ClassAssertion,
    DataAssertion,
    DataValue,
    DifferentIndividuals,
    HasKey,
    NegativeDataAssertion,
    NegativePropertyAssertion,
    Not,
    Only,
    PropertyAssertion,
    SameIndividual,
)
from obep.ontology.locality import INDIVIDUAL_FIELDS, parts_of
from obep.ontology.owlapi import NAMED, Java, Translation
from obep.ontology.roles import saturated


class Inconsistent:
    """The answer about an ABox that contradicts T: it entails everything."""

    def __repr__(self) -> str:
        return "INCONSISTENT"


INCONSISTENT = Inconsistent()


@dataclass(frozen=True)
class Hierarchy:
    """What HermiT found about the named classes of T.

    `groups` are the classes that are equivalent to each other (sorted, most of them alone); `parents` leads
    from the first of a group to the firsts of those directly above. The group of Nothing is `unsatisfiable`.
    """

    groups: tuple[tuple[Term, ...], ...]
    parents: dict[Term, tuple[Term, ...]]
    unsatisfiable: tuple[Term, ...]

    def subsumptions(self) -> Iterator[tuple[Term, Term]]:
        """Pairs (sub, sup) of named classes from which all others follow by transitivity."""
        for group in self.groups:
            if len(group) > 1:
                yield from zip(group, (*group[1:], group[0]), strict=True)
            yield from ((group[0], above) for above in self.parents.get(group[0], ()))
        yield from ((empty, NOTHING) for empty in self.unsatisfiable)


class Loaded:
    """One T inside HermiT."""

    def __init__(self, axioms: Axioms, timeout: float) -> None:
        self._keys = any(isinstance(axiom, HasKey) for axiom in axioms.axioms)
        self._translation = Translation(axioms)
        self._timeout = timeout
        said = saturated(axioms.axioms)
        self._words = Words(said)
        named = (ClassAssertion(NAMED, name) for name in sorted(_named(axioms.axioms) if self._keys else ()))
        self._set = self._translation.axioms([*without_complex_roles(said, self._words), *named])
        self._set.addAll(self._translation.declarations(axioms))
        self._hermit = self._reasoner(self._set)

    def _reasoner(self, axioms: Java) -> Java:
        from jpype import JClass

        configuration = JClass("org.semanticweb.HermiT.Configuration")()
        configuration.individualTaskTimeout = int(self._timeout * 1000)
        configuration.throwInconsistentOntologyException = False
        ontology = self._translation.manager.createOntology(axioms)
        return JClass("org.semanticweb.HermiT.Reasoner")(configuration, ontology)

    def _dispose(self, hermit: Java) -> None:
        hermit.dispose()
        self._translation.manager.removeOntology(hermit.getRootOntology())

    def dispose(self) -> None:
        self._dispose(self._hermit)

    @contextmanager
    def overlay(self, abox: Sequence[Assertion]) -> Iterator[Tableau]:
        """T with the ABox laid over it. With keys, all is loaded anew: they look at the names in T only."""
        if self._keys:
            abox = [*abox, *(ClassAssertion(NAMED, name) for name in sorted(_named(abox)))]
        assertions = self._translation.axioms(abox)
        if not self._keys:
            tableau = Tableau(self._hermit, self._translation, self._words, assertions)
            yield tableau
            tableau.clear()
            return
        assertions.addAll(self._set)
        hermit = self._reasoner(assertions)
        try:
            yield Tableau(hermit, self._translation, self._words, None)
        finally:
            self._dispose(hermit)

    def classify(self) -> Hierarchy | Inconsistent:
        if not self._hermit.isConsistent():
            return INCONSISTENT
        self._hermit.classifyClasses()
        groups = []
        parents: dict[Term, tuple[Term, ...]] = {}
        bottom = self._hermit.getBottomClassNode()
        waiting = [self._hermit.getTopClassNode()]
        seen = {_members(waiting[0])[0]}
        while waiting:
            node = waiting.pop()
            group = _members(node)
            groups.append(group)
            one = node.getRepresentativeElement()
            for child in self._hermit.getSubClasses(one, True).getNodes():
                if not child.isBottomNode():
                    below = _members(child)
                    parents[below[0]] = (*parents.get(below[0], ()), group[0])
                    if below[0] not in seen:
                        seen.add(below[0])
                        waiting.append(child)
        empty = tuple(c for c in _members(bottom) if c != NOTHING)
        return Hierarchy(
            tuple(sorted(groups)), {c: tuple(sorted(p)) for c, p in sorted(parents.items())}, empty
        )


class Tableau:
    """T with an ABox over it, ready for one question after the other."""

    def __init__(self, hermit: Java, translation: Translation, words: Words, assertions: Java | None) -> None:
        from jpype import JClass

        self._hermit = hermit
        self._translation = translation
        self._words = words
        self._assertions = [] if assertions is None else list(assertions)
        self._atom = JClass("org.semanticweb.HermiT.model.Atom").create
        self._concept = JClass("org.semanticweb.HermiT.model.AtomicConcept").create
        self._set = JClass("java.util.Collections").singleton
        self._tableau: Java = None

    def satisfiable(self, without: Assertion | None = None) -> bool:
        """Whether there is a model in which `without` does not hold."""
        match without:
            case None:
                return self._run(self._laid(), None)
            case ClassAssertion(Class(term), individual):  # the usual question needs no new clauses
                atom = self._atom(self._concept(term[1:-1]), self._translation.constant(individual))
                return self._run(self._laid(), self._set(atom))
        self._tableau = None
        denied = self._translation.axioms(Rewriting(self._words, "goal").axioms(_negated(without)))
        return self._run(self._hermit.getTableau(self._assertions + list(denied)), None)

    def _laid(self) -> Java:
        if self._tableau is None:
            more = self._assertions
            self._tableau = self._hermit.getTableau(more) if more else self._hermit.getTableau()
        return self._tableau

    def _run(self, tableau: Java, denied: Java | None) -> bool:
        return bool(tableau.isSatisfiable(True, True, None, denied, None, None, None, None))

    def clear(self) -> None:
        self._hermit.getTableau()  # takes the overlay away


def _named(assertions: Sequence[Axiom]) -> set[Term]:
    """The individuals with names of their own."""
    parts = (part for a in assertions for field, part in parts_of(a) if field in INDIVIDUAL_FIELDS)
    return {part for part in parts if part.startswith("<")}


def _members(node: Java) -> tuple[Term, ...]:
    return tuple(sorted(f"<{entity.getIRI()}>" for entity in node.getEntities()))


def _negated(goal: Assertion) -> list[Assertion]:
    match goal:
        case ClassAssertion(expression, individual):
            return [ClassAssertion(Not(expression), individual)]
        case PropertyAssertion(role, subject, object):  # HermiT's own negation forgets transitivity here
            marked = Class("<urn:obep:marked>")
            return [ClassAssertion(Only(role, Not(marked)), subject), ClassAssertion(marked, object)]
        case NegativePropertyAssertion(role, subject, object):
            return [PropertyAssertion(role, subject, object)]
        case DataAssertion(role, subject, literal):
            return [ClassAssertion(Not(DataValue(role, literal)), subject)]
        case NegativeDataAssertion(role, subject, literal):
            return [DataAssertion(role, subject, literal)]
        case SameIndividual((one, other)):
            return [DifferentIndividuals((one, other))]
        case DifferentIndividuals((one, other)):
            return [SameIndividual((one, other))]
    raise ValueError(f"no question: {goal}")
