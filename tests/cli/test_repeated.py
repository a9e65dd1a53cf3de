"""Occurrences that differ from others only in their explanation are warned of, and one explanation may do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import Said, embedded, hot, obep

PREFIXES = (
    "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
)
ONTOLOGY = """:Point a owl:Class . :fedBy a owl:ObjectProperty ; rdfs:domain :Point .
:servedBy a owl:ObjectProperty ; rdfs:range :Point . :c a owl:DatatypeProperty . :by a owl:ObjectProperty .
"""
STATIC = ":p1 a :Point ; :fedBy :F1 . :b1 :servedBy :p1 ."
QUERY = """PREFIX : <http://e/#>
VOCAB <o.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Hot AS (Point and c some number[> 50])
EVENT Cool AS (Point and c some number[< 40])
EVENT Stays(?p) MATCH Hot(?p) TIMES 3 WITHIN 10 min
EVENT Cooled(?p) MATCH Hot(?p) SEQ Cool(?p) WITHIN 10 min POLICY recent
RETURN Stays, Cooled
"""
READINGS = (":p1 :c 60 .", ":p1 :c 60 .", ":p1 :c 60 .", ":p1 :c 30 .")


def run(
    folder: Path, query: str = QUERY, static: str = STATIC, items: tuple[str, ...] = READINGS, toml: str = ""
) -> Said:
    (folder / "o.ttl").write_text(PREFIXES + ONTOLOGY)
    (folder / "k.ttl").write_text(PREFIXES + static)
    (folder / "obep.toml").write_text(toml)
    lines = [json.dumps({"time": n, "graph": PREFIXES + text}) for n, text in enumerate(items, 1)]
    (folder / "s.jsonl").write_text("\n".join(lines))
    done = embedded(hot(folder, query), "--source", folder / "s.jsonl")
    assert done.status == 0, done.err
    return done


def test_occurrences_that_differ_only_in_their_explanation_are_warned_of(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert len(done.records) == 13
    said, remedy = done.err.splitlines()
    assert said == (
        "OBEP581  warning: 11 of 13 occurrences differ from another one only in their explanation, most of "
        "them of Stays: `b1 servedBy p1` in one is `p1 fedBy F1` in another"
    )
    assert "max_explanations = 1 under [engine] in obep.toml" in remedy


def test_items_that_say_the_same_twice_are_warned_of_too(tmp_path: Path) -> None:
    twice = tuple(f":p1 a :Point ; :fedBy :F1 . {one}" for one in READINGS)
    said = run(tmp_path, static=":p2 a :Point .", items=twice).err
    assert "OBEP581  warning: 10 of 12 occurrences" in said
    assert "`p1 fedBy F1` in one is `p1 type Point` in another" in said


@pytest.mark.parametrize("static", [STATIC, ":b1 :servedBy :p1 . :p1 :fedBy :F1 ; a :Point ."])
def test_one_explanation_may_do(tmp_path: Path, static: str) -> None:
    """Which one is the same, in whatever order the static graph has them; nobody complains of the rest."""
    done = run(tmp_path, static=static, toml="[engine]\nmax_explanations = 1\n")
    assert done.err == ""
    assert [one["event"].partition("#")[2] for one in done.records] == ["Stays", "Cooled"]
    assert {text for r in done.records for cause in r["because"] for text in cause["assertions"][:1]} == {
        "<http://e/#b1> <http://e/#servedBy> <http://e/#p1> ."
    }


def test_the_smallest_explanation_is_kept_and_of_these_the_first_in_the_item(tmp_path: Path) -> None:
    query = QUERY.replace("RETURN Stays, Cooled", "EVENT H AS (by some Point)\nRETURN H")
    toml = "[engine]\nmax_explanations = 1\n"
    told = ":x :by :p9 . :p9 a :Point . :x :by :p1 . :x :by :p0 . :p0 :fedBy :F ."
    [one] = run(tmp_path, query, ":p0 a :Point . :p1 a :Point .", (told,), toml).records
    assert any("#by> <http://e/#p9>" in text for text in one["because"][0]["assertions"])


@pytest.mark.parametrize(
    ("query", "static", "items"),
    [
        (QUERY, ":p1 a :Point .", READINGS),  # one reason
        (QUERY, STATIC, READINGS[3:]),  # nothing is found
        # Two values in one item, and two that it leads to: the item tells of both.
        (QUERY.replace("Stays, Cooled", "Hot"), ":p1 a :Point .", (":p1 :c 60, 61 .",) * 5),
        (QUERY.replace("Stays, Cooled", "Hot"), ":p1 a :Point .", (":p1 :c 60, 61, 62 .",) * 5),
        (
            QUERY.replace("RETURN Stays, Cooled", "EVENT H AS (by some Point)\nRETURN H"),
            ":p1 a :Point . :p2 a :Point .",
            (":x :by :p1, :p2 .",) * 5,
        ),
        # The same start and end, but not the same in between.
        (
            QUERY.replace(
                "RETURN Stays, Cooled",
                "EVENT Up(?p) MATCH Cool(?p) AS a SEQ Hot(?p) SEQ Cool(?p) AS z WITHIN 9 min\nRETURN Up",
            ),
            ":p1 a :Point .",
            (":p1 :c 30 .", *READINGS),
        ),
        # Few of many.
        (
            QUERY.replace("Stays, Cooled", "Hot"),
            ":p1 a :Point . :p2 a :Point ; :fedBy :F1, :F2 .",
            (":p2 :c 60 .", *(f":p1 :c {60 + n} ." for n in range(40))),
        ),
    ],
)
def test_occurrences_that_tell_of_several_things_are_not_warned_of(
    tmp_path: Path, query: str, static: str, items: tuple[str, ...]
) -> None:
    assert "OBEP581" not in run(tmp_path, query, static, items).err


def test_a_number_of_explanations_that_cannot_be_is_refused(tmp_path: Path) -> None:
    for value in ("0", "-1", '"one"'):
        (tmp_path / "obep.toml").write_text(f"[engine]\nmax_explanations = {value}\n")
        done = obep("check", hot(tmp_path))
        assert done.status == 2 and "OBEP503" in done.err and "engine.max_explanations" in done.err


@pytest.mark.slow
def test_more_than_were_asked_for_are_said_to_be_left_out(tmp_path: Path) -> None:
    many = " ".join(f":p1 :fedBy :F{n} ." for n in range(40))
    query = QUERY.replace("Stays, Cooled", "Hot")
    assert "more explanations in one item than are kept, which is 32" in run(tmp_path, query, many).err
    more = run(tmp_path, query, many, toml="[engine]\nmax_explanations = 35\n")
    assert len(more.records) == 3 * 35 and "than are kept, which is 35" in more.err
    assert "OBEP561" not in run(tmp_path, query, many, toml="[engine]\nmax_explanations = 5\n").err
