"""Classes that T only says to lie below others need no rules, and mean the same without."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from cases import bundle, found, item, ontology, shown

from obep.abstraction.matcher import Matched, Matcher
from obep.model import DeadLetter
from obep.ontology.bundle import compiled_rules as compiling
from obep.ontology.owl.axioms import Axiom
from obep.ontology.rules.class_folding import Folded, fold

C = "<http://e/{}>".format


def test_a_tree_folds_into_the_classes_that_somebody_speaks_of() -> None:
    t = ":B rdfs:subClassOf :A . :C rdfs:subClassOf :B . :D rdfs:subClassOf :B , :E . :E rdfs:subClassOf :F ."
    axioms = ontology(t).axioms
    folded = fold(axioms, {C("A")})
    assert folded.axioms == ()
    assert folded.below == {C("B"): (C("A"),), C("C"): (C("A"),), C("D"): (C("A"), C("F")), C("E"): (C("F"),)}
    kept = fold(axioms, {C("C")})
    assert kept.below == {C("D"): (C("B"), C("F")), C("E"): (C("F"),)}, "what lies above C stays"


def test_what_another_axiom_speaks_of_is_not_folded() -> None:
    t = ":B rdfs:subClassOf :A . :p rdfs:range :B . :Y rdfs:subClassOf :X . :X rdfs:subClassOf :Y ."
    assert fold(ontology(t).axioms, ()).below == {}


def test_an_item_of_a_folded_class_is_explained_by_what_it_says() -> None:
    t = ":B rdfs:subClassOf :A . :C rdfs:subClassOf :B . :D rdfs:subClassOf :C ; owl:disjointWith :N ."
    compiled = bundle(t, "EVENT H AS A", ":k a :B .")
    assert C("C") not in compiled.folded.below, "D lies below it, and D is spoken of"
    matcher = Matcher(bundle(t.replace("; owl:disjointWith :N", ""), "EVENT H AS A", ":k a :B ."))
    assert set(matcher.bundle.folded.below) == {C("C"), C("D")}
    assert found(matcher, ":x a :D .") == {"H(:x) <= :x a :D*"}
    assert found(matcher, ":x a :D, :C .") == {"H(:x) <= :x a :D*", "H(:x) <= :x a :C*"}


def test_an_item_of_a_folded_class_may_contradict_the_ontology() -> None:
    t = ":A owl:disjointWith :N . :B rdfs:subClassOf :A . :C rdfs:subClassOf :B . :M rdfs:subClassOf :N ."
    matcher = Matcher(bundle(t, "EVENT H AS A"))
    assert set(matcher.bundle.folded.below) == {C("B"), C("C"), C("M")}
    letter = matcher.match(item(":x a :C, :M ."))
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP620"
    assert "x is a C, x is a M" in letter.reason


def test_an_item_of_a_class_below_an_event_is_one_of_the_event() -> None:
    t = ":X rdfs:subClassOf :H . :H a owl:Class . :A owl:disjointWith :N . :B a owl:Class ."
    matcher = Matcher(bundle(t, "EVENT H AS A\nEVENT G AS (A and B)"))
    assert set(matcher.bundle.folded.below) == {C("X")}
    assert found(matcher, ":x a :X, :B .") == {"H(:x) <= :x a :X*", "G(:x) <= :x a :B* ; :x a :X*"}
    letter = matcher.match(item(":x a :X, :N ."))
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP620"


OTHERS = (
    ":{} owl:disjointWith :{} .",
    ":p rdfs:domain :{} . :q rdfs:range :{} .",
    ":{} owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :{} ] .",
    ":{} rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :q ; owl:someValuesFrom :{} ] .",
    ":{} rdfs:subClassOf [ owl:unionOf ( :{} :C0 ) ; a owl:Class ] .",
)


def as_it_is(axioms: tuple[Axiom, ...], spoken_of: object) -> Folded:
    """Nothing is folded; everything counts as mentioned."""
    every = fold(axioms, {C(f"C{n}") for n in range(12)})
    assert not every.below
    return every


@pytest.mark.slow
def test_folded_and_unfolded_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    count: Counter[str] = Counter()
    for seed in range(60):
        pick = random.Random(seed)
        names = [f"C{n}" for n in range(10)]
        lines = [":p a owl:ObjectProperty . :q a owl:ObjectProperty ."]
        lines += [f":{c} rdfs:subClassOf :{pick.choice(names[:n])} ." for n, c in enumerate(names) if n]
        lines += [f":{pick.choice(names)} rdfs:subClassOf :{pick.choice(names)} ."]
        lines += [other.format(*pick.sample(names, 2)) for other in pick.sample(OTHERS, 2)]
        lines += [":C10 rdfs:subClassOf :H ."]
        t, event = (
            "\n".join(lines),
            f"EVENT H AS {pick.choice(names[:5])}\nEVENT G AS p some {pick.choice(names)}",
        )
        k = f":k a :{pick.choice(names)} ."
        try:
            folded = bundle(t, event, k)
        except Exception as error:
            assert getattr(error, "code", "") in ("OBEP344", "OBEP345"), (seed, error)
            continue
        with monkeypatch.context() as patch:
            patch.setattr(compiling, "fold", as_it_is)
            plain = bundle(t, event, k)
        assert folded.status == plain.status, seed
        assert set(folded.module.axioms) == set(plain.module.axioms), seed
        assert folded.matters == plain.matters, seed
        one, other = Matcher(folded), Matcher(plain)
        for _ in range(8):
            triples = [
                f":{pick.choice('xyk')} a :{pick.choice([*names, 'C10'])} ."
                for _ in range(pick.randint(1, 3))
            ]
            triples += [f":{pick.choice('xyk')} :{pick.choice('pq')} :{pick.choice('xyk')} ."]
            first, second = one.match(item(" ".join(triples))), other.match(item(" ".join(triples)))
            if isinstance(first, Matched):
                assert isinstance(second, Matched), (seed, triples)
                assert shown(first.occurrences) == shown(second.occurrences), (seed, triples)
                count["found"] += bool(first.occurrences)
            else:
                assert first == second, (seed, triples)
                count["contradictions"] += 1
        count["folded"] += bool(folded.folded.below)
    assert min(count["found"], count["folded"]) >= 30 and count["contradictions"] >= 5, count
