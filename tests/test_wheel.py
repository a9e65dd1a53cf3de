"""The wheel holds all that obep needs: it runs in an environment that cannot see the source tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    (built,) = folder.glob("obep-*.whl")
    return built


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new environment with the wheel. It sees our dependencies, but not what leads to the source."""
    venv = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, folder=venv.parent)
    python = venv / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(python, "-c", where, folder=venv).strip())
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    run(sys.executable, *install, "--force-reinstall", wheel, folder=venv)
    yield venv / "bin"
    shutil.rmtree(venv)


def test_grammar_and_ontologies_are_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        f"obep/{path.relative_to(ROOT).as_posix()}"
        for folder in ("grammar", "ontologies")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert "obep/grammar/obep.lark" in wanted
    assert (wanted | {"obep/docs/errors.md", "obep/docs/llms.md"}) - names == set()


def test_the_page_of_the_service_is_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"obep/serve/page/{name}" for name in ("index.html", "page.js", "page.css")} <= names


def test_nothing_but_the_package_is_inside(wheel: Path) -> None:
    assert {name.split("/")[0].split("-")[0] for name in zipfile.ZipFile(wheel).namelist()} == {"obep"}


def test_the_source_tree_is_out_of_sight(clean: Path, tmp_path: Path) -> None:
    where = run(clean / "python", "-c", "import obep; print(obep.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(clean.parent)


def test_an_example_runs_from_the_wheel(clean: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "01-rooms", tmp_path / "rooms")
    assert "no errors" in run(clean / "obep", "check", "rooms/query.obep", folder=tmp_path)
    assert "composite" in run(clean / "obep", "explain", "rooms/query.obep", folder=tmp_path)
    found = run(
        *(clean / "obep", "run", "--engine", "embedded", "--quiet", "rooms/query.obep"),
        *("--source", "doors=rooms/stream.jsonl"),
        folder=tmp_path,
    )
    assert '"event"' in found
