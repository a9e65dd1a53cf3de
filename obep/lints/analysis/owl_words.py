"""Names in the namespaces of OWL, RDF and XML Schema that these do not define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from obep.errors import Diagnostic
from obep.lints.context import OntologyContext
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl.axioms import OWL, RDF, RDFS, XSD
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS
from obep.ontology.owl.verbalise import name, prefixed
from obep.query.nearest_name import nearest

_NAMESPACES = (f"<{OWL}", f"<{RDFS}", f"<{RDF}", f"<{XSD}")
_OWL = """
    AllDifferent AllDisjointClasses AllDisjointProperties Annotation AnnotationProperty AsymmetricProperty
    Axiom Class DataRange DatatypeProperty DeprecatedClass DeprecatedProperty FunctionalProperty
    InverseFunctionalProperty IrreflexiveProperty NamedIndividual NegativePropertyAssertion Nothing
    ObjectProperty Ontology OntologyProperty ReflexiveProperty Restriction SymmetricProperty Thing
    TransitiveProperty allValuesFrom annotatedProperty annotatedSource annotatedTarget assertionProperty
    backwardCompatibleWith bottomDataProperty bottomObjectProperty cardinality complementOf
    datatypeComplementOf deprecated differentFrom disjointUnionOf disjointWith distinctMembers
    equivalentClass equivalentProperty hasKey hasSelf hasValue imports incompatibleWith intersectionOf
    inverseOf maxCardinality maxQualifiedCardinality members minCardinality minQualifiedCardinality object
    onClass onDataRange onDatatype onProperties onProperty oneOf predicate priorVersion propertyChainAxiom
    propertyDisjointWith qualifiedCardinality rational real sameAs someValuesFrom sourceIndividual subject
    targetIndividual targetValue topDataProperty topObjectProperty unionOf versionIRI versionInfo
    withRestrictions
"""
_RDFS = """
    Class Container ContainerMembershipProperty Datatype Literal Resource comment domain isDefinedBy label
    member range seeAlso subClassOf subPropertyOf
"""
_RDF = """
    Alt Bag CompoundLiteral HTML JSON List PlainLiteral Property Seq Statement XMLLiteral dirLangString
    direction first langRange langString language nil object predicate reifies rest subject type value
"""
_XSD = """
    ENTITIES ENTITY ID IDREF IDREFS NCName NMTOKEN NMTOKENS NOTATION Name QName anyAtomicType
    anySimpleType anyType anyURI base64Binary boolean byte date dateTime dateTimeStamp dayTimeDuration
    decimal double duration float gDay gMonth gMonthDay gYear gYearMonth hexBinary int integer language
    long negativeInteger nonNegativeInteger nonPositiveInteger normalizedString positiveInteger short
    string time token unsignedByte unsignedInt unsignedLong unsignedShort untypedAtomic yearMonthDuration
"""
WORDS = frozenset(
    f"{prefix}:{word}"
    for prefix, words in (("owl", _OWL), ("rdfs", _RDFS), ("rdf", _RDF), ("xsd", _XSD))
    for word in words.split()
)
"""All names of OWL 1 and 2, RDF 1.1 (with additions of 1.2 and JSON-LD) and XML Schema."""
_MEANT = {
    "and": "owl:intersectionOf",
    "bool": "xsd:boolean",
    "dataproperty": "owl:DatatypeProperty",
    "description": "rdfs:comment",
    "disjoint": "owl:disjointWith",
    "disjointclass": "owl:disjointWith",
    "disjointclasses": "owl:disjointWith",
    "equivalent": "owl:equivalentClass",
    "equivalentto": "owl:equivalentClass",
    "exactly": "owl:cardinality",
    "functional": "owl:FunctionalProperty",
    "individual": "owl:NamedIndividual",
    "inversefunctional": "owl:InverseFunctionalProperty",
    "inverseproperty": "owl:inverseOf",
    "isa": "rdfs:subClassOf",
    "max": "owl:maxCardinality",
    "min": "owl:minCardinality",
    "not": "owl:complementOf",
    "number": "xsd:decimal",
    "only": "owl:allValuesFrom",
    "or": "owl:unionOf",
    "propertychain": "owl:propertyChainAxiom",
    "some": "owl:someValuesFrom",
    "str": "xsd:string",
    "subdatapropertyof": "rdfs:subPropertyOf",
    "subobjectpropertyof": "rdfs:subPropertyOf",
    "subpropertychain": "owl:propertyChainAxiom",
    "symmetric": "owl:SymmetricProperty",
    "text": "xsd:string",
    "timestamp": "xsd:dateTime",
    "transitive": "owl:TransitiveProperty",
}
"""Frequent wrong names (mostly from Manchester syntax) that no spelling correction finds."""


def misspelt_words(context: OntologyContext) -> list[Diagnostic]:
    """Names of VOCAB files that their namespace does not define."""
    files = context.words
    seen = {s for triples in files.values() for s, p, _ in triples if p == RDF_TYPE}
    said: list[Diagnostic] = []
    for path, triples in files.items():
        for word, (subject, predicate, _) in _uses(triples):
            if word not in seen:
                seen.add(word)
                if not _is_known(prefixed(word)):
                    said.append(_warning(word, subject, path, verb=word == predicate))
    return said


def _uses(triples: Iterable[Triple]) -> Iterator[tuple[Term, Triple]]:
    """Words in the namespaces of OWL and where they stand: as predicates, classes, datatypes, properties."""
    for triple in triples:
        _, p, o = triple
        if p.startswith(_NAMESPACES[:3]):  # what is wrong about facets is an error: `bounds`
            yield p, triple
        if o.startswith(_NAMESPACES) and p not in ANNOTATIONS:
            yield o, triple


def _is_known(word: str) -> bool:
    _, _, local = word.partition(":")
    return word in WORDS or not local or (word.startswith("rdf:_") and local[1:].isdigit())


def _warning(word: Term, subject: Term, path: Path, *, verb: bool) -> Diagnostic:
    short = prefixed(word)
    known = sorted(one for one in WORDS if not verb or re.match("(?!xsd)[a-z]+:[a-z]", one))
    about = "" if subject.startswith("_") else f"; see {name(subject)}"
    return Diagnostic(
        "OBEP242",
        f"{short} is not a name of OWL",
        str(path),
        reason=f"OWL 2, RDF and XML Schema do not define it, so it has no effect{about}.",
        remedy=_MEANT.get(short.partition(":")[2].lower())
        or nearest(short, known)
        or "check its spelling; a word of your own needs a namespace of your own",
    )
