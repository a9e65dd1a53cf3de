"""`obep why-not` of a state, and of events made of states, on example 08 and on a small query."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import hot, obep, reading

BUILDING = Path(__file__).parents[2] / "examples" / "08-building-states"
QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
FROM NAMED WINDOW <now> ON <s> [LATEST 1 min]
STATE Hot(?s) ON <now> AS { ?s :celsius ?c FILTER(?c > 30) }
STATE Often(?s) OVER Reading(?s) AS r WITHIN 20 s IF { EVENT r { ?this :celsius ?c } }
  AGGREGATE (AVG(?c) AS ?mean) HAVING (?mean > 35)
EVENT Reading AS (celsius some number)
EVENT Long(?s) MATCH Hot(?s) FOR 10 s
EVENT Seen(?s) MATCH Reading(?s) WHILE Hot(?s)
EVENT Frost(?x) AS { ?x :celsius ?c FILTER(?c < 0) }
RETURN ALL
"""


def ask(folder: Path, question: str, *readings: str) -> str:
    (folder / "s.jsonl").write_text("".join(readings))
    said = obep("why-not", question, hot(folder, QUERY), "--source", folder / "s.jsonl")
    assert said.status == 0, said.err
    return said.out


SHORT = (reading(1, "a", 40), reading(8, "a", 20), reading(9, "b", 25))


def test_for_says_how_long_the_state_held_and_without_it_how_often_it_would_have_occurred(
    tmp_path: Path,
) -> None:
    out = ask(tmp_path, "Long", *SHORT)
    assert out.startswith("Long did not occur in 3 items from 1 to 9.")
    assert "\n  Hot(?s) FOR 10 s: never\n" in out
    assert "Hot(a) held 7 s of 10 s, from 1 to 8, then came a celsius " in out


def test_while_names_the_state_that_did_not_hold(tmp_path: Path) -> None:
    out = ask(tmp_path, "Seen(:b)", *SHORT)
    assert "Hot(b) did not hold at 9; it never held" in out
    assert "Without WHILE Hot(?s) it would have occurred 1 time." in out


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("Hot(:b)", ["Hot(b) did not hold in 3 items from 1 to 9.", "With others it did: 1 time."]),
        ("Hot(:b)", ['at 9 FILTER(?c > 30) is not true for ?c = "25"']),
        ("Hot(:b)", ["Without FILTER(?c > 30) it would have held 1 time; when it began, ?c = 25."]),
        ("Hot", ["Hot did hold: 1 time.", 'Hot(a) held from 1 to 8, then came a celsius "20"']),
        ("http://e/Hot(:a)", ["Hot(a) did hold: 1 time."]),
        ("Often(:b)", ['  HAVING asks ?mean > 35, and ?mean is "25"']),
        ("Often(:b)", ["Without HAVING (?mean > 35) it would have held 1 time; when it began, ?mean = 25."]),
        ("Frost", ["Without FILTER(?c < 0) it would have occurred 3 times."]),
    ],
)
def test_a_state_is_asked_for_by_its_name(tmp_path: Path, question: str, lines: list[str]) -> None:
    out = ask(tmp_path, question, *SHORT).splitlines()
    assert [line for line in lines if line not in out] == []


def test_a_name_of_nothing_is_answered_with_the_nearest_state(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(SHORT[0])
    said = obep("why-not", "Ofen", hot(tmp_path, QUERY), "--source", tmp_path / "s.jsonl")
    assert said.status != 0
    assert "OBEP100" in said.err and "Often" in said.err


@pytest.mark.slow
def test_the_building_of_example_08_tells_why_a_zone_was_never_too_hot() -> None:
    """z3 has a setpoint of 21 and always says 20 degrees; no message speaks of the air of z2."""
    source = f"points={BUILDING / 'stream.jsonl'}"
    out = obep("why-not", "Overheated(:z3)", BUILDING / "query.obep", "--source", source).out
    assert "TooHot(z3) never held\n" in out
    out = obep("why-not", "TooHot(:z3)", BUILDING / "query.obep", "--source", source).out
    assert "Without FILTER(?t > ?s + 2) it would have held 1 time; when it began, ?s = 21, ?t = 20." in out
    out = obep("why-not", "Stuffy(:z2)", BUILDING / "query.obep", "--source", source).out
    assert "Stuffy(z2) did not hold" in out and "it has had no row" in out
