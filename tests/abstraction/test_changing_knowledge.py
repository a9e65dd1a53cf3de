"""Items while K changes: what is found in them is what a matcher made for the K of now finds."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from cases import linked
from small_worlds import CLASSES, INDIVIDUALS, ROLES, Small, name

from obep.abstraction.knowledge import Changed, Knowledge
from obep.abstraction.matcher import Matcher
from obep.guards.block_queries import asks
from obep.model import DeadLetter, Item, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.changing_store import ChangingStore
from obep.ontology.closure.runnable import Contradiction
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.query.state_expansion import expand

QUERIES = (
    "EVENT H AS B",
    "EVENT H AS B IF { ?this <http://e/r0> ?y . ?y a <http://e/C0> }",
    "EVENT H AS B IF { ?y <http://e/r1> ?z }",
)


def found(matcher: Matcher, item: Item) -> object:
    matched = matcher.match(item)
    if isinstance(matched, DeadLetter):
        return matched.code, matched.reason
    return sorted(
        (one.event, one.individual, one.explanation, sorted(map(str, one.solutions.items())))
        for one in matched.occurrences
    )


def _judged(seeds: range) -> Counter[str]:
    count: Counter[str] = Counter()
    for seed in seeds:
        rng, small = Random(seed), Small(seed)
        apart = [ax.DisjointClasses(tuple(map(ax.Class, CLASSES[:2]))), ax.Irreflexive(ROLES[0])]
        same = [ax.Functional(ROLES[1])] if seed % 5 == 0 else []
        more = (ax.SubClassOf(small.body, ax.Class(name("B"))), *rng.sample(apart, rng.randint(0, 2)), *same)
        t = small.t | Axioms(more, frozenset({name("B")}))
        query = linked(rng.choice(QUERIES))
        every = asks(expand(query)).all
        k = dict.fromkeys(small._triple() for _ in range(rng.randint(0, 6)))
        try:
            bundle = Bundle(query, t, tuple(k), java=False)
            matcher = Matcher(bundle, every)
        except Contradiction:
            continue
        knowledge = Knowledge(matcher)
        others = [name(f"o{n}") for n in range(3)]
        for _ in range(12):
            if rng.random() < 0.4:
                gone = rng.sample([*k], rng.randint(0, min(2, len(k))))
                new = [small._triple() for _ in range(rng.randint(0, 2))]
                outcome = knowledge.change(Item("m", 0, tuple(new), removed=tuple(gone)))
                after = dict.fromkeys((*(one for one in k if one not in gone), *new))
                try:
                    _ = Bundle(query, t, tuple(after), java=False).lower
                    assert isinstance(outcome, Changed), seed
                    k = after
                    count["changes"] += 1
                except Contradiction:
                    assert isinstance(outcome, DeadLetter) and outcome.code == "OBEP820", seed
                    count["refused"] += 1
                assert {*knowledge.graph.once()} == {*k}
                assert len(knowledge.graph) == len(k)
            triples = dict.fromkeys(
                _of_others(small._triple(), rng, others) for _ in range(rng.randint(1, 3))
            )
            item = Item("s", 1, tuple(triples))
            anew = Matcher(Bundle(query, t, tuple(k), java=False), every)
            known = matcher.remembered
            assert found(matcher, item) == found(anew, item), (seed, k, item)
            count["remembered"] += known > 0 and matcher.remembered == known
            count["items"] += 1
        kept = isinstance(matcher.bundle.lower.store, ChangingStore)
        count["kept up to date" if kept else "closed anew"] += 1
    return count


def _of_others(triple: Triple, rng: Random, others: list[str]) -> Triple:
    """Some individuals of items are not K's."""
    s, p, o = (rng.choice(others) if one in INDIVIDUALS and rng.random() < 0.4 else one for one in triple)
    return s, p, o


@pytest.mark.slow
def test_what_is_found_while_k_changes_is_what_a_rebuild_finds() -> None:
    count = _judged(range(40))
    assert count["changes"] >= 50
    assert count["kept up to date"] >= 10
    assert count["closed anew"] >= 5


@pytest.mark.soak
def test_what_is_found_while_k_changes_is_what_a_rebuild_finds_often() -> None:
    count = _judged(range(40, 400))
    assert count["refused"] >= 10
    assert count["remembered"] >= 100
