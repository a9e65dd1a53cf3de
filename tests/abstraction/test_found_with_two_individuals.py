"""Cases that need two individuals, or a rule in two places, to go wrong; each was checked by hand."""

from __future__ import annotations

import pytest
from cases import bundle, found, item

from obep.abstraction.matcher import Matched, Matcher
from obep.model import DeadLetter
from obep.ontology.hermit.hermit_gap import HermitGap
from obep.ontology.hermit.reasoner_protocol import Answer, Question

ROLES = ("r", "s", "p", "hasPart", "watches", "protects", "wheel", "unused")
CLASSES = ("A", "B", "C", "D", "E", "F", "Red", "Blue", "Wet", "Light", "Broken", "Guarded")
NAMES = "".join(f":{name} a owl:ObjectProperty ." for name in ROLES)
NAMES += "".join(f":{name} a owl:Class ." for name in CLASSES)


def restriction(text: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty {text} ]"


def some(role: str, filler: str) -> str:
    return restriction(f":{role} ; owl:someValuesFrom {filler}")


def either(*operands: str) -> str:
    return f"[ a owl:Class ; owl:unionOf ( {' '.join(operands)} ) ]"


def happened(t: str, event: str, text: str, k: str = "") -> set[str]:
    """Of whom the event is reported, or `{"clash"}`."""
    answer = Matcher(bundle(NAMES + t, f"EVENT H AS {event}", k, java=True)).match(item(text))
    if isinstance(answer, DeadLetter):
        return {"clash"}
    assert isinstance(answer, Matched)
    return {occurrence.individual.removeprefix("<http://e/")[:-1] for occurrence in answer.occurrences}


# --- rules that are axioms, and cases of a case analysis


def test_an_axiom_counts_though_it_is_also_a_case_of_an_analysis() -> None:
    t = f":C rdfs:subClassOf :D , {either(':B', ':D')} ."
    compiled = bundle(NAMES + t, "EVENT H AS D")
    assert set(compiled.status.values()) == {"exact"}
    assert found(Matcher(compiled), ":x a :C .") == {"H(:x) <= :x a :C*"}


@pytest.mark.java
def test_a_part_that_two_case_analyses_share_belongs_to_both() -> None:
    """Of A nothing follows: it may be an E. Of B it does: either case is an H."""
    both = "[ a owl:Class ; owl:intersectionOf ( :C :D ) ]"
    t = f":A rdfs:subClassOf {either(':E', some('r', both))} ."
    t += f":B rdfs:subClassOf {either(':F', some('r', both))} ."
    assert happened(t, "F or (r some C)", ":x a :B . :y a :A .") == {"x"}


# --- witnesses that something tells apart

ROOMS = f"""
:Room rdfs:subClassOf {some("hasPart", ":Door")} .
:protects owl:propertyChainAxiom ( :watches :hasPart ) ; rdfs:range :Guarded .
"""
BIKES = f"""
:Bike rdfs:subClassOf {restriction(":wheel ; owl:cardinality 2")} .
:Racer rdfs:subClassOf {restriction(":wheel ; owl:allValuesFrom :Light")} .
"""
CARS = f"""
:Car rdfs:subClassOf {restriction(":wheel ; owl:minCardinality 2")} .
:wheel a owl:InverseFunctionalProperty . :Red owl:disjointWith :Blue .
"""
TOLD_APART = {
    "by the range of a chain": (
        ROOMS, "hasPart some Guarded", ":guard :watches :y . :y a :Room . :x a :Room .", {"y"},
    ),
    "by the range of a chain through another witness": (
        f":A rdfs:subClassOf {some('s', 'owl:Thing')} . :B rdfs:subClassOf {some('r', ':A')} ."
        ":p owl:propertyChainAxiom ( :r :s ) ; rdfs:range :C .",
        "s some C", ":x a :B . :y a :A .", set(),
    ),
    "by only, where they are counted": (
        BIKES, "wheel some Light", ":x a :Bike . :y a :Bike , :Racer .", {"y"},
    ),
    "by an inverse, where they are counted": (
        BIKES, "wheel some (inverse wheel some Wet)", ":x a :Bike . :y a :Bike , :Wet .", {"y"},
    ),
    "by an inverse functional property": (
        CARS, "Car and Broken", ":x a :Car . :y a :Car , :Broken .", {"y"},
    ),
    "by an inverse functional property, and disjoint classes": (
        CARS, "Car", ":x a :Car , :Red . :y a :Car , :Blue .", {"x", "y"},
    ),
    "by a key, whose values must have names": (
        f":A rdfs:subClassOf {some('r', ':B')} ; owl:hasKey ( :r ) .",
        "C", ":x a :A . :y a :A , :C .", {"y"},
    ),
    "by a chain along an edge to itself": (
        f":A rdfs:subClassOf {some('r', ':B')} . :B rdfs:subClassOf {restriction(':s ; owl:hasSelf true')} ."
        ":p owl:propertyChainAxiom ( :r :s ) .",
        "r some (inverse p some C)", ":x a :A . :y a :A , :C .", {"y"},
    ),
    "by an asymmetric property in a circle": (
        f":A rdfs:subClassOf {some('r', ':B')} . :B rdfs:subClassOf {some('r', ':A')} ."
        ":r a owl:AsymmetricProperty .",
        "r some B", ":x a :A . :y a :B .", {"x"},
    ),
}  # fmt: skip


@pytest.mark.java
@pytest.mark.parametrize("case", TOLD_APART)
def test_two_individuals_share_no_witness_that_is_told_apart(case: str) -> None:
    t, event, text, expected = TOLD_APART[case]
    assert happened(t, event, text) == expected


def test_values_of_a_key_without_a_name_make_nobody_equal() -> None:
    compiled = bundle(NAMES + ":A owl:hasKey ( :r ) .", "EVENT H AS C")
    matcher = Matcher(compiled)
    assert found(matcher, ":x a :A ; :r _:b . :y a :A , :C ; :r _:b .") == {"H(:y) <= :y a :C*"}
    assert len(found(matcher, ":x a :A ; :r :b . :y a :A , :C ; :r :b .")) == 2


SHARED = {
    "a range that the last step of a chain has, too": (
        f":A rdfs:subClassOf {some('s', ':B')} . :s rdfs:range :C ."
        ":p owl:propertyChainAxiom ( :r :s ) ; rdfs:range :C .",
        "s some C",
    ),
    "a range that follows from the class of the witness": (
        f":A rdfs:subClassOf {some('s', ':B')} . :B rdfs:subClassOf :C ."
        ":p owl:propertyChainAxiom ( :r :s ) ; rdfs:range :C .",
        "s some C",
    ),
    "a transitive property with a range": (
        f":A rdfs:subClassOf {some('s', ':B')} . :s a owl:TransitiveProperty ; rdfs:range :C .",
        "s some C",
    ),
}


@pytest.mark.parametrize("case", SHARED)
def test_what_holds_of_every_witness_keeps_an_event_exact(case: str) -> None:
    """The restriction of OWL 2 EL on chains and ranges: no Java is needed."""
    t, event = SHARED[case]
    compiled = bundle(NAMES + t, f"EVENT H AS {event}")
    assert set(compiled.status.values()) == {"exact"}
    assert found(Matcher(compiled), ":x :r :y . :y a :A . :z a :D .") == {"H(:y) <= :y a :A*"}


@pytest.mark.java
def test_two_that_must_differ_are_not_one_named_individual() -> None:
    """y is x. Whoever leads to x by r is x or y, and there must be two of them."""
    two = restriction("[ owl:inverseOf :r ] ; owl:minQualifiedCardinality 2 ; owl:onClass :A")
    t = f":A rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :x :y ) ] . :B rdfs:subClassOf {two} ."
    t += ":C rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :x ) ] ."
    assert happened(t, "C", ":y a :C . :x a :B .") == {"clash"}


# --- consistency is one question

CLASH = f"""
:D owl:disjointWith :B . :A rdfs:subClassOf {either(":D", ":C")} . :r rdfs:range :B .
[ a owl:Class ; owl:intersectionOf ( :B :C ) ] rdfs:subClassOf :D .
"""


@pytest.mark.java
@pytest.mark.parametrize("event", ["not D", "D", "B", "A", "E", "E and not A", "s only D", "r some E"])
def test_an_item_that_contradicts_t_does_so_whatever_the_event(event: str) -> None:
    assert happened(CLASH, event, ":y a :A .", ":x :r :y .") == {"clash"}


class Recording:
    """A gap that keeps the questions."""

    def __init__(self, gap: HermitGap) -> None:
        self.questions: list[Question] = []
        self._gap = gap

    def decide(self, question: Question) -> Answer:
        self.questions.append(question)
        return self._gap.decide(question)

    def entails(self, triples: object, fact: object) -> bool:
        raise AssertionError


@pytest.mark.java
def test_consistency_is_asked_once_and_by_itself() -> None:
    """y is a C, since it is a B and so no D; the rules leave it open whether it can be at all."""
    t = f":D owl:disjointWith :B . :C owl:disjointWith :F . :A rdfs:subClassOf {either(':D', ':C')} ."
    asked: list[list[Question]] = []
    for events in ("EVENT H AS not D", "EVENT H AS E", "EVENT H AS C\nEVENT G AS s some (C or D)"):
        compiled = bundle(NAMES + t, events, java=True)
        gap = Recording(HermitGap(compiled.module))
        assert isinstance(Matcher(compiled, gap=gap).match(item(":y a :A , :B .")), Matched)
        asked.append([one for one in gap.questions if one.check_consistency])
    assert asked[0] == asked[1] == asked[2]
    assert [one.goals for one in asked[0]] == [()]


def test_what_is_disjoint_with_everything_cannot_be() -> None:
    compiled = bundle(NAMES + "owl:Thing rdfs:subClassOf :A . :B owl:disjointWith :A .", "EVENT H AS C")
    assert isinstance(Matcher(compiled).match(item(":x a :B . :y a :C .")), DeadLetter)


def test_a_class_that_is_disjoint_with_itself_is_empty() -> None:
    compiled = bundle(NAMES + ":B owl:disjointWith :B .", "EVENT H AS C")
    assert isinstance(Matcher(compiled).match(item(":x a :B . :y a :C .")), DeadLetter)


def test_a_key_of_everything_makes_equal_what_has_no_class() -> None:
    t = "owl:Thing rdfs:subClassOf :A . :A owl:hasKey ( :r ) ."
    compiled = bundle(NAMES + t, "EVENT H AS C")
    assert len(found(Matcher(compiled), ":x :r :z . :y a :C ; :r :z .")) == 2


def test_a_chain_may_stay_where_it_is_if_everything_is_of_a_class_that_makes_it_so() -> None:
    t = f"owl:Thing rdfs:subClassOf :A . :A rdfs:subClassOf {restriction(':r ; owl:hasSelf true')} ."
    t += ":p owl:propertyChainAxiom ( :r :s ) ."
    compiled = bundle(NAMES + t, "EVENT H AS p some C")
    assert found(Matcher(compiled), ":x :s :y . :y a :C .") == {"H(:x) <= :x :s :y* ; :y a :C*"}


# --- the universal properties

EVERYTHING = f"""
:A rdfs:subClassOf {restriction("owl:topObjectProperty ; owl:allValuesFrom :B")} . :D rdfs:subClassOf :A .
"""


@pytest.mark.java
def test_what_t_says_of_everything_it_says_of_whom_no_rule_mentions() -> None:
    found = happened(EVERYTHING, "B", ":x a :D . :y :unused :z .", ":k :unused :l . :m a :C .")
    assert found == {"x", "y", "z", "k", "l", "m"}


@pytest.mark.java
@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("owl:topObjectProperty some A", {"x", "y", "z"}),
        ("C and owl:topObjectProperty some A", {"z"}),
        ("A and inverse owl:topObjectProperty some C", {"x"}),
        ("A and owl:topObjectProperty some E", set()),
        ("C and owl:topDataProperty some xsd:integer", {"z"}),
    ],
)
def test_a_definition_may_speak_of_the_universal_properties(event: str, expected: set[str]) -> None:
    t = ":d a owl:DatatypeProperty ."
    assert happened(t, event, ":x a :A . :y :d 5 . :z a :C .") == expected
