"""Standard streams that the caller has closed, and SIGHUP, end no run by surprise."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.shell import hot, reading

CLOSE = {"0": "<&-", "1": ">&-", "2": "2>&-"}


def run(folder: Path, closed: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "s.jsonl").write_text(reading(1, "a", 40))
    words = f"'{sys.executable}' -m obep run '{hot(folder)}' --engine embedded --source s='{folder}/s.jsonl'"
    closing = " ".join(CLOSE[one] for one in closed)
    return subprocess.run(
        ["/bin/sh", "-c", f"{words} {' '.join(arguments)} {closing}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["0", "2", "02"])
def test_occurrences_are_written_whatever_else_is_closed(tmp_path: Path, closed: str) -> None:
    done = run(tmp_path, closed)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["http://e/Hot"]


@pytest.mark.slow
def test_occurrences_that_cannot_be_written_fail_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "1")
    assert (done.returncode, done.stderr[:7]) == (1, "OBEP554"), done.stderr


@pytest.mark.slow
def test_a_sink_does_not_get_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """What is said on standard error would else stand in the file."""
    done = run(tmp_path, "012", f"--sink '{tmp_path}/out.jsonl'", "--log-format json")
    assert done.returncode == 0
    assert [json.loads(one)["event"] for one in (tmp_path / "out.jsonl").read_text().splitlines()] == [
        "http://e/Hot"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGHUP, 129), (signal.SIGTERM, 143)])
def test_a_hangup_stops_in_order_and_leaves_a_checkpoint(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    words = [sys.executable, "-m", "obep", "run", hot(tmp_path), "--engine", "embedded"]
    words += ["--source", "s=-", "--checkpoint", tmp_path / "c", "--quiet"]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup lets its children ignore it
    ) as ran:
        assert ran.stdin is not None and ran.stdout is not None
        ran.stdin.write((reading(1, "a", 40) + reading(2, "b", 40)).encode())
        ran.stdin.flush()
        assert b"Hot" in ran.stdout.readline(), "it runs, and its signals are caught"
        ran.send_signal(number)
        assert ran.wait(60) == status
    assert any((tmp_path / "c").iterdir()), "the checkpoint is there"
