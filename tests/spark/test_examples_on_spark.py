"""Every example gives on Spark what its README worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.shell import obep

from obep.commands.cases import EXPECTED, expected, inlets
from obep.testing import difference

pytestmark = [pytest.mark.spark, pytest.mark.java]
EXAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "examples").glob("*/query.obep"))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_an_example_gives_what_it_should_on_spark(spark: Any, folder: Path) -> None:
    sources = [word for inlet in inlets(folder) for word in ("--source", inlet.shown)]
    said = obep("run", folder / "query.obep", "--engine", "spark", "--master", "local[2]", *sources)
    assert said.status == 0, said.err
    assert difference(said.records, expected(folder / EXPECTED)) == []
