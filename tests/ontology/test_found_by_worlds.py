"""What the random worlds (tests/worlds) found, as questions to the reasoner."""

from __future__ import annotations

from pathlib import Path

import pytest
from owl import c, ontology, t, xsd

import obep
from obep.ontology.hermit.reasoner import INCONSISTENT, Reasoner
from obep.ontology.owl import axioms as ax

pytestmark = pytest.mark.java
LITERAL = ax.Datatype("<http://www.w3.org/2000/01/rdf-schema#Literal>")
DEFINED = ax.DatatypeDefinition(t("D"), LITERAL)


def test_a_datatype_definition_alone_is_no_obstacle() -> None:
    T = ontology(DEFINED, ax.SubClassOf(c("A"), c("B")))
    a, b = (ax.ClassAssertion(c(name), t("x")) for name in "AB")
    assert Reasoner().entails(T, [a], [b]) == [True]


def test_a_complement_of_all_literals_has_no_value() -> None:
    none = ax.DataSome(t("d"), ax.DataNot(ax.Datatype(t("D"))))
    T = ontology(DEFINED, ax.SubClassOf(c("A"), none))
    assert not Reasoner().consistent(T, [ax.ClassAssertion(c("A"), t("x"))])


def test_a_domain_of_values_alone_is_no_model() -> None:
    integer = ax.Datatype(xsd("integer"))
    string = ax.Datatype(xsd("string"))
    T = ontology(ax.SubClassOf(ax.TOP, ax.DataSome(t("d"), integer)), ax.DataPropertyRange(t("d"), string))
    assert not Reasoner().consistent(T)
    assert Reasoner().classify(T) is INCONSISTENT


def test_a_reflexive_property_that_is_transitive_is_reflexive_beside_values() -> None:
    """World 4/7: everything has itself as an r, so it is a C, so it has a string, so no event occurs."""
    some = ax.DataSome(t("d"), ax.Datatype(xsd("string")))
    T = ontology(
        ax.Transitive(t("r")),
        ax.Reflexive(t("r")),
        ax.Range(t("r"), c("C")),
        ax.EquivalentClasses((c("C"), some)),
        ax.EquivalentClasses((c("H"), ax.DataOnly(t("d"), ax.Datatype(xsd("decimal"))))),
    )
    found = Reasoner().classify(T)
    assert found is not INCONSISTENT
    assert t("H") in found.unsatisfiable


EMPTY = """PREFIX : <http://e/#> PREFIX owl: <http://www.w3.org/2002/07/owl#> FROM STREAM <s>
EVENT H AS ({})
RETURN H"""


@pytest.mark.parametrize(
    ("definition", "occurs"),
    [
        ("A and owl:bottomObjectProperty only B", True),
        ("A and inverse owl:bottomObjectProperty max 2 B", True),
        ("A and owl:bottomDataProperty exactly 0", True),
        ("A or owl:bottomDataProperty some", True),
        ("A and owl:bottomObjectProperty some B", None),
        ("A and owl:bottomDataProperty min 1", None),
    ],
)
def test_a_definition_may_ask_for_the_empty_properties(definition: str, occurs: bool | None) -> None:
    """Worlds 2000/17, 248, 528: nothing has a value of them."""
    text = EMPTY.format(definition)
    if occurs is None:
        with pytest.raises(obep.ObepError) as refused:
            obep.load(text=text, java=False)
        assert [one.code for one in refused.value.diagnostics] == ["OBEP344"]
        return
    hits = obep.load(text=text, java=False).engine().push("@prefix : <http://e/#> . :x a :A .", at=1)
    assert [hit.individual for hit in hits] == ["<http://e/#x>"]


def test_the_nodes_that_a_statement_is_written_with_are_nobody(tmp_path: Path) -> None:
    """World 2000/6: all individuals are of the event's class, and AllDifferent of K is none."""
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :A a owl:Class . :B a owl:Class ."
        "[ a owl:Restriction ; owl:onProperty owl:topObjectProperty ; owl:someValuesFrom :A ]"
        " rdfs:subClassOf :B ."
    )
    (tmp_path / "k.ttl").write_text(
        "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
        "[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) ."
    )
    text = "PREFIX : <http://e/#> VOCAB <t.ttl> FROM GRAPH <k.ttl> FROM STREAM <s>\nEVENT H AS B\nRETURN H"
    engine = obep.load(text=text, folder=tmp_path, cache_dir=str(tmp_path)).engine()
    hits = engine.push("@prefix : <http://e/#> . :x a :A .", at=1)
    assert sorted(hit.individual for hit in hits) == [f"<http://e/#{name}>" for name in "abx"]


@pytest.mark.parametrize("said", ["", ":n owl:topObjectProperty :a ."])
def test_what_holds_anyway_hides_no_contradiction(tmp_path: Path, said: str) -> None:
    """World 2000/713: an item that says that two have the universal property."""
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
        ":A a owl:Class . :B a owl:Class . :d a owl:DatatypeProperty ."
        "[ a owl:Restriction ; owl:onProperty owl:topObjectProperty ; owl:someValuesFrom :A ]"
        " owl:disjointWith :B ."
    )
    text = "PREFIX : <http://e/#> VOCAB <t.ttl> FROM STREAM <s>\nEVENT H AS (d exactly 2)\nRETURN H"
    letters: list[obep.DeadLetter] = []
    query = obep.load(text=text, folder=tmp_path, cache_dir=str(tmp_path))
    engine = query.engine(on_dead_letter=letters.append)
    prefixes = "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
    engine.push(f"{prefixes} {said} :x a :A . :y a :B .", at=1)
    assert [letter.code for letter in letters] == ["OBEP620"]


@pytest.mark.parametrize(
    ("t", "said"),
    [
        (
            "owl:Thing rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :n0 :a0 ) ] ."
            ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :s ; owl:onClass :B ;"
            ' owl:minQualifiedCardinality "2"^^xsd:nonNegativeInteger ] .',
            ":a0 a :A . :n1 a :Unheard .",
        ),
        (
            ":C rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :b0 ) ] . :s rdfs:range"
            " [ a owl:Class ; owl:complementOf :A ] . [ a owl:Class ; owl:complementOf :C ]"
            " owl:equivalentClass [ a owl:Restriction ; owl:onProperty :s ; owl:onClass :A ;"
            ' owl:qualifiedCardinality "1"^^xsd:nonNegativeInteger ] . :A rdfs:subClassOf :B .',
            ':n0 a :A . :n1 :d "ab" .',
        ),
    ],
)
def test_what_holds_of_everything_holds_of_whoever_an_item_names(tmp_path: Path, t: str, said: str) -> None:
    """Worlds 5000/84 and 5000/94: everything is one of few, and n1 is named by a triple of no rule."""
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :A a owl:Class . :B a owl:Class ."
        f":C a owl:Class . :d a owl:DatatypeProperty . :s a owl:ObjectProperty . {t}"
    )
    text = "PREFIX : <http://e/#> VOCAB <t.ttl> FROM STREAM <s>\nEVENT H AS B\nRETURN H"
    engine = obep.load(text=text, folder=tmp_path, cache_dir=str(tmp_path)).engine()
    hits = engine.push(f"@prefix : <http://e/#> . {said}", at=1)
    assert "<http://e/#n1>" in {hit.individual for hit in hits}


def test_an_item_after_one_that_asserts_an_event_is_read_by_the_rules_of_before(tmp_path: Path) -> None:
    """World 6001/2: rules for items that assert H were made, and their witnesses had classes of no number.

    Nothing says that what n1 has by s has no s with exactly one s, so H does not follow of the second item.
    """
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":C a owl:Class . :s a owl:ObjectProperty . :r a owl:ObjectProperty ."
        ":C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :s ;"
        ' owl:qualifiedCardinality "2"^^xsd:nonNegativeInteger ;'
        " owl:onClass [ a owl:Restriction ; owl:onProperty :r ; owl:hasValue :a0 ] ] ."
    )
    text = (
        "PREFIX : <http://e/#> VOCAB <t.ttl> FROM STREAM <s>\n"
        "EVENT H AS (s min 2 (s exactly 0 (s exactly 1)))\nRETURN H"
    )
    letters: list[obep.DeadLetter] = []
    query = obep.load(text=text, folder=tmp_path, cache_dir=str(tmp_path))
    with query.engine(on_dead_letter=letters.append) as engine:
        hits = engine.push("@prefix : <http://e/#> . :n1 a :C, :H . :n2 a :C .", at=1)
        hits += engine.push("@prefix : <http://e/#> . :n1 a :C .", at=2)
        hits += engine.close()
    assert [(hit.individual, hit.end) for hit in hits] == [("<http://e/#n1>", 1_000_000)]
    assert letters == []


def test_what_the_universal_property_gives_everything_is_said_of_no_value() -> None:
    """World 5001/200: everything is related to n, so it is a B; that took away all values.

    An x that is no C has a d that is no string, and nothing forbids one.
    """
    universal = ax.Value(ax.TOP_OBJECT_PROPERTY, t("n"))
    only = ax.DataOnly(t("d"), ax.Datatype(xsd("string")))
    T = ontology(
        ax.SubClassOf(universal, c("B")),
        ax.EquivalentClasses((c("C"), only)),
        ax.SubClassOf(c("A"), ax.Not(c("C"))),
    )
    said = [ax.ClassAssertion(c("A"), t("x"))]
    assert Reasoner().consistent(T, said)
    assert Reasoner().entails(T, said, [ax.ClassAssertion(c(name), t("x")) for name in "BC"]) == [True, False]
