"""An ABox laid over a loaded T gives the answers that T and the ABox give when they are loaded together."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from comparing import individuals
from random_ontologies import KINDS, world

from obep.errors import ObepError
from obep.ontology.hermit.reasoner import Reasoner, shared_reasoner
from obep.ontology.owl import axioms as ax

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "4"))


@pytest.mark.java
@pytest.mark.parametrize("kind", KINDS)
def test_laid_over_is_as_good_as_loaded(kind: str) -> None:
    compared = 0
    for seed in range(EXAMPLES):
        one = world(kind, seed, items=2)
        T = one.full()
        for item in one.items:
            abox = [a for triple in (*one.k, *item) if (a := T.assertion(triple))]
            goals = [
                ax.ClassAssertion(ax.Class(event), name)
                for event, _ in one.events
                for name in individuals((*one.k, *item))
            ]
            try:
                laid = shared_reasoner().entails(T, abox, goals)
            except ObepError as error:
                assert error.code == "OBEP342"
                continue
            assert Reasoner().entails(replace(T, axioms=(*T.axioms, *abox)), (), goals) == laid
            compared += 1
    assert compared >= EXAMPLES
