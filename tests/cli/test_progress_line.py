"""The line that moves on a terminal, and the summary: what they say, and that nobody else gets them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from shell import embedded, hot, reading

from obep.run.progress import Progress
from obep.run.run_notes import Absences
from obep.streams.sinks.open_sinks import MemorySink
from obep.streams.sources.batches import Batch, Position


class Screen(StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def figures(number: int) -> dict[str, object]:
    return {"items": number, "occurrences": number, "late": 0, "refused": 2, "watermark": 3, "pending": 0}


def test_a_run_that_finds_nothing_says_who_knows_why(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = "Nothing was found. obep why-not EVENT QUERY shows what was missing.\n"
    for items, occurrences, stopped, said in ((5, 0, False, True), (5, 1, False, False), (5, 0, True, False)):
        screen = Screen(terminal=True)
        monkeypatch.setattr(sys, "stderr", screen)
        Progress().end({"items": items, "occurrences": occurrences}, stopped=stopped)
        assert screen.getvalue().endswith(hint) is said


@pytest.mark.parametrize(
    ("number", "start"),
    [
        (1, "1 item (0/s), 1 occurrence, watermark 3, 0 late, 2 refused, 4.0 s\n"),
        (2, "2 items (0/s), 2 occurrences, watermark 3, 0 late, 2 refused, 4.0 s\n"),
        (8000, "8,000 items (2,000/s), 8,000 occurrences, watermark 3, 0 late, 2 refused, 4.0 s\n"),
    ],
)
def test_a_summary_counts_one_as_one(number: int, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screen, times = Screen(terminal=True), iter((0.0, 4.0))
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("obep.run.progress.time.monotonic", lambda: next(times))
    Progress().end(figures(number), stopped=False)
    assert screen.getvalue() == start


def test_a_bar_shows_how_much_of_the_files_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, times = Screen(terminal=True), iter((0.0, 4.0))
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("obep.run.progress.time.monotonic", lambda: next(times))
    Progress().move(lambda: {**figures(8), "share": 0.27})
    assert screen.getvalue() == (
        "\r[#####               ] 27%, 8 items (2/s), 8 occurrences, watermark 3, 0 late, 2 refused"
    )


def test_nobody_but_a_terminal_gets_a_line_or_a_summary_and_everybody_gets_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Screen(terminal=False)
    monkeypatch.setattr(sys, "stderr", screen)
    progress = Progress()
    progress.move(lambda: figures(1))
    progress.end(figures(1), stopped=True)
    assert screen.getvalue() == ""
    progress.warn("OBEP640", "1 late; the first: s: it comes after the watermark, 5")
    assert screen.getvalue() == "OBEP640  warning: 1 late; the first: s: it comes after the watermark, 5\n"


def test_a_source_that_is_away_is_said_to_be_so_once_and_once_that_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Screen(terminal=False)
    monkeypatch.setattr(sys, "stderr", screen)
    progress, absences, source, other = Progress(), Absences(), Broker(), Broker()
    for source.lost in ("", "connection lost", "connection lost", "", ""):
        absences.look({"doors=one": source, "doors=other": other}, progress)
    assert screen.getvalue() == (
        "OBEP552  warning: doors: connection lost (connection lost); reconnecting\n"
        "OBEP552  warning: doors: connected again\n"
    )


class Broker:
    """As much of a source as can be away."""

    name, live, ends, lost = "doors", True, False, ""

    def batches(self, start: Position) -> Iterator[Batch]:
        yield from ()

    def committed(self, position: Position) -> None: ...

    def stop(self) -> None: ...


class AwaySink(MemorySink):
    """A sink whose broker goes away and comes back while everything is flushed."""

    name, lost = "mqtt://h/alarms", ""

    def __init__(self) -> None:
        super().__init__()
        self.waits = lambda: None

    def flush(self) -> None:
        for self.lost in ("connection lost", "connection lost", ""):
            self.waits()


def test_a_sink_that_is_away_while_a_run_waits_for_it_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obep.run.outlets.open_sink", lambda *given: AwaySink())
    (tmp_path / "in.jsonl").write_text(reading(1, "x", 40.0))
    run = embedded(hot(tmp_path), "--source", f"s={tmp_path / 'in.jsonl'}", "--sink", "mqtt://h/alarms")
    assert run.status == 0, run.err
    said = [line for line in run.err.splitlines() if line.startswith("OBEP552")]
    assert said[:2] == [
        "OBEP552  warning: mqtt://h/alarms: connection lost (connection lost); reconnecting",
        "OBEP552  warning: mqtt://h/alarms: connected again",
    ]
