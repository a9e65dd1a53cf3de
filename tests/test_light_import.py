"""What is heavy is imported when it is needed, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "pyspark",
    "pyarrow",
    "pandas",
    "numpy",
    "rdflib",
    "owlready2",
    "jpype",
    "pyoxigraph",
    "lark",
    "typer",
)


def loaded(code: str, folder: Path) -> set[str]:
    """Which heavy packages a program has imported when it ends."""
    program = f"{code}\nimport sys\nprint(*sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split("\n")[-2].split())


def test_import_obep_loads_nothing_heavy(tmp_path: Path) -> None:
    assert loaded("import obep, obep.errors, obep.model, obep.query", tmp_path) == set()


def test_import_obep_loads_no_other_module_of_it(tmp_path: Path) -> None:
    """`import obep` takes some 20 ms of CPU time because of this, and not half a second."""
    program = "import sys, obep; print([name for name in sys.modules if name.startswith('obep.')])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_spark_is_looked_for_when_detect_is_first_used(tmp_path: Path) -> None:
    assert loaded("import obep.spark", tmp_path) == set()
    found = loaded("import obep.spark\nassert callable(obep.spark.detect)", tmp_path)
    assert "pyspark" not in found  # `detect` itself asks for it when it is called


@pytest.mark.parametrize(
    "command",
    [
        ["check", "q.obep"],
        pytest.param(["fmt", "--check", "q.obep"], marks=pytest.mark.slow),
        pytest.param(["explain", "--mermaid", "q.obep"], marks=pytest.mark.slow),
        ["--help"],
    ],
)
def test_a_query_without_an_ontology_is_handled_lightly(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "q.obep").write_text("EVENT A AS Room\n\nEVENT B MATCH A SEQ A WITHIN 5 min\n")
    end = "except SystemExit as end:\n    assert not end.code"
    code = f"import obep.cli.main\ntry:\n    obep.cli.main.app({command})\n{end}"
    assert loaded(code, tmp_path) <= {"lark", "typer"}
