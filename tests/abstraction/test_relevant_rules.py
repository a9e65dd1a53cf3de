"""Rules that can lead to no event and to no contradiction are left out, and nobody can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from cases import bundle, found, item, shown

from obep.abstraction.matcher import Matched, Matcher
from obep.errors import ObepError
from obep.model import RDF_TYPE, DeadLetter
from obep.ontology.bundle import relevant_names
from obep.ontology.closure.runnable import Contradiction
from obep.ontology.owl.axioms import Class, Some, SubClassOf
from obep.ontology.rules.relevance import needs

BOTH = "[ a owl:Class ; owl:intersectionOf ( :{} :{} ) ] rdfs:subClassOf :{} ."
SOME = ":{} rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :{} ; owl:someValuesFrom {} ] ."
PROPERTIES = ":p a owl:ObjectProperty . :q a owl:ObjectProperty . :d a owl:DatatypeProperty ."


def test_what_a_promised_value_rests_on_is_relevant() -> None:
    t = PROPERTIES + BOTH.format("B", "C", "A") + SOME.format("A", "d", "xsd:integer")
    matcher = Matcher(bundle(t, "EVENT H AS (d some integer)"))
    assert found(matcher, ":x a :B, :C .") == {"H(:x) <= :x a :B* ; :x a :C*"}


def test_a_promised_individual_whose_value_cannot_be_is_a_contradiction() -> None:
    t = PROPERTIES + BOTH.format("B", "C", "A") + SOME.format("A", "p", ":F")
    t += SOME.format("F", "d", "xsd:integer") + ":d rdfs:range xsd:string ."
    letter = Matcher(bundle(t, "EVENT H AS B")).match(item(":x a :B, :C ."))
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP620"


def test_a_promised_individual_with_a_value_of_an_empty_range_is_a_contradiction() -> None:
    empty = "[ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions "
    empty += "( [ xsd:minInclusive 12 ] [ xsd:maxInclusive 10 ] ) ]"
    t = PROPERTIES + SOME.format("A", "p", ":F") + SOME.format("F", "d", empty)
    letter = Matcher(bundle(t, "EVENT H AS C")).match(item(":x a :A ."))
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP620"


def test_what_a_witness_is_counts_where_t_speaks_of_the_universal_property() -> None:
    t = PROPERTIES + SOME.format("A", "p", ":X")
    t += "[ a owl:Restriction ; owl:onProperty owl:topObjectProperty ; owl:someValuesFrom :X ]"
    kept = bundle(t + " rdfs:subClassOf :Y .", "EVENT H AS Y")
    assert (
        SubClassOf(Class("<http://e/A>"), Some("<http://e/p>", Class("<http://e/X>"))) in kept.module.axioms
    )
    assert kept.means_something(("<http://e/x>", RDF_TYPE, "<http://e/A>"))


def test_a_case_analysis_with_a_case_that_leads_nowhere_leaves_an_event_exact() -> None:
    t = ":A rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :B :Z ) ] . :Z rdfs:subClassOf :Y ."
    assert bundle(t, "EVENT H AS B").status == {"<http://e/H>": "exact"}
    stated = bundle(t + ":A rdfs:subClassOf :B .", "EVENT H AS B")
    assert found(Matcher(stated), ":x a :A .") == {"H(:x) <= :x a :A*"}


def all_relevant(rules: Iterable[Any], goals: Iterable[Any], relations: Any, clauses: Any = ()) -> Any:
    """Everything counts."""
    rules = set(rules)
    named = {name for rule in rules for name in needs(rule, relations)}
    return rules, named | set(goals) | set(range(len(relations.names)))


def world(random: Random) -> str:
    names = [f"C{n}" for n in range(6)]

    def some(count: int) -> list[str]:
        return random.sample(names, count)

    kinds = (
        lambda: BOTH.format(*some(3)),
        lambda: SOME.format(*some(1), random.choice("pq"), f":{some(1)[0]}"),
        lambda: SOME.format(*some(1), "d", random.choice(("xsd:integer", "xsd:string"))),
        lambda: ":{} owl:disjointWith :{} .".format(*some(2)),
        lambda: ":{} rdfs:subClassOf :{} .".format(*some(2)),
        lambda: f":{random.choice('pq')} rdfs:range :{some(1)[0]} .",
        lambda: f":d rdfs:range {random.choice(('xsd:integer', 'xsd:decimal'))} .",
        lambda: f":d rdfs:domain :{some(1)[0]} .",
        lambda: ":{} rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :{} :{} ) ] .".format(*some(3)),
        lambda: ":p rdfs:subPropertyOf :q .",
        lambda: ":q a owl:FunctionalProperty .",
    )
    return PROPERTIES + "\n".join(random.choice(kinds)() for _ in range(8))


@pytest.mark.slow
def test_leaving_rules_out_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    count: Counter[str] = Counter()
    bodies = ("C0", "(d some integer)", "(p some C1)", "(C2 and C3)", "(q some (d some string))")
    for seed in range(150):
        random = Random(seed)
        t, events = world(random), "\n".join(f"EVENT {h} AS {random.choice(bodies)}" for h in "HG")
        with monkeypatch.context() as patch:
            try:
                some = Matcher(bundle(t, events))
                patch.setattr(relevant_names, "relevant", all_relevant)
                every = Matcher(bundle(t, events))
            except (ObepError, Contradiction):
                continue
        exact = every.bundle.exact  # else it may know less with all rules: what it finds is a lower bound
        for _ in range(6):
            text = " ".join(f":x a :C{random.randrange(6)} ." for _ in range(3))
            text += random.choice((" :x :p :y .", " :x :d 5 .", " :y a :C1 ."))
            one, other = some.match(item(text)), every.match(item(text))
            if isinstance(one, Matched):
                assert isinstance(other, Matched), (seed, text)
                mine, theirs = shown(one.occurrences), shown(other.occurrences)
                assert mine == theirs if exact else mine >= theirs, (seed, t, events, text)
                count["found"] += bool(mine)
            else:
                assert isinstance(other, DeadLetter) or not exact, (seed, t, text)
                count["contradictions"] += 1
        count["exact"] += exact
    assert count["found"] >= 100 and count["contradictions"] >= 50, count
    assert count["exact"] >= 10, count
