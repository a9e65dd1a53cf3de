"""The tree of causes is in a line of JSON, and is read back as it was (SPEC §8)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from random import Random

import pytest
from engine_cases import engine, ttl
from oracle.pattern_cases import Case
from oracle.pattern_engine import engine_answers
from oracle.pattern_runs import drawn, shown
from oracle.pattern_strategies import Maker
from test_snapshots import restored_answers

import obep
from obep.model import RDF_TYPE, EagerOccurrence, Occurrence, Part
from obep.output import json_writer
from obep.output.json_reader import read_line
from obep.output.json_writer import to_line
from obep.output.why_tree import why

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "150"))
DERIVED = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Warm AS (celsius some number[> 20]) IF { ?this :celsius ?c . FILTER(?c > 25) }
EVENT Rise(?x) MATCH Warm(?x) SEQ Warm(?x) AS later WITHIN 1 min
  CONSTRUCT { ?this :concerns ?x . }
EVENT Alarm AS (Rise and concerns some (celsius some number[> 35]))
EVENT Twice MATCH Alarm SEQ Alarm AS again WITHIN 1 min
EVENT Thrice MATCH Warm DURING Twice WITHIN 1 min
RETURN Warm, Rise, Alarm, Twice, Thrice
"""


def without_guards(tree: str) -> list[str]:
    """A tree as a file can tell it: the guards that were met stand in the query alone."""
    return [line for line in tree.split("\n") if not line.lstrip().startswith("as ")]


def cases(first: int = 900_000) -> Iterator[Case]:
    seeds = iter(range(first, first + 100 * EXAMPLES))
    for _ in range(EXAMPLES):
        case = None
        while case is None:
            case = drawn(Maker(Random(next(seeds)), None))
        yield case


def check(reported: list[Occurrence], case: str = "") -> int:
    """Compares trees; returns how many had parts of parts."""
    for one in reported:
        for style in ("iso", "integer"):
            again = read_line(to_line(one, style))
            assert again is not None and again.style == style
            assert again.occurrence.id == one.id
            assert why(*again).split("\n") == without_guards(why(one, style)), case
    return sum(any(part.occurrence.parts for part in one.parts) for one in reported)


@pytest.mark.slow
def test_what_is_read_back_tells_the_same_tree() -> None:
    nested = sum(check(engine_answers(case), shown(case)) for case in cases())
    assert nested >= 0.3 * EXAMPLES


@pytest.mark.slow
def test_a_line_after_every_restore_is_that_of_a_run_that_never_stopped() -> None:
    for case in cases():
        lines = sorted(map(to_line, engine_answers(case)))
        assert sorted(map(to_line, restored_answers(case, used=False))) == lines, shown(case)


def derived() -> list[Occurrence]:
    running = obep.load(text=DERIVED).engine()
    facts = "<http://e/a> <http://e/celsius> {} ."
    told = [
        one for at, c in enumerate((35, 36, 31, 40, 41), 1) for one in running.push(facts.format(c), at=at)
    ]
    return told + running.close()


def test_what_follows_from_an_occurrence_is_read_back_too() -> None:
    found = derived()
    assert {one.event for one in found} == {
        f"<http://e/{n}>" for n in ("Warm", "Rise", "Alarm", "Twice", "Thrice")
    }
    assert check(found) > 3


def test_a_part_that_is_a_composite_has_its_own_causes() -> None:
    """By hand: Left is a part of Quiet, which has nothing else; Busy and Free are parts of Left."""
    running = engine(
        "EVENT Busy AS BusyRoom\nEVENT Free AS FreeRoom\n"
        "EVENT Left(?room) MATCH Busy(?room) SEQ Free(?room) WITHIN 5 s\n"
        "EVENT Quiet MATCH Left(?r) AS gone NOT FOLLOWED BY Busy(?r) WITHIN 2 s\nRETURN Quiet"
    )
    running.push(ttl(":a a :BusyRoom ."), at=0)
    running.push(ttl(":a a :FreeRoom ."), at=1)
    [hit] = running.advance(9)
    [gone] = hit.to_json()["because"]  # type: ignore[misc]
    [part] = hit.parts

    def leaf(name: str, at: int) -> dict[str, object]:
        kind = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
        triple = f"<http://e/#a> <{kind}> <http://e/#{name}Room> ."
        event = f"http://e/#{name}"
        extent = {"individual": "http://e/#a", "start": at, "end": at}
        return {"event": event, "alias": name, **extent, "assertions": [triple]}

    busy, free = leaf("Busy", 0), leaf("Free", 1)
    assert gone == {
        "event": "http://e/#Left",
        "alias": "gone",
        "individual": part.occurrence.id,
        "start": 0,
        "end": 1,
        "assertions": [*busy["assertions"], *free["assertions"]],  # type: ignore[misc]
        "seen": [0, 1],
        "bindings": [{"room": "<http://e/#a>"}],
        "because": [busy, free],
    }


def chain(strata: int) -> Occurrence:
    events = "".join(f"EVENT E{n} MATCH E{n - 1}\n" for n in range(1, strata + 1))
    running = engine(f"EVENT E0 AS K\n{events}RETURN E{strata}")
    hits = [hit for at in range(3) for hit in running.push(ttl(f":a{at} a :K ."), at=at)]
    return hits[-1]


def depth(causes: list[dict[str, list]]) -> int:  # type: ignore[type-arg]
    return 1 + max(depth(cause.get("because", [])) for cause in causes) if causes else 0


@pytest.mark.slow
@pytest.mark.parametrize("strata", [15, 25, 300])
def test_very_many_levels_are_cut_and_said_to_be(strata: int) -> None:
    hit = chain(strata)
    assert depth(json.loads(to_line(hit))["because"]) <= json_writer.DEEPEST + 1
    again = read_line(to_line(hit))
    assert again is not None
    told = why(*again)
    assert ("(its causes are not in the file)" in told) == (strata > json_writer.DEEPEST)
    assert (told == why(hit)) == (strata <= json_writer.DEEPEST)


def test_very_many_causes_are_cut_and_said_to_be() -> None:
    seen = (("<http://e/a>", RDF_TYPE, "<http://e/K>"), 1)
    hit = EagerOccurrence("<http://e/E0>", "<http://e/a>", (seen,), 1, 1, 1, 1)
    for n in range(1, 12):
        parts = (Part("one", hit), Part("other", hit))
        hit = EagerOccurrence(f"<http://e/E{n}>", f"<urn:{n}>", (seen,), 1, 1, 1, 1, parts=parts)
    line = to_line(hit)
    assert len(line) < 4 * json_writer.LONGEST
    again = read_line(line)
    assert again is not None and "(its causes are not in the file)" in why(*again)
    assert '"because":[]' in line


def test_causes_that_were_cut_are_looked_up() -> None:
    hit = chain(25)
    below: dict[str, Occurrence] = {}
    one = hit
    while one.parts:
        one = one.parts[0].occurrence
        below[one.id] = one
    again = read_line(to_line(hit), lambda id: read_line(to_line(below[id])))
    assert again is not None and why(*again) == why(hit)
