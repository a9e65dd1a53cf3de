"""The wheel holds all that obep needs: it runs in an environment that cannot see the source tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest
from test_readme import blocks

ROOT = Path(__file__).parent.parent
PRINTED = "<http://example.org/building#Exiting> 2000000 3000000\n<Result: 1 occurrence in 2 records>\n"
"""What the Python of the README prints."""
VERSIONS = ("3.11", "3.12", "3.13")
ELSEWHERE = "OBEP_PYTHONS=1 installs the wheel from the package index, for each Python that is found"
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
    dependencies = [one for one in sys.path if Path(one).name == "site-packages"]
    (site / "dependencies.pth").write_text("\n".join(dependencies) + "\n")
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


def test_the_metadata_are_those_of_a_package_for_the_index(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        said = message_from_bytes(file.read(name))
    needed = [one for one in said.get_all("Requires-Dist", ()) if "extra ==" not in one]
    assert {"spark", "mqtt", "kafka", "serve", "java", "mcp", "all"} <= set(
        said.get_all("Provides-Extra", ())
    )
    assert {f"Programming Language :: Python :: {one}" for one in VERSIONS} <= set(
        said.get_all("Classifier", ())
    )
    assert {one.split(",")[0] for one in said.get_all("Project-URL", ())} == {"Homepage", "Paper"}
    assert said["Keywords"] and said["License-Expression"] == "Apache-2.0"
    assert not [one for one in needed if re.match("owlready2|jpype1|pyspark|pyarrow", one, re.IGNORECASE)]


def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    run(
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--no-isolation",
        "--outdir",
        tmp_path,
        ROOT,
        folder=tmp_path,
    )
    with tarfile.open(next(tmp_path.glob("obep-*.tar.gz"))) as file:
        file.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("obep-*/")
    run(
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        tmp_path,
        source,
        folder=tmp_path,
    )
    (again,) = tmp_path.glob("obep-*.whl")
    contents = [
        {one.filename: one.CRC for one in zipfile.ZipFile(path).infolist() if "RECORD" not in one.filename}
        for path in (wheel, again)
    ]
    assert contents[0] == contents[1]


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


def readme_python(python: Path, folder: Path) -> str:
    """What the Python of the README prints, with the examples beside it."""
    shutil.copytree(ROOT / "examples" / "01-rooms", folder / "examples" / "01-rooms")
    for number, program in enumerate(blocks("python")):
        (folder / f"program{number}.py").write_text(program, "utf-8")
    programs = sorted(folder.glob("program*.py"))
    return "".join(run(python, program, folder=folder) for program in programs)


def test_the_python_of_the_readme_runs_from_the_wheel(clean: Path, tmp_path: Path) -> None:
    assert readme_python(clean / "python", tmp_path) == PRINTED


def pythons() -> dict[str, Path]:
    """The interpreters of this machine, by version: on the path, and those of pyenv and uv."""
    homes = [Path.home() / ".pyenv" / "versions", Path.home() / ".local" / "share" / "uv" / "python"]
    found: dict[str, Path] = {".".join(map(str, sys.version_info[:2])): Path(sys.executable)}
    for version in VERSIONS:
        kept = [one for home in homes for one in sorted(home.glob(f"*{version}.*/bin/python{version}"))]
        there = [Path(one) for one in [shutil.which(f"python{version}")] if one]
        for python in [*kept, *there]:
            if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
                found.setdefault(version, python)
    return found


@pytest.mark.skipif(os.environ.get("OBEP_PYTHONS") != "1", reason=ELSEWHERE)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_default_install_needs_no_compiler_and_no_reasoner(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    """On each Python: only wheels of the index, the README's Python, and a code where HermiT is missing."""
    if version not in pythons():
        pytest.skip(f"no Python {version} on the path, nor of pyenv or uv")
    run(pythons()[version], "-m", "venv", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", wheel, folder=tmp_path)
    assert readme_python(python, tmp_path) == PRINTED
    assert run(python, "-m", "obep", "--version", folder=tmp_path) == "obep 0.1.0\n"
    ask = "from obep.ontology.hermit.java import has_java, missing_part; print(has_java(), missing_part())"
    assert run(python, "-c", ask, folder=tmp_path) == "False HermiT is not installed\n"
    ward = "import obep; print({(one.code, one.remedy) for one in obep.load('ward/query.obep').warnings})"
    shutil.copytree(ROOT / "examples" / "07-ward", tmp_path / "ward")
    said = run(python, "-c", ward, folder=tmp_path)
    assert said == """{('OBEP241', 'pip install "obep[java]"')}\n"""
