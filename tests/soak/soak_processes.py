"""Schedules of the real command line, each session a process, some of them killed by SIGKILL."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from soak_faults import whole_lines
from soak_law import Broken
from soak_records import Shape, in_turn, make_records
from soak_runner import QUERIES
from soak_schedule import QUERIES as NAMES

CHILD = Path(__file__).with_name("soak_child.py")
OUTPUTS = ("out.jsonl", "out.nq", "dead.jsonl")
SECONDS = 60
"""CPU time that one process may take; it needs two."""
REFUSED = "OBEP560"
"""What a run says at its end, with status 1, where a source held nothing but poison."""


def hold_processes(seed: int) -> int:
    """Play one; how many processes were killed."""
    random = Random(f"processes {seed}")
    disorder = random.choice((0, 3))
    shape = Shape(("a", "b"), False, disorder, random.random() < 0.3, True, False, random.random() < 0.5)
    records = in_turn(make_records(random, shape, random.randint(20, 120)))
    query = random.choice(NAMES)
    with TemporaryDirectory(prefix="obep-soak-") as name:
        folder = Path(name)
        for source in shape.sources:
            lines = b"".join(one.line for one in records if one.source == source)
            (folder / f"{source}.jsonl").write_bytes(lines)
        _run(folder, "whole", query, disorder, ("end", 0, 256))
        killed = 0
        for _ in range(random.randint(1, 3)):
            place, after = random.choice(("take", "save", "send", "flush")), random.randint(1, 12)
            killed += _run(folder, "played", query, disorder, (place, after, random.choice((1, 3, 8))))
        _run(folder, "played", query, disorder, ("end", 0, 256))
        for output in OUTPUTS:
            whole, played = whole_lines(folder / "whole" / output), whole_lines(folder / "played" / output)
            if whole != played and (output != "dead.jsonl" or sorted(whole) != sorted(played)):
                raise Broken(f"{output}: {len(whole)} lines without kills, {len(played)} with them")
    return killed


def _run(folder: Path, name: str, query: str, lateness: int, end: tuple[str, int, int]) -> bool:
    """One process; whether it was killed."""
    out = folder / name
    out.mkdir(exist_ok=True)
    words = [
        *(sys.executable, CHILD, *end, "run", QUERIES / f"{query}.obep", "--engine", "embedded", "--quiet"),
        *("--source", f"a={folder}/a.jsonl", "--source", f"b={folder}/b.jsonl", "--lateness", f"{lateness}s"),
        *("--sink", out / "out.jsonl", "--sink", out / "out.nq", "--dead-letters", out / "dead.jsonl"),
        *("--checkpoint", out / "kept"),
    ]
    done = subprocess.run([str(word) for word in words], capture_output=True, preexec_fn=_bound_cpu)
    said = done.stderr.decode()
    if done.returncode not in (0, -signal.SIGKILL) and not (done.returncode == 1 and REFUSED in said):
        raise Broken(f"status {done.returncode}: {said[-500:]}")
    return done.returncode == -signal.SIGKILL


def _bound_cpu() -> None:
    """A process that hangs in a loop is ended, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
