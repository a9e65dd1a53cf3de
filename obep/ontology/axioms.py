"""OWL 2 DL as values: class expressions, data ranges, axioms and assertions.

Entities, individuals and literals are N-Triples terms (`<http://…>`, `_:b`, `"5"^^<…>`). Nothing here parses
or reasons. Operands keep the order in which they were written; equality is structural.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from obep.model import RDF_TYPE, Term, Triple

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
SAME_AS = f"<{OWL}sameAs>"
DIFFERENT_FROM = f"<{OWL}differentFrom>"
LITERAL = f"<{RDFS}Literal>"
NAMED_INDIVIDUAL = f"<{OWL}NamedIndividual>"


# --- properties -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inverse:
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


@dataclass(frozen=True, slots=True)
class Datatype:
    """A named datatype, built in or defined (`DatatypeDefinition`)."""

    iri: Term


@dataclass(frozen=True, slots=True)
class DataAnd:
    operands: tuple[DataRange, ...]


@dataclass(frozen=True, slots=True)
class DataOr:
    operands: tuple[DataRange, ...]


@dataclass(frozen=True, slots=True)
class DataNot:
    operand: DataRange


@dataclass(frozen=True, slots=True)
class DataOneOf:
    literals: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Restricted:
    """A datatype with facets: pairs of the facet's IRI (`<…XMLSchema#minInclusive>`) and a literal."""

    datatype: Term
    facets: tuple[tuple[Term, Term], ...]


DataRange = Datatype | DataAnd | DataOr | DataNot | DataOneOf | Restricted


# --- class expressions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Class:
    iri: Term


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    operand: ClassExpression


@dataclass(frozen=True, slots=True)
class OneOf:
    individuals: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Some:
    property: ObjectProperty
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Only:
    property: ObjectProperty
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Value:
    property: ObjectProperty
    individual: Term


@dataclass(frozen=True, slots=True)
class HasSelf:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class Min:
    count: int
    property: ObjectProperty
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Max:
    count: int
    property: ObjectProperty
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Exactly:
    count: int
    property: ObjectProperty
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class DataSome:
    property: Term
    range: DataRange


@dataclass(frozen=True, slots=True)
class DataOnly:
    property: Term
    range: DataRange


@dataclass(frozen=True, slots=True)
class DataValue:
    property: Term
    literal: Term


@dataclass(frozen=True, slots=True)
class DataMin:
    count: int
    property: Term
    range: DataRange


@dataclass(frozen=True, slots=True)
class DataMax:
    count: int
    property: Term
    range: DataRange


@dataclass(frozen=True, slots=True)
class DataExactly:
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


# --- axioms about classes ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubClassOf:
    sub: ClassExpression
    sup: ClassExpression


@dataclass(frozen=True, slots=True)
class EquivalentClasses:
    operands: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class DisjointClasses:
    """Pairwise disjoint."""

    operands: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class DisjointUnion:
    """The named class is the union of the operands, which are pairwise disjoint."""

    name: Term
    operands: tuple[ClassExpression, ...]


# --- axioms about object properties -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubProperty:
    sub: ObjectProperty
    sup: ObjectProperty


@dataclass(frozen=True, slots=True)
class SubChain:
    """`chain[0] o chain[1] o … SubPropertyOf sup`."""

    chain: tuple[ObjectProperty, ...]
    sup: ObjectProperty


@dataclass(frozen=True, slots=True)
class EquivalentProperties:
    operands: tuple[ObjectProperty, ...]


@dataclass(frozen=True, slots=True)
class DisjointProperties:
    """Pairwise disjoint."""

    operands: tuple[ObjectProperty, ...]


@dataclass(frozen=True, slots=True)
class InverseProperties:
    first: ObjectProperty
    second: ObjectProperty


@dataclass(frozen=True, slots=True)
class Domain:
    property: ObjectProperty
    domain: ClassExpression


@dataclass(frozen=True, slots=True)
class Range:
    property: ObjectProperty
    range: ClassExpression


@dataclass(frozen=True, slots=True)
class Functional:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class InverseFunctional:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class Reflexive:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class Irreflexive:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class Symmetric:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class Asymmetric:
    property: ObjectProperty


@dataclass(frozen=True, slots=True)
class Transitive:
    property: ObjectProperty


# --- axioms about data properties, datatypes and keys -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubDataProperty:
    sub: Term
    sup: Term


@dataclass(frozen=True, slots=True)
class EquivalentDataProperties:
    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class DisjointDataProperties:
    """Pairwise disjoint."""

    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class DataDomain:
    property: Term
    domain: ClassExpression


@dataclass(frozen=True, slots=True)
class DataPropertyRange:
    property: Term
    range: DataRange


@dataclass(frozen=True, slots=True)
class FunctionalData:
    property: Term


@dataclass(frozen=True, slots=True)
class DatatypeDefinition:
    datatype: Term
    range: DataRange


@dataclass(frozen=True, slots=True)
class HasKey:
    """Two *named* instances of `expression` that agree on all these properties are the same."""

    expression: ClassExpression
    object_properties: tuple[ObjectProperty, ...]
    data_properties: tuple[Term, ...]


# --- assertions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassAssertion:
    expression: ClassExpression
    individual: Term


@dataclass(frozen=True, slots=True)
class PropertyAssertion:
    property: ObjectProperty
    subject: Term
    object: Term


@dataclass(frozen=True, slots=True)
class NegativePropertyAssertion:
    property: ObjectProperty
    subject: Term
    object: Term


@dataclass(frozen=True, slots=True)
class DataAssertion:
    property: Term
    subject: Term
    literal: Term


@dataclass(frozen=True, slots=True)
class NegativeDataAssertion:
    property: Term
    subject: Term
    literal: Term


@dataclass(frozen=True, slots=True)
class SameIndividual:
    individuals: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class DifferentIndividuals:
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
    | Assertion
)


@dataclass(frozen=True, slots=True)
class Axioms:
    """T: its axioms (assertions that stand in VOCAB files are among them) and its declared names."""

    axioms: tuple[Axiom, ...] = ()
    classes: frozenset[Term] = frozenset()
    object_properties: frozenset[Term] = frozenset()
    data_properties: frozenset[Term] = frozenset()
    datatypes: frozenset[Term] = frozenset()
    individuals: frozenset[Term] = frozenset()
    annotation_properties: frozenset[Term] = frozenset()

    def __or__(self, other: Axioms) -> Axioms:
        """Both together, without duplicates."""
        return Axioms(
            tuple(dict.fromkeys(self.axioms + other.axioms)),
            *(getattr(self, f.name) | getattr(other, f.name) for f in fields(self)[1:]),
        )

    def assertion(self, triple: Triple) -> Assertion | None:
        """What a triple of an item or of K says; `None` if T does not know its class or property."""
        s, p, o = triple
        literal = o.startswith('"')
        if p == RDF_TYPE:
            known = o in self.classes or o in (THING, NOTHING)
            return ClassAssertion(Class(o), s) if known else None
        if p == SAME_AS and not literal:
            return SameIndividual((s, o))
        if p == DIFFERENT_FROM and not literal:
            return DifferentIndividuals((s, o))
        if p in self.data_properties and literal:
            return DataAssertion(p, s, o)
        if p in self.object_properties and not literal:
            return PropertyAssertion(p, s, o)
        return None
