"""The same answers with real executors (local-cluster, cold Python workers) and on a Connect session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from class_archive import keep as keep_archive
from elsewhere_driver import chosen
from many_cases import batches, expected
from test_streaming import write_files

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.java]
HERE = Path(__file__).parent
CUTS = (4, 60)


def test_real_executors_give_the_same(tmp_path: Path) -> None:
    gives_the_same("local-cluster[2,1,1024]", tmp_path, "streamed")


def test_a_connect_session_gives_the_same(connect: str, tmp_path: Path) -> None:
    gives_the_same(connect, tmp_path, "streamed", "bounded")


def gives_the_same(kind: str, tmp_path: Path, *ways: str) -> None:
    given = chosen(kind)
    parts = batches(given, cuts=CUTS)
    write_files(tmp_path / "in", parts)
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
    keep_archive(tmp_path)
    said = [line for line in ran.stderr.splitlines() if not line.startswith(("\tat ", "Streaming"))]
    assert ran.returncode == 0, "\n".join(said)[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == set(ways)
    for how, rows in found.items():
        assert Counter(map(tuple, rows)) == expected(given, parts, close=how == "bounded"), how
