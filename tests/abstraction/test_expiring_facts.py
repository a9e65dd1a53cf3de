"""Facts with expiration times: what is there at any moment is what the triples that are left entail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest
from cases import bundle, linked
from small_worlds import Small, name

from obep.abstraction.matcher import Matcher
from obep.abstraction.windows.window_union import Union
from obep.model import RDF_TYPE, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.expiring_closure import NEVER, Lasting
from obep.ontology.closure.maintained_closure import Maintained
from obep.ontology.closure.runnable import Contradiction, Reading
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

Facts = set[tuple[object, ...]]


def facts(lasting: Lasting, after: int = -1) -> Facts:
    """What holds beyond a moment, by the names of individuals."""
    width = len(lasting.program.stored)
    found: Facts = {
        (c, lasting.term(x))
        for x, types in lasting.types.items()
        for c, (until,) in types.items()
        if until > after
    }
    for key, ends in lasting.forwards.items():
        for b, (until,) in ends.items():
            if until > after:
                found.add((key % width, lasting.term(key // width), lasting.term(b)))
    return found


def entailed(reading: Reading, triples: dict[Triple, int], after: int) -> Facts:
    """The same from scratch."""
    lasting = Lasting(reading.program, reading.store)
    lasting.add((triple, NEVER) for triple, until in triples.items() if until > after)
    return facts(lasting)


@pytest.mark.slow
def test_what_lasts_is_what_the_rest_entails() -> None:
    count: Counter[str] = Counter()
    for seed in range(400):
        rng, small = Random(seed), Small(seed)
        t = small.t | Axioms((ax.SubClassOf(small.body, ax.Class(name("B"))),), frozenset({name("B")}))
        try:
            reading = Bundle(linked("EVENT H AS B"), t, tuple(small.k), java=False).lower
        except Contradiction:
            continue
        lasting = Lasting(reading.program, reading.store)
        alive: dict[Triple, int] = {}
        known: Facts = set()
        for now in range(12):
            known -= {_named(lasting, fact) for fact in lasting.drop(now)}
            alive = {triple: until for triple, until in alive.items() if until > now}
            assert known == facts(lasting) == entailed(reading, alive, now), seed
            new = {small._triple(): now + rng.randint(1, 6) for _ in range(rng.randint(0, 2))}
            come = {_named(lasting, fact) for fact in lasting.add(new.items())}
            assert known.isdisjoint(come), seed
            known |= come
            assert known == facts(lasting), seed
            clashes = [one for one in known if one[0] == 0 and len(one) == 2]
            assert lasting.contradictions == len(clashes), seed
            count["contradictions"] += bool(clashes)
            for triple, until in new.items():
                alive[triple] = max(until, alive.get(triple, 0))
            for later in range(now, now + 7):
                assert facts(lasting, later) == entailed(reading, alive, later), seed
        count["tried"] += 1
        lasting.drop(100)
        assert (lasting.size(), lasting.types, lasting.forwards, lasting.backwards) == (0, {}, {}, {})
        assert (lasting.ids, lasting.types_of, lasting.edges_of, lasting.numbers) == ({}, {}, {}, {})
    assert count["tried"] >= 200


def test_a_fact_lasts_as_long_as_its_best_derivation() -> None:
    """Fig. 4 of 001_*: A, B, C, D in a chain until 11, 12, 13; then A, E, D until 14."""
    reading = bundle(":p a owl:TransitiveProperty .", "EVENT H AS A and p some B").lower
    lasting = Lasting(reading.program, reading.store)

    def edges(found: Iterable[tuple[int, ...]]) -> set[str]:
        return {lasting.term(a)[1] + lasting.term(b)[1] for _, a, b in found}

    def p(ends: str) -> Triple:
        return (f"<{ends[0]}>", "<http://e/p>", f"<{ends[1]}>")

    assert edges(lasting.add([(p("AB"), 11)])) == {"AB"}
    assert edges(lasting.add([(p("BC"), 12)])) == {"BC", "AC"}
    assert edges(lasting.add([(p("CD"), 13)])) == {"CD", "BD", "AD"}
    assert edges(lasting.add([(p("AE"), 14), (p("ED"), 14)])) == {"AE", "ED"}
    assert edges(lasting.drop(11)) == {"AB", "AC"}
    assert edges(lasting.add([(p("BC"), 15)])) == set()
    assert edges(lasting.drop(12)) == set()
    assert edges(lasting.drop(13)) == {"CD", "BD"}
    assert edges(lasting.drop(14)) == {"AE", "ED", "AD"}
    assert edges(lasting.drop(15)) == {"BC"}


def _maintained(seeds: range) -> Counter[str]:
    """Triples come and go in any order: the facts are always those that the rest entails."""
    count: Counter[str] = Counter()
    for seed in seeds:
        rng, small = Random(seed), Small(seed)
        t = small.some_apart(rng)
        try:
            reading = Bundle(linked("EVENT H AS B"), t, tuple(small.k), java=False).lower
        except Contradiction:
            continue
        kept = Maintained(reading.program, reading.store)
        alive: dict[Triple, int] = {}
        known: Facts = set()
        for _ in range(12):
            gone = rng.sample(sorted(alive), rng.randint(0, min(2, len(alive))))
            for triple in gone:
                del alive[triple]
            fewer = {_named(kept, fact) for fact in kept.remove(gone)}
            new = {
                triple: NEVER for _ in range(rng.randint(0, 2)) if (triple := small._triple()) not in alive
            }
            alive |= new
            more = {_named(kept, fact) for fact in kept.insert(new)}
            found = facts(kept)
            assert found == entailed(reading, alive, 0), seed
            assert found == known - fewer | more, seed
            assert kept.contradictions == len([one for one in found if one[0] == 0 and len(one) == 2]), seed
            count["derived again"] += bool(gone and known & found)
            count["contradictions"] += kept.contradictions > 0
            known = found
        kept.remove([*alive])
        count["tried"] += 1
        assert (kept.size(), kept.types, kept.forwards, kept.backwards) == (0, {}, {}, {})
        assert (kept.ids, kept.types_of, kept.edges_of, kept.numbers) == ({}, {}, {}, {})
    return count


def _named(kept: Lasting, fact: tuple[int, ...]) -> tuple[object, ...]:
    return (fact[0], *map(kept.term, fact[1:]))


def test_what_is_kept_while_triples_come_and_go_is_what_the_rest_entails() -> None:
    count = _maintained(range(60))
    assert count["tried"] >= 30
    assert count["contradictions"] >= 5


@pytest.mark.soak
def test_what_is_kept_while_triples_come_and_go_is_what_the_rest_entails_often() -> None:
    assert _maintained(range(60, 500))["tried"] >= 200


def test_names_that_have_gone_leave_nothing_behind() -> None:
    reading = bundle("", "EVENT H AS A and p some B").lower
    lasting = Lasting(reading.program, reading.store)
    for n in range(5000):
        lasting.drop(n)
        lasting.add(
            [((f"<x{n}>", "<http://e/p>", f"<y{n}>"), n + 3), ((f"<y{n}>", RDF_TYPE, "<http://e/B>"), n + 2)]
        )
    assert len(lasting.own) <= 8
    assert len(lasting.triples) <= 1100


def test_what_a_new_item_costs_does_not_depend_on_the_window() -> None:
    """Rooms apart from each other: the work for one more is the same after 10 and after 1000."""
    matcher = Matcher(bundle("", "EVENT H AS A and p some B"))
    costs = []
    for others in (10, 1000):
        union = Union(matcher)
        for n in range(others):
            union.add(
                {(f"<x{n}>", "<http://e/p>", f"<y{n}>"): NEVER, (f"<y{n}>", RDF_TYPE, "<http://e/B>"): NEVER}
            )
        (way,) = union.find({("<x5>", RDF_TYPE, "<http://e/A>"): NEVER}).ways
        assert len(way.window) == 3
        costs.append(union.operations)
    assert 0 < costs[0] == costs[1]
