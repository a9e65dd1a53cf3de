"""The same answers with real executors (local-cluster) and on a Connect session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from elsewhere_driver import NAMES
from spark_cases import embedded, rows, shown
from test_streaming import write_files

pytestmark = [pytest.mark.spark, pytest.mark.slow]
HERE = Path(__file__).parent


@pytest.mark.parametrize("kind", ["local-cluster[2,1,1024]", "connect"])
def test_other_sessions_give_the_same(kind: str, tmp_path: Path) -> None:
    given = rows(150, seed=3)
    write_files(tmp_path / "in", [given[:50], given[50:100], given[100:]])
    path = f"{HERE}:{HERE.parent}:{HERE.parent.parent}"
    ran = subprocess.run(
        [sys.executable, str(HERE / "elsewhere_driver.py"), kind, str(tmp_path)],
        env={
            **os.environ,
            "PYTHONPATH": path,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        timeout=550,
    )
    said = [line for line in ran.stderr.splitlines() if not line.startswith(("\tat ", "Streaming"))]
    assert ran.returncode == 0, "\n".join(said)[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    for how, close in (("streamed", False), ("bounded", True)):
        expected: Counter[tuple[object, ...]] = Counter()
        for name in NAMES:
            expected += shown(embedded(name, given, close=close, lateness=0.5)[0])
        assert Counter(map(tuple, found[how])) == expected, how
