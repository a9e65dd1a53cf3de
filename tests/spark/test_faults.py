"""Kill -9 at awkward moments: after the restarts nothing is lost and nothing is there twice.

`make test` kills three times; OBEP_KILLS=30 (`make faults`) thirty times, over several runs.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from killed_driver import LATENESS, QUERIES
from spark_cases import embedded, rows, shown
from test_streaming import columns, write_files

pytestmark = [pytest.mark.spark, pytest.mark.faults]

KILLS = int(os.environ.get("OBEP_KILLS", "3"))
KILLS_A_RUN = 5
FILES = 8
HERE = Path(__file__).parent


def start(folder: Path) -> subprocess.Popen[bytes]:
    """The driver, in a process group of its own."""
    with (folder / "driver.log").open("ab") as log:
        path = f"{HERE}:{HERE.parent}:{HERE.parent.parent}"
        return subprocess.Popen(
            [sys.executable, str(HERE / "killed_driver.py"), str(folder)],
            env={**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def moments(folder: Path, batch: int) -> dict[str, Callable[[], bool]]:
    """Moments in a micro-batch: planned; state is being written; the sink has begun; committed."""
    table, lines = folder / "table", folder / "lines"

    def begun() -> bool:
        try:
            return bool(json.loads((lines / "delivered.json").read_bytes())["batch"] >= batch)
        except (OSError, ValueError):
            return False

    return {
        "planned": lambda: (table / "offsets" / str(batch)).exists(),
        "state": lambda: any(table.glob(f"state/0/*/**/{batch + 1}.*")),
        "sink": begun,
        "committed": lambda: (table / "commits" / str(batch)).exists(),
    }


SLOW_START = "Timed out while waiting for the Python worker to connect back"
"""Spark gives its first Python worker ten seconds, which a busy machine may not: one more way to die."""


def kill_at(folder: Path, reached: Callable[[], bool], patience: int = 5) -> bool:
    """Run until the moment, then kill; False if the driver came to its end before."""
    driver = start(folder)
    pause = Event()
    while not reached():
        if driver.poll() is not None:
            log = (folder / "driver.log").read_text()[-20_000:]
            if driver.returncode and SLOW_START in log and patience:
                (folder / "driver.log").write_text("")
                return kill_at(folder, reached, patience - 1)
            assert driver.returncode == 0, log[-3000:]
            return False
        pause.wait(0.01)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    return True


def committed(folder: Path) -> int:
    """The last micro-batch that Spark has committed; -1: none."""
    return max((int(p.name) for p in (folder / "table" / "commits").glob("[0-9]*")), default=-1)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("run", range(max(1, KILLS // KILLS_A_RUN)))
def test_killed_runs_end_as_if_nothing_had_happened(spark: Any, tmp_path: Path, run: int) -> None:
    rnd = random.Random(run)
    given = rows(FILES * 30, seed=100 + run)
    write_files(tmp_path / "in", [given[n * 30 : n * 30 + 30] for n in range(FILES)])
    kills = 0
    for _ in range(min(KILLS, KILLS_A_RUN)):
        batch = min(committed(tmp_path) + rnd.choice((1, 2)), FILES - 1)
        name = rnd.choice(("planned", "state", "sink", "committed"))
        kills += kill_at(tmp_path, moments(tmp_path, batch)[name])
    assert kills >= 2
    assert not kill_at(tmp_path, lambda: False)

    expected: Counter[tuple[object, ...]] = Counter()
    for name in QUERIES:
        expected += shown(embedded(name, given, close=False, lateness=LATENESS)[0])
    table = spark.read.parquet(str(tmp_path / "out")).where("kind = 'occurrence'").collect()
    assert columns(table) == expected
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    found, _ = embedded(QUERIES[1], given, close=False, lateness=LATENESS)
    assert Counter(one["id"] for one in lines) == Counter(one.id for one in found)
