"""From our axioms to the OWL API's objects: a table says, for each class, the factory's method and arguments.

In: values of `axioms`. Out: Java objects, made by one data factory. A blank node becomes a constant of its
own (an IRI that occurs nowhere else): what is entailed about it stays the same, and HermiT can answer for it.
There is no data here: `hermit_values` has replaced it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from msgspec import Struct

from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

BLANK = "urn:obep:blank:"
NAMED = ax.Class("<internal:obep#named>")
"""The class of individuals with names: keys apply only to them, and our blank nodes have names in Java."""
VARIABLE = "urn:obep:variable:"
MANY = 16
"""Disjoint classes that HermiT gets by their numbers: it makes a clause for each pair of them."""
Java = Any
"""An object on the other side."""

# The last words are methods of Translation, one for each field of the class.
_EXPRESSIONS: dict[type[Struct], tuple[str, ...]] = {
    ax.Class: ("", "named_class"),
    ax.And: ("ObjectIntersectionOf", "expressions"),
    ax.Or: ("ObjectUnionOf", "expressions"),
    ax.Not: ("ObjectComplementOf", "expression"),
    ax.OneOf: ("ObjectOneOf", "individuals"),
    ax.Some: ("ObjectSomeValuesFrom", "role", "expression"),
    ax.Only: ("ObjectAllValuesFrom", "role", "expression"),
    ax.Value: ("ObjectHasValue", "role", "individual"),
    ax.HasSelf: ("ObjectHasSelf", "role"),
    ax.Min: ("ObjectMinCardinality", "count", "role", "expression"),
    ax.Max: ("ObjectMaxCardinality", "count", "role", "expression"),
    ax.Exactly: ("ObjectExactCardinality", "count", "role", "expression"),
}
_AXIOMS: dict[type[Struct], tuple[str, ...]] = {
    ax.SubClassOf: ("SubClassOfAxiom", "expression", "expression"),
    ax.EquivalentClasses: ("EquivalentClassesAxiom", "expressions"),
    ax.DisjointClasses: ("DisjointClassesAxiom", "expressions"),
    ax.DisjointUnion: ("DisjointUnionAxiom", "named_class", "expressions"),
    ax.SubProperty: ("SubObjectPropertyOfAxiom", "role", "role"),
    ax.SubChain: ("SubPropertyChainOfAxiom", "chain", "role"),
    ax.EquivalentProperties: ("EquivalentObjectPropertiesAxiom", "roles"),
    ax.DisjointProperties: ("DisjointObjectPropertiesAxiom", "roles"),
    ax.InverseProperties: ("InverseObjectPropertiesAxiom", "role", "role"),
    ax.Domain: ("ObjectPropertyDomainAxiom", "role", "expression"),
    ax.Range: ("ObjectPropertyRangeAxiom", "role", "expression"),
    ax.Functional: ("FunctionalObjectPropertyAxiom", "role"),
    ax.InverseFunctional: ("InverseFunctionalObjectPropertyAxiom", "role"),
    ax.Reflexive: ("ReflexiveObjectPropertyAxiom", "role"),
    ax.Irreflexive: ("IrreflexiveObjectPropertyAxiom", "role"),
    ax.Symmetric: ("SymmetricObjectPropertyAxiom", "role"),
    ax.Asymmetric: ("AsymmetricObjectPropertyAxiom", "role"),
    ax.Transitive: ("TransitiveObjectPropertyAxiom", "role"),
    ax.ClassAssertion: ("ClassAssertionAxiom", "expression", "individual"),
    ax.PropertyAssertion: ("ObjectPropertyAssertionAxiom", "role", "individual", "individual"),
    ax.NegativePropertyAssertion: (
        "NegativeObjectPropertyAssertionAxiom", "role", "individual", "individual",
    ),
    ax.SameIndividual: ("SameIndividualAxiom", "individuals"),
    ax.DifferentIndividuals: ("DifferentIndividualsAxiom", "individuals"),
}  # fmt: skip


class Translation:
    """Translates with one OWL data factory; entities are made once."""

    def __init__(self) -> None:
        from jpype import JClass

        self.manager = JClass("org.semanticweb.owlapi.apibinding.OWLManager").createOWLOntologyManager()
        self.make = self.manager.getOWLDataFactory()
        self._iri = JClass("org.semanticweb.owlapi.model.IRI").create
        self._set = JClass("java.util.HashSet")
        self._list = JClass("java.util.ArrayList")
        self._constant = JClass("org.semanticweb.HermiT.model.Individual")
        self._entities: dict[tuple[str, Term], Java] = {}
        self._known: dict[type, tuple[Any, tuple[tuple[str, Any], ...]]] = {}
        for kind, (method, *arguments) in (_EXPRESSIONS | _AXIOMS).items():
            make = getattr(self.make, f"getOWL{method}") if method else _same
            places = kind.__struct_fields__
            self._known[kind] = make, tuple(zip(places, (getattr(self, a) for a in arguments), strict=True))

    def axioms(self, axioms: Iterable[ax.Axiom]) -> Java:
        """A Java set of them."""
        return self._set([self._axiom(plain) for axiom in axioms for plain in _plain(axiom)])

    def declarations(self, axioms: Axioms) -> Java:
        """A Java set of declarations: HermiT does not like to meet a property first in an item."""
        entities = [self.named_class(c) for c in axioms.classes]
        entities += [self.role(p) for p in axioms.object_properties]
        return self._set([self.make.getOWLDeclarationAxiom(entity) for entity in entities])

    def _axiom(self, axiom: ax.Axiom) -> Java:
        if isinstance(axiom, ax.HasKey):
            keys = [self.role(p) for p in axiom.object_properties]
            return self.make.getOWLHasKeyAxiom(self.expression(axiom.expression), self._set(keys))
        if isinstance(axiom, ax.SafeRule):
            body = [self._atom(atom) for atom in axiom.body]
            return self.make.getSWRLRule(self._set(body), self._set([self._atom(axiom.head)]))
        return self._node(axiom)

    def _atom(self, atom: ax.ClassAtom | ax.PropertyAtom) -> Java:
        def variable(name: str) -> Java:
            return self.make.getSWRLVariable(self._iri(f"{VARIABLE}{name}"))

        match atom:
            case ax.ClassAtom(expression, node):
                return self.make.getSWRLClassAtom(self.expression(expression), variable(node))
            case ax.PropertyAtom(ax.Inverse(property), source, target):
                source, target = target, source
            case ax.PropertyAtom(property, source, target):
                pass
        return self.make.getSWRLObjectPropertyAtom(self.role(property), variable(source), variable(target))

    def _node(self, node: object) -> Java:
        make, arguments = self._known[type(node)]
        return make(*(translate(getattr(node, name)) for name, translate in arguments))

    # --- the kinds of arguments -----------------------------------------------------------------------

    def iri(self, term: Term) -> Java:
        return self._iri(term[1:-1])

    def _entity(self, method: str, term: Term) -> Java:
        found = self._entities.get((method, term))
        if found is None:
            found = self._entities[method, term] = getattr(self.make, method)(self.iri(term))
        return found

    def named_class(self, term: Term) -> Java:
        return self._entity("getOWLClass", term)

    def role(self, role: ax.ObjectProperty) -> Java:
        if isinstance(role, ax.Inverse):
            return self.make.getOWLObjectInverseOf(self._entity("getOWLObjectProperty", role.property))
        return self._entity("getOWLObjectProperty", role)

    def individual(self, term: Term) -> Java:
        blank = term.startswith("_:")
        return self.make.getOWLNamedIndividual(self._iri(BLANK + term[2:]) if blank else self.iri(term))

    def constant(self, term: Term) -> Java:
        """The individual as HermiT's own model names it."""
        return self._constant.create(self.individual(term).getIRI().toString())

    def expression(self, expression: ax.ClassExpression) -> Java:
        match expression:
            case ax.And(()):
                return self.named_class(ax.THING)
            case ax.Or(()) | ax.OneOf(()):
                return self.named_class(ax.NOTHING)
            case ax.And((only,)) | ax.Or((only,)):
                return self.expression(only)
        return self._node(expression)

    def count(self, count: int) -> int:
        return count

    def expressions(self, expressions: tuple[ax.ClassExpression, ...]) -> Java:
        return self._set([self.expression(e) for e in expressions])

    def individuals(self, terms: tuple[Term, ...]) -> Java:
        return self._set([self.individual(term) for term in terms])

    def roles(self, roles: tuple[ax.ObjectProperty, ...]) -> Java:
        return self._set([self.role(role) for role in roles])

    def chain(self, roles: tuple[ax.ObjectProperty, ...]) -> Java:
        return self._list([self.role(role) for role in roles])


def _same(value: Java) -> Java:
    return value


def _plain(axiom: ax.Axiom) -> Iterator[ax.Axiom]:
    """Split an axiom where a Java set would drop that something differs from itself."""
    match axiom:
        case ax.HasKey(expression, roles):
            keyed = ax.Class(f"<internal:obep#key{abs(hash(axiom))}>")
            yield ax.SubClassOf(ax.And((expression, NAMED)), keyed)
            yield ax.HasKey(keyed, roles, ())
        case ax.SafeRule(body, head):
            names: dict[ax.ClassExpression, ax.ClassExpression] = {}
            for number, atom in enumerate((*body, head)):
                if isinstance(atom, ax.ClassAtom) and not isinstance(atom.expression, ax.Class):
                    named = ax.Class(f"<internal:obep#atom{abs(hash(axiom))}.{number}>")
                    if names.setdefault(atom.expression, named) is named:
                        yield ax.EquivalentClasses((atom.expression, named))
            yield axiom.with_classes(lambda one: names.get(one, one))
        case ax.DisjointClasses(operands) if len(set(operands)) < len(operands):
            for one, other in combinations(operands, 2):
                yield ax.SubClassOf(ax.And((one, other)), ax.BOTTOM)
        case ax.DisjointClasses(operands) if len(operands) > MANY:
            yield from _apart_by_numbers(operands)
        case ax.DisjointUnion(name, operands) if len(set(operands)) < len(operands) or len(operands) > MANY:
            yield ax.EquivalentClasses((ax.Class(name), ax.Or(operands)))
            yield from _plain(ax.DisjointClasses(operands))
        case ax.DisjointProperties(operands) if len(set(operands)) < len(operands):
            for role in operands:
                if operands.count(role) > 1:
                    yield ax.SubClassOf(ax.Some(role, ax.TOP), ax.BOTTOM)
            yield from _plain(ax.DisjointProperties(tuple(dict.fromkeys(operands))))
        case ax.DifferentIndividuals(individuals) if len(set(individuals)) < len(individuals):
            yield ax.ClassAssertion(ax.BOTTOM, individuals[0])
        case ax.EquivalentClasses(said) | ax.EquivalentProperties(said) | ax.SameIndividual(said) if (
            len(set(said)) < 2
        ):
            return  # says nothing
        case ax.DisjointClasses(said) | ax.DisjointProperties(said) | ax.DifferentIndividuals(said) if (
            len(said) < 2
        ):
            return  # says nothing
        case _:
            yield axiom


def _apart_by_numbers(operands: tuple[ax.ClassExpression, ...]) -> Iterator[ax.Axiom]:
    """Disjoint classes: the numbers of two differ in a binary digit, and each digit is a class of its own."""
    kind = f"<internal:obep#digit{abs(hash(operands))}."
    for place in range((len(operands) - 1).bit_length()):
        digit = ax.Class(f"{kind}{place}>")
        for number, operand in enumerate(operands):
            if number >> place & 1:
                yield ax.SubClassOf(operand, digit)
            else:
                yield ax.SubClassOf(ax.And((operand, digit)), ax.BOTTOM)
