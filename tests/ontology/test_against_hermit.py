"""The matcher's answers equal HermiT's, on random ontologies of every kind; and the mix is worth comparing.

OBEP_EXAMPLES says how many worlds of each kind are tried (each with five items).
"""

from __future__ import annotations

import os

import pytest
from comparing import Count, compare, query, usable
from random_ontologies import ISLANDS, KINDS, World, shrunk, world

from obep.ontology.locality import Components
from obep.ontology.words import show

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "12"))
pytestmark = pytest.mark.java


def report(failed: World, explanations: bool) -> str:
    """The smallest world that still differs, in words."""

    def fails(some: World) -> bool:
        return usable(some) and any(compare(some, Count(), explanations=explanations))

    small = shrunk(failed, fails)
    lines = [f"{small.kind} {small.seed}", *map(show, small.axioms), query(small)]
    lines += [f"K {triple}" for triple in small.k] + [f"item {item}" for item in small.items]
    return "\n".join([*lines, *compare(small, Count(), explanations=explanations)])


@pytest.mark.parametrize("kind", KINDS)
def test_the_matcher_agrees_with_hermit(kind: str) -> None:
    count = Count()
    for seed in range(EXAMPLES):
        one = world(kind, seed)
        if not usable(one):
            count.refused += 1
            continue
        assert len(list(Components(one.t(), one.k).all())) >= 2 or Components(one.full(), one.k).reasons
        explanations = seed % 3 == 0  # all minimal sets, not only which events
        if any(compare(one, count, explanations=explanations)):
            pytest.fail(report(one, explanations), pytrace=False)
    assert count.refused <= EXAMPLES / 2
    assert count.entailed >= 0.3 * count.questions
    assert count.inconsistent >= 0.05 * count.items
    assert count.occurrences > count.items / 2
    if KINDS[kind].has_gap:
        assert count.gap >= 0.1 * count.items


@pytest.mark.parametrize("kind", KINDS)
def test_k_has_two_components_or_more(kind: str) -> None:
    assert len(ISLANDS) >= 2
    joined = [len(list(Components(world(kind, seed).t(), world(kind, seed).k).all())) for seed in range(20)]
    assert sum(n >= 2 for n in joined) >= 10
