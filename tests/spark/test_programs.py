"""The programs of the examples that embed obep on Spark."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark
PROGRAM = Path(__file__).parents[2] / "examples" / "05-cnc" / "on_spark.py"


def test_the_cnc_program_finds_the_overload_on_spark(
    spark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped: list[Any] = []
    monkeypatch.setattr("sys.argv", [str(PROGRAM), "local[2]"])
    # the session is everybody's here
    monkeypatch.setattr("pyspark.sql.SparkSession.stop", lambda session: stopped.append(session))
    runpy.run_path(str(PROGRAM), run_name="__main__")
    assert len(stopped) == 1
    first, *parts = capsys.readouterr().out.splitlines()
    assert first.startswith("Overload 1970-01-01 00:00:05 1970-01-01 00:00:15 urn:obep:Overload:")
    assert parts[:2] == [
        "   Hot 1970-01-01 00:00:05 1970-01-01 00:00:05",
        "   SpeedUp 1970-01-01 00:00:12 1970-01-01 00:00:15",
    ]
    assert "|<http://example.org/cnc#mill1>|1    |" in parts
