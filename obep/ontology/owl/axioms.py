"""OWL 2 DL as values: class expressions, data ranges, axioms and assertions.

Entities, individuals and literals are N-Triples terms (`<http://…>`, `_:b`, `"5"^^<…>`). Nothing here parses
or reasons. Operands keep the order in which they were written; equality is structural.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from obep.model import Term

OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"

THING = f"<{OWL}Thing>"
NOTHING = f"<{OWL}Nothing>"
TOP_OBJECT_PROPERTY = f"<{OWL}topObjectProperty>"
BOTTOM_OBJECT_PROPERTY = f"<{OWL}bottomObjectProperty>"
TOP_DATA_PROPERTY = f"<{OWL}topDataProperty>"
BOTTOM_DATA_PROPERTY = f"<{OWL}bottomDataProperty>"
UNIVERSAL = frozenset((TOP_OBJECT_PROPERTY, TOP_DATA_PROPERTY))
EMPTY = frozenset((BOTTOM_OBJECT_PROPERTY, BOTTOM_DATA_PROPERTY))
SAME_AS = f"<{OWL}sameAs>"
DIFFERENT_FROM = f"<{OWL}differentFrom>"
LITERAL = f"<{RDFS}Literal>"
NAMED_INDIVIDUAL = f"<{OWL}NamedIndividual>"


# --- properties -------------------------------------------------------------------------------------------


class Inverse(Struct, frozen=True):
    """The inverse of a named object property; never nested."""

    property: Term


ObjectProperty = Term | Inverse
"""A named object property, or the inverse of one."""


def inverse(property: ObjectProperty) -> ObjectProperty:
    """The other direction.

    >>> inverse(inverse("<p>"))
    '<p>'
    """
    return property.property if isinstance(property, Inverse) else Inverse(property)


# --- data ranges ------------------------------------------------------------------------------------------


class Datatype(Struct, frozen=True):
    """A named datatype, built in or defined (`DatatypeDefinition`)."""

    iri: Term


class DataAnd(Struct, frozen=True):
    operands: tuple[DataRange, ...]


class DataOr(Struct, frozen=True):
    operands: tuple[DataRange, ...]


class DataNot(Struct, frozen=True):
    operand: DataRange


class DataOneOf(Struct, frozen=True):
    literals: tuple[Term, ...]


class Restricted(Struct, frozen=True):
    """A datatype with facets: pairs of the facet's IRI (`<…XMLSchema#minInclusive>`) and a literal."""

    datatype: Term
    facets: tuple[tuple[Term, Term], ...]


DataRange = Datatype | DataAnd | DataOr | DataNot | DataOneOf | Restricted


# --- class expressions ------------------------------------------------------------------------------------


class Class(Struct, frozen=True):
    iri: Term


class And(Struct, frozen=True):
    operands: tuple[ClassExpression, ...]


class Or(Struct, frozen=True):
    operands: tuple[ClassExpression, ...]


class Not(Struct, frozen=True):
    operand: ClassExpression


class OneOf(Struct, frozen=True):
    individuals: tuple[Term, ...]


class Some(Struct, frozen=True):
    property: ObjectProperty
    filler: ClassExpression


class Only(Struct, frozen=True):
    property: ObjectProperty
    filler: ClassExpression


class Value(Struct, frozen=True):
    property: ObjectProperty
    individual: Term


class HasSelf(Struct, frozen=True):
    property: ObjectProperty


class Min(Struct, frozen=True):
    count: int
    property: ObjectProperty
    filler: ClassExpression


class Max(Struct, frozen=True):
    count: int
    property: ObjectProperty
    filler: ClassExpression


class Exactly(Struct, frozen=True):
    count: int
    property: ObjectProperty
    filler: ClassExpression


class DataSome(Struct, frozen=True):
    property: Term
    range: DataRange


class DataOnly(Struct, frozen=True):
    property: Term
    range: DataRange


class DataValue(Struct, frozen=True):
    property: Term
    literal: Term


class DataMin(Struct, frozen=True):
    count: int
    property: Term
    range: DataRange


class DataMax(Struct, frozen=True):
    count: int
    property: Term
    range: DataRange


class DataExactly(Struct, frozen=True):
    count: int
    property: Term
    range: DataRange


ClassExpression = (
    Class
    | And
    | Or
    | Not
    | OneOf
    | Some
    | Only
    | Value
    | HasSelf
    | Min
    | Max
    | Exactly
    | DataSome
    | DataOnly
    | DataValue
    | DataMin
    | DataMax
    | DataExactly
)

TOP = Class(THING)
BOTTOM = Class(NOTHING)
ANY_LITERAL = Datatype(LITERAL)
NO_LITERAL = DataNot(ANY_LITERAL)


# --- axioms about classes ---------------------------------------------------------------------------------


class SubClassOf(Struct, frozen=True):
    sub: ClassExpression
    sup: ClassExpression


class EquivalentClasses(Struct, frozen=True):
    operands: tuple[ClassExpression, ...]


class DisjointClasses(Struct, frozen=True):
    """Pairwise disjoint."""

    operands: tuple[ClassExpression, ...]


class DisjointUnion(Struct, frozen=True):
    """The named class is the union of the operands, which are pairwise disjoint."""

    name: Term
    operands: tuple[ClassExpression, ...]


# --- axioms about object properties -----------------------------------------------------------------------


class SubProperty(Struct, frozen=True):
    sub: ObjectProperty
    sup: ObjectProperty


class SubChain(Struct, frozen=True):
    """`chain[0] o chain[1] o … SubPropertyOf sup`."""

    chain: tuple[ObjectProperty, ...]
    sup: ObjectProperty


class EquivalentProperties(Struct, frozen=True):
    operands: tuple[ObjectProperty, ...]


class DisjointProperties(Struct, frozen=True):
    """Pairwise disjoint."""

    operands: tuple[ObjectProperty, ...]


class InverseProperties(Struct, frozen=True):
    first: ObjectProperty
    second: ObjectProperty


class Domain(Struct, frozen=True):
    property: ObjectProperty
    domain: ClassExpression


class Range(Struct, frozen=True):
    property: ObjectProperty
    range: ClassExpression


class Functional(Struct, frozen=True):
    property: ObjectProperty


class InverseFunctional(Struct, frozen=True):
    property: ObjectProperty


class Reflexive(Struct, frozen=True):
    property: ObjectProperty


class Irreflexive(Struct, frozen=True):
    property: ObjectProperty


class Symmetric(Struct, frozen=True):
    property: ObjectProperty


class Asymmetric(Struct, frozen=True):
    property: ObjectProperty


class Transitive(Struct, frozen=True):
    property: ObjectProperty


# --- axioms about data properties, datatypes and keys -----------------------------------------------------


class SubDataProperty(Struct, frozen=True):
    sub: Term
    sup: Term


class EquivalentDataProperties(Struct, frozen=True):
    operands: tuple[Term, ...]


class DisjointDataProperties(Struct, frozen=True):
    """Pairwise disjoint."""

    operands: tuple[Term, ...]


class DataDomain(Struct, frozen=True):
    property: Term
    domain: ClassExpression


class DataPropertyRange(Struct, frozen=True):
    property: Term
    range: DataRange


class FunctionalData(Struct, frozen=True):
    property: Term


class DatatypeDefinition(Struct, frozen=True):
    datatype: Term
    range: DataRange


class HasKey(Struct, frozen=True):
    """Two *named* instances of `expression` that agree on all these properties are the same."""

    expression: ClassExpression
    object_properties: tuple[ObjectProperty, ...]
    data_properties: tuple[Term, ...]


class ClassAtom(Struct, frozen=True):
    """A variable of a rule is in a class."""

    expression: ClassExpression
    node: str


class PropertyAtom(Struct, frozen=True):
    """A property leads from one variable of a rule to another."""

    property: ObjectProperty
    source: str
    target: str


class SafeRule(Struct, frozen=True):
    """A DL-safe rule: where the body holds of named individuals, the head does."""

    body: tuple[ClassAtom | PropertyAtom, ...]
    head: ClassAtom | PropertyAtom

    def with_classes(self, of: Callable[[ClassExpression], ClassExpression]) -> SafeRule:
        """The same with other class expressions."""

        def other(atom: ClassAtom | PropertyAtom) -> ClassAtom | PropertyAtom:
            return ClassAtom(of(atom.expression), atom.node) if isinstance(atom, ClassAtom) else atom

        return SafeRule(tuple(map(other, self.body)), other(self.head))


# --- assertions -------------------------------------------------------------------------------------------


class ClassAssertion(Struct, frozen=True):
    expression: ClassExpression
    individual: Term


class PropertyAssertion(Struct, frozen=True):
    property: ObjectProperty
    subject: Term
    object: Term


class NegativePropertyAssertion(Struct, frozen=True):
    property: ObjectProperty
    subject: Term
    object: Term


class DataAssertion(Struct, frozen=True):
    property: Term
    subject: Term
    literal: Term


class NegativeDataAssertion(Struct, frozen=True):
    property: Term
    subject: Term
    literal: Term


class SameIndividual(Struct, frozen=True):
    individuals: tuple[Term, ...]


class DifferentIndividuals(Struct, frozen=True):
    """Pairwise different."""

    individuals: tuple[Term, ...]


Assertion = (
    ClassAssertion
    | PropertyAssertion
    | NegativePropertyAssertion
    | DataAssertion
    | NegativeDataAssertion
    | SameIndividual
    | DifferentIndividuals
)

Axiom = (
    SubClassOf
    | EquivalentClasses
    | DisjointClasses
    | DisjointUnion
    | SubProperty
    | SubChain
    | EquivalentProperties
    | DisjointProperties
    | InverseProperties
    | Domain
    | Range
    | Functional
    | InverseFunctional
    | Reflexive
    | Irreflexive
    | Symmetric
    | Asymmetric
    | Transitive
    | SubDataProperty
    | EquivalentDataProperties
    | DisjointDataProperties
    | DataDomain
    | DataPropertyRange
    | FunctionalData
    | DatatypeDefinition
    | HasKey
    | SafeRule
    | Assertion
)
