"""Explanations are all minimal sets: held against all subsets, tried one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cases import bundle, found, item, linked
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import axioms, graphs, left, name, ontology

from obep.abstraction.matcher import Matched, Matcher
from obep.model import DeadLetter, Item, Term, Triple
from obep.ontology import axioms as ax
from obep.ontology.axioms import Axioms
from obep.ontology.compile import Bundle
from obep.ontology.reading import Contradiction

H = name("H")
Goals = dict[Term, set[frozenset[Triple]]]


def world(T: Axioms, body: ax.ClassExpression, k: Sequence[Triple]) -> Bundle:
    """T, with H as its only event, defined by an axiom of T so that any expression will do."""
    defined = T | Axioms((ax.SubClassOf(body, ax.Class(name("B"))),), frozenset({name("B")}))
    return Bundle(linked("EVENT H AS B"), defined, tuple(k), java=False)


def entailed(T: Axioms, body: ax.ClassExpression, some: Sequence[Triple]) -> set[Term]:
    """Everything of class H when these triples are all there is."""
    matched = Matcher(world(T, body, ()), remember=0).match(Item("s", 0, tuple(some)))
    assert isinstance(matched, Matched)
    return {one.individual for one in matched.occurrences}


def brute_force(T: Axioms, body: ax.ClassExpression, k: Sequence[Triple], mine: Sequence[Triple]) -> Goals:
    """All minimal subsets of item and K that make something an H, and use the item (D2)."""
    parts = list(dict.fromkeys([*mine, *k]))
    goals: Goals = {}
    for size in range(1, len(parts) + 1):
        for some in combinations(parts, size):
            for individual in entailed(T, body, some):
                sets = goals.setdefault(individual, set())
                if not any(smaller <= set(some) for smaller in sets):
                    sets.add(frozenset(some))
    used = {c: {one for one in sets if not one.isdisjoint(mine)} for c, sets in goals.items()}
    return {c: sets for c, sets in used.items() if sets}


@settings(max_examples=60, deadline=None)
@given(st.lists(axioms, max_size=5), left, graphs, graphs)
def test_explanations_are_all_minimal_sets(
    some: list[ax.Axiom], body: ax.ClassExpression, k: list[Triple], mine: list[Triple]
) -> None:
    T = ontology(some)
    compiled = world(T, body, k)
    assume(compiled.exact and len({*k, *mine}) <= 7)
    try:
        answer = Matcher(compiled).match(Item("s", 0, tuple(mine)))
    except Contradiction:
        assume(False)
    assume(not isinstance(answer, DeadLetter))
    assert isinstance(answer, Matched)
    found: Goals = {}
    for one in answer.occurrences:
        assert {t for t, at in one.explanation if at is not None} <= set(mine)
        found.setdefault(one.individual, set()).add(frozenset(t for t, _ in one.explanation))
    assert found == brute_force(T, body, k, mine)


def test_explanations_are_sorted_and_carry_their_instants() -> None:
    matcher = Matcher(bundle("", "EVENT H AS A and p some B", ":y a :B ."))
    answer = matcher.match(item(":x :p :y ; a :A .", at=5))
    assert isinstance(answer, Matched)
    (only,) = answer.occurrences
    assert list(only.explanation) == sorted(only.explanation)
    assert [at for _, at in only.explanation] == [5, 5, None]


def test_explanations_are_capped_and_counted() -> None:
    matcher = Matcher(bundle("", "EVENT H AS p some A"), max_explanations=3)
    many = " ".join(f":x :p :y{n} . :y{n} a :A ." for n in range(9))
    assert len(found(matcher, many)) == 3
    assert matcher.capped == 1
    found(matcher, many.replace("y", "z"))  # remembered, and counted again
    assert matcher.capped == 2
    found(matcher, ":x :p :y . :y a :A .")
    assert matcher.capped == 2


def test_very_many_reasons_in_k_leave_minimal_explanations() -> None:
    """A building is one because of each of its rooms; the room that the item speaks of is enough."""
    rooms = " ".join(f":b :has :r{n} ." for n in range(1500))
    matcher = Matcher(
        bundle(":has rdfs:domain :Building .", "EVENT H AS Building and has some (on some Thing)", rooms)
    )
    for room in ("r7", "r1400"):
        assert found(matcher, f":{room} :on :x .") == {f"H(:b) <= :b :has :{room} ; :{room} :on :x*"}
