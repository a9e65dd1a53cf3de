"""A sample of the soak through Spark's processor, without a JVM: running parts again changes nothing."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pyspark", reason="Spark's processor needs pyspark")
pytest.importorskip("pandas", reason="TwsTester needs pandas")

from soak_law import Broken
from soak_spark import Kept, Pipeline, hold_processor

FIRST = int(os.environ.get("OBEP_SOAK_SEED", "0"))
SCHEDULES = int(os.environ.get("OBEP_SOAK_SPARK", "8"))


@pytest.mark.slow
def test_micro_batches_that_run_again_leave_the_output_of_those_that_run_once() -> None:
    again = 0
    for seed in range(FIRST, FIRST + SCHEDULES):
        try:
            again += hold_processor(seed)
        except Exception as error:
            raise Broken(f"python tests/soak --replay-processor {seed}") from error
    assert again >= SCHEDULES  # or nothing was disturbed


@pytest.mark.slow
def test_the_law_notices_a_state_that_a_failed_task_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that begins again from the state that the failed one left does not pass."""
    whole = Pipeline.restore

    def not_back(self: Pipeline, kept: Kept, numbers: object = ()) -> None:
        if not numbers:
            whole(self, kept)

    monkeypatch.setattr(Pipeline, "restore", not_back)
    with pytest.raises(Broken):
        for seed in range(10):
            hold_processor(seed)
