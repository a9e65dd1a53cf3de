"""Windows of all kinds on random ontologies and streams, held against `oracle_windows`.

A seed is a world, not a draw of hypothesis: the run asserts its mix (as in `random_ontologies`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from random import Random

import pytest
from cases import linked
from oracle.window_semantics import Entails, Found, Frame, occurrences
from small_worlds import CLASSES, INDIVIDUALS, ROLES, Small, name

from obep.abstraction.matcher import Matcher
from obep.abstraction.shape_answers import Evaluator
from obep.abstraction.windows.window_matcher import Together
from obep.engine.query import Query
from obep.model import RDF_TYPE, SECOND, DeadLetter, Item, Occurrence, Term, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "400"))
SEED = int(os.environ.get("OBEP_SEED", "0"))
END = 14
MOST = 9
"""Assertions that are ever together: all their subsets are tried."""


def frame_of(rng: Random) -> Frame:
    kind = rng.choice(("range", "range", "step", "landmark", "fixed", "rows"))
    if kind == "range":
        width = rng.randint(1, 6)
        return Frame(f"RANGE {width} s", range=width)
    if kind == "step":
        width, step = rng.randint(1, 6), rng.randint(1, 4)
        return Frame(f"RANGE {width} s STEP {step} s", range=width, step=step)
    if kind == "landmark":
        first = rng.randint(0, 4)
        return Frame(f"LANDMARK {first}", first=first)
    if kind == "fixed":
        first, length = rng.randint(0, 4), rng.randint(2, 8)
        return Frame(f"FROM {first} TO {first + length}", first=first, last=first + length)
    rows = rng.randint(1, 3)
    return Frame(f"ROWS {rows}", rows=rows)


class World:
    """A small world with a stream and a window on it; the second stream is nobody's business."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        small = Small(seed)
        clashes = [ax.DisjointClasses((ax.Class(CLASSES[0]), ax.Class(CLASSES[2])))] if seed % 3 == 0 else []
        self.k = tuple(small.k[:2])
        width = rng.randint(2, 4)
        short = Frame(f"RANGE {width} s", range=width)  # what clashes leaves soon
        self.frame = short if clashes and rng.random() < 0.5 else frame_of(rng)
        at = sorted(rng.randint(1, 9) for _ in range(rng.randint(2, 6)))
        first, second = INDIVIDUALS[:2]
        one_each = [(first, RDF_TYPE, CLASSES[0]), (first, ROLES[0], second), (second, RDF_TYPE, CLASSES[1])]
        pool = one_each + [self._triple(rng) for _ in range(rng.randint(1, 2))]  # the same is seen again
        if clashes:
            pool.append((first, RDF_TYPE, CLASSES[2]))
        self.items = [
            Item(
                "s" if rng.random() < 0.9 else "other",
                one,
                tuple(dict.fromkeys(rng.choice(pool) for _ in range(rng.choice((1, 1, 2))))),
            )
            for one in at
        ]
        all_three = ax.And((ax.Class(CLASSES[0]), ax.Some(ROLES[0], ax.Class(CLASSES[1]))))
        bodies = (all_three, small.body) if seed % 2 else (all_three,)
        defined = [ax.SubClassOf(body, ax.Class(name("B"))) for body in bodies]
        self.t = small.t | Axioms((*defined, *clashes), frozenset({name("B")}))

    @staticmethod
    def _triple(rng: Random) -> Triple:
        subject = rng.choice(INDIVIDUALS[:2])
        if rng.random() < 0.5:
            return (subject, RDF_TYPE, rng.choice(CLASSES))
        return (subject, rng.choice(ROLES), rng.choice(INDIVIDUALS[:2]))

    @property
    def size(self) -> int:
        return len(self.k) + sum(len(item.triples) for item in self.items)

    def bundle(self, k: Sequence[Triple]) -> Bundle:
        text = f"FROM NAMED WINDOW <w> ON <s> [{self.frame.text}]\nFROM STREAM <other>\nEVENT H ON <w> AS B"
        return Bundle(linked(f"{text}\nRETURN ALL"), self.t, tuple(k), java=False)

    def entails(self) -> Entails:
        evaluator = Evaluator(self.bundle(()), None, 32)

        @cache
        def entailed(triples: frozenset[Triple]) -> frozenset[tuple[Term, Term]] | None:
            closure = evaluator.decide(sorted(triples))
            if closure.clashes:
                return None
            return frozenset((name("H"), closure.term(x)) for c, x, _ in closure.hits)

        return entailed

    def expected(self) -> list[Found]:
        mine = [item for item in self.items if item.stream == "s"]
        return list(occurrences(self.frame, mine, self.k, self.entails(), END))


def query_of(world: World) -> Query | None:
    """`None` where T and K alone will not do."""
    compiled = world.bundle(world.k)
    return Query(compiled.linked, compiled) if compiled.exact else None


def pushed(world: World) -> list[Item]:
    return [Item(item.stream, item.at * SECOND, item.triples) for item in world.items]


def told(found: Sequence[Occurrence]) -> list[Found]:
    return sorted(
        (
            Found(
                one.event,
                one.individual,
                frozenset((t, None if at is None else at // SECOND) for t, at in one.explanation),
                one.start // SECOND,
                one.end // SECOND,
                one.detected // SECOND,
            )
            for one in found
        ),
        key=order,
    )


def order(one: Found) -> tuple[object, ...]:
    return (one.detected, one.event, one.individual, sorted(map(str, one.explanation)))


def one_by_one(query: Query, items: Sequence[Item]) -> list[Occurrence]:
    engine = query.engine()
    found = [hit for item in items for hit in engine.push_items([item])]
    found += [*engine.advance(END), *engine.close()]
    assert engine.counters["occurrences"] == len(found)
    return found


class Forgetful(Matcher):
    """A matcher that looks at all of a window again, as it does where the rules do not decide everything."""

    def together(self, window: str, goals: Iterable[Term]) -> Together:
        together = super().together(window, goals)
        together._union._lasting = None
        return together


def all_again(query: Query, items: Sequence[Item]) -> list[Occurrence]:
    engine = query.engine(matcher=Forgetful(query.bundle, query.asks.all))
    return [*engine.push_items(items), *engine.advance(END), *engine.close()]


def in_bulk(query: Query, items: Sequence[Item]) -> list[Occurrence]:
    engine = query.engine()
    return [*engine.push_items(items), *engine.advance(END), *engine.close()]


def late(query: Query, items: Sequence[Item]) -> list[Occurrence]:
    """In any order within the lateness."""
    mixed = list(items)
    Random(len(items)).shuffle(mixed)
    engine = query.engine(lateness=END)
    return [*engine.push_items(mixed), *engine.advance(END), *engine.close()]


def stopped_after_each(query: Query, items: Sequence[Item]) -> list[Occurrence]:
    engine = query.engine()
    found: list[Occurrence] = []
    for item in items:
        found += engine.push_items([item])
        data = engine.snapshot()
        engine = query.engine()
        engine.restore(data)
    found += engine.advance(END)
    data = engine.snapshot()
    engine = query.engine()
    engine.restore(data)
    return [*found, *engine.close()]


def clashed(query: Query, items: Sequence[Item]) -> bool:
    """Whether items that are fine each for itself contradict each other."""
    letters: list[DeadLetter] = []
    engine = query.engine(on_dead_letter=letters.append)
    engine.push_items(items)
    engine.advance(END)
    return any(letter.code == "OBEP621" for letter in letters)


def worlds(count: int) -> list[tuple[World, Query]]:
    found: list[tuple[World, Query]] = []
    seed = SEED
    while len(found) < count:
        seed += 1
        world = World(seed)
        if world.size > MOST or world.entails()(frozenset(world.k)) is None:
            continue
        query = query_of(world)
        if query is not None:
            found.append((world, query))
    return found


@pytest.mark.slow
def test_windows_find_what_the_oracle_finds() -> None:
    count: Counter[str] = Counter()
    for world, query in worlds(EXAMPLES):
        expected = sorted(world.expected(), key=order)
        items = pushed(world)
        found = one_by_one(query, items)
        assert told(found) == expected, (world.frame, world.items, world.k, world.t.axioms)
        assert all(one.since == one.start for one in found)
        assert told(in_bulk(query, items)) == expected
        assert told(late(query, items)) == expected
        assert told(all_again(query, items)) == expected
        assert told(stopped_after_each(query, items)) == expected
        items.reverse()  # those of one instant in another order
        items.sort(key=lambda item: item.at)
        assert told(one_by_one(query, items)) == expected
        kind = world.frame.text.split()[0] + (" STEP" if world.frame.step else "")
        count[kind] += bool(expected)
        count["answered"] += bool(expected)
        count["over several items"] += any(one.start < one.end for one in expected)
        count["after their end"] += any(one.detected > one.end for one in expected)
        count["with K"] += any(at is None for one in expected for _, at in one.explanation)
        count["clashed"] += clashed(query, items)
        count["after a clash"] += not world.frame.step and any(one.detected > one.end for one in expected)
    few = EXAMPLES // 40
    assert count["answered"] >= 10 * few, count
    assert min(count["over several items"], count["with K"]) >= 3 * few, count
    assert min(count["after their end"], count["clashed"]) >= few, count
    assert count["after a clash"] >= few // 5, count
    assert all(count[kind] >= few for kind in ("RANGE", "RANGE STEP", "LANDMARK", "FROM", "ROWS")), count
