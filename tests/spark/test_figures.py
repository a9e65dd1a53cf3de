"""What is told of a run while it runs: the line of the terminal, and what a listener hears."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from obep.config.toml_file import Config
from obep.run.metrics_endpoint import prometheus
from obep.run.progress import Progress
from obep.run.run_spec import Order
from obep.spark.driver import console_run
from obep.spark.driver.listener import Listener
from obep.spark.driver.tally import Tally

NOW = 1_772_352_000_000_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def report(bucket: int, occurrences: int, **more: Any) -> dict[str, Any]:
    told = {"processed": 400, "late": 1, "refused": 2, "watermark": NOW, "holding": ["doors"], "style": "iso"}
    told |= {"items": 402, "derived": 0}  # one of the refused could be read
    return {"bucket": bucket, "occurrences": occurrences, "pending": 3, **told, **more}


def test_the_line_says_lag_state_skew_and_who_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW / 1e6 + 7.5)
    tally = Tally()
    for bucket, occurrences in enumerate((30, 0, 0)):
        tally.add(report(bucket, occurrences))
    run: Any = SimpleNamespace(
        tally=tally,
        live=True,
        state_bytes=12_300_000,
        order=SimpleNamespace(idle=5),
        delivery=SimpleNamespace(failed=[]),
    )
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    Progress().move(lambda: console_run.figures(run))
    # of each bucket 400, one late and one too far in the future; a third of 30 is 10 on average
    for text in ("1,206 items", "30 occurrences", "3 late", "6 refused", "watermark 2026-03-01T08:00:00Z"):
        assert text in out.getvalue()
    for text in (
        "7.5 s behind",
        "state 12.3 MB",
        "busiest bucket 3.0 times the average",
        "waiting for doors",
    ):
        assert text in out.getvalue()


@pytest.mark.parametrize(("style", "watermark", "lag"), [("integer", NOW, 7.5), ("integer", 10**6, None)])
def test_the_lag_is_there_for_times_of_our_days_however_they_are_written(
    monkeypatch: pytest.MonkeyPatch, style: str, watermark: int, lag: float | None
) -> None:
    """`"time": 1772352000` is one; numbers that count from nought are not."""
    monkeypatch.setattr(time, "time", lambda: NOW / 1e6 + 7.5)
    tally = Tally()
    tally.add(report(0, 0, style=style, watermark=watermark))
    run: Any = SimpleNamespace(tally=tally, live=True)
    assert console_run.lag(run) == lag
    run.live = False
    assert console_run.lag(run) is None


def test_more_results_than_the_driver_takes_are_answered_with_what_helps(tmp_path: Path) -> None:
    java = (
        "An error occurred while calling o118.getResult.\n: org.apache.spark.SparkException: Job aborted: "
        "Total size of serialized results of 2 tasks (3.1 MiB) is bigger than spark.driver.maxResultSize"
    )
    said = console_run.explained(RuntimeError(java), Order(Path("-"), Config(tmp_path), (), ()))
    assert said.startswith("OBEP655  a micro-batch has more results than the driver may take\n")
    assert "--sink FOLDER.parquet" in said and "--conf spark.driver.maxResultSize=8g" in said


def test_a_listener_hears_lag_and_who_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW / 1e6 + 7.5)
    heard: list[dict[str, Any]] = []
    listener = Listener("rooms", heard.append)
    sums = {"processed": 9, "occurrences": 4, "late": 1, "refused": 2, "pending": 3, "segments": 5}
    sums |= {"items": 11}
    row = SimpleNamespace(asDict=lambda: {**sums, "watermark": NOW, "skew": 2.0, "holding": '["doors"]'})
    progress = SimpleNamespace(
        observedMetrics={"rooms": row},
        batchId=1,
        processedRowsPerSecond=90.0,
        stateOperators=[SimpleNamespace(memoryUsedBytes=100)],
    )
    listener.onQueryProgress(SimpleNamespace(progress=progress))
    assert heard[0]["lag"] == 7.5 and heard[0]["holding"] == ["doors"]
    assert heard[0]["items_per_second"] == 90.0
    said = prometheus(listener.metrics())
    for line in (
        "obep_items_total 11",
        "obep_occurrences_total 4",
        "obep_late_total 1",
        "obep_refused_total 2",
        "obep_lag_seconds 7.5",
        "obep_state_bytes 100",
        "obep_bucket_skew 2.0",
        'obep_holding{stream="doors"} 1',
    ):
        assert line in said


def test_a_broker_that_goes_away_while_a_run_goes_on_is_a_failure_of_the_run() -> None:
    refused, tally = "OBEP552  kafka://h/t does not answer: Timed out", Tally()
    assert console_run.status_of(refused, tally) == 2
    assert console_run.status_of("OBEP655  Spark stopped: no space left", tally) == 1
    tally.add(report(0, 0))
    assert console_run.status_of(refused, tally) == 1
