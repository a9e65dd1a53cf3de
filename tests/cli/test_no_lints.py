"""`--no-lints` finds the same and calls no rule; without an observer nothing is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import embedded, hot

import obep
from obep.engine.observer import Observers
from obep.why_not.latest import Latest

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
FROM STREAM <t>
EVENT Hot AS (celsius some number[> 30])
EVENT Warm AS (celsius some number[> 20])
EVENT H MATCH Hot(?x) SEQ Warm(?x)
RETURN Hot, H
"""
MAPPING = """[sources.s.mapping]
prefixes = { "" = "http://e/" }
template = ":{id} :celsius {c:double} ."
"""
LINES = '{"id": "a", "time": 1, "c": 35}\n{"id": "a", "time": 2, "c": 36}\n{"id": "a", "c": 36}\n'


def run(folder: Path, *more: str) -> tuple[int, str, str]:
    (folder / "obep.toml").write_text(MAPPING)
    (folder / "s.jsonl").write_text(LINES)
    (folder / "t.jsonl").write_text("")
    sources = [f"--source={name}={folder}/{name}.jsonl" for name in ("s", "t")]
    done = embedded(hot(folder, QUERY), *sources, *more)
    return done.status, done.out, done.err


def codes(text: str) -> list[str]:
    return [line.partition("  ")[0] for line in text.splitlines() if line.startswith("OBEP")]


def test_no_lints_finds_the_same_and_warns_of_refused_records_only(tmp_path: Path) -> None:
    status, out, err = run(tmp_path)
    assert codes(err) == ["OBEP200", "OBEP602", "OBEP556"]
    without = run(tmp_path, "--no-lints")
    assert without[:2] == (status, out) and out
    assert codes(without[2]) == ["OBEP602"]


def test_no_lints_calls_no_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kind: str) -> None:
        raise AssertionError(f"rules about {kind} are asked for")

    for module in ("apply_rules", "check_project", "stream_rules"):
        monkeypatch.setattr(f"obep.lints.{module}.rules", refuse)
    assert run(tmp_path, "--no-lints")[0] == 0
    assert run(tmp_path, "--quiet")[0] == 0
    with pytest.raises(AssertionError, match="rules about"):
        run(tmp_path)


def test_an_engine_that_nobody_listens_to_keeps_nothing_for_why_not() -> None:
    query = obep.load(text=QUERY, java=False, lints=False)
    assert query.warnings == ()
    engine = query.engine(remember=0)
    assert engine.running.observer is None and engine.running.runtime.observer is None
    engine.push("<http://e/a> <http://e/celsius> 35 .", at=1, stream="s")
    assert not engine.running.latest.items and not engine.running.latest.occurrences


def test_two_observers_hear_the_same() -> None:
    query = obep.load(text=QUERY, java=False)
    one, other = Latest(None), Latest(1)
    engine = query.engine(observer=Observers(one, other))
    for at in (1, 2):
        engine.push("<http://e/a> <http://e/celsius> 35 .", at=at, stream="s")
    engine.close()
    assert [item.at for item in one.items] == [1_000_000, 2_000_000]
    assert [item.at for item in other.items] == [2_000_000]
    assert {event: len(found) for event, found in one.occurrences.items()} == {
        "<http://e/Hot>": 2,
        "<http://e/Warm>": 2,
        "<http://e/H>": 1,
    }
    assert engine.why_not("H").reported == 1
