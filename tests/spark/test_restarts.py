"""A run that Spark gives up for what it can begin again goes on from its checkpoint: no JVM is needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from spark_cases import query

from obep.config.toml_file import Config
from obep.output.form_texts import Found
from obep.run.run_spec import Order, Target
from obep.spark.driver.spark_run import HALTED, LOST_OUTPUT, SLOW_START, STARTS, SparkRun


class Spark:
    """As much of a stream as `SparkRun` sees: each start ends with the next of these errors, or well."""

    lastProgress = None

    def __init__(self, errors: Iterator[str], delivered: Any = None) -> None:
        self._errors = errors
        self._delivered = delivered
        self.starts = 0

    @property
    def writeStream(self) -> Spark:
        return self

    def foreachBatch(self, deliver: Any) -> Spark:
        return self

    option = trigger = lambda self, *given, **named: self

    def start(self) -> Spark:
        self.starts += 1
        return self

    def awaitTermination(self, seconds: float) -> bool:
        if self._delivered is not None:
            self._delivered()
        if error := next(self._errors, ""):
            raise RuntimeError(error)
        return True


def run(folder: Path) -> SparkRun:
    target = Target("out", str(folder / "out.jsonl"), True, form="event")
    order = Order(Path("-"), Config(folder), (), (target,), checkpoint=folder / "state")
    (folder / "state").mkdir()
    return SparkRun(order, query("keyed"))


@pytest.mark.parametrize("error", [LOST_OUTPUT, SLOW_START])
def test_what_spark_can_begin_again_is_begun_again_and_written_once(tmp_path: Path, error: str) -> None:
    running = run(tmp_path)
    found = [Found("http://e/AB", "urn:1", 0, 1, 1, {"event": "one\n"})]
    spark = Spark(iter([f"Job aborted: {error}."]), lambda: running.delivery.take(4, found, ()))
    running._watch(spark)  # type: ignore[arg-type]  # it looks like a DataFrame from here
    running.close()
    assert spark.starts == 2
    assert (tmp_path / "out.jsonl").read_text() == "one\n"


def test_it_is_not_tried_for_ever_and_nothing_else_is_tried_again(tmp_path: Path) -> None:
    running = run(tmp_path)
    for error, starts in ((LOST_OUTPUT, STARTS), ("No space left on device", 1)):
        spark = Spark(iter([error] * 9))
        with pytest.raises(RuntimeError, match=error):
            running._watch(spark)  # type: ignore[arg-type]  # as above
        assert spark.starts == starts


def test_a_micro_batch_is_not_begun_where_another_query_goes_on(tmp_path: Path) -> None:
    """What Spark says of it is no failure: the next query runs that micro-batch."""
    running = run(tmp_path)
    running.go_on_with(query("deadlines"), keeps_state=False)
    with pytest.raises(RuntimeError, match=HALTED):
        running.deliver(None, 7)  # type: ignore[arg-type]  # it is not looked at
    assert not (tmp_path / "out.jsonl").exists()
    spark = Spark(iter([f"[FOREACH_BATCH_USER_FUNCTION_ERROR] RuntimeError: {HALTED}"]))
    assert running._watch(spark)  # type: ignore[arg-type]  # as above
    assert spark.starts == 1
    running._next = None
    with pytest.raises(RuntimeError, match=HALTED):  # nobody has asked for another
        running._watch(Spark(iter([HALTED] * 9)))  # type: ignore[arg-type]  # as above
