"""A sample of the soak: schedules of kills, full disks, stops and changes leave the output as it would be."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from soak_law import Broken, ended_in_left, hold
from soak_processes import hold_processes
from soak_runner import Play, Ran
from soak_schedule import KINDS, QUERIES, make_schedule

FIRST = int(os.environ.get("OBEP_SOAK_SEED", "0"))
SCHEDULES = int(os.environ.get("OBEP_SOAK", "120"))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_after_any_schedule_the_output_is_that_of_the_undisturbed_run(part: int) -> None:
    for seed in range(FIRST + part, FIRST + SCHEDULES, 4):
        try:
            hold(seed)
        except Exception as error:
            raise Broken(f"python tests/soak --replay {seed}") from error


FOUND = {
    "a record that cannot be read does not end a silence": (706541, "sequence"),
    "a sink that is left out keeps what the end decided before an answer": (708518, "states"),
}
"""Schedules after which the law once did not hold, with their queries."""


@pytest.mark.parametrize("what", FOUND)
def test_the_law_holds_after_schedules_that_once_broke_it(what: str) -> None:
    seed, query = FOUND[what]
    hold(seed, (query,))


@pytest.mark.slow
def test_processes_that_are_killed_leave_the_output_of_one_that_was_not() -> None:
    assert hold_processes(1) == 3


def test_a_seed_always_gives_the_same_schedule() -> None:
    assert make_schedule(7) == make_schedule(7)


def test_schedules_have_every_kind_of_input_query_and_end() -> None:
    drawn = [make_schedule(seed) for seed in range(200)]
    assert {one.kind for one in drawn} == set(KINDS)
    assert {one.query for one in drawn} == set(QUERIES)
    fates = {session.fate for one in drawn for session in one.sessions}
    assert fates == {"kill", "full", "stop", "break", "end"}
    assert any(session.rotate for one in drawn for session in one.sessions)
    assert any(session.lateness != one.base.lateness for one in drawn for session in one.sessions)


def test_the_law_notices_output_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that loses the end of its output after each session does not pass."""
    whole = Play.session

    def loses(play: Play, session: object, resumes: bool) -> Ran:
        ran = whole(play, session, resumes)  # type: ignore[arg-type]
        if resumes and session is play.schedule.sessions[-1]:
            path = play.folder / "out.jsonl"
            path.write_bytes(path.read_bytes()[:-20])
        return ran

    monkeypatch.setattr(Play, "session", loses)
    with pytest.raises(Broken, match=r"out\.jsonl: 1 lines are missing"):
        for seed in range(20):
            hold(seed)


def test_the_law_lets_a_left_sink_keep_of_an_end_only_what_comes_before_an_answer() -> None:
    answers = Counter({b"an answer": 1, b"another": 1})
    assert not ended_in_left([[b"none", b"none either"]], answers), "all of it is cut off"
    assert not ended_in_left([[b"an answer", b"none"]], answers)
    assert ended_in_left([[b"none", b"an answer", b"none either"]], answers) == {b"none": 1}
    assert not ended_in_left([[b"an answer", b"an answer"]], answers), "nothing may be there twice"
