"""The matcher's answers equal HermiT's, on random ontologies of every kind; and the mix is worth comparing.

OBEP_EXAMPLES says how many worlds of each kind are tried (each with five items).
"""

from __future__ import annotations

import os

import pytest
from comparing import Count, compare, query, usable
from random_ontologies import KINDS, World, shrunk, world

from obep.ontology.owl.verbalise import show
from obep.ontology.rules.locality import Components

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "8"))
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
    count, apart = Count(), 0
    for seed in range(EXAMPLES):
        one = world(kind, seed)
        if not usable(one):
            count.refused += 1
            continue
        apart += len(list(Components(one.t(), one.k).all())) >= 2
        explanations = seed % 3 == 0  # all minimal sets, not only which events
        if any(compare(one, count, explanations=explanations)):
            pytest.fail(report(one, explanations), pytrace=False)
    assert count.refused <= EXAMPLES / 2
    assert apart >= count.worlds / 2  # K has two or more components, and T does not tie them together
    assert count.entailed >= 0.3 * count.questions
    assert count.inconsistent >= 0.05 * count.items
    assert count.occurrences > count.items / 2
    if KINDS[kind].has_gap:
        assert count.gap >= 0.1 * count.items
