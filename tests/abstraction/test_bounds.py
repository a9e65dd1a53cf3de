"""Where rules stop being exact: found, not assumed; flagged without Java, asked of the reasoner with one."""

from __future__ import annotations

import pytest
from cases import bundle, found, item, shown

from obep.abstraction.matcher import Matched, Matcher
from obep.lints.language_errors.vocabulary_errors import incomplete
from obep.model import Triple
from obep.ontology.hermit.reasoner_protocol import Answer, Question

CASES = ":Detection rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :Human :Pet ) ] ."
EVENTS = "EVENT Seen AS Human or Pet\nEVENT HumanSeen AS Human\nEVENT Other AS Sensor"


def restriction(text: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty {text} ]"


A_SOME_B = f":A rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} ."


# --- what makes an event need the reasoner, in words

ABOVE_5 = "[ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( [ xsd:minExclusive 5 ] ) ]"
INEXACT = {
    "case analysis": (CASES, "EVENT H AS Human or Pet", "Detection is a Human or a Pet: case analysis"),
    "one of several": (
        ":Boss rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :ann :bob ) ] . :ann a :A . :bob a :A .",
        "EVENT H AS A",
        "{ann, bob} has several members: case analysis",
    ),
    "negation in an event": (
        ":Human owl:disjointWith :Robot .",
        "EVENT H AS not Human",
        "not Human: what is not said is not false",
    ),
    "only in an event": (
        f":Sealed rdfs:subClassOf {restriction(':has ; owl:maxCardinality 0')} .",
        "EVENT H AS has only Door",
        "has only Door: what is not said is not false",
    ),
    "max in an event": (
        f":Sealed rdfs:subClassOf {restriction(':has ; owl:maxCardinality 0')} .",
        "EVENT H AS has max 1 Door",
        "has max 1 Door: what is not said is not false",
    ),
    "counting on the left": (
        ":has a owl:ObjectProperty .",
        "EVENT H AS has min 2 Thing",
        "has min 2 Thing: counting",
    ),
    "counting on the right": (
        f":Room rdfs:subClassOf {restriction(':has ; owl:maxCardinality 2')} . :A a owl:Class .",
        "EVENT H AS has some A",
        "has max 2 Thing: counting",
    ),
    "min against max": (
        f":R rdfs:subClassOf {restriction(':p ; owl:minCardinality 2')} ."
        f":R rdfs:subClassOf {restriction(':p ; owl:maxCardinality 1')} .",
        "EVENT H AS p some Thing",
        "p min 2: counting",
    ),
    "the shared witness with inverses": (
        f":A1 rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} ."
        f":A2 rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} .",
        "EVENT H AS r some (B and inverse r some A2)",
        "looks back: existentials with inverses",
    ),
    "an existential under only": (
        A_SOME_B + f":A rdfs:subClassOf {restriction(':r ; owl:allValuesFrom :C')} .",
        "EVENT H AS r some (B and C)",
        "looks back: existentials with inverses",
    ),
    "an existential of a functional property": (
        A_SOME_B + ":r a owl:FunctionalProperty , owl:ObjectProperty .",
        "EVENT H AS B",
        "is bounded: existentials with equality",
    ),
    "an existential along a chain back": (
        f":A rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} ."
        ":s owl:propertyChainAxiom ( :r [ owl:inverseOf :r ] ) .",
        "EVENT H AS s some A",
        "a chain looks back: existentials with inverses",
    ),
    "a witness tied to a name": (
        A_SOME_B + f":B rdfs:subClassOf {restriction(':p ; owl:hasValue :a')} . :p rdfs:range :C .",
        "EVENT H AS C",
        "tied to a named individual",
    ),
    "a witness that loops": (
        f":A rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :A')} .",
        "EVENT H AS r some (r Self)",
        "its own successor",
    ),
    "the universal role": (
        f":A rdfs:subClassOf {restriction('owl:topObjectProperty ; owl:allValuesFrom :B')} .",
        "EVENT H AS B",
        "the universal property",
    ),
    "a bound on the domain": (
        "owl:Thing rdfs:subClassOf [ a owl:Class ; owl:oneOf ( :a ) ] . :A a owl:Class .",
        "EVENT H AS A",
        "a bound on the domain",
    ),
    "a value that nobody gave, where something says which it can be": (
        f":n a owl:DatatypeProperty . :A rdfs:subClassOf {restriction(':n ; owl:someValuesFrom xsd:int')} ."
        f":B rdfs:subClassOf {restriction(f':n ; owl:allValuesFrom {ABOVE_5}')} .",
        "EVENT H AS n some integer[> 5]",
        "the n that the ontology promises, if none is given: its value is open",
    ),
    "a value that nobody gave beside a functional one": (
        ":n a owl:DatatypeProperty , owl:FunctionalProperty ."
        f":A rdfs:subClassOf {restriction(':n ; owl:someValuesFrom xsd:integer')} .",
        "EVENT H AS n some string",
        "the n that the ontology promises, if none is given: its value is open",
    ),
    "a key with values that nobody gave": (
        ":n a owl:DatatypeProperty . :A owl:hasKey ( :n ) . :B a owl:Class ."
        f":A rdfs:subClassOf {restriction(':n ; owl:someValuesFrom xsd:boolean')} .",
        "EVENT H AS B",
        "n is a key, and its value is open",
    ),
    "a reflexive property that is functional": (
        ":r a owl:ObjectProperty , owl:ReflexiveProperty , owl:FunctionalProperty . :B a owl:Class .",
        "EVENT H AS B",
        "r is reflexive, and bounded",
    ),
    "a reflexive property that is disjoint with another": (
        ":r a owl:ObjectProperty , owl:ReflexiveProperty . :B a owl:Class ."
        ":s a owl:ObjectProperty ; owl:propertyDisjointWith :r .",
        "EVENT H AS B",
        "r is reflexive, and bounded",
    ),
    "a reflexive property in a key": (
        ":r a owl:ObjectProperty , owl:ReflexiveProperty . :A owl:hasKey ( :r ) . :B a owl:Class .",
        "EVENT H AS B",
        "r is reflexive, and bounded",
    ),
    "a chain through a property that is perhaps reflexive": (
        ":B a owl:Class . :C a owl:Class . :p owl:propertyChainAxiom ( :r :s ) . :s a owl:ObjectProperty ."
        "owl:Thing rdfs:subClassOf [ a owl:Class ; owl:unionOf ( "
        f"{restriction(':r ; owl:hasSelf true')} :C ) ] .",
        "EVENT H AS (p some B) or C",
        "r may be reflexive, and is part of a chain",
    ),
    "witnesses in a circle of disjoint properties": (
        A_SOME_B + f":B rdfs:subClassOf {restriction(':s ; owl:someValuesFrom :A2')} ."
        f":A2 rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} ."
        ":r owl:propertyDisjointWith :q . :q owl:inverseOf :s . :C a owl:Class .",
        "EVENT H AS A and C",
        "in a circle of disjoint properties",
    ),
    "a witness that a chain leads to, disjoint with another property": (
        f":A rdfs:subClassOf {restriction(':s ; owl:someValuesFrom :B')} . :C a owl:Class ."
        ":p owl:propertyChainAxiom ( :r :s ) . :q a owl:ObjectProperty ; owl:propertyDisjointWith :p .",
        "EVENT H AS A and C",
        "disjoint properties along a chain",
    ),
    "a witness that a chain with a range leads to": (
        f":A rdfs:subClassOf {restriction(':s ; owl:someValuesFrom :B')} . :C a owl:Class ."
        ":p owl:propertyChainAxiom ( :r :s ) ; rdfs:range :C .",
        "EVENT H AS s some C",
        "a chain leads to it, with a range (p): existentials with chains",
    ),
    "a value that nobody gave, of a property that is disjoint with another": (
        ":n a owl:DatatypeProperty ; owl:propertyDisjointWith :m . :m a owl:DatatypeProperty ."
        f":A rdfs:subClassOf {restriction(':n ; owl:someValuesFrom xsd:boolean')} . :B a owl:Class .",
        "EVENT H AS B",
        "the n that the ontology promises: which is open",
    ),
    "a chain through what everything has": (
        f"owl:Thing rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} ."
        f":B rdfs:subClassOf {restriction(':s ; owl:someValuesFrom :C')} ."
        ":p owl:propertyChainAxiom ( :r :s ) .",
        "EVENT H AS p some C",
        "everything has r: a bound on the domain",
    ),
}


@pytest.mark.parametrize("kind", INEXACT)
def test_what_needs_the_reasoner_is_said_in_words(kind: str) -> None:
    t, events, words = INEXACT[kind]
    compiled = bundle(t, events)
    assert words in " ".join(compiled.status.values())
    assert any(d.code == "OBEP241" and words in d.message for d in compiled.diagnostics)
    assert {d.code for d in incomplete(compiled)} == {"OBEP340"}


EXACT = {
    "an event that does not depend on the cases": (CASES, "EVENT H AS Sensor"),
    "negation that nothing can prove": ("", "EVENT H AS A and not B"),
    "a value that nobody gave, and that can be any": (
        f":n a owl:DatatypeProperty . :A rdfs:subClassOf {restriction(':n ; owl:someValuesFrom xsd:int')} .",
        "EVENT H AS n some integer[> 5]\nEVENT G AS n some integer[< 3]",
    ),
    "existentials with an inverse nobody looks through": (
        f":A rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} . :s owl:inverseOf :r .",
        "EVENT H AS r some B",
    ),
    "existentials with an inverse elsewhere": (
        f":A rdfs:subClassOf {restriction(':r ; owl:someValuesFrom :B')} . :q a owl:ObjectProperty .",
        "EVENT H AS r some B\nEVENT G AS inverse q some A",
    ),
    "a union that moves to the left": (
        ":A rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :B [ a owl:Class ; owl:complementOf :C ] ) ] .",
        "EVENT H AS B",
    ),
    "min 2 on the right where nobody counts": (
        f":R rdfs:subClassOf {restriction(':p ; owl:minCardinality 2')} .",
        "EVENT H AS p some Thing",
    ),
    "a value that nobody gave, apart from what is asked": (
        ":n a owl:DatatypeProperty ."
        f":A rdfs:subClassOf {restriction(':n ; owl:someValuesFrom xsd:string')} .",
        "EVENT H AS n some integer[> 5]",
    ),
}


@pytest.mark.parametrize("kind", EXACT)
def test_what_the_rules_decide_is_exact(kind: str) -> None:
    t, events = EXACT[kind]
    compiled = bundle(t, events)
    assert set(compiled.status.values()) == {"exact"}
    assert incomplete(compiled) == []


def test_the_shared_witness_invents_nothing() -> None:
    """REASONING 4.1's counterexample: a shared witness would say H(x)."""
    t, events, _ = INEXACT["the shared witness with inverses"]
    assert found(Matcher(bundle(t, events)), ":x a :A1 . :y a :A2 .") == set()


# --- without a reasoner


def test_without_java_what_is_open_is_flagged() -> None:
    matcher = Matcher(bundle(CASES, EVENTS))
    answer = matcher.match(item(":x a :Detection , :Human . :s a :Sensor ."))
    assert isinstance(answer, Matched)
    assert answer.bounded
    flags = {shown([one]).pop().split("(")[0]: one.bounded for one in answer.occurrences}
    assert flags == {"Seen": True, "HumanSeen": False, "Other": False}


def test_where_the_bounds_agree_nothing_is_open_but_the_event_stays_a_lower_bound() -> None:
    matcher = Matcher(bundle(CASES, EVENTS))
    answer = matcher.match(item(":x a :Human . :s a :Sensor ."))
    assert isinstance(answer, Matched)
    assert not answer.bounded
    flags = {shown([one]).pop().split("(")[0]: one.bounded for one in answer.occurrences}
    assert flags == {"Seen": True, "HumanSeen": False, "Other": False}


# --- with one


class Oracle:
    """A stand-in that knows the answer, and remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.questions = answer, []  # type: ignore[var-annotated]

    def decide(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answer


def n(local: str) -> str:
    return f"<http://e/{local}>"


def test_only_what_lies_between_the_bounds_is_asked() -> None:
    detection: Triple = (n("x"), "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", n("Detection"))
    oracle = Oracle(Answer({(n("Seen"), n("x")): (frozenset({detection}),)}))
    matcher = Matcher(bundle(CASES, EVENTS, ":z a :Human . :w a :Sensor ."), gap=oracle)
    assert found(matcher, ":s a :Sensor .") == {"Other(:s) <= :s a :Sensor*"}
    assert oracle.questions == []
    assert found(matcher, ":x a :Detection . :s a :Sensor .") == {
        "Seen(:x) <= :x a :Detection*",
        "Other(:s) <= :s a :Sensor*",
    }
    (question,) = oracle.questions
    assert question.goals == ((n("Seen"), n("x")),)
    assert question.item == (detection,)
    assert question.background == ()
    found(matcher, ":x2 a :Detection . :s a :Sensor .")
    assert len(oracle.questions) == 1  # one shape, one question


def test_a_clash_that_only_the_reasoner_sees_is_a_dead_letter() -> None:
    t = CASES + ":Robot owl:disjointWith :Human , :Pet ."
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    clash = frozenset({(n("x"), kind, n("Detection")), (n("x"), kind, n("Robot"))})
    matcher = Matcher(bundle(t, EVENTS, ":x a :Robot ."), gap=Oracle(Answer(clash=clash)))
    assert found(matcher, ":x a :Detection ; a :Sensor .") == {
        "clash: contradicts the ontology: x is a Detection, x is a Robot"
    }


@pytest.mark.java
def test_hermit_closes_the_gap() -> None:
    t = CASES + ":Robot owl:disjointWith :Human , :Pet ."
    matcher = Matcher(bundle(t, EVENTS, ":y a :Pet . :r a :Robot .", java=True))
    assert found(matcher, ":x a :Detection .") == {"Seen(:x) <= :x a :Detection*"}
    assert found(matcher, ":y a :Detection .") == {"Seen(:y) <= :y a :Detection*"}
    assert found(matcher, ":r a :Detection .") == {
        "clash: contradicts the ontology: r is a Detection, r is a Robot"
    }
    assert found(matcher, ":x a :Detection , :Human .") == {
        "Seen(:x) <= :x a :Detection*",
        "Seen(:x) <= :x a :Human*",
        "HumanSeen(:x) <= :x a :Human*",
    }


def test_the_upper_reading_is_not_made_where_nobody_asserts_an_event() -> None:
    """A union in a definition is exact, until somebody asserts the event itself."""
    compiled = bundle("", "EVENT H AS A or B\nEVENT G AS C", ":k a :A .")
    matcher = Matcher(compiled)
    assert found(matcher, ":x a :A .") == {"H(:x) <= :x a :A*"}
    assert "upper" not in vars(compiled)
    assert found(matcher, ":x a :H .") == {"H(:x) <= :x a :H*"}
    assert found(matcher, ":k a :H .") == {"H(:k) <= :k a :H*"}
