"""Items that say something in several triples mean what OWL 2 says, and nothing of them is dropped."""

from __future__ import annotations

import os
import random

import pytest
from cases import bundle, item, linked, ontology, short, turtle

from obep.abstraction.matcher import Matched, Matcher
from obep.model import DeadLetter, Triple
from obep.ontology.hermit.reasoner import INCONSISTENT, Inconsistent, shared_reasoner
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Class, ClassAssertion
from obep.ontology.owl.event_axioms import define
from obep.ontology.owl.rdf_to_owl import axioms_of

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "25"))
T = """:A a owl:Class . :B a owl:Class ; owl:disjointWith :A . :C a owl:Class .
:r a owl:ObjectProperty . :s a owl:ObjectProperty ; rdfs:subPropertyOf :r . :d a owl:DatatypeProperty .
:one a owl:ObjectProperty , owl:FunctionalProperty .
"""
ONLY_A = "[ a owl:Restriction ; owl:onProperty :r ; owl:allValuesFrom :A ]"
SOME_A = "[ a owl:Restriction ; owl:onProperty :r ; owl:someValuesFrom :A ]"
NOT = "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :r ;"


def match(text: str, event: str = "A", k: str = "", java: bool = False) -> Matched | DeadLetter:
    return Matcher(bundle(T, f"EVENT H AS {event}", k, java=java)).match(item(text))


def who(text: str, event: str = "A", k: str = "", java: bool = False) -> set[str]:
    """The individuals that an event is found of, or the code of a dead letter."""
    answer = match(text, event, k, java)
    if isinstance(answer, DeadLetter):
        return {answer.code}
    return {short(one.individual) for one in answer.occurrences}


def test_an_unnamed_class_of_an_item_counts() -> None:
    assert who(f":x a {ONLY_A} ; :r :y .") == {":y"}
    assert who(f":x a {ONLY_A} ; :s :y .") == {":y"}
    assert who(f":x a {ONLY_A} ; :r :y . :y a :B .") == {"OBEP620"}
    assert who(f":x a {SOME_A} .", "r some A") == {":x"}
    assert who(":x a [ owl:intersectionOf ( :A :C ) ] .", "A and C") == {":x"}
    assert who(":x a [ owl:oneOf ( :y ) ] . :y a :A .", "A") == {":x", ":y"}
    assert who(":x a [ owl:complementOf :C ] , :C .") == {"OBEP620"}
    assert who(":x a owl:Nothing .") == {"OBEP620"}


def test_a_negative_assertion_of_an_item_counts() -> None:
    assert who(f"{NOT} owl:targetIndividual :y . :x :s :y .") == {"OBEP620"}
    assert who(f"{NOT} owl:targetIndividual :y . :x :s :z . :x a :A .") == {":x"}
    assert who(f"{NOT} owl:targetIndividual :y .", k=":x a :A . :x :s :y .") == {"OBEP620"}
    value = NOT.replace(":r ;", ":d ;")
    assert who(f"{value} owl:targetValue 5 . :x :d 5.0 .") == {"OBEP620"}
    assert who(f"{value} owl:targetValue 5 . :x :d 6 ; a :A .") == {":x"}


def test_all_different_in_an_item_counts() -> None:
    for members in (":y :z", ":w :y :z"):
        for word in ("members", "distinctMembers"):
            said = f"[] a owl:AllDifferent ; owl:{word} ( {members} ) ."
            assert who(f"{said} :x :one :y , :z .") == {"OBEP620"}
            assert who(f"{said} :x :one :y . :x a :A .") == {":x"}


def test_all_different_of_two_in_k_counts() -> None:
    said = "[] a owl:AllDifferent ; owl:members ( :y :z ) ."
    assert who(":x :one :y , :z .", k=said) == {"OBEP620"}
    assert who(":x :one :y , :z . :y a :A .", k=":y owl:differentFrom :w .") == {":y", ":z"}


def test_an_explanation_has_all_triples_of_a_statement() -> None:
    answer = match(f":x a {ONLY_A} , :C ; :r :y .")
    assert isinstance(answer, Matched)
    (one,) = answer.occurrences
    said = item(f":x a {ONLY_A} , :C ; :r :y .").triples
    assert {triple for triple, _ in one.explanation} == {t for t in said if not t[2].endswith("/C>")}
    assert all(at == 7 for _, at in one.explanation)
    assert answer.item.triples == said


def test_what_cannot_be_carried_out_is_a_dead_letter_that_says_why() -> None:
    cases = {
        ":x a [ a owl:Restriction ; owl:onProperty :r ] .": (
            "OBEP622",
            "not a property restriction",
        ),
        ":x a _:nobody .": ("OBEP622", "used as a class, but is not"),
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x .": ("OBEP622", "assertionProperty"),
        ":x a :A . :A rdfs:subClassOf :C .": ("OBEP622", "A is a C"),
        ":x a :A . :r a owl:TransitiveProperty .": ("OBEP622", "r"),
        ":x a :A . :r rdfs:domain :C .": ("OBEP622", "r"),
        " ".join(f":x{n} a [ owl:complementOf :C ] ." for n in range(9)): ("OBEP622", "more than 8"),
    }
    for text, (code, words) in cases.items():
        letter = match(text)
        assert isinstance(letter, DeadLetter), text
        assert letter.code == code and words in letter.reason, letter


def test_declarations_labels_lists_and_axioms_of_t_are_no_news() -> None:
    harmless = ":A a owl:Class . :r a owl:ObjectProperty . :A rdfs:label 'a' . :x :unknown ( 1 2 ) ."
    assert who(f"{harmless} :x a :A .") == {":x"}
    assert who(":x a :A . :s rdfs:subPropertyOf :r .") == {":x"}


# --- against HermiT


class Items:
    """Random items of which much is said in several triples."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def text(self) -> str:
        return "\n".join(self._statement() for _ in range(self.pick.randint(2, 5)))

    def _name(self) -> str:
        return self.pick.choice((":x", ":y", ":z", "_:b"))

    def _statement(self) -> str:
        x, y, role = self._name(), self._name(), self.pick.choice((":r", ":s", ":one"))
        match self.pick.randrange(8):
            case 0:
                return f"{x} a {self.pick.choice((':A', ':B', ':C'))} ."
            case 1 | 2:
                return f"{x} {role} {y} ."
            case 3 | 4:
                return f"{x} a {self._class(2)} ."
            case 5:
                about = f"owl:sourceIndividual {x} ; owl:assertionProperty {role}"
                return f"[] a owl:NegativePropertyAssertion ; {about} ; owl:targetIndividual {y} ."
            case 6:
                two = " ".join(self.pick.sample((":x", ":y", ":z"), 2))
                return f"[] a owl:AllDifferent ; owl:members ( {two} ) ."
        return f"{x} :d {self.pick.randint(1, 3)} ."

    def _class(self, depth: int) -> str:
        kind = self.pick.randrange(7) if depth else 0
        inner = [self._class(depth - 1) for _ in range(2)] if kind in (1, 2, 3) else []
        role = self.pick.choice((":r", ":s", ":one"))
        match kind:
            case 1:
                word = self.pick.choice(("intersectionOf", "unionOf"))
                return f"[ a owl:Class ; owl:{word} ( {' '.join(inner)} ) ]"
            case 2 | 3:
                word = self.pick.choice(("someValuesFrom", "allValuesFrom"))
                return f"[ a owl:Restriction ; owl:onProperty {role} ; owl:{word} {inner[0]} ]"
            case 4:
                return f"[ a owl:Restriction ; owl:onProperty {role} ; owl:hasValue {self._name()} ]"
            case 5:
                return "[ a owl:Restriction ; owl:onProperty :d ; owl:maxCardinality 1 ]"
            case 6:
                return f"[ a owl:Class ; owl:complementOf {self._class(depth - 1)} ]"
        return self.pick.choice((":A", ":B", ":C"))


@pytest.mark.java
def test_statements_of_items_entail_what_hermit_says() -> None:
    """A T without case analysis: items bring their own."""
    events = "EVENT H AS (A or (r some A) or (C and not B))"
    compiled = bundle(T, events, ":k a :C . :k :r :x .", java=True)
    matcher = Matcher(compiled)
    full = define(linked(events), ontology(T)).axioms
    clashes = hits = refused = 0
    for seed in range(EXAMPLES):
        text = Items(seed).text()
        triples = turtle(text, "i")
        answer = matcher.match(item(text))
        wanted = _entailed(full, (*triples, *turtle(":k a :C . :k :r :x .")))
        if isinstance(answer, DeadLetter):
            assert (answer.code == "OBEP620") == (wanted is INCONSISTENT), (seed, text, answer)
            clashes += 1
            refused += answer.code != "OBEP620"
            continue
        assert not isinstance(wanted, Inconsistent), (seed, text)
        assert {one.individual for one in answer.occurrences} == wanted, (seed, text)
        hits += len(wanted) > 0
    assert clashes and hits and not refused


def _entailed(full: Axioms, triples: tuple[Triple, ...]) -> set[str] | Inconsistent:
    read = axioms_of(triples, also=full)
    names = sorted(read.individuals)
    goals = [ClassAssertion(Class("<http://e/H>"), name) for name in names]
    answers = shared_reasoner().entails(full | read, (), goals)
    if isinstance(answers, Inconsistent):
        return answers
    return {name for name, yes in zip(names, answers, strict=True) if yes}


def test_windows_take_all_different_and_refuse_other_statements() -> None:
    import obep

    query = obep.load(
        text="""PREFIX : <http://e/>
FROM NAMED WINDOW <w> ON <s> [RANGE 10 s]
EVENT H ON <w> AS (a some Thing and b some Thing)
RETURN H
"""
    )
    letters: list[DeadLetter] = []
    prefix = "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    with query.engine(on_dead_letter=letters.append) as engine:
        engine.push(f"{prefix} :x :a :y . [] a owl:AllDifferent ; owl:members ( :y :z ) .", at=1, stream="s")
        assert not letters
        engine.push(f"{prefix} :x :b :z ; a [ owl:complementOf :C ] .", at=2, stream="s")
        found = engine.push(f"{prefix} :x :b :w .", at=3, stream="s")
        found += engine.close()
    assert [letter.code for letter in letters] == ["OBEP622"]
    assert [one.individual for one in found] == ["<http://e/x>"]
