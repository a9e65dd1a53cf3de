"""The kinds of axioms, expressions and special names of OWL 2 DL, and which of them a world has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from worlds.vocabulary import BOTTOM, BOTTOM_DATA, NOTHING, THING, TOP, TOP_DATA, Expression

CLASS_KINDS = (
    "ObjectIntersectionOf", "ObjectUnionOf", "ObjectComplementOf", "ObjectOneOf",
    "ObjectSomeValuesFrom", "ObjectAllValuesFrom", "ObjectHasValue", "ObjectHasSelf",
    "ObjectMinCardinality", "ObjectMaxCardinality", "ObjectExactCardinality",
    "DataSomeValuesFrom", "DataAllValuesFrom", "DataHasValue",
    "DataMinCardinality", "DataMaxCardinality", "DataExactCardinality",
)  # fmt: skip
RANGE_KINDS = (
    "DataIntersectionOf", "DataUnionOf", "DataComplementOf", "DataOneOf", "DatatypeRestriction",
)  # fmt: skip
CLASS_AXIOMS = ("SubClassOf", "EquivalentClasses", "DisjointClasses", "DisjointUnion", "HasKey")
ROLE_AXIOMS = (
    "SubObjectPropertyOf", "ObjectPropertyChain", "EquivalentObjectProperties", "DisjointObjectProperties",
    "InverseObjectProperties", "ObjectPropertyDomain", "ObjectPropertyRange",
    "FunctionalObjectProperty", "InverseFunctionalObjectProperty", "ReflexiveObjectProperty",
    "IrreflexiveObjectProperty", "SymmetricObjectProperty", "AsymmetricObjectProperty",
    "TransitiveObjectProperty",
)  # fmt: skip
DATA_AXIOMS = (
    "SubDataPropertyOf", "EquivalentDataProperties", "DisjointDataProperties", "DataPropertyDomain",
    "DataPropertyRange", "FunctionalDataProperty", "DatatypeDefinition",
)  # fmt: skip
ASSERTIONS = (
    "ClassAssertion", "ObjectPropertyAssertion", "DataPropertyAssertion",
    "NegativeObjectPropertyAssertion", "NegativeDataPropertyAssertion",
    "SameIndividual", "DifferentIndividuals",
)  # fmt: skip
ANNOTATIONS = ("AnnotationAssertion",)
NAME_KINDS = ("ObjectInverseOf", THING, NOTHING, TOP, BOTTOM, TOP_DATA, BOTTOM_DATA)
FACETS = (
    "xsd:minInclusive", "xsd:maxInclusive", "xsd:minExclusive", "xsd:maxExclusive",
    "xsd:length", "xsd:minLength", "xsd:maxLength", "xsd:pattern",
)  # fmt: skip
KINDS = (
    *CLASS_KINDS, *RANGE_KINDS, *CLASS_AXIOMS, *ROLE_AXIOMS, *DATA_AXIOMS, *ASSERTIONS, *ANNOTATIONS,
    *NAME_KINDS,
)  # fmt: skip
PAIRS = tuple(combinations(KINDS, 2))
_NAMES = frozenset(NAME_KINDS) | frozenset(FACETS)


def heads(node: Expression) -> Iterator[str]:
    """The heads of a node and of all nodes within, and the names with a meaning of their own."""
    if isinstance(node, tuple):
        if node[0]:
            yield node[0]
        if node[0] != "Literal":
            for part in node[1:]:
                yield from heads(part)
    elif node in _NAMES:
        yield node


def kinds_of(nodes: Iterable[Expression]) -> frozenset[str]:
    """The kinds that occur in some axioms and class expressions."""
    return frozenset(head for node in nodes for head in heads(node)) & frozenset(KINDS)
