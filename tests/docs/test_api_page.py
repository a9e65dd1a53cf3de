"""docs/api.md is made from the docstrings, and a typed program of a user passes the checkers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import obep

ROOT = Path(__file__).parents[2]
PROGRAM = """
import asyncio

import obep
from obep.testing import assert_occurs

query: obep.Query = obep.load(text="EVENT A AS Room\\nRETURN A")
result = obep.detect(query, [{"time": 1, "room": "a"}], time="time", subject="room", lateness="1 s")
first: obep.Occurrence | None = next(iter(result.occurrences), None)
codes: list[str] = [letter.code for letter in result.dead_letters]
count: int = len(result.states)


async def main() -> list[str]:
    return [hit.id async for hit in obep.stream(query, [])]


hits: list[obep.Occurrence] = obep.run(query, [])
with query.engine(lateness="5 s") as engine:
    hits += engine.push_frame([], time="time")
names: list[str] = asyncio.run(main())
again: obep.Occurrence = assert_occurs(query, [], "A")
"""


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_page_of_public_names_is_as_the_docstrings_are() -> None:
    words = "import sys; sys.path.insert(0, 'docs/scripts'); import api_page; print(api_page.page(), end='')"
    made = run("-c", words, folder=ROOT)
    assert made.stdout == (ROOT / "docs" / "api.md").read_text("utf-8"), "python docs/scripts/api_page.py"


def test_every_public_name_has_a_docstring_and_a_home() -> None:
    for name in obep.__all__:
        assert getattr(obep, name).__doc__, name


@pytest.mark.slow
@pytest.mark.parametrize(
    "checker",
    [("mypy", "--strict", "--no-incremental"), ("pyright", "--pythonpath", sys.executable)],
    ids=lambda one: one[0],
)
def test_a_typed_program_of_a_user_passes(checker: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    done = run("-m", *checker, "program.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "program.py").write_text(f"{PROGRAM}\nwrong: int = result.occurrences\n", "utf-8")
    assert run("-m", *checker, "program.py", folder=tmp_path).returncode == 1
