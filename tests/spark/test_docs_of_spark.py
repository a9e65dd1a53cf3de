"""What docs/spark.md says of `detect`: its tables name all there is, and its example runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from spark_cases import query, rows
from test_detecting import at_once
from test_figures import NOW

import obep
from obep.model import DeadLetter
from obep.run.metrics_endpoint import prometheus
from obep.spark import Detection, detect
from obep.spark.driver.listener import SUMS, Listener
from obep.spark.stages.record_batches import OCCURRENCE_NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "spark.md").read_text("utf-8")
QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Warm AS Alpha
EVENT Damp AS Beta
EVENT Stuffy(?r) MATCH Warm(?r) SEQ Damp(?r) WITHIN 5 s
RETURN Stuffy
"""


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def cells(text: str) -> set[str]:
    """The names in the first column of the tables."""
    first = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    names = re.findall(r"`([^`]+)`", " ".join(first))
    return {re.split(r"[=(]", name)[0].lstrip(".") for name in names}


def test_the_tables_name_every_argument_column_and_attribute() -> None:
    named = cells(section("From a program: `detect`"))
    assert named >= set(inspect.signature(detect).parameters)
    assert named >= {*OCCURRENCE_NAMES, *DeadLetter._fields, "progress", "texts"}
    assert named >= {name for name in vars(Detection) if not name.startswith("_")} - {"observe"}
    assert all(f"`{kind}`" in PAGE for kind in ("kind", "occurrence", "letter"))


def test_the_tables_name_every_figure(tmp_path: Path) -> None:
    named = cells(section("Progress"))
    _, progress = at_once(tmp_path, query("unkeyed"), rows(20))
    assert named >= {*progress, *SUMS, "skew", "lag", "batch", "items_per_second"}
    listener = Listener("rooms")
    listener.last = {"watermark": NOW, "lag": 1.0, "holding": ["s"]}
    assert named >= set(listener.metrics())
    assert "obep_watermark_seconds" in prometheus(listener.metrics())


@pytest.mark.spark
def test_the_example_with_names_prints_what_it_says(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    [program] = re.findall(r'^```python title="names.py"\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL)
    given = [("s", n, f"<http://e/room1> a <http://e/{kind}> .") for n, kind in enumerate(("Alpha", "Beta"))]
    items = spark.createDataFrame(given, "stream string, time long, graph string")
    exec(program, {"spark": spark, "items": items, "query": obep.load(text=QUERY), "detect": detect})
    said = capsys.readouterr().out.splitlines()
    assert said == re.findall(r"^# prints: (.*)$", program, re.MULTILINE)
