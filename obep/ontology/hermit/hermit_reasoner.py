"""HermiT itself: one T inside it, and the ABox of a question laid over it.

In: axioms and assertions. Out: whether there is a model; the hierarchy of the classes. Only `reasoner` comes
here; what Java throws passes through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from obep.model import Term
from obep.ontology.hermit.owlapi import NAMED, Java, Translation
from obep.ontology.hermit.values_as_individuals import GIVEN, OBJECT, Values
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import (
    NOTHING,
    THING,
    Assertion,
    Axiom,
    Class,
    ClassAssertion,
    DataAssertion,
    DataRange,
    DatatypeDefinition,
    DataValue,
    DifferentIndividuals,
    HasKey,
    NegativeDataAssertion,
    NegativePropertyAssertion,
    Not,
    Only,
    PropertyAssertion,
    SafeRule,
    SameIndividual,
)
from obep.ontology.owl.data_parts import literals_in, ranges_in, speaks_of_data, values_asked
from obep.ontology.owl.role_box import saturated
from obep.ontology.rules.locality import INDIVIDUAL_FIELDS, parts_of
from obep.ontology.rules.role_automata import Rewriting, Words, without_complex_roles


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

    def __init__(
        self, axioms: Axioms, timeout: float, also: Iterable[DataRange] | None = None, given: int = GIVEN
    ) -> None:
        """`also` and `given`: the data ranges of an ABox, and how many values it names; see `Values`."""
        self._keys = any(isinstance(axiom, HasKey | SafeRule) for axiom in axioms.axioms)
        self._axioms, self._timeout = axioms, timeout
        self._translation = Translation()
        self._with_data: Loaded | None = None
        self._values: Values | None = None
        plain: tuple[Axiom, ...] = tuple(
            axiom for axiom in axioms.axioms if not isinstance(axiom, DatatypeDefinition)
        )
        if also is not None or speaks_of_data(axioms.axioms):
            self._values = Values(axioms, also or (), given)
            plain = tuple(dict.fromkeys(self._values.axioms()))
        said = saturated(plain)
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
        if self._with_data is not None:
            self._with_data.dispose()

    @contextmanager
    def overlay(self, abox: Sequence[Assertion], goals: Sequence[Assertion] = ()) -> Iterator[Tableau]:
        """T with the ABox laid over it, ready for these goals.

        With keys, all is loaded anew: they look at the names in T only. So it is where T does not know the
        data ranges of the ABox.
        """
        other = self._for_data(abox, goals)
        if other is not None:
            with other.overlay(abox, goals) as tableau:
                yield tableau
            if other is not self._with_data:
                other.dispose()
            return
        if self._keys:
            abox = [*abox, *(ClassAssertion(NAMED, name) for name in sorted(_named(abox)))]
        if self._values is None:  # values that T says nothing about
            laid: Sequence[Axiom] = [a for a in abox if not speaks_of_data((a,))]
        else:
            names = self._values.objects(_named(goals, blank=True))
            laid = list(dict.fromkeys([*self._values.laid(abox), *names]))
        assertions = self._translation.axioms(laid)
        literals = tuple(literals_in(abox))
        if not self._keys:
            tableau = Tableau(
                self._hermit, self._translation, self._words, assertions, self._values, literals
            )
            yield tableau
            tableau.clear()
            return
        assertions.addAll(self._set)
        hermit = self._reasoner(assertions)
        try:
            yield Tableau(hermit, self._translation, self._words, None, self._values, literals)
        finally:
            self._dispose(hermit)

    def _for_data(self, abox: Sequence[Assertion], goals: Sequence[Assertion]) -> Loaded | None:
        """T for an ABox with data that T alone does not allow."""
        asked = (*abox, *goals)
        ranges = ranges_in(asked)
        given = len(literals_in(asked)) + sum(map(values_asked, asked))
        if self._keys:
            given += len(_named(asked))
        if self._values is None:
            if not ranges and not speaks_of_data(goals):
                return None
            if not ranges:
                if self._with_data is None:
                    self._with_data = Loaded(self._axioms, self._timeout, ())
                return self._with_data
            return Loaded(self._axioms, self._timeout, ranges, max(given, GIVEN))
        if self._values.know(ranges) and self._values.allow(given):
            return None
        return Loaded(self._axioms, self._timeout, ranges, max(given, GIVEN))

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
        empty = tuple(c for c in _members(bottom) if c not in (NOTHING, OBJECT.iri))
        if self._values is not None:
            groups, parents = _of_objects(groups, parents)
        return Hierarchy(
            tuple(sorted(groups)), {c: tuple(sorted(p)) for c, p in sorted(parents.items())}, empty
        )


class Tableau:
    """T with an ABox over it, ready for one question after the other."""

    def __init__(
        self,
        hermit: Java,
        translation: Translation,
        words: Words,
        assertions: Java | None,
        values: Values | None,
        literals: Sequence[Term],
    ) -> None:
        from jpype import JClass

        self._values, self._literals = values, literals
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
        negated: Sequence[Axiom] = _negated(without)
        if self._values is not None:
            every = dict.fromkeys((*self._literals, *literals_in(negated)))
            said = [one for axiom in negated for one in self._values.said(axiom)]
            negated = [*said, *self._values.values(every)]
        denied = self._translation.axioms(Rewriting(self._words, "goal").axioms(negated))
        return self._run(self._hermit.getTableau(self._assertions + list(denied)), None)

    def _laid(self) -> Java:
        if self._tableau is None:
            more = self._assertions
            self._tableau = self._hermit.getTableau(more) if more else self._hermit.getTableau()
        return self._tableau

    def _run(self, tableau: Java, denied: Java | None) -> bool:
        return bool(tableau.isSatisfiable(True, True, None, denied, None, None, None, None))

    def clear(self) -> None:
        self._hermit.getTableau()  # removes the overlay


def _named(assertions: Sequence[Axiom], *, blank: bool = False) -> set[Term]:
    """The individuals with names of their own, or all."""
    parts = (part for a in assertions for field, part in parts_of(a) if field in INDIVIDUAL_FIELDS)
    return {part for part in parts if part.startswith(("<", "_") if blank else "<")}


def _of_objects(
    groups: list[tuple[Term, ...]], parents: dict[Term, tuple[Term, ...]]
) -> tuple[list[tuple[Term, ...]], dict[Term, tuple[Term, ...]]]:
    """The hierarchy below the class of all objects, which is Thing to T."""
    top = next(group for group in groups if OBJECT.iri in group)
    thing = next(group for group in groups if THING in group)
    whole = tuple(sorted({*top, *thing} - {OBJECT.iri}))
    below = [group for group in groups if group not in (top, thing)]
    kept: dict[Term, tuple[Term, ...]] = {}
    for group in below:
        above = {whole[0] if one in (top[0], thing[0]) else one for one in parents.get(group[0], ())}
        kept[group[0]] = tuple(sorted(above))
    return [whole, *below], kept


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
