"""The axioms that a contradiction rests on, as dead letters name them."""

from __future__ import annotations

import pytest
from cases import bundle, turtle

from obep.ontology.bundle.contradiction_axioms import ContradictionAxioms

T = """
:A a owl:Class . :B a owl:Class ; owl:disjointWith :A . :A2 rdfs:subClassOf :A . :B2 rdfs:subClassOf :B .
:A3 rdfs:subClassOf :A2 .
:kW a owl:DatatypeProperty ; rdfs:range xsd:decimal .
:peak a owl:DatatypeProperty ; rdfs:subPropertyOf :kW .
:r a owl:ObjectProperty ; rdfs:domain :A ; rdfs:range :A .
"""
EVENTS = "EVENT E AS (A and kW some number[> 3])"


@pytest.mark.parametrize(
    ("clash", "words"),
    [
        (":x :kW 0.0e0 .", "a value of kW is xsd:decimal"),
        (':x :peak "abc" .', "a value of kW is xsd:decimal; peak SubPropertyOf kW"),
        (":x a :A2 , :B2 .", "A2 is an A; B and A are disjoint; B2 is a B"),
        (":x :r :y . :y a :B .", "B and A are disjoint; what r leads to is an A"),
        (":x a :A3 , :B2 .", ""),  # more than three
        (":x a :A .", ""),  # none
    ],
)
def test_a_contradiction_rests_on_a_smallest_set_of_axioms(clash: str, words: str) -> None:
    assert ContradictionAxioms(bundle(T, EVENTS)).words(turtle(clash)) == words


def test_what_differs_only_in_names_and_values_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    axioms_of, asked = ContradictionAxioms(bundle(T, EVENTS)), []
    smallest = axioms_of._smallest
    monkeypatch.setattr(axioms_of, "_smallest", lambda clash: asked.append(clash) or smallest(clash))
    for n in range(4, 20):
        assert axioms_of.words(turtle(f":x{n} :kW {n}.5e0 .")) == "a value of kW is xsd:decimal"
    assert len(asked) == 1
