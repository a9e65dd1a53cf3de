"""Words that look like OWL's and are none are said, with the right one; what OWL has is never said."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdflib import OWL, RDF, RDFS

from obep.lints.analysis.owl_words import WORDS, misspelt_words
from obep.lints.apply_rules import apply_ontology_rules
from obep.lints.context import OntologyContext
from obep.ontology.owl.load import ontology_files, read_rdf

ROOT = Path(__file__).parents[2]
HEAD = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
OTHER = "check its spelling; a word of your own needs a namespace of your own"


def said(folder: Path, *texts: str) -> list[tuple[str, str, str]]:
    """File, word and remedy of what is said about files that import nothing."""
    paths = [folder / f"{n}.ttl" for n in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(HEAD + text)
    found = apply_ontology_rules(OntologyContext(ontology_files(paths, {}), []), None)
    assert all((one.code, one.severity) == ("OBEP242", "warning") for one in found)
    return [(Path(one.file).stem, one.message.split()[0], one.remedy) for one in found]


@pytest.mark.parametrize(
    ("text", "word", "meant"),
    [
        (":A owl:equivalentTo :B .", "owl:equivalentTo", "owl:equivalentClass"),
        (":A rdfs:subclassOf :B .", "rdfs:subclassOf", "rdfs:subClassOf"),
        (":A owl:subClassOf :B .", "owl:subClassOf", "rdfs:subClassOf"),
        (":p owl:inverse :q .", "owl:inverse", "owl:inverseOf"),
        (":p owl:domain :A .", "owl:domain", "rdfs:domain"),
        (":p a owl:ObjectPropety .", "owl:ObjectPropety", "owl:ObjectProperty"),
        (":p a owl:DataProperty .", "owl:DataProperty", "owl:DatatypeProperty"),
        (":A a owl:class .", "owl:class", "owl:Class"),
        (":A rdfs:subClassOf owl:thing .", "owl:thing", "owl:Thing"),
        (":p rdfs:range xsd:Double .", "xsd:Double", "xsd:double"),
        (":A owl:equivalentClass [ a owl:Restriction ; owl:someValueFrom :B ] .", "owl:someValueFrom",
         "owl:someValuesFrom"),
        (":A rdfs:quite :B .", "rdfs:quite", OTHER),
    ],
)  # fmt: skip
def test_a_word_that_owl_does_not_have_is_said_with_the_nearest(
    tmp_path: Path, text: str, word: str, meant: str
) -> None:
    assert said(tmp_path, text) == [("0", word, meant)]


def test_a_word_is_said_once_where_it_is_used_first(tmp_path: Path) -> None:
    slip = ":A rdfs:subclassOf :B . :C rdfs:subclassOf :D ."
    assert said(tmp_path, ":A a owl:Class .", slip, slip) == [("1", "rdfs:subclassOf", "rdfs:subClassOf")]


@pytest.mark.parametrize(
    "text",
    [
        ":A rdfs:label 'a' ; rdfs:comment 'b' ; rdfs:seeAlso owl:nowhere .",
        ":A rdfs:isDefinedBy <http://www.w3.org/2002/07/owl#> .",
        "<http://e/> a owl:Ontology ; owl:versionInfo '1' ; owl:versionIRI :i ; owl:priorVersion :h .",
        ":x a rdf:Bag ; rdf:_1 :y ; rdf:_12 :z ; rdf:value 3 .",
        "owl:mine a owl:AnnotationProperty . :A owl:mine 'x' .",
        ":A :equivalentTo :B ; <http://www.w3.org/2002/07/owl/equivalentTo> :C .",
        ":p rdfs:range xsd:gYear , xsd:duration , owl:real , rdf:langString , rdf:PlainLiteral .",
    ],
)  # fmt: skip
def test_what_owl_and_rdf_have_is_not_said(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text) == []


def test_all_that_rdflib_knows_of_owl_and_rdf_is_known() -> None:
    """Its lists are made from the files of the W3C."""
    names = {"owl": OWL, "rdf": RDF, "rdfs": RDFS}
    known = {f"{p}:{iri.split('#')[1]}" for p, of in names.items() for iri in dir(of) if "#" in iri}
    assert len(known) > 100
    assert sorted(known - WORDS) == []


@pytest.mark.parametrize("folder", ["ontologies", "examples"])
def test_what_comes_with_obep_uses_the_words_of_owl(folder: str) -> None:
    kinds = (".ttl", ".owl", ".rdf", ".nt", ".jsonld")
    paths = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in kinds]
    assert paths
    assert misspelt_words(OntologyContext({path: read_rdf(path) for path in paths}, [])) == []
