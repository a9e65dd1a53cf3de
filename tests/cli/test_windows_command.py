"""A query with a window on the command line: what explain shows, what run finds and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, obep

QUERY = """PREFIX : <http://e/>
VOCAB <t.ttl>
FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s STEP 2 s]
EVENT Unattended ON <recent> AS (DoorOpen and LightsOff)
RETURN Unattended
"""
T = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:DoorOpen a owl:Class ; owl:disjointWith :DoorShut . :LightsOff a owl:Class . :DoorShut a owl:Class .
"""


@pytest.fixture
def query(tmp_path: Path) -> Path:
    (tmp_path / "t.ttl").write_text(T)
    (tmp_path / "q.obep").write_text(QUERY)
    return tmp_path / "q.obep"


def stream(tmp_path: Path, *items: tuple[int, str]) -> Path:
    path = tmp_path / "s.jsonl"
    lines = [{"stream": "doors", "time": at, "graph": f"<http://e/k> a <http://e/{c}> ."} for at, c in items]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_explain_shows_the_window(query: Path) -> None:
    assert "on <recent>: <doors> [RANGE 10 s STEP 2 s]" in obep("explain", query).out
    drawn = obep("explain", "--mermaid", query).out
    assert 'w0["recent [RANGE 10 s STEP 2 s]"]' in drawn
    assert "  s0 --> w0\n  w0 --> e0\n" in drawn


def test_run_finds_what_two_messages_say(query: Path, tmp_path: Path) -> None:
    said = embedded(query, "--source", stream(tmp_path, (1, "DoorOpen"), (3, "LightsOff"), (5, "DoorOpen")))
    (found,) = said.records
    assert (found["start"], found["end"], found["detected"]) == (1, 3, 4)
    assert len(found["because"][0]["assertions"]) == 2


def test_items_that_clash_go_to_the_dead_letters_with_their_reason(query: Path, tmp_path: Path) -> None:
    letters = tmp_path / "dead.jsonl"
    source = stream(tmp_path, (1, "DoorOpen"), (2, "DoorShut"), (5, "LightsOff"))
    said = embedded(query, "--source", source, "--dead-letters", letters)
    assert said.status == 0 and said.records == []
    (letter, *_) = [json.loads(line) for line in letters.read_text().splitlines()]
    assert (
        letter["code"] == "OBEP621"
        and letter["time"].endswith("00:00:02Z")
        and "DoorShut" in letter["reason"]
    )
