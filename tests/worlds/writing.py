"""Write worlds in functional syntax (for judges), Turtle (for obep) and Manchester syntax (its events)."""

from __future__ import annotations

from collections.abc import Iterable

from worlds.vocabulary import (
    ANNOTATION,
    CLASSES,
    DATA,
    PREFIXES,
    ROLES,
    Expression,
    Node,
)


def functional(node: Expression | int) -> str:
    """A node in OWL's functional syntax."""
    if not isinstance(node, tuple):
        return str(node)
    if node[0] == "Literal":
        return _literal(node)
    return f"{node[0]}({' '.join(functional(part) for part in node[1:])})"


def _literal(node: Node) -> str:
    return f'"{node[1]}"^^{node[2]}'


TURTLE_PREFIXES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
DECLARED = "".join(
    f"{name} a owl:{kind} .\n"
    for kind, names in (
        ("Class", CLASSES),
        ("ObjectProperty", ROLES),
        ("DatatypeProperty", DATA),
        ("AnnotationProperty", (ANNOTATION,)),
    )
    for name in names
)


def turtle(nodes: Iterable[Node]) -> str:
    """Axioms as statements of Turtle, after OWL 2's mapping to RDF graphs."""
    return "".join(f"{_statement(node)} .\n" for node in nodes)


_PREDICATES = {
    "SubClassOf": "rdfs:subClassOf",
    "SubDataPropertyOf": "rdfs:subPropertyOf",
    "InverseObjectProperties": "owl:inverseOf",
    "ObjectPropertyDomain": "rdfs:domain",
    "ObjectPropertyRange": "rdfs:range",
    "DataPropertyDomain": "rdfs:domain",
    "DataPropertyRange": "rdfs:range",
    "DatatypeDefinition": "owl:equivalentClass",
}
_PAIRWISE = {
    "EquivalentClasses": "owl:equivalentClass",
    "EquivalentObjectProperties": "owl:equivalentProperty",
    "EquivalentDataProperties": "owl:equivalentProperty",
    "SameIndividual": "owl:sameAs",
}
_DISTINCT = {
    "DisjointClasses": ("owl:disjointWith", "owl:AllDisjointClasses", "owl:members"),
    "DisjointObjectProperties": ("owl:propertyDisjointWith", "owl:AllDisjointProperties", "owl:members"),
    "DisjointDataProperties": ("owl:propertyDisjointWith", "owl:AllDisjointProperties", "owl:members"),
    "DifferentIndividuals": ("owl:differentFrom", "owl:AllDifferent", "owl:distinctMembers"),
}


def _statement(node: Node) -> str:
    head, *rest = node
    parts = [_resource(part) for part in rest]
    if head == "SubObjectPropertyOf":
        if isinstance(rest[0], tuple) and rest[0][0] == "ObjectPropertyChain":
            return f"{parts[1]} owl:propertyChainAxiom {_list(rest[0][1:])}"
        return f"{parts[0]} rdfs:subPropertyOf {parts[1]}"
    if head in _PREDICATES:
        declared = "rdfs:Datatype ; " if head == "DatatypeDefinition" else ""
        return f"{parts[0]} {'a ' + declared if declared else ''}{_PREDICATES[head]} {parts[1]}"
    if head in _PAIRWISE:
        return " .\n".join(f"{parts[0]} {_PAIRWISE[head]} {other}" for other in parts[1:])
    if head in _DISTINCT:
        predicate, kind, members = _DISTINCT[head]
        if len(parts) == 2 and head != "DifferentIndividuals":
            return f"{parts[0]} {predicate} {parts[1]}"
        return f"[] a {kind} ; {members} {_list(rest)}"
    if head == "DisjointUnion":
        return f"{parts[0]} owl:disjointUnionOf {_list(rest[1:])}"
    if head == "HasKey":
        return f"{parts[0]} owl:hasKey {_list((*rest[1][1:], *rest[2][1:]))}"
    if head == "ClassAssertion":
        return f"{parts[1]} a {parts[0]}"
    if head in ("ObjectPropertyAssertion", "DataPropertyAssertion"):
        return f"{parts[1]} {parts[0]} {parts[2]}"
    if head == "AnnotationAssertion":
        return f"{parts[1]} {parts[0]} {parts[2]}"
    if head.startswith("Negative"):
        target = "targetIndividual" if "Object" in head else "targetValue"
        return (
            f"[] a owl:NegativePropertyAssertion ; owl:sourceIndividual {parts[1]} ; "
            f"owl:assertionProperty {parts[0]} ; owl:{target} {parts[2]}"
        )
    kind = head.removesuffix("ObjectProperty").removesuffix("DataProperty")
    return f"{parts[0]} a owl:{kind}Property"


def _list(nodes: Iterable[Expression]) -> str:
    return f"( {' '.join(_resource(node) for node in nodes)} )"


_LISTED = {
    "ObjectIntersectionOf": ("owl:Class", "owl:intersectionOf"),
    "ObjectUnionOf": ("owl:Class", "owl:unionOf"),
    "ObjectOneOf": ("owl:Class", "owl:oneOf"),
    "DataIntersectionOf": ("rdfs:Datatype", "owl:intersectionOf"),
    "DataUnionOf": ("rdfs:Datatype", "owl:unionOf"),
    "DataOneOf": ("rdfs:Datatype", "owl:oneOf"),
}
_RESTRICTIONS = {"SomeValuesFrom": "someValuesFrom", "AllValuesFrom": "allValuesFrom", "HasValue": "hasValue"}
_COUNTS = {"MinCardinality": "min", "MaxCardinality": "max", "ExactCardinality": ""}


def _resource(node: Expression) -> str:
    """A name, or a blank node that stands for an expression."""
    if not isinstance(node, tuple):
        return str(node)
    head, *rest = node
    if head == "Literal":
        return _literal(node)
    if head in _LISTED:
        kind, predicate = _LISTED[head]
        return f"[ a {kind} ; {predicate} {_list(rest)} ]"
    if head == "ObjectInverseOf":
        return f"[ owl:inverseOf {rest[0]} ]"
    if head == "ObjectComplementOf":
        return f"[ a owl:Class ; owl:complementOf {_resource(rest[0])} ]"
    if head == "DataComplementOf":
        return f"[ a rdfs:Datatype ; owl:datatypeComplementOf {_resource(rest[0])} ]"
    if head == "DatatypeRestriction":
        facets = " ".join(f"[ {f} {_literal(v)} ]" for f, v in zip(rest[1::2], rest[2::2], strict=True))
        return f"[ a rdfs:Datatype ; owl:onDatatype {rest[0]} ; owl:withRestrictions ( {facets} ) ]"
    if head == "ObjectHasSelf":
        return f"[ a owl:Restriction ; owl:onProperty {_resource(rest[0])} ; owl:hasSelf true ]"
    return _restriction(head, rest)


def _restriction(head: str, rest: list[Expression]) -> str:
    is_data = head.startswith("Data")
    name = head.removeprefix("Data").removeprefix("Object")
    if name in _RESTRICTIONS:
        return (
            f"[ a owl:Restriction ; owl:onProperty {_resource(rest[0])} ; "
            f"owl:{_RESTRICTIONS[name]} {_resource(rest[1])} ]"
        )
    if name not in _COUNTS:
        return ""  # a part of an axiom that `_statement` writes by itself
    number = f'"{rest[0]}"^^xsd:nonNegativeInteger'
    side = _COUNTS[name]
    start = f"[ a owl:Restriction ; owl:onProperty {_resource(rest[1])} ; "
    if len(rest) == 2:
        return f"{start}owl:{side + 'C' if side else 'c'}ardinality {number} ]"
    qualified = f"owl:{side + 'Q' if side else 'q'}ualifiedCardinality {number}"
    filler = f"owl:{'onDataRange' if is_data else 'onClass'} {_resource(rest[2])}"
    return f"{start}{qualified} ; {filler} ]"


_WORDS = {
    "SomeValuesFrom": "some", "AllValuesFrom": "only", "HasValue": "value",
    "MinCardinality": "min", "MaxCardinality": "max", "ExactCardinality": "exactly",
}  # fmt: skip
_FACETS = {
    "xsd:minInclusive": ">=", "xsd:maxInclusive": "<=", "xsd:minExclusive": ">", "xsd:maxExclusive": "<",
}  # fmt: skip


def manchester(node: Expression) -> str:
    """A class expression or data range in Manchester syntax, with parentheses around every part."""
    if not isinstance(node, tuple):
        return str(node)
    head, *rest = node
    name = head.removeprefix("Data").removeprefix("Object")
    match name:
        case "Literal":
            return _literal(node)
        case "IntersectionOf" | "UnionOf":
            word = " and " if name == "IntersectionOf" else " or "
            return f"({word.join(manchester(part) for part in rest)})"
        case "ComplementOf":
            return f"(not {manchester(rest[0])})"
        case "OneOf":
            return f"{{{', '.join(manchester(part) for part in rest)}}}"
        case "InverseOf":
            return f"inverse {rest[0]}"
        case "HasSelf":
            return f"({manchester(rest[0])} Self)"
        case "typeRestriction":
            facets = ", ".join(
                f"{_FACETS.get(f, f.removeprefix('xsd:'))} {_literal(v)}"
                for f, v in zip(rest[1::2], rest[2::2], strict=True)
            )
            return f"{rest[0]}[{facets}]"
    if name.endswith("Cardinality"):
        filler = f" {manchester(rest[2])}" if len(rest) > 2 else ""
        return f"({manchester(rest[1])} {_WORDS[name]} {rest[0]}{filler})"
    return f"({manchester(rest[0])} {_WORDS[name]} {manchester(rest[1])})"
