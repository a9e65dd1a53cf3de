"""The runner for the W3C's OWL 2 cases, on small cases of the same format."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from w3c_owl import results

pytestmark = pytest.mark.java
XMLNS = """xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:e="http://e/#" xml:base="http://e/" """
CLASSES = """<owl:Class rdf:about="#A"><rdfs:subClassOf rdf:resource="#B"/></owl:Class>
<owl:Class rdf:about="#B"/><owl:Class rdf:about="#C"><owl:disjointWith rdf:resource="#B"/></owl:Class>
<owl:ObjectProperty rdf:about="#p"/>"""
A_OF_X, B_OF_X, C_OF_X = (f'<e:{name} rdf:about="#x"/>' for name in "ABC")
EMPTY = """<owl:Class rdf:about="#E"><rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="#p"/>
<owl:someValuesFrom rdf:resource="http://www.w3.org/2002/07/owl#Nothing"/></owl:Restriction>
</rdfs:subClassOf></owl:Class><owl:ObjectProperty rdf:about="#p"/><e:E rdf:about="#x"/>"""
APART = '<owl:Class rdf:about="#A"><owl:disjointWith rdf:resource="#C"/></owl:Class>'
CASES = [
    ("consistent", "ConsistencyTest", {"Premise": CLASSES + A_OF_X}, "pass"),
    ("inconsistent", "InconsistencyTest", {"Premise": CLASSES + A_OF_X + C_OF_X}, "pass"),
    ("nothing", "InconsistencyTest", {"Premise": EMPTY}, "pass"),
    ("wrong", "InconsistencyTest", {"Premise": CLASSES + A_OF_X}, "fail"),
    ("entailed", "PositiveEntailmentTest", {"Premise": CLASSES + A_OF_X, "Conclusion": B_OF_X}, "pass"),
    ("open", "NegativeEntailmentTest", {"Premise": CLASSES + B_OF_X, "NonConclusion": A_OF_X}, "pass"),
    ("schema", "PositiveEntailmentTest", {"Premise": CLASSES, "Conclusion": APART}, "pass"),
    ("nameless", "PositiveEntailmentTest", {"Premise": CLASSES, "Conclusion": "<e:B/>"}, "not expressible"),
]  # fmt: skip


def written(name: str, kind: str, ontologies: dict[str, str], semantics: str = "DIRECT") -> str:
    inner = "".join(
        f"<test:{which}>{escape(f'<rdf:RDF {XMLNS}>{text}</rdf:RDF>')}</test:{which}>"
        for which, text in ((f"rdfXml{one}Ontology", text) for one, text in ontologies.items())
    )
    return f"""<test:TestCase rdf:about="#{name.replace(" ", "-")}"><test:identifier>{name}</test:identifier>
<rdf:type rdf:resource="http://www.w3.org/2007/OWL/testOntology#{kind}"/>
<test:semantics rdf:resource="http://www.w3.org/2007/OWL/testOntology#{semantics}"/>{inner}</test:TestCase>"""


def test_the_runner_tells_what_passes_what_fails_and_what_cannot_be_asked(tmp_path: Path) -> None:
    body = "".join(written(name, kind, ontologies) for name, kind, ontologies, _ in CASES)
    body += written("other semantics", "ConsistencyTest", {"Premise": CLASSES}, "RDF-BASED")
    head = f'<rdf:RDF {XMLNS} xmlns:test="http://www.w3.org/2007/OWL/testOntology#">'
    (tmp_path / "all.rdf").write_text(f"{head}{body}</rdf:RDF>")
    found = {name: what for what, name, _ in results(tmp_path)}
    assert found == {f"{name} ({kind})": what for name, kind, _, what in CASES}
