"""README shows what runs: its query gives its output, its program runs, its commands exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ROOMS = ROOT / "examples" / "01-rooms"


def blocks(language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)


@pytest.mark.slow
def test_the_query_gives_the_output_below_it(tmp_path: Path) -> None:
    query, output = blocks()[:2]
    for name in ("ontology.ttl", "static.ttl", "stream.jsonl"):
        shutil.copy(ROOMS / name, tmp_path)
    (tmp_path / "query.obep").write_text(query, "utf-8")
    how = ("--engine", "embedded", "--quiet", "--why", "--source", "doors=stream.jsonl")
    assert run("-m", "obep", "run", "query.obep", *how, folder=tmp_path).stderr.startswith(output)


@pytest.mark.slow
def test_the_program_runs(tmp_path: Path) -> None:
    for program, printed in zip(
        blocks("python"),
        ("<http://example.org/building#Exiting> 2000000 3000000", "<Result: 1 occurrence in 2 records>"),
        strict=True,
    ):
        (tmp_path / "program.py").write_text(program, "utf-8")
        assert run(tmp_path / "program.py", folder=ROOT).stdout == f"{printed}\n"


def test_every_command_of_the_tour_exists() -> None:
    from obep.cli.main import COMMANDS

    said = set(re.findall(r"^    obep (\S+)", README, re.MULTILINE))
    assert said
    assert said <= set(COMMANDS)


def test_every_link_leads_somewhere() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in target]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
