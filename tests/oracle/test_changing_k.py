"""K(t): an engine whose static graph changes agrees with the oracle, which takes the K of each instant."""

from __future__ import annotations

import os

import pytest

from oracle.knowledge_trials import KnowledgeTrials

CASES = int(os.environ.get("OBEP_KNOWLEDGE_CASES", "40"))


@pytest.mark.slow
def test_an_engine_whose_k_changes_and_the_oracle_agree() -> None:
    trials = KnowledgeTrials()
    trials.run(0, CASES)
    assert trials.failures == []
    assert trials.cases >= CASES
    assert trials.different >= CASES // 20
