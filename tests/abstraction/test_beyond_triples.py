"""A static graph may say things in several triples; axioms in it are not used, and that is said."""

from __future__ import annotations

from cases import bundle, found

from obep.abstraction.matcher import Matcher

T = """:A a owl:Class . :B a owl:Class . :p a owl:ObjectProperty .
:in a owl:ObjectProperty , owl:FunctionalProperty ."""


def test_a_negative_assertion_of_k_counts() -> None:
    k = """[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ;
        owl:assertionProperty :p ; owl:targetIndividual :b ."""
    compiled = bundle(T, "EVENT H AS p some Thing", k)
    assert found(Matcher(compiled), ":a :p :b .") == {"clash: contradicts the ontology: a p b: not a p b"}
    assert found(Matcher(compiled), ":b :p :a .") == {"H(:b) <= :b :p :a*"}


def test_all_different_in_k_counts() -> None:
    compiled = bundle(T, "EVENT H AS in some Thing", "[] a owl:AllDifferent ; owl:members ( :x :y :z ) .")
    assert found(Matcher(compiled), ":r :in :x , :z .") == {
        "clash: contradicts the ontology: r in x, r in z: in has at most one value; x, y and z are different"
    }


def test_an_unnamed_class_in_k_counts() -> None:
    k = ":a a [ a owl:Class ; owl:intersectionOf ( :A :B ) ] ."
    assert found(Matcher(bundle(T, "EVENT H AS p some (A and B)", k)), ":x :p :a .") == {"H(:x) <= :x :p :a*"}


def test_axioms_in_k_are_not_used_and_that_is_said() -> None:
    compiled = bundle(T, "EVENT H AS A", ":B rdfs:subClassOf :A . :b a :B .")
    assert [d.code for d in compiled.diagnostics] == ["OBEP243"]
    assert "B is an A" in compiled.diagnostics[0].reason
    assert found(Matcher(compiled), ":x a :B .") == set()


def test_an_ontology_that_is_also_the_static_graph_is_fine() -> None:
    text = ":B rdfs:subClassOf :A . :b a :B ."
    compiled = bundle(T + text, "EVENT H AS p some A", T + text)
    assert compiled.diagnostics == []
    assert found(Matcher(compiled), ":x :p :b .") == {"H(:x) <= :x :p :b*"}
