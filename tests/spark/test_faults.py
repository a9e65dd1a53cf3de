"""Kill -9 of the driver and of executors at awkward moments: nothing is lost and nothing is there twice.

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
from kafka_broker import consume
from killed_driver import LATENESS, PENDING, QUERIES, TOPIC
from pyarrow import parquet
from spark_cases import HEAD, embedded, item, rows, shown
from test_streaming import columns, write_files

import obep
from obep.spark.driver.spark_run import LOST_OUTPUT

pytestmark = [pytest.mark.spark, pytest.mark.faults]

KILLS = int(os.environ.get("OBEP_KILLS", "3"))
KILLS_A_RUN = 5
FILES = 8 if KILLS > 3 else 6
"""Each a micro-batch, of which a kill may take two."""
ROWS = 240
HERE = Path(__file__).parent


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


DEATHS = ("Timed out while waiting for the Python worker to connect back", LOST_OUTPUT)
"""More ways to die. Spark gives its first Python worker ten seconds, which a busy machine may not. And if an
executor goes between two stages, Spark may not make its output again: `obep run` then starts the stream anew,
and here the whole driver is."""
PATIENCE = 5


class Driver:
    """A driver in a process group of its own, started again whenever it is killed."""

    def __init__(self, folder: Path, broker: str) -> None:
        self._folder, self._broker = folder, broker
        self._died = 0
        self._start()

    def _start(self) -> None:
        path = f"{HERE}:{HERE.parent}:{HERE.parent.parent}"
        with (self._folder / "driver.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "killed_driver.py"), str(self._folder), self._broker],
                env={**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def runs_until(self, reached: Callable[[], bool]) -> bool:
        """Whether it came to this moment; it may also have come to its end."""
        pause = Event()
        while not reached():
            if self._process.poll() is None:
                pause.wait(0.01)
                continue
            log = (self._folder / "driver.log").read_text()[-20_000:]
            if not self._process.returncode:
                return False
            self._died += 1
            assert any(death in log for death in DEATHS) and self._died < PATIENCE, log[-4000:]
            self._start()
        return True

    def kill(self) -> None:
        """The driver and all that it started, at once; then a new one."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._start()

    def kill_executor(self, rnd: random.Random) -> bool:
        """One of its executors, as soon as there is one; Spark starts another."""
        there: list[int] = []

        def found() -> bool:
            there[:] = [pid for pid in members(self._process.pid) if EXECUTOR in command_line(pid)]
            return bool(there)

        if self.runs_until(found):
            os.kill(rnd.choice(there), signal.SIGKILL)
        return bool(there)


EXECUTOR = b"CoarseGrainedExecutorBackend"


def members(group: int) -> list[int]:
    """The processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if int((path / "stat").read_text().rsplit(")", 1)[1].split()[2]) == group:
                found.append(int(path.name))
        except OSError:  # it has just ended
            continue
    return found


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def committed(folder: Path) -> int:
    """The last micro-batch that Spark has committed; -1: none."""
    return max((int(p.name) for p in (folder / "table" / "commits").glob("[0-9]*")), default=-1)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("run", range(max(1, KILLS // KILLS_A_RUN)))
def test_killed_runs_end_as_if_nothing_had_happened(spark: Any, kafka: str, tmp_path: Path, run: int) -> None:
    rnd = random.Random(run)
    given, size = rows(ROWS, seed=100 + run), ROWS // FILES
    write_files(tmp_path / "in", [given[n * size : n * size + size] for n in range(FILES)])
    kinds = ["driver", "executor"]
    kinds += rnd.choices(kinds, k=min(KILLS, KILLS_A_RUN) - len(kinds))
    rnd.shuffle(kinds)
    topic = f"{TOPIC}{run}"
    driver = Driver(tmp_path, f"{kafka}/{topic}" if kafka else "")
    killed: Counter[str] = Counter()
    for kind in kinds:
        batch = min(committed(tmp_path) + rnd.choice((1, 2)), FILES - 2)  # one more is to come after it
        moment = rnd.choice(("planned", "state", "sink", "committed"))
        if not driver.runs_until(moments(tmp_path, batch)[moment]):
            break
        if kind == "driver":
            driver.kill()
            killed[kind] += 1
        else:
            killed[kind] += driver.kill_executor(rnd)
    assert not driver.runs_until(lambda: False)
    assert killed["driver"] and killed["executor"], killed

    expected: Counter[tuple[object, ...]] = Counter()
    for name in QUERIES:
        expected += shown(embedded(name, given, close=False, lateness=LATENESS)[0])
    table = spark.read.parquet(str(tmp_path / "out")).where("kind = 'occurrence'").collect()
    assert columns(table) == expected
    engine = obep.load(text=HEAD + PENDING, java=False).engine(lateness=LATENESS)
    found = engine.push_items([item(row) for row in given])
    assert {one.event for one in found} == {"<http://e/AB>", "<http://e/Lonely>"} and engine.pending
    once = Counter(one.id for one in found)
    lines = [(json.loads(line)["id"], line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert Counter(id for id, _ in lines) == once
    assert Counter(parquet.read_table(tmp_path / "out.parquet")["id"].to_pylist()) == once
    if kafka:
        assert {*consume(kafka, topic)} == {*lines}, "what is there twice is the same"
