"""K that changes: what is kept is what a rebuild with the triples of that moment has."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from cases import linked
from small_worlds import ROLES, Small, name

from obep.model import RDF_TYPE, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.backwards import Backwards
from obep.ontology.closure.changing_store import ChangingStore
from obep.ontology.closure.runnable import Contradiction, Reading
from obep.ontology.closure.store import Store
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.rules.program import Program

Content = tuple[frozenset[object], ...]


def content(program: Program, store: Store) -> Content:
    """All that a store says, by names, with the assertions behind each fact."""
    width, terms = len(program.stored), store.terms
    backwards = Backwards(program, store)
    named = dict(store.named())
    types = {(c, term) for x, term in named.items() for c in store.types[x]}
    edges = {
        (key % width, terms[key // width], terms[y]) for key, ends in store.forwards.items() for y in ends
    }
    into = {
        (n, terms[y], term)
        for x, term in named.items()
        for n in range(width)
        for y in store.backwards.get(x * width + n, ())
    }
    assert edges == into
    facts = [(c, x) for x in named for c in store.types[x]]
    said = set()
    for c, x in facts:
        for way in backwards.derivations((c, x)):
            said.add((c, terms[x], store.assertions[way] if isinstance(way, int) else None))
    members = {(c, terms[x]) for c, x in facts for x in store.members(c) if x in named}
    assert all(store.ids.get(term) == x and term in store.ids for x, term in named.items())
    return tuple(map(frozenset, (types, edges, said, members, named.values())))


@pytest.mark.slow
def test_a_store_that_changes_is_the_store_of_a_rebuild() -> None:
    count = _changed(range(80))
    assert count["tried"] >= 200
    assert count["refused"] >= 5
    assert count["gone"] >= 100


@pytest.mark.soak
def test_a_store_that_changes_is_the_store_of_a_rebuild_often() -> None:
    assert _changed(range(80, 700))["tried"] >= 1500


def _changed(seeds: range) -> Counter[str]:
    count: Counter[str] = Counter()
    for seed in seeds:
        rng, small = Random(seed), Small(seed)
        t = small.some_apart(rng)
        k = dict.fromkeys(small._triple() for _ in range(rng.randint(0, 8)))
        reading = _reading(t, tuple(k))
        if reading is None or reading.program.equality or reading.program.by_value:
            continue
        store = ChangingStore(reading.program, reading.store)
        before = content(reading.program, reading.store)
        assert content(reading.program, store) == before, seed
        for _ in range(8):
            gone = [one for one in rng.sample([*k], rng.randint(0, min(3, len(k)))) if _looks(store, one)]
            for triple in gone:
                del k[triple]
            store.take_away(gone)
            new = [one for one in {small._triple(): None for _ in range(rng.randint(0, 3))} if one not in k]
            new = [one for one in new if _looks(store, one)]
            then = _reading(t, (*k, *new))
            assert store.insert(new) == (then is not None), seed
            if then is None:
                count["refused"] += 1
            else:
                k |= dict.fromkeys(new)
            now = _reading(t, tuple(k))
            assert now is not None
            assert content(reading.program, store) == content(now.program, now.store), seed
            assert all(store.knowing.is_said(triple) for triple in k if _looks(store, triple))
            count["tried"] += 1
            count["gone"] += bool(gone)
        assert content(reading.program, reading.store) == before, "what others share has not changed"
    return count


def _looks(store: ChangingStore, triple: Triple) -> bool:
    return store.knowing.looks_at(triple)


def _reading(t: Axioms, k: tuple[Triple, ...]) -> Reading | None:
    try:
        return Bundle(linked("EVENT H AS B"), t, k, java=False).lower
    except Contradiction:
        return None


def test_a_name_that_k_has_lost_is_no_individual_any_more() -> None:
    t = Axioms((), frozenset({name("B")}), frozenset({ROLES[0]}))
    k: list[Triple] = [(name("x"), RDF_TYPE, name("B")), (name("y"), RDF_TYPE, name("B"))]
    reading = _reading(t, tuple(k))
    assert reading is not None
    store = ChangingStore(reading.program, reading.store)
    store.take_away(k[:1])
    assert name("x") not in dict(store.named()).values()
    store.insert(k[:1])
    assert name("x") in dict(store.named()).values()
