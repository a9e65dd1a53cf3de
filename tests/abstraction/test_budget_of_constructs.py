"""Whatever an ontology says, what an item costs counts against its budget: calls grow with the steps only."""

from __future__ import annotations

import re
import sys
from types import FrameType

import pytest
from cases import item, linked, ontology, turtle

from obep.abstraction.matcher import Matched, Matcher
from obep.model import DeadLetter
from obep.ontology.bundle.compile import compile_bundle

EVENTS = "EVENT H AS A\nEVENT G AS p some A"


ONE_OF = "[ a owl:Class ; owl:oneOf ( {{:i{}}} ) ] ."
DATA = ":d a owl:DatatypeProperty . :E rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :d ; "
CONSTRUCTS: dict[str, tuple[str, str, str]] = {
    "equivalent to oneOf": (":E owl:equivalentClass " + ONE_OF, "", ":x a :E . :y :p :x . :i0 a :A ."),
    "equivalent to oneOf, with K": (
        ":E owl:equivalentClass " + ONE_OF,
        "{{:i{} :p :k{} .}}",
        ":x a :E . :y :p :x . :k0 a :A .",
    ),
    "subclass of oneOf": (
        ":E rdfs:subClassOf " + ONE_OF,
        "{{:i{} a :E .}}",
        ":x a :E . :y :p :x . :i0 a :A .",
    ),
    "range oneOf": (
        ":p rdfs:range " + ONE_OF,
        "",
        "{{:x{} :p :y{} .}}" + " :y0 a :A .",
    ),
    "sameAs ring of K": ("", "{{:i{} owl:sameAs :i{} .}}", ":i0 a :A . :z :p :i3 ."),
    "sameAs ring of the item": ("", "", ":i0 a :A . " + "{{:i{} owl:sameAs :i{} .}}"),
    "transitive symmetric ring of K": (
        ":p a owl:TransitiveProperty, owl:SymmetricProperty .",
        "{{:i{} :p :i{} .}}",
        ":i0 a :A . :z :p :i3 .",
    ),
    "functional property of K": (
        ":p a owl:FunctionalProperty .",
        "{{:k :p :i{} .}}",
        ":i0 a :A . :z :p :i3 .",
    ),
    "inverse functional property of the item": (
        ":p a owl:InverseFunctionalProperty .",
        "",
        "{{:i{} :p :k .}}" + " :k a :A . :z :p :i3 .",
    ),
    "key with many values in K": (
        ":E owl:hasKey ( :q :r ) .",
        "{{:k :q :v{0} ; :r :w{0} . :l :q :v{0} ; :r :w{0} .}}" + " :k a :E . :l a :E .",
        ":k a :A . :z :p :l .",
    ),
    "key with many values in the item": (
        ":E owl:hasKey ( :q :r ) .",
        ":k a :E . :l a :E .",
        "{{:k :q :v{0} ; :r :w{0} . :l :q :v{0} ; :r :w{0} .}}" + " :k a :A . :z :p :l .",
    ),
    "max 2 of the item": (
        ":E rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; "
        'owl:maxCardinality "2"^^xsd:nonNegativeInteger ] .',
        "",
        ":x a :E . :i0 a :A . " + "{{:x :p :i{} .}}",
    ),
    "counted values of K": (
        DATA + 'owl:minCardinality "4"^^xsd:nonNegativeInteger ] . '
        "[ a owl:Restriction ; owl:onProperty :d ; "
        'owl:minCardinality "4"^^xsd:nonNegativeInteger ] rdfs:subClassOf :A .',
        "{{:k :d {} .}}",
        ":k a :B . :z :p :k . :k :d 99 .",
    ),
    "many disjoint classes": (
        "[ a owl:AllDisjointClasses ; owl:members ( {{:D{}}} ) ] .",
        "",
        "{{:x{} a :D{} .}}" + "{{:x{} :p :x{} .}}" + " :x0 a :A .",
    ),
    "one of many disjoint classes": (
        "[ a owl:AllDisjointClasses ; owl:members ( {{:D{}}} ) ] .",
        "",
        "{{:x a :D{} .}}",
    ),
}


def repeated(text: str, count: int) -> str:
    """A text with each `{{part}}` written so many times, with a number and the next one (a ring)."""
    return re.sub(
        r"\{\{(.*?)\}\}(?!\})",
        lambda part: " ".join(part[1].format(n, (n + 1) % count) for n in range(count)),
        text,
    )


def calls_of(construct: str, count: int, steps: int) -> tuple[int, Matched | DeadLetter]:
    """The calls that an item costs, with a budget, and what becomes of it."""
    t, k, text = (repeated(one, count) for one in CONSTRUCTS[construct])
    bundle = compile_bundle(linked(EVENTS), ontology(t), turtle(k, "k"), java=False, max_work=steps)
    matcher = Matcher(bundle)
    matcher.match(item(":nobody a :B ."))  # what is made at first use is T's and K's cost
    calls = 0

    def count_calls(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal calls
        calls += event == "call"

    mine = item(text)
    sys.setprofile(count_calls)
    try:
        answer = matcher.match(mine)
    finally:
        sys.setprofile(None)
    return calls, answer


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_no_construct_costs_more_than_its_budget(construct: str) -> None:
    """On the old code 30 names in oneOf took minutes, whatever the budget."""
    calls, answer = calls_of(construct, 16, 2_000)
    assert calls <= 12 * 2_000, (construct, calls)
    assert isinstance(answer, Matched) or answer.code in ("OBEP628", "OBEP620"), answer


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_usual_budget_is_enough_for_a_few_names(construct: str) -> None:
    _, answer = calls_of(construct, 3, 2_000_000)
    if construct == "one of many disjoint classes":
        assert isinstance(answer, DeadLetter) and answer.code == "OBEP620", answer
    else:
        assert isinstance(answer, Matched), answer


def test_what_is_known_of_k_costs_the_same_for_each_item() -> None:
    """What the first item has found out about K is not cheaper for the second: both are refused, or none."""
    t, k, text = (repeated(one, 4) for one in CONSTRUCTS["equivalent to oneOf, with K"])
    answers = []
    for steps in range(100, 6_000, 700):
        bundle = compile_bundle(linked(EVENTS), ontology(t), turtle(k, "k"), java=False, max_work=steps)
        matcher = Matcher(bundle, remember=0)
        answers.append([type(matcher.match(item(text))) for _ in range(3)])
    assert all(len(set(three)) == 1 for three in answers)
    assert {one for three in answers for one in three} == {Matched, DeadLetter}
