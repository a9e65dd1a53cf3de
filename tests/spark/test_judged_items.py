"""K(t) in several buckets: each judges all items by the K of their instant, as one engine does."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from oracle.knowledge_trials import draw_changes
from oracle.state_strategies import StateCase, StateCases
from split_runs import difference, embedded

from obep.engine.query import Query
from obep.model import Item
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.query.link import assemble

CASES = int(os.environ.get("OBEP_KNOWLEDGE_CASES", "40"))
MODEL = "model"


def with_changes(case: StateCase, seed: int) -> StateCase:
    """The case, with changes of K among its items: of an instant they come first."""
    changes = [
        Item(MODEL, one.at, one.insert, removed=one.delete) for one in draw_changes(Random(seed), case)
    ]
    items = sorted((*changes, *case.items), key=lambda one: (one.at, one.stream != MODEL))
    return replace(case, items=tuple(items))


def judged(case: StateCase) -> Query:
    """Its query, with a stream of knowledge."""
    linked = assemble([case.file], Path())
    linked = replace(linked, models=frozenset({MODEL}), streams=(*linked.streams, MODEL))
    return Query(linked, compile_bundle(linked, Axioms(()), case.k, java=False))


@pytest.mark.slow
def test_buckets_whose_k_changes_find_what_one_engine_finds() -> None:
    seen: Counter[str] = Counter()
    for seed in range(CASES):
        case = with_changes(StateCases.of(seed).case(), seed)
        query = judged(case)
        found = embedded(query, case)
        still = embedded(query, replace(case, items=tuple(i for i in case.items if i.stream != MODEL)))
        seen["answered"] += bool(found)
        seen["changed"] += Counter(one.id for one in found) != Counter(one.id for one in still)
        random = Random(seed)
        assert difference(query, case, found, random.choice((1, 2, 3)), random) == "", seed
    assert seen["answered"] > CASES // 2 and seen["changed"] > CASES // 20
