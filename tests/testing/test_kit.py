"""The kit for users' tests: `assert_occurs`, crash points, snapshots, and the plugin of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest

import obep
from obep.testing import (
    assert_finds,
    assert_never_occurs,
    assert_occurs,
    assert_snapshot,
    assert_survives_crashes,
    hits_in,
)

QUERY = obep.load(
    text="""
PREFIX : <http://example.org/>
EVENT Hot AS (celsius some number[> 30])
EVENT Cold AS (celsius some number[< 10])
EVENT Swing(?room) MATCH Hot(?room) SEQ Cold(?room) WITHIN 1 h
STATE Heated(?room) FROM Hot(?room) TO Cold(?room) TIMEOUT 1 d
RETURN Swing, Heated
"""
)
ROWS = [
    {"time": 1, "room": "z1", "celsius": 35},
    {"time": 2, "room": "z2", "celsius": 35},
    {"time": 9, "room": "z1", "celsius": 5},
]
HOT = "<http://example.org/z1> <http://example.org/celsius> 35 ."
CASE = {
    "query.obep": "PREFIX : <http://e/>\nEVENT A AS Alpha\nRETURN A\n",
    "stream.jsonl": '{"time": 3, "graph": "<http://e/x> a <http://e/Alpha> ."}\n',
    "expected.jsonl": '{"event": "A", "start": 3}\n',
}


HOTTER = obep.load(text="PREFIX : <http://e/>\nEVENT Hot AS (celsius some number[> 30])\nRETURN Hot")


def test_an_event_that_occurs_is_given() -> None:
    assert assert_occurs(QUERY, ROWS, "Swing(:z1)").end == 9_000_000
    assert assert_occurs(QUERY, [(4, HOT)], "Heated(:z1)").start == 4_000_000
    assert assert_occurs(QUERY, ROWS, "Heated").start == 1_000_000
    assert_never_occurs(QUERY, ROWS, "Swing(:z2)")


def test_an_event_that_does_not_occur_fails_with_what_came_nearest() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_occurs(QUERY, ROWS, "Swing(:z2)")
    assert "Swing(:z2) does not occur" in str(caught.value)
    assert "Hot: once lately" in str(caught.value)
    with pytest.raises(AssertionError, match="occurs 1 time;") as caught:
        assert_never_occurs(QUERY, ROWS, "Swing")
    assert "celsius" in str(caught.value)


@pytest.mark.parametrize(
    ("event", "code"), [("Hot", "OBEP882"), ("Warm", "OBEP100"), ("Swing(:a, :b)", "OBEP")]
)
def test_a_question_that_cannot_be_asked_is_refused(event: str, code: str) -> None:
    with pytest.raises(obep.ObepError) as caught:
        assert_occurs(QUERY, ROWS, event)
    assert caught.value.code.startswith(code)


def test_crashes_change_nothing_and_a_difference_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from obep.formats.tables.frame_items import frame_items
    from obep.formats.tables.mapped_records import whole

    items = [one for one in map(whole, frame_items(ROWS).items) if isinstance(one, obep.Item)]
    assert len(assert_survives_crashes(QUERY, items)) == 4
    monkeypatch.setattr(obep.Engine, "restore", lambda engine, data: None)
    with pytest.raises(AssertionError, match="crashes change what is found"):
        assert_survives_crashes(QUERY, items, at=[2])


@pytest.mark.parametrize("form", ["records", "pairs"])
def test_crashes_are_tried_on_whatever_other_checks_take(form: str) -> None:
    items: list[Any] = ROWS
    if form == "pairs":
        graphs = (f":{row['room']} :celsius {row['celsius']} ." for row in ROWS)
        items = [
            (row["time"], f"@prefix : <{QUERY.names}> . {graph}")
            for row, graph in zip(ROWS, graphs, strict=True)
        ]
    found = assert_survives_crashes(QUERY, items)
    assert [hit.start for hit in found] == [hit.start for hit in hits_in(QUERY, items)[1]]
    assert found


@pytest.mark.parametrize("form", [pandas.DataFrame, list, iter], ids=["pandas", "list", "iterator"])
def test_a_frame_is_read_as_detect_reads_it(form: Any) -> None:
    rows = form([{"when": 1, "who": "z1", "celsius": 31}, {"when": 2, "who": "z2", "celsius": 12}])
    how = {"time": "when", "subject": "who"}
    assert assert_occurs(HOTTER, rows, "Hot(:z1)", **how).start == 1_000_000
    rows = form([{"when": 1, "who": "z1", "celsius": 31}])
    assert len(assert_survives_crashes(HOTTER, rows, **how)) == 1


def test_what_was_refused_is_said_and_a_check_of_nothing_fails() -> None:
    bad, good = {"time": "gestern", "room": "z1", "celsius": 40}, {"time": 2, "room": "z2", "celsius": 12}
    for check in (assert_occurs, assert_never_occurs):
        with pytest.raises(obep.ObepError, match="OBEP560  1 of 1 items refused, the first with OBEP603"):
            check(HOTTER, [bad], "Hot")
    with pytest.raises(AssertionError, match="1 of 2 items refused, the first with OBEP603"):
        assert_occurs(HOTTER, [bad, good], "Hot")
    with pytest.raises(AssertionError, match="1 of 2 items refused"):
        assert_finds(HOTTER, [bad, good], [{"event": "Hot"}])


@pytest.mark.parametrize("at", [0, 3])
def test_a_crash_after_an_item_that_is_not_there_is_refused(at: int) -> None:
    rows = [{"time": second, "room": "z1", "celsius": 31} for second in (1, 2)]
    with pytest.raises(ValueError, match=f"there is no item {at} to crash after"):
        assert_survives_crashes(HOTTER, rows, at=[1, at])


def test_a_result_is_compared_with_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    assert_snapshot(obep.detect(QUERY, ROWS), path)
    assert_snapshot(hits_in(QUERY, ROWS)[1], path)
    with pytest.raises(AssertionError):
        assert_snapshot(obep.detect(QUERY, ROWS[:1]), path)


def test_a_snapshot_is_written_once_and_then_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OBEP_UPDATE", raising=False)
    path = tmp_path / "found.jsonl"
    assert_snapshot(hits_in(QUERY, ROWS)[1], path)
    assert_snapshot(hits_in(QUERY, ROWS)[1], path)
    with pytest.raises(AssertionError, match="OBEP_UPDATE=1"):
        assert_snapshot(hits_in(QUERY, ROWS[:2])[1], path)
    monkeypatch.setenv("OBEP_UPDATE", "1")
    assert_snapshot(hits_in(QUERY, ROWS[:2])[1], path)
    monkeypatch.delenv("OBEP_UPDATE")
    assert_snapshot(hits_in(QUERY, ROWS[:2])[1], path)


def pytest_in(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "obep.pytest_plugin", "-p", "no:cacheprovider", *options]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return ran.returncode, ran.stdout


@pytest.mark.slow
def test_cases_are_collected_by_pytest(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    folder = tmp_path / "alpha"
    folder.mkdir()
    for name, text in CASE.items():
        (folder / name).write_text(text, "utf-8")
    assert pytest_in(tmp_path, "-q", "-p", "no:obep")[1].startswith(".")
    (folder / "expected.jsonl").write_text('{"event": "A", "start": 4}\n')
    status, said = pytest_in(tmp_path, "-q", "-p", "no:obep")
    assert (status, '-{"event":"A","start":4}' in said) == (1, True)
    assert pytest_in(tmp_path, "-q", "-p", "no:obep", "--obep-update")[0] == 0
    assert '"start":3' in (folder / "expected.jsonl").read_text()
    (tmp_path / "pytest.ini").write_text("[pytest]\nobep_cases = false\n")
    assert pytest_in(tmp_path, "-q", "-p", "no:obep")[0] == 5  # nothing is collected


def test_occurrences_that_contradict_the_ontology_are_no_refused_items(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":v a owl:DatatypeProperty, owl:FunctionalProperty .\n"
    )
    (tmp_path / "q.obep").write_text(
        "PREFIX : <http://e/>\nVOCAB <t.ttl>\nEVENT A AS (v some number[< 5])\n"
        "EVENT B AS (v some number[>= 5])\nEVENT E(?x) MATCH A(?x) SEQ B(?x) WITHIN 1 min\n"
        "EVENT D(?x) MATCH E(?x) SEQ A(?x) WITHIN 1 min\nRETURN E, D\n"
    )
    values = (3, 4, 6, 7)
    pairs = [(at, f"<http://e/p> <http://e/v> {value} .") for at, value in enumerate(values, 1)]
    engine, hits = hits_in(obep.load(tmp_path / "q.obep"), pairs)
    assert len(hits) == engine.counters["derived_dead_letters"] == len(pairs)  # each A with each B
    assert engine.counters["dead_letters"] == 0
