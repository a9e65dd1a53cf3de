"""Every bench that is named somewhere exists, every script has a name, and each runs with tiny sizes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from all_benches import BENCHES  # noqa: E402
from check import WORSE, compare  # noqa: E402
from plots import drawn, plots, read  # noqa: E402

PARTS = {"__main__", "all_benches", "check", "figures", "flink_join", "flink_over", "plots", "run"}
"""What the benches are made of, and what runs them."""
TEXTS = [ROOT / "README.md", ROOT / "Makefile", *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.py")]


def test_every_script_that_a_text_names_exists() -> None:
    named = {(path, name) for path in TEXTS for name in re.findall(r"bench/(\w+\.py)", path.read_text())}
    assert len(named) > 20
    assert [(path.name, name) for path, name in named if not (ROOT / "bench" / name).is_file()] == []


def test_every_bench_that_a_text_names_exists() -> None:
    named = {
        (path, name)
        for path in TEXTS
        for name in re.findall(r"python -m bench ([a-z][\w-]*)", path.read_text())
    }
    assert len(named) > 3
    assert [(path.name, name) for path, name in named if name not in BENCHES] == []


def test_every_script_is_a_bench() -> None:
    scripts = {path.stem for path in (ROOT / "bench").glob("*.py")} - PARTS
    assert scripts == {bench.script.removesuffix(".py") for bench in BENCHES.values()}


LONG = {"k", "keys", "operators", "policies", "start", "states", "w1"}
"""Benches that take long also with tiny sizes: `make soak` runs them."""


def names() -> Iterator[Any]:
    for name, bench in BENCHES.items():
        if bench.tiny is not None:
            yield pytest.param(name, marks=pytest.mark.soak if name in LONG else pytest.mark.slow)


@pytest.mark.parametrize("name", names())
def test_a_bench_runs(name: str, tmp_path: Path) -> None:
    """The benches themselves compare the number of their answers with that of loops by hand."""
    tiny = BENCHES[name].tiny
    assert tiny is not None
    command = [sys.executable, "-m", "bench", name, *tiny]
    environment = {**os.environ, "OBEP_CACHE": str(tmp_path)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


@pytest.mark.slow
def test_figures_go_to_a_file_and_n_sets_the_size(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    options = ["--n", "50", "--rounds", "1", "--engines", "obep", "--json", str(file)]
    ran = subprocess.run(
        [sys.executable, "-m", "bench", "absence", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    figures = [json.loads(line) for line in file.read_text().splitlines()]
    assert {"answers", "an item of 50 against one of 1"} <= {one["title"].strip() for one in figures}
    [answers] = [one for one in figures if one["title"].strip() == "answers"]
    assert answers["median"] == 50  # each A waits in vain


@pytest.mark.parametrize("options", [(), ("guard",), ("start", "--engines", "x"), ("cases", "--n", "3")])
def test_what_a_bench_does_not_have_is_refused(options: tuple[str, ...]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bench", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.strip()


def test_a_worse_count_fails_and_a_better_one_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = {"w1": 10.0, "loop": 1.0}
    assert compare({"w1": 10.0 * WORSE, "loop": 1.0}, recorded, {"w1": 1, "loop": 1}) == 0
    assert compare({"w1": 5.0, "loop": 1.0}, recorded, {"w1": 1, "loop": 1}) == 0
    assert "WORSE" not in capsys.readouterr().out
    assert compare({"w1": 10.1 * WORSE, "loop": 1.0}, recorded, {"w1": 1, "loop": 1}) == 1
    assert "WORSE" in capsys.readouterr().out


def test_what_is_recorded_and_not_counted_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare({}, {"gone": 1.0}, {}) == 1
    assert "gone" in capsys.readouterr().out
    assert compare({"new": 1.0}, {}, {"new": 1}) == 0  # there is nothing to compare it with
    assert "new" in capsys.readouterr().out


def test_every_recorded_workload_is_there() -> None:
    recorded = json.loads((ROOT / "bench" / "instructions.json").read_text())
    assert {"loop", "w1, jsonl", "w1, csv", "w1, nt.jsonl", "w1, nq"} <= recorded.keys()
    assert recorded["loop"] == 1.0
    assert all(ratio > 0 for ratio in recorded.values())


def test_plots_show_what_was_measured(tmp_path: Path) -> None:
    def line(title: str, unit: str, *values: float) -> str:
        return json.dumps(
            {"title": title, "values": values, "unit": unit, "least": None, "median": values[0]}
        )

    first, second = tmp_path / "w1.jsonl", tmp_path / "keys.jsonl"
    lines = [line("obep-csv", "events/s", 5000, 4000, 6000), line("  obep-csv: memory", "MB", 60)]
    first.write_text("\n".join([*lines, line("<loop>", "events/s", 9000), ""]))
    lines = [line("10 keys, WITHIN 1 s: obep", "items/s", 700)]
    second.write_text("\n".join([*lines, line("  an item of 9 against one of 1", "times", 1.25), ""]))
    found = plots(read([first, second]))
    assert [plot.name for plot in found] == ["bench-w1", "bench-keys", "bench-growth"]
    assert [bar.label for bar in found[0].bars] == ["<loop>", "obep-csv"], "the fastest first"
    assert [bar.label for bar in found[2].bars] == ["10 keys, WITHIN 1 s"]
    texts = [[one.text for one in ElementTree.fromstring(drawn(plot)).iter() if one.text] for plot in found]
    assert [text.strip() for text in texts[0] if text.strip()][1:] == ["<loop>", "9,000", "obep-csv", "5,000"]
    assert "1.25" in texts[2]
    assert plots(read([first]))[1:] == []
