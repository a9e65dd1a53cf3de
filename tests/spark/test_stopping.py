"""Ctrl-C on Spark is ours: it asks the run to stop, and nobody interrupts a word to Java."""

from __future__ import annotations

import signal
from pathlib import Path
from threading import Event, current_thread, main_thread

import pytest

pytest.importorskip("pyspark")

import obep
from obep.config.toml_file import Config
from obep.run.run_spec import Inlet, Order
from obep.spark.driver import spark_run


class Session:
    """As much of a session as starting and stopping one needs."""

    def stop(self) -> None:
        pass


def a_run(folder: Path) -> spark_run.SparkRun:
    order = Order(folder / "q.obep", Config(folder), (Inlet("s", "s.jsonl", trusted=True),), ())
    return spark_run.SparkRun(order, obep.load(text="FROM STREAM <s>\nEVENT A AS <http://e/A>\nRETURN A"))


def test_the_handler_of_a_session_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run(tmp_path)
    before = signal.getsignal(signal.SIGINT)

    def session(*given: object, **settings: object) -> Session:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as PySpark does, with one of its own
        run.stop()
        return Session()

    monkeypatch.setattr(spark_run, "session", session)
    monkeypatch.setattr(spark_run.SparkRun, "_go", lambda *_: pytest.fail("it was stopped before"))
    run.go()
    run.close()
    assert signal.getsignal(signal.SIGINT) is before


def test_what_is_read_at_once_is_broken_off_from_another_thread(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    cancelled = Event()
    threads = []

    def cancel() -> None:
        threads.append(current_thread())
        cancelled.set()

    run._cancel = cancel
    run.stop()
    assert cancelled.wait(30)
    assert threads != [main_thread()]
    run.close()
