"""Explanations are all minimal sets: held against all subsets, tried one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from cases import bundle, found, item, linked
from small_worlds import Small, name

from obep.abstraction.matcher import Matched, Matcher
from obep.abstraction.shape_answers import Evaluator
from obep.model import Item, Term, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

H = name("H")
Goals = dict[Term, set[frozenset[Triple]]]


def world(T: Axioms, body: ax.ClassExpression, k: Sequence[Triple]) -> Bundle:
    """T, with H as its only event, defined by an axiom of T so that any expression will do."""
    defined = T | Axioms((ax.SubClassOf(body, ax.Class(name("B"))),), frozenset({name("B")}))
    return Bundle(linked("EVENT H AS B"), defined, tuple(k), java=False)


def brute_force(small: Small) -> Goals:
    """All minimal subsets of item and K that make something an H, and use the item (D2)."""
    parts = list(dict.fromkeys([*small.item, *small.k]))
    evaluator = Evaluator(world(small.t, small.body, ()), None, 32)
    goals: Goals = {}
    for size in range(1, len(parts) + 1):
        for some in combinations(parts, size):
            closure = evaluator.decide(some)
            for individual in {closure.term(x) for _, x, _ in closure.hits}:
                sets = goals.setdefault(individual, set())
                if not any(smaller <= set(some) for smaller in sets):
                    sets.add(frozenset(some))
    # What follows from nothing at all has the empty set, which is below every other.
    always = {closure.term(x) for _, x, _ in evaluator.decide(()).hits}
    used = {c: {one for one in sets if not one.isdisjoint(small.item)} for c, sets in goals.items()}
    return {c: sets for c, sets in used.items() if sets and c not in always}


@pytest.mark.slow
def test_explanations_are_all_minimal_sets() -> None:
    count: Counter[str] = Counter()
    for seed in range(200):
        small = Small(seed)
        compiled = world(small.t, small.body, small.k)
        if not compiled.exact or len({*small.k, *small.item}) > 7:
            continue
        answer = Matcher(compiled).match(Item("s", 0, tuple(small.item)))
        assert isinstance(answer, Matched)
        found: Goals = {}
        for one in answer.occurrences:
            assert {t for t, at in one.explanation if at is not None} <= set(small.item)
            found.setdefault(one.individual, set()).add(frozenset(t for t, _ in one.explanation))
        assert found == brute_force(small), seed
        count["tried"] += 1
        count["explained"] += bool(found)
        count["in several ways"] += any(len(sets) > 1 for sets in found.values())
        count["by several"] += any(len(one) > 1 for sets in found.values() for one in sets)
        count["with K"] += any(not one <= set(small.item) for sets in found.values() for one in sets)
    assert count["tried"] >= 100
    assert count["explained"] >= 0.5 * count["tried"], count
    assert min(count["in several ways"], count["by several"], count["with K"]) >= 20, count


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
