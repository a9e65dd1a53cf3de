"""What is warm is not looked at after each task, but what nobody needs goes all the same."""

from __future__ import annotations

import gc
import weakref
from itertools import count

import pytest

from obep.spark.stages import worker
from obep.spark.stages.worker import DROPPED, SWEEP, drop, rest


class Circle:
    def __init__(self) -> None:
        self.own = self


@pytest.mark.slow
def test_what_is_warm_is_set_aside_and_circles_go_in_time() -> None:
    kept, circle = Circle(), Circle()
    gone = weakref.ref(circle)
    try:
        rest()
        assert gc.get_freeze_count() > 0
        assert not any(one is kept for one in gc.get_objects()), "the collector does not see it"
        del circle
        for _ in range(SWEEP):
            rest()
        assert gone() is None
        assert kept.own is kept
    finally:
        gc.unfreeze()


@pytest.mark.slow
def test_many_engines_that_are_needed_no_more_go_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_tasks", count(1))
    monkeypatch.setattr(worker, "_dropped", 0)
    circle = Circle()
    gone = weakref.ref(circle)
    try:
        rest()
        del circle
        drop(DROPPED - 1)
        rest()
        assert gone() is not None
        drop(1)
        rest()
        assert gone() is None
    finally:
        gc.unfreeze()
