"""`obep --llms`: short, true, and enough for thirty tasks."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cli.shell import obep

from obep.frames.detect_frame import detect
from obep.model import Alert, local_name
from obep.run.load_query import load

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "llms.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```obep\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
TASKS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "tasks.toml").read_text("utf-8"))["task"]
MOST_TOKENS = 4000
STATIC = "@prefix : <http://example.org/> . :z1 a :Zone ; :setpoint 21 ."


def test_the_guide_is_printed_whole() -> None:
    said = obep("--llms")
    assert (said.status, said.out) == (0, GUIDE)


def test_the_guide_has_at_most_4000_tokens() -> None:
    """Counted with care: a word of English is 1.4 tokens at most, and code has 2.5 characters to a token."""
    assert len(GUIDE.split()) * 1.4 <= MOST_TOKENS
    assert len(GUIDE) / 2.5 <= MOST_TOKENS


@pytest.mark.slow
@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_obep_check_has_nothing_to_say_about_an_example(text: str, tmp_path: Path) -> None:
    (tmp_path / "static.ttl").write_text(STATIC)
    (tmp_path / "q.obep").write_text(text)
    said = obep("check", tmp_path / "q.obep")
    assert (said.status, said.err) == (0, "")


def test_what_the_table_of_patterns_shows_is_read(tmp_path: Path) -> None:
    """Each row stands in a query of its own; a pattern that has no WITHIN gets one."""
    rows = re.findall(r"^\| `(.*?)`.* \|$", GUIDE, re.MULTILINE)
    assert len(rows) >= 13
    head = "PREFIX : <http://example.org/>\nEVENT A AS (a some number)\nEVENT B AS (b some number)\n"
    head += "EVENT C AS (c some number)\nEVENT E AS (e some number)\n"
    for pattern in rows:
        bound = "" if "WITHIN" in pattern else " WITHIN 1 h"
        (tmp_path / "q.obep").write_text(f"{head}EVENT X MATCH ({pattern}){bound}\nRETURN X\n")
        said = obep("check", tmp_path / "q.obep")
        assert said.status == 0, said.err


def test_there_are_thirty_tasks() -> None:
    assert len(TASKS) == 30
    assert len({task["says"] for task in TASKS}) == 30


def record(row: str) -> dict[str, Any]:
    """`0 a temperature=31` as a record."""
    time, subject, *fields = row.split()
    values = {name: json.loads(value) for name, _, value in (field.partition("=") for field in fields)}
    return {"t": int(time), "id": subject, **values}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["says"])
def test_a_task_is_done_by_its_query(task: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "static.ttl").write_text(task.get("static", ""))
    (tmp_path / "q.obep").write_text(task["query"])
    said = obep("check", tmp_path / "q.obep")
    assert (said.status, said.err) == (0, ""), said.err
    query = load(tmp_path / "q.obep")
    result = detect(query, [record(row) for row in task["rows"]], time="t", subject="id")
    assert len(result.dead_letters) == 0
    found = []
    for hit in result.found:
        name, start, end = local_name(hit.event), hit.start // 10**6, hit.end // 10**6
        found.append(f"{name} {hit.status} {start}" if isinstance(hit, Alert) else f"{name} {start} {end}")
    assert sorted(found) == sorted(task["finds"])
