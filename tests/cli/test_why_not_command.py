"""`obep why-not`: what an event lacked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import Said, hot, obep, reading

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Cold AS (Sensor and celsius some number[< 5])
EVENT Broken AS (Sensor and fault some Thing)
EVENT Swing(?s) MATCH Hot(?s) SEQ Cold(?s) WITHIN 20 s
EVENT Calm(?s) MATCH Hot(?s) NOT FOLLOWED BY Cold(?s) WITHIN 10 s
EVENT Failing MATCH Hot SEQ Broken WITHIN 20 s
EVENT Steep MATCH Hot SEQ Cold WITHIN 20 s
IF { EVENT Hot { ?a :celsius ?x } EVENT Cold { ?b :celsius ?y } FILTER(?x - ?y > 100) }
RETURN ALL
"""


def ask(folder: Path, event: str, *readings: str) -> Said:
    (folder / "s.jsonl").write_text("".join(readings))
    said = obep("why-not", event, hot(folder, QUERY), "--source", folder / "s.jsonl")
    assert said.status == 0, said.err
    return said


def test_an_event_that_occurred_is_said_to(tmp_path: Path) -> None:
    said = ask(tmp_path, "Swing", reading(1, "a", 40), reading(9, "a", 0))
    assert said.out.startswith("Swing did occur: 1 time, first at 1, last at 9.\nobep why urn:obep:Swing:")


def test_items_wait_for_as_long_as_obep_toml_says(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text('[engine]\nname = "embedded"\nlateness = "10 s"\n')
    late = (reading(1, "a", 40), reading(5, "b", 40), reading(3, "a", 0), reading(40, "b", 20))
    assert ask(tmp_path, "Swing", *late).out.startswith("Swing did occur: 1 time, first at 1, last at 3.")
    source = tmp_path / "s.jsonl"
    said = obep("why-not", "Swing", hot(tmp_path, QUERY), "--lateness", "1s", "--source", source)
    assert said.out.startswith("Swing did not occur in 3 items from 1 to 40; 1 more was refused"), said.err


def test_a_query_is_no_event_and_what_shows_its_rows_is_named(tmp_path: Path) -> None:
    query = tmp_path / "q.rspql"
    query.write_text(
        "PREFIX : <http://e/> REGISTER RSTREAM <hot> AS SELECT ?r "
        "FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 1 s] WHERE { WINDOW <w> { ?r :celsius ?c } }"
    )
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 40))
    for name in ("hot", "<http://example.org/obep#hot>"):
        said = obep("why-not", name, query, "--source", tmp_path / "s.jsonl")
        assert said.status == 2
        assert f"OBEP100  {name} is a query, and not an event or a state" in said.err
        assert "obep run --why" in said.err and "obep explain" in said.err
    said = obep("why-not", "Other", query, "--source", tmp_path / "s.jsonl")
    assert "It defines: queries only" in said.err


def test_a_part_that_never_occurred_is_named_with_the_words_that_no_item_uses(tmp_path: Path) -> None:
    out = ask(tmp_path, "http://e/Failing", reading(1, "a", 40), reading(9, "a", 20)).out
    assert out.startswith("Failing did not occur in 2 items from 1 to 9.")
    assert "\n  Hot: 1 time, at 1\n  Broken: never\n" in out
    assert "\nBroken never occurred:\n" in out
    assert "\n  fault: in no item\n" in out
    assert "\n  Sensor: used in 2 of 2 items\n" in out


@pytest.mark.parametrize(
    ("event", "readings", "reason"),
    [
        (
            "Swing",
            (reading(1, "a", 40), reading(30, "a", 0)),
            "Without WITHIN 20 s it would have occurred 1 time.",
        ),
        ("Swing", (reading(1, "a", 0), reading(9, "a", 40)), "Without the order of its parts it would have"),
        (
            "Swing",
            (reading(1, "a", 40), reading(9, "b", 0)),
            "Without its parts having the same ?s it would have",
        ),
        ("Swing", (reading(1, "a", 0), reading(90, "b", 40)), "No single condition prevents it."),
        (
            "Steep",
            (reading(1, "a", 40), reading(9, "a", 0)),
            "Without its guard it would have occurred 1 time.",
        ),
        (
            "Calm",
            (reading(1, "a", 40), reading(9, "a", 0), reading(30, "a", 20)),
            "Without what must not happen it would have occurred 1 time.",
        ),
    ],
)
def test_the_condition_that_keeps_it_away_is_named(
    tmp_path: Path, event: str, readings: tuple[str, ...], reason: str
) -> None:
    out = ask(tmp_path, event, *readings).out
    assert f"\n{reason}" in out
    assert out.count("\nWithout ") <= 1


def test_an_absence_that_the_stream_ended_before_is_told_as_undecided(tmp_path: Path) -> None:
    out = ask(tmp_path, "Calm", reading(1, "a", 40), reading(9, "b", 20)).out
    assert "\nHot at 1 (a) is decided at 11; the stream ended before, at 9\n" in out
    assert "Without " not in out


def test_of_a_logical_event_the_missing_part_is_named(tmp_path: Path) -> None:
    out = ask(tmp_path, "Hot", reading(1, "a", 20)).out
    assert "\na, in the item at 1, is the nearest:\n" in out
    assert '\n    Sensor: yes\n    celsius some number[> 30]: missing; it is "20"\n' in out


def test_refused_records_are_a_reason_too(tmp_path: Path) -> None:
    out = ask(tmp_path, "Hot", "broken\n", reading(1, "a", 20)).out
    assert "1 refused with OBEP600; the first: not JSON" in out


def test_items_are_those_that_were_not_refused_whoever_refused_them(tmp_path: Path) -> None:
    """One that cannot be read, two that are late, one that is nobody's: none of them led to anything."""
    late, wrong = reading(2, "a", 25), json.dumps({"time": 6, "graph": "<http://e/a> <http://e/b"}) + "\n"
    good = (reading(1, "a", 20), reading(5, "a", 20), reading(9, "a", 20))
    out = ask(tmp_path, "Hot", "broken\n", good[0], good[1], late, late, wrong, good[2]).out
    assert out.startswith("Hot did not occur in 3 items from 1 to 9; 4 more were refused (see below).\n")
    assert "\n  celsius: used in 3 of 3 items, with 20\n" in out
    assert "\n2 refused with OBEP640; " in out
    assert "\n1 refused with OBEP600; " in out and "\n1 refused with OBEP604; " in out


def test_an_occurrence_that_is_refused_as_an_item_is_no_item(tmp_path: Path) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    (tmp_path / "t.ttl").write_text(f"<http://e/v> a <{owl}DatatypeProperty> , <{owl}FunctionalProperty> .")
    query = hot(
        tmp_path,
        "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\nEVENT A AS (v some number[< 5])\n"
        "EVENT B AS (v some number[>= 5])\nEVENT C AS (v some number[> 100])\n"
        "EVENT E(?x) MATCH A(?x) SEQ B(?x) WITHIN 1 min\n"
        "EVENT D(?x) MATCH E(?x) SEQ C(?x) WITHIN 1 min\nRETURN D\n",
    )
    graphs = [(1, "<http://e/p> <http://e/v> 4 ."), (2, "<http://e/p> <http://e/v> 6 .")]
    lines = [json.dumps({"time": at, "graph": graph}) + "\n" for at, graph in graphs]
    (tmp_path / "s.jsonl").write_text("".join(lines))
    said = obep("why-not", "D", query, "--source", tmp_path / "s.jsonl")
    assert said.out.startswith("D did not occur in 2 items from 1 to 2.\n")
    assert "1 refused with OBEP620; the first: E, taken as an item: contradicts" in said.out


@pytest.mark.parametrize(
    ("readings", "told"),
    [
        (
            (reading(1, "a", 0), reading(600, "a", 40), reading(900, "a", 41)),
            "Without WITHIN 20 s and the order of its parts it would have occurred 2 times.\n"
            "Hot and Cold lie at least 9 minutes apart (Cold at 1, Hot at 600): WITHIN is 20 s, and Hot must "
            "come first.\n",
        ),
        (
            (reading(1, "a", 0), reading(90, "b", 40)),
            "No single condition prevents it. Without all of them its parts would match.\n"
            "Hot and Cold lie at least 89 seconds apart (Cold at 1, Hot at 90): WITHIN is 20 s, and Hot must "
            "come first.\n",
        ),
        (
            (reading(1, "a", 0), reading(9, "b", 40)),
            "No single condition prevents it. Without all of them its parts would match.\n",
        ),
    ],
)
def test_parts_that_lie_far_apart_are_told_how_far(
    tmp_path: Path, readings: tuple[str, ...], told: str
) -> None:
    assert ask(tmp_path, "Swing", *readings).out.endswith(f"\n{told}")


def test_an_unknown_event_has_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("")
    said = obep("why-not", "Swimg", hot(tmp_path, QUERY), "--source", tmp_path / "s.jsonl")
    assert (said.status, said.err[:7]) == (2, "OBEP100")
    assert "Try:  Swing" in said.err


def test_too_many_items_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obep.run.replay_items.MOST", 1)
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 20) + reading(2, "a", 20))
    said = obep("why-not", "Swing", hot(tmp_path, QUERY), "--source", tmp_path / "s.jsonl")
    assert (said.status, said.err[:7]) == (2, "OBEP535")


WASHING = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Emptied AS (state value "empty" and watts some number[> 9])
EVENT Done AS (states value "done")
RETURN ALL
"""


def test_the_values_that_a_property_does_have_are_shown(tmp_path: Path) -> None:
    states = ["idle", "idle", "running", "emptied"]
    lines = [
        json.dumps({"time": n, "graph": f'<http://e/w> <http://e/state> "{state}" ; <http://e/watts> {n} .'})
        for n, state in enumerate(states)
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    said = obep("why-not", "Emptied", hot(tmp_path, WASHING), "--source", tmp_path / "s.jsonl").out
    assert '\n  state: used in 4 of 4 items, with "idle", "running", "emptied"\n' in said
    assert "\n  watts: used in 4 of 4 items, with 0 to 3\n" in said
    said = obep("why-not", "Done", hot(tmp_path, WASHING), "--source", tmp_path / "s.jsonl").out
    assert "\n  states: in no item; is it state?\n" in said


@pytest.mark.parametrize(
    ("guard", "value", "told"),
    [
        ("?this :celsius 40", "40.0e0", "; it is 40.0e0 (xsd:double): {}?this :celsius ?v FILTER(?v = 40)"),
        ("?this :celsius 40", "40.0", "; it is 40.0 (xsd:decimal): {}?this :celsius ?v FILTER(?v = 40)"),
        (
            "?v :celsius 40 . ?v a ?w",
            "40.0",
            "; it is 40.0 (xsd:decimal): {}?v :celsius ?v1 FILTER(?v1 = 40)",
        ),
        ("?this :celsius 40 ; :unit 1", "40.0e0", "; it is 40.0e0 (xsd:double): {}"),
        ('?this :celsius "40"', "40", '; it is "40" (xsd:integer), which is another term'),
        ("?this :celsius 41", "40.0e0", ""),
        ("?this :celsius 40 ; :unit 1", "40", ""),
    ],
)
@pytest.mark.parametrize("event", ["Once", "Twice"])
def test_a_literal_of_a_guard_that_is_there_as_another_term_is_told(
    tmp_path: Path, guard: str, value: str, told: str, event: str
) -> None:
    query = hot(
        tmp_path,
        "PREFIX : <http://e/>\nFROM STREAM <s>\nEVENT Known AS Sensor\n"
        f"EVENT Once AS Sensor IF {{ {guard} }}\n"
        f"EVENT Twice MATCH Known AS was SEQ Known AS now WITHIN 9 s IF {{ EVENT was {{ {guard} }} }}\n"
        "RETURN ALL\n",
    )
    graph = "<http://e/a> a <http://e/Sensor> ; <http://e/celsius> {} ."
    items = [(1, graph.format(value)), (5, graph.format('"none"'))]
    lines = [json.dumps({"time": at, "graph": one}) + "\n" for at, one in items]
    (tmp_path / "s.jsonl").write_text("".join(lines))
    out = obep("why-not", event, query, "--source", tmp_path / "s.jsonl").out
    finds = f"finds nothing in {'was' if event == 'Twice' else 'it'}"
    assert f"{finds}{told.format('a literal in a triple is the same term; write ')}" in out
    assert told or "; it is" not in out
