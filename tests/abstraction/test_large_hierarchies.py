"""Deciding an item does not get slower with the number of subclasses: steps are counted, not timed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from obep.abstraction.shape_answers import Evaluator

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from hierarchy import compiled, hierarchy, items


def test_the_hierarchy_is_as_deep_and_large_as_it_says() -> None:
    parents = {a.sub.iri: a.sup.iri for a in hierarchy(40_000).axioms}  # type: ignore[union-attr]
    assert len(parents) == 39_999

    def depth(name: str) -> int:
        return 1 + depth(parents[name]) if name in parents else 0

    assert max(map(depth, parents)) == 8


@pytest.mark.slow
def test_steps_do_not_grow_with_the_number_of_classes() -> None:
    steps = []
    for count in (400, 40_000):
        evaluator = Evaluator(compiled(count), None, 32)
        closures = [evaluator.decide(item.triples) for item in items(count, 200)]
        assert all(len(closure.hits) == 2 for closure in closures)
        steps.append({closure.operations for closure in closures})
    assert steps[0] == steps[1]
    assert max(steps[0]) <= 6
