"""docs/api.md is made from the docstrings, and a typed program of a user passes the checkers."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import obep
import obep.testing

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "scripts"))
from api_page import KIT  # noqa: E402

NAMES = [*(f"obep.{name}" for name in obep.__all__ if name != "__version__")]
NAMES += [f"obep.testing.{name}" for name in KIT]
PROGRAM = """# pyright: strict
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
with query.engine(lateness="5 s", on_dead_letter=lambda letter: codes.append(letter.code)) as engine:
    hits += engine.push_frame([], time="time")
data: bytes = engine.snapshot()
whys: list[str] = [hit.why() for hit in result.occurrences[:2]]
values: list[dict[str, str]] = [held.parameters for held in result.states]
texts: list[str] = [warning.message for warning in (*query.warnings, *result.findings)]
print(whys, values, texts, result.occurrences.to_pandas(), result.counters, result.why_not("A"))
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


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    last = name.rpartition(".")[2]
    home = import_module(obep._HOMES.get(last, "obep.testing"))  # obep.run is a package, too
    thing = getattr(home, last)
    [found] = doctest.DocTestFinder(recurse=False).find(thing, name, globs={**vars(home)})
    assert found.examples, f"{name} has no example"
    assert any(last in one.source for one in found.examples) or isinstance(thing, type)
    said: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(found, out=said.append).failed == 0, "".join(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    "checker",
    [
        ("mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache" / "user")),
        ("pyright", "--pythonpath", sys.executable),
    ],
    ids=lambda one: one[0],
)
def test_a_typed_program_of_a_user_passes(checker: tuple[str, ...], tmp_path: Path) -> None:
    """One run for each checker. mypy keeps what it knows of obep beside the cache of `make check`."""
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    wrong = ("wrong: int = result.occurrences", "obep.run(query, [], latenes=1)", "query.engine(idle=[])")
    (tmp_path / "wrong.py").write_text("\n".join([PROGRAM, *wrong]), "utf-8")
    said = run("-m", *checker, "program.py", "wrong.py", folder=tmp_path).stdout
    complaints = [line for line in said.splitlines() if "error:" in line]
    line = PROGRAM.count("\n") + 2
    assert [one.partition("wrong.py:")[2].partition(":")[0] for one in complaints] == [
        str(line + number) for number in range(len(wrong))
    ], said


def test_the_settings_that_checkers_know_are_those_of_the_engine() -> None:
    from obep.engine.query import EngineSettings

    taken = list(inspect.signature(obep.Engine).parameters)
    assert taken == ["query", *EngineSettings.__annotations__]
