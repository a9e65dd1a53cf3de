"""A facet of an ontology that could hold of nothing is refused, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import ObepError
from obep.ontology.owl.axioms import DataSome, EquivalentClasses, Restricted
from obep.ontology.owl.load import load_ontology

HEAD = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:v a owl:DatatypeProperty . :Low a owl:Class .
"""


def ontology(folder: Path, datatype: str, facet: str) -> Path:
    range = f"[ a rdfs:Datatype ; owl:onDatatype {datatype} ; owl:withRestrictions ( [ {facet} ] ) ]"
    path = folder / "o.ttl"
    low = f"[ a owl:Restriction ; owl:onProperty :v ; owl:someValuesFrom {range} ]"
    path.write_text(f"{HEAD}:Low owl:equivalentClass {low} .")
    return path


REFUSED = [
    ("double", "xsd:maxExclusive 5", "with 5, which is an xsd:integer", '"5"^^xsd:double      # or 5e0'),
    ("double", "xsd:minInclusive -5.5", "with -5.5, which is an xsd:decimal", "# or -5.5e0"),
    ("double", 'xsd:maxExclusive "5.0"', 'with "5.0", which is text', '"5.0"^^xsd:double'),
    ("double", 'xsd:maxExclusive "5"@en', 'with "5"@en, which is text', '"5"^^xsd:double'),
    ("double", 'xsd:maxExclusive "abc"^^xsd:double', 'with "abc"^^xsd:double, which is no ', '"30"^^'),
    ("double", "xsd:maxExclusive :x", "with <http://e/#x>, which is no literal", '"30"^^xsd:double'),
    ("float", "xsd:maxExclusive 5e0", '"5e0"^^xsd:double, which is an xsd:double', '"5e0"^^xsd:float'),
    ("integer", "xsd:maxExclusive 5e0", '"5e0"^^xsd:double, which is an xsd:double', '"30"^^xsd:integer'),
    ("decimal", "xsd:minExclusive 2.5e0", "which is an xsd:double", '"30"^^xsd:decimal'),
    ("dateTime", 'xsd:minInclusive "2026-01-01"^^xsd:date', "which is an xsd:date", '-01T10:00:00Z"^^'),
    ("string", 'xsd:maxExclusive "m"', "restricts xsd:string with xsd:maxExclusive", "another facet"),
    ("boolean", "xsd:minInclusive true", "restricts xsd:boolean with xsd:minInclusive", "another facet"),
    ("double", 'xsd:pattern "5.*"', "restricts xsd:double with xsd:pattern", "another facet"),
    ("string", 'xsd:minLength "three"', 'with "three", which is not a count', "xsd:minLength 3"),
    ("string", 'xsd:maxLength "12"', 'with "12", which is not a count', "xsd:maxLength 12"),
    ("string", "xsd:length -1", "with -1, which is not a count", "xsd:length 3"),
    ("string", "xsd:length 2.0", "with 2.0, which is not a count", "xsd:length 3"),
    ("string", "xsd:pattern 5", "with xsd:pattern 5, which is not a plain string", 'xsd:pattern "5"'),
    ("double", "xsd:lessThan 5e0", "with xsd:lessThan, which is not a facet", "xsd:maxExclusive"),
    ("double", "owl:maxExclusive 5e0", "with owl:maxExclusive, which is not a facet", "xsd:maxExclusive"),
    ("decimal", "xsd:fractionDigits 2", "with xsd:fractionDigits, which is not a facet", "xsd:minInclusive"),
]  # fmt: skip


@pytest.mark.parametrize(("datatype", "facet", "said", "remedy"), REFUSED)
def test_a_facet_that_nothing_can_pass_is_refused(
    tmp_path: Path, datatype: str, facet: str, said: str, remedy: str
) -> None:
    path = ontology(tmp_path, f"xsd:{datatype}", facet)
    with pytest.raises(ObepError) as refused:
        load_ontology([path])
    [one] = refused.value.diagnostics
    assert (one.code, one.file) == ("OBEP312", str(path))
    assert one.message.startswith("an axiom about Low (v) ")
    assert said in one.message
    assert remedy in one.remedy


@pytest.mark.parametrize(
    ("datatype", "facet"),
    [
        ("xsd:double", "xsd:maxExclusive 5e0"),
        ("xsd:double", 'xsd:maxExclusive "5"^^xsd:double'),
        ("xsd:decimal", "xsd:maxExclusive 5"),
        ("xsd:integer", "xsd:maxExclusive 5.5"),
        ("xsd:positiveInteger", "xsd:maxInclusive 5"),
        ("owl:real", "xsd:maxInclusive 5.0"),
        ("xsd:dateTime", 'xsd:minInclusive "2026-01-01T00:00:00Z"^^xsd:dateTimeStamp'),
        ("xsd:string", "xsd:minLength 0"),
        ("xsd:string", 'xsd:maxLength "3"^^xsd:nonNegativeInteger'),
        ("xsd:string", 'xsd:pattern "R[0-9]+"'),
        ("xsd:string", 'xsd:pattern "R[0-9]+"^^rdf:PlainLiteral'),
        ("rdf:PlainLiteral", 'rdf:langRange "en"'),
        ("xsd:hexBinary", "xsd:length 4"),
        ("xsd:gYear", 'xsd:minInclusive "2026"^^xsd:gYear'),  # a datatype that OWL 2 does not have
    ],
)
def test_a_facet_that_fits_is_read(tmp_path: Path, datatype: str, facet: str) -> None:
    [axiom] = load_ontology([ontology(tmp_path, datatype, facet)]).axioms
    assert isinstance(axiom, EquivalentClasses)
    some = axiom.operands[1]
    assert isinstance(some, DataSome)
    assert isinstance(some.range, Restricted)
    assert len(some.range.facets) == 1
