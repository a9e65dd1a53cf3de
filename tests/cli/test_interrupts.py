"""Ctrl-C once asks, twice is borne, thrice ends: of a run, on whichever engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from obep.run import signals

QUERY = "PREFIX : <http://e/>\nFROM STREAM <s>\nEVENT A AS Alpha\nRETURN A\n"


class Ended(Exception):
    """As much of an end as a test survives."""


@pytest.mark.parametrize("numbers", [(signal.SIGINT,) * 3, (signal.SIGTERM, signal.SIGINT, signal.SIGTERM)])
def test_the_second_signal_changes_nothing_and_the_third_ends_with_a_line(
    monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...]
) -> None:
    said: list[object] = []

    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(os, "write", lambda place, text: said.append((place, text)))
    monkeypatch.setattr(os, "isatty", lambda place: False)
    monkeypatch.setattr(os, "_exit", end)
    asked: list[str] = []
    caught: list[int] = []
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with signals.interrupted(lambda: asked.append("stop"), caught):
        for number in numbers[:2]:
            signal.raise_signal(number)
        assert (asked, caught, said) == (["stop"], list(numbers[:2]), [])
        with pytest.raises(Ended, match="130" if numbers[0] == signal.SIGINT else "143"):
            signal.raise_signal(numbers[2])
    assert said == [(2, signals.HARD)] and signals.HARD.count(b"\n") == 1
    assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


@pytest.mark.slow
def test_a_run_under_timeout_ends_with_its_summary(tmp_path: Path) -> None:
    """`timeout` sends the signal to the process, and then to its group: it comes twice."""
    (tmp_path / "q.obep").write_text(QUERY)
    (tmp_path / "in").mkdir()
    run = [sys.executable, "-m", "obep", "run", str(tmp_path / "q.obep"), "--source", f"s=dir:{tmp_path}/in"]
    ran = subprocess.run(
        ["timeout", "-s", "INT", "8", *run, "--engine", "embedded", "--log-format", "json"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 124  # that of timeout itself
    [said] = [json.loads(line) for line in ran.stderr.splitlines()]
    assert said["message"] == "stopped"
