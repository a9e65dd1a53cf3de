"""The laws of STATES 7 hold of the oracle itself, and the random cases have what they must.

OBEP_CASES is the number of cases of each, OBEP_SEED where their seeds begin.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from obep.query import ast
from oracle.state_laws import LAWS, oracle_evaluator, probed
from oracle.state_strategies import StateCases
from oracle.state_trials import StateTrials
from oracle.states.state_constructs import EXPECTED
from oracle.states.state_pattern_draws import PAIRS, pairs_of

CASES = int(os.environ.get("OBEP_CASES", "4"))
SEED = int(os.environ.get("OBEP_SEED", "0"))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_law_of_states_holds_of_the_oracle(law) -> None:  # type: ignore[no-untyped-def]
    for seed in range(SEED, SEED + CASES):
        assert not law(oracle_evaluator, seed), f"seed {seed}"


@pytest.mark.slow
def test_random_cases_with_states_have_answers() -> None:
    """Of so many that the share means something; `oracle.state_trials` asks it construct by construct."""
    trials = StateTrials()
    trials.run(SEED, max(60, 2 * CASES))
    assert trials.answered >= 0.4 * trials.cases
    assert len([name for name in EXPECTED if trials.seen[name]]) >= len(EXPECTED) // 3


def test_a_seed_is_one_case_with_states() -> None:
    for seed in range(5):
        assert StateCases.of(seed).case() == StateCases.of(seed).case()
        assert probed(Random(seed)) == probed(Random(seed))


def test_each_seed_of_a_pair_has_that_pair() -> None:
    """What states bring stands directly below every operator, and every operator below what they bring."""
    for seed, pair in enumerate(PAIRS):
        event = next(e for e in StateCases.of(seed).case().file.events if e.name.text == "H")
        assert isinstance(event, ast.CompositeEvent)
        assert pair in pairs_of(event.pattern), (seed, pair)
