"""A run that is killed and goes on writes what an unbroken run writes, with the real engine."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from shell import embedded, hot, reading

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
FROM STREAM <t>
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Cold AS (Sensor and celsius some number[< 5])
EVENT Swing(?s) MATCH Hot(?s) SEQ Cold(?s) WITHIN 20 s
EVENT Stays(?s) MATCH Hot(?s) NOT FOLLOWED BY Cold(?s) WITHIN 7 s
RETURN Hot, Swing, Stays
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hot(tmp_path, QUERY)
    chosen = random.Random(7)
    for name in "st":
        lines = []
        for n in range(1200):
            at = n + chosen.randrange(-3, 3)
            lines.append(reading(max(at, 0), chosen.choice("abc"), chosen.choice([0, 20, 20, 40]), name))
            if chosen.random() < 0.02:
                lines.append("broken\n")
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    return tmp_path


def arguments(folder: Path, name: str, *more: str) -> list[str]:
    return [
        *("--source", f"s={folder}/s.jsonl", "--source", f"t={folder}/t.jsonl", "--lateness", "4s"),
        *("--sink", f"{folder}/{name}.jsonl", "--sink", f"{folder}/{name}.nq"),
        *("--dead-letters", f"{folder}/{name}.dead"),
        *more,
    ]  # fmt: skip


STEP = """
import os, signal, sys
import obep.run.pipeline as pipeline

pipeline.INTERVAL_S = 0.0        # a checkpoint after each turn
kill_at = int(sys.argv.pop(1))
take = pipeline.Run.take

def counted(run, turn, seen=[0]):
    take(run, turn)
    seen[0] += 1
    if seen[0] == kill_at:
        for outlet in run.outlets.values():
            outlet.sink.send("x", b"half a li")
            outlet.sink.flush()
        os.kill(os.getpid(), signal.SIGKILL)

pipeline.Run.take = counted
from obep.cli.main import main
main()
"""


@pytest.mark.slow
def test_a_run_killed_three_times_equals_an_unbroken_one(folder: Path) -> None:
    whole = embedded(folder / "q.obep", *arguments(folder, "whole"))
    assert whole.status == 0, whole.err
    assert "OBEP600" in whole.err
    checkpoint = ("--checkpoint", str(folder / "kept"))
    for kill_at in (2, 3, 1):
        given = arguments(folder, "broken", *checkpoint)
        run = subprocess.run(
            [
                sys.executable,
                "-c",
                STEP,
                str(kill_at),
                "run",
                folder / "q.obep",
                "--engine",
                "embedded",
                *given,
            ],
            env=os.environ,
            capture_output=True,
            timeout=120,
        )
        assert run.returncode == -signal.SIGKILL, run.stderr
    done = embedded(folder / "q.obep", *arguments(folder, "broken", *checkpoint))
    assert done.status == 0, done.err
    for ending in ("jsonl", "nq", "dead"):
        assert (folder / f"broken.{ending}").read_bytes() == (folder / f"whole.{ending}").read_bytes()
    events = {json.loads(line)["event"] for line in (folder / "whole.jsonl").read_text().splitlines()}
    assert events == {"http://e/Hot", "http://e/Swing", "http://e/Stays"}


@pytest.mark.slow
def test_a_checkpoint_of_another_query_or_with_other_sources_is_refused(folder: Path) -> None:
    checkpoint = ("--checkpoint", str(folder / "kept"))
    assert embedded(folder / "q.obep", *arguments(folder, "a", *checkpoint)).status == 0
    merged = "".join((folder / f"{name}.jsonl").read_text() for name in "st")
    (folder / "both.jsonl").write_text(merged)
    other = embedded(
        folder / "q.obep", "--source", f"{folder}/both.jsonl", "--sink", f"{folder}/a.jsonl", *checkpoint
    )
    assert (other.status, other.err[:7]) == (2, "OBEP558")
    hot(folder, QUERY.replace("20 s", "21 s"))
    changed = embedded(folder / "q.obep", *arguments(folder, "a", *checkpoint))
    assert (changed.status, changed.err[:7]) == (2, "OBEP558")


def test_a_pipe_that_goes_on_is_told_to_send_everything_again(tmp_path: Path) -> None:
    query = hot(tmp_path)
    given = ("--source", "s=-", "--sink", f"{tmp_path}/found.jsonl", "--checkpoint", f"{tmp_path}/kept")
    lines = [reading(at, "a", 40).encode() for at in range(1, 5)]
    first = embedded(query, *given, stdin=b"".join(lines[:2]))
    assert (first.status, first.err) == (0, "")
    whole = embedded(query, *given, stdin=b"".join(lines))
    assert whole.status == 0
    assert "OBEP558  warning: standard input: the first 2 records are skipped" in whole.err
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 4
    quiet = embedded(query, *given, "--quiet", stdin=b"".join(lines))
    assert (quiet.status, quiet.err) == (0, "")


def test_a_pipe_that_ends_within_what_the_checkpoint_has_fails(tmp_path: Path) -> None:
    query = hot(tmp_path)
    given = ("--source", "s=-", "--sink", f"{tmp_path}/found.jsonl", "--checkpoint", f"{tmp_path}/kept")
    lines = [reading(at, "a", 40).encode() for at in range(1, 5)]
    assert embedded(query, *given, stdin=b"".join(lines[:3])).status == 0
    only_next = embedded(query, *given, "--quiet", stdin=lines[3])
    assert only_next.status == 1
    assert "OBEP558  standard input ended after 1 records, and the checkpoint has 3 of it" in only_next.err
    assert embedded(query, *given, stdin=b"".join(lines)).status == 0  # nothing is lost by it
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 4
