"""The engine reports what the oracle of states says, on random states, patterns over them and streams."""

from __future__ import annotations

import os

import pytest

from oracle.state_engine import engine_answers
from oracle.state_trials import StateTrials

CASES = int(os.environ.get("OBEP_STATE_CASES", "40"))


@pytest.mark.slow
def test_the_engine_and_the_oracle_of_states_agree() -> None:
    trials = StateTrials(engine_answers)
    trials.run(40, CASES)
    assert trials.cases == CASES
    assert trials.failures == []
    assert trials.answered >= 0.4 * trials.cases
