"""`obep why-not 'Low(:PenA)'`: why an event did not occur with these individuals."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import Said, hot, obep, reading

QUERY = """PREFIX : <http://e/>
PREFIX far: <http://far/>
FROM STREAM <s>
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Cold AS (Sensor and celsius some number[< 5])
EVENT Swing(?s) MATCH Hot(?s) SEQ Cold(?s) WITHIN 20 s
EVENT Pair(?a, ?b) MATCH Hot(?a) SEQ Cold(?b) WITHIN 20 s
EVENT Steep(?s) MATCH Hot(?s) SEQ Cold(?s) IF { EVENT Hot { ?a :celsius ?x } EVENT Cold { ?b :celsius ?y }
  FILTER(?x - ?y > 100) }
EVENT Alone MATCH Hot SEQ Cold
EVENT Icy AS (Sensor and celsius some number) IF { ?this :celsius ?v . FILTER(?v < -50) }
RETURN ALL
"""
A_SWINGS = (reading(1, "a", 40), reading(9, "a", 0))


def ask(folder: Path, event: str, *readings: str) -> Said:
    (folder / "s.jsonl").write_text("".join(readings))
    return obep("why-not", event, hot(folder, QUERY), "--source", folder / "s.jsonl")


def lines(folder: Path, event: str, *readings: str) -> list[str]:
    said = ask(folder, event, *readings)
    assert said.status == 0, said.err
    return said.out.splitlines()


@pytest.mark.parametrize("question", ["Swing(:a)", "Swing( a )", "Swing(<http://e/a>)", "http://e/Swing(:a)"])
def test_an_event_that_occurred_with_it_is_said_to(tmp_path: Path, question: str) -> None:
    out = lines(tmp_path, question, *A_SWINGS, reading(10, "b", 40), reading(11, "b", 0))
    assert out[0] == "Swing(a) did occur: 1 time, first at 1, last at 9."


def test_what_occurred_with_others_is_not_it(tmp_path: Path) -> None:
    out = lines(tmp_path, "Swing(:b)", *A_SWINGS, reading(10, "b", 40), reading(11, "b", 7))
    assert out[:2] == [
        "Swing(b) did not occur in 4 items from 1 to 11.",
        "With others it did: 1 time, first at 1, last at 9.",
    ]
    assert out[3:5] == ["  Hot: 1 time, at 10", "  Cold: never"]
    assert "Cold never occurred with ?s = b:" in out
    assert "b, in the item at 11, is the nearest:" in out
    assert out[-1] == '    celsius some number[< 5]: missing; it is "7"'


def test_candidates_are_those_with_it(tmp_path: Path) -> None:
    out = lines(tmp_path, "Swing(:b)", *A_SWINGS, reading(10, "b", 40), reading(40, "b", 0))
    assert "Hot at 10 (b), Cold at 40 (b) came in the right order, but" in out
    assert "  it took 30 s, and WITHIN is 20 s" in out
    assert out[-1] == "Without WITHIN 20 s it would have occurred 1 time."


@pytest.mark.slow
def test_they_are_found_behind_many_others(tmp_path: Path) -> None:
    """More than are remembered without a question come after it."""
    others = [reading(at, "a", 40 if at % 2 else 0) for at in range(50, 450)]
    out = lines(tmp_path, "Swing(:b)", reading(10, "b", 40), reading(40, "b", 0), *others)
    assert "Hot at 10 (b), Cold at 40 (b) came in the right order, but" in out


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Pair(:a, :b)", "Pair(a, b) did occur: 1 time, first at 1, last at 3."),
        ("Pair(:a, _)", "Pair(a, _) did occur: 2 times, first at 1, last at 9."),
        ("Pair(_, :b)", "Pair(_, b) did occur: 1 time, first at 1, last at 3."),
        ("Pair(_, _)", "Pair(_, _) did occur: 2 times, first at 1, last at 9."),
        ("Pair(:b, :a)", "Pair(b, a) did not occur in 3 items from 1 to 9."),
    ],
)
def test_each_parameter_has_its_place(tmp_path: Path, question: str, first: str) -> None:
    items = reading(1, "a", 40), reading(3, "b", 0), reading(9, "a", 0)
    assert lines(tmp_path, question, *items)[0] == first


def test_a_guard_is_told_of_it_alone(tmp_path: Path) -> None:
    out = lines(tmp_path, "Steep(:b)", *A_SWINGS, reading(10, "b", 50), reading(11, "b", -10))
    told = [line for line in out if "FILTER" in line and "is not true" in line]
    assert told == ['  FILTER(?x - ?y > 100) is not true for ?x = "50", ?y = "-10"']
    assert out[-1] == "Without its guard it would have occurred 1 time."


def test_a_logical_event_is_asked_of_one_individual(tmp_path: Path) -> None:
    """a comes nearer, with 20; but b is asked for, which no item calls a sensor's value."""
    out = lines(tmp_path, "Hot(:b)", reading(1, "b", 10), reading(2, "a", 40), reading(3, "a", 20))
    assert out[0] == "Hot(b) did not occur in 3 items from 1 to 3."
    assert out[-3:] == [
        "  Sensor and celsius some number[> 30]: missing",
        "    Sensor: yes",
        '    celsius some number[> 30]: missing; it is "10"',
    ]
    assert out[-4] == "b, in the item at 1, is the nearest:"


def test_a_guarded_event_is_asked_of_one_individual(tmp_path: Path) -> None:
    out = lines(tmp_path, "Icy(:b)", reading(1, "b", 10), reading(2, "a", 40), reading(3, "c", -60))
    assert [line for line in out if "came, but" in line] == ["Icy at 1 (b) came, but"]


def test_an_individual_of_no_item_has_the_nearest_name(tmp_path: Path) -> None:
    out = lines(tmp_path, "Hot(:penn1)", reading(1, "pen1", 10))
    assert out[-1] == "no item says anything of penn1; is it <http://e/pen1>?"
    out = lines(tmp_path, "Hot(far:other)", reading(1, "pen1", 10))
    assert out[-1] == "no item says anything of other"


@pytest.mark.parametrize(
    ("question", "message", "remedy"),
    [
        ("Swing(:a, :b)", "Swing has one parameter, not 2", "Swing(:name)"),
        ("Swing()", "Swing has one parameter, not 0", "Swing(:name)"),
        ("Swing(:a,)", ":a, cannot be read", "Swing(:name)"),
        ("Pair(:a)", "Pair has 2 parameters, not 1", "Pair(:name, _)"),
        ("Alone(:a)", "Alone has no parameters", "Alone, or EVENT Alone(?v) MATCH … first"),
        ("Hot(fat:a)", "the query has no prefix fat:", "far:a"),
        ("Hot(zzz:a)", "the query has no prefix zzz:", "PREFIX zzz: <http://…> in the query, or the <iri>"),
        ('Hot("a")', '"a" is not a name of an individual', "Hot(:name)"),
        ("Hot(5)", "5 is not a name of an individual", "Hot(:name)"),
        ("Hot(_:b)", "_:b is not a name of an individual", "Hot(:name)"),
        ("Hot(?x)", "?x is not a name of an individual", "Hot(:name)"),
        ("Hot(<a>)", "<a> is a relative IRI, and the query has no BASE", "Hot(:name)"),
        ("Hot(:a", "Hot(:a is no question", "Hot(:name)"),
        ("Hot(:a b)", ":a b cannot be read", "Hot(:name)"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(
    tmp_path: Path, question: str, message: str, remedy: str
) -> None:
    said = ask(tmp_path, question, reading(1, "a", 40))
    assert (said.status, said.err.splitlines()[0]) == (2, f"OBEP579  {message}")
    assert f"Try:  {remedy}" in said.err


def test_an_unknown_event_with_individuals_has_the_nearest_name(tmp_path: Path) -> None:
    said = ask(tmp_path, "Swimg(:a)", reading(1, "a", 40))
    assert (said.status, said.err[:7]) == (2, "OBEP100") and "Try:  Swing" in said.err


def test_number_is_no_word_that_items_use(tmp_path: Path) -> None:
    out = lines(tmp_path, "Hot(:b)", reading(1, "b", 10))
    assert [line for line in out if line.startswith("  ") and "item" in line] == [
        "  Sensor: used in 1 of 1 items",
        "  celsius: used in 1 of 1 items, with 10",
    ]
