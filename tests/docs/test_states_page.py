"""Each query of docs/states.md gives what the picture below it shows; the answers were worked out by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from documents import DOCS, blocks

import obep
from obep.model import Alert

PAGE = DOCS / "states.md"
EXAMPLES = DOCS.parent / "examples" / "08-building-states"
PREFIX = "@prefix : <http://example.org/building#> . "


class Case(NamedTuple):
    """Messages (minute, Turtle, stream) and what is found: `Event start end values`, in minutes."""

    items: list[tuple[float, str, str]]
    found: list[str]


def say(triple: str, values: dict[float, object], stream: str = "") -> list[tuple[float, str, str]]:
    """A message for each minute, with its value in the place of `%s`."""
    return [(minute, triple % value, stream) for minute, value in values.items()]


F1 = ':f1 :status "%s" .'
ON_OFF = say(F1, {0: "on", 3: "on", 12: "off", 20: "on", 25: "off"})
S1 = say(":s1 :reading %s .", {0: 1, 10: 1, 30: 2})
OBSERVED = ":%s :madeBy :s1 ; :observes :%s ; :result %s ."
CLOCK = say(':z1 :status "motion" . # %s', {0: "01:00", 600: "11:00", 1139: "19:59", 1200: "21:00"})

CASES = [
    Case(say(":z1 :temperature %s .", {0: 31, 4: 32, 8: 33, 12: 32, 16: 31, 20: 25}), ["Overheated 0 10 z1"]),
    Case(ON_OFF, ["Ran 0 12 f1", "Ran 20 25 f1"]),
    Case(
        [*say(':z1 :status "%s" .', {0: "motion", 20: "motion"}), (60, ":x :status 1 .", "")],
        ["Stay 0 50 z1"],
    ),
    Case(
        say(":z1 :co2 %s .", {0: 900, 4: 1100, 8: 1200, 12: 1000, 16: 700}), ["Bad 8 10 z1", "Bad 12 14 z1"]
    ),
    Case(say(":%s :alarm 1 .", {0: "z1", 10: "z2", 20: "z1", 30: "z3", 100: "z3"}), ["Busy 20 60 f1"]),
    Case(
        say(":k :temp %s .", {0: 20, 10: 21, 20: 22, 30: 20, 40: 21, 50: 22, 60: 20, 70: 21, 200: 20}),
        ["Same 120 130 k"],
    ),
    Case(
        [*say(F1, {0: "on", 6: "off", 20: "on", 30: "off"}), (120, ':f2 :status "on" .', "")],
        ["Overused 25 85 f1"],
    ),
    Case(S1, ["Missing 15 15 s2", "Missing 25 25 s1", "Back 30 30 s1"]),
    Case(
        [
            (0, ":z1 :setpoint 20 .", "setpoints"),
            *say(":z1 :temperature %s .", {1: 21, 4: 23, 8: 24, 12: 24, 15: 23, 18: 21}, "points"),
        ],
        ["Spell 4 18 z1"],
    ),
    Case(
        say(
            OBSERVED,
            {
                0: ("o1", "temperature", 35),
                1: ("o2", "humidity", 50),
                3: ("o3", "temperature", 20),
                4: ("o4", "temperature", 31),
                20: ("o5", "temperature", 20),
            },
        ),
        ["Spell 0 3 s1", "Spell 4 9 s1"],
    ),
    Case(
        [
            *say(":a1 :%s .", {1: "heating 10", 2: "cooling 20", 6: "heating 0", 9: "heating 10"}),
            (20, ":x :status 1 .", ""),
        ],
        ["Waste 5 15 a1"],
    ),
    Case(say(":z1 :level %s .", {0: 10, 2: 12, 4: 20, 6: 21, 8: 22}), ["Jumped 4 6 z1"]),
    Case(
        [
            *say(":z1 :temperature %s .", {0: 31, 2: 32}),
            *say(":z2 :temperature %s .", {4: 31, 6: 32}),
            (30, ":x :status 1 .", ""),
        ],
        ["Trouble 2 16 f1"],
    ),
    Case(
        [*say(":z1 :temperature %s .", {0: 31, 2: 32, 8: 33, 10: 31}), (30, ":x :status 1 .", "")],
        ["Trouble 10 12 z1"],
    ),
    Case(
        [
            *say(":a1 :%s .", {0: "heating 10", 2: "cooling 20", 6: "heating 10"}),
            (12, ":x :status 1 .", ""),
        ],
        ["Waste 2 5 a1", "Waste 6 7 a1"],
    ),
    Case(S1, ["Never 0 15 s2"]),
    Case(
        CLOCK,
        [
            "Intruder 0 0 z1",
            "Visitor 600 600 z1",
            "Visitor 1139 1139 z1",
            "Intruder 1200 1200 z1",
        ],
    ),
    Case(
        say(':%s :status "motion" .', {60: "shop", 120: "bar", 600: "bar", 1200: "shop", 1320: "bar"}),
        ["Intruder 60 60 shop", "Intruder 120 120 bar", "Intruder 600 600 bar", "Intruder 1200 1200 shop"],
    ),
    Case(
        ON_OFF,
        [
            "Started 0 0 f1",
            "Long 0 10 f1",
            "Stopped 12 12 f1",
            "Ran 0 12 f1",
            "LongOver 12 12 f1",
            "Started 20 20 f1",
            "Stopped 25 25 f1",
            "Ran 20 25 f1",
        ],
    ),
    Case(
        say(":f1 :%s .", {0: 'status "on"', 5: "fault 7", 10: 'status "off"', 12: "fault 7"}),
        ["Fault 5 5 f1", "Idle 12 12 f1"],
    ),
    Case(
        [
            *say(':z1 :status "%s" .', {0: "alarm", 25: "ok"}),
            *say(':z2 :status "%s" .', {60: "alarm", 75: "seen"}),
            (200, ":x :status 1 .", ""),
        ],
        ["Nag 0 10 z1", "Nag 0 20 z1", "Nag 60 70 z2"],
    ),
    Case(
        [
            (0, ':a1 :status "on" ; :heating 10 ; :cooling 10 .', ""),
            (4, ":a1 :heating 10 ; :cooling 10 .", ""),
            (8, ":a1 :heating 10 ; :cooling 0 .", ""),
        ],
        ["Waste 5 8 a1"],
    ),
    Case(
        say(
            ":%s .",
            {
                0: "v1 :flow 3",
                5: 'a1 :status "off"',
                10: "v1 :flow 3",
                15: 'a1 :status "on"',
                20: "v1 :flow 3",
            },
        ),
        ["Fault 0 0 v1", "Fault 20 20 v1"],
    ),
    Case(say(":z1 :temperature %s .", {0: 5, 2: 35, 4: 36, 6: 20}), ["Frost 0 0 5 z1", "Heat 2 2 35 z1"]),
    Case(
        [
            *say(":%s :alarm 1 .", {5: "z1", 20: "z2", 50: "z1", 55: "z3", 70: "z1", 130: "z1", 140: "z3"}),
            (300, ":x :status 1 .", ""),
        ],
        ["Counted 60 120 f1 3", "Counted 60 120 f2 1", "Counted 120 240 f1 1", "Counted 180 240 f2 1"],
    ),
    Case(
        [
            (0, ':z1 :status "on" .', ""),
            *say(":z1 :temperature %s .", {2: 31, 6: 32, 10: 33, 14: 31, 16: 20}),
        ],
        ["Hot firing 2 12 z1", "Hot resolved 2 16 z1 changed"],
    ),
    Case(
        [*say(F1, {0: "on", 12: "off", 20: "on"}), (60, ":x :status 1 .", "")],
        [
            "Running firing 0 5 f1",
            "Running resolved 0 12 f1 changed",
            "Running firing 20 25 f1",
            "Running resolved 20 50 f1 expired",
        ],
    ),
]


def queries() -> list[tuple[str, str]]:
    """The queries of the page, each with the static graph that stands above it."""
    found, known = [], ""
    for block in blocks(PAGE):
        if block.language == "turtle":
            known = block.text
        elif block.language == "obep":
            found.append((block.text, known))
            known = ""
    return found


def test_every_query_of_the_page_has_a_case() -> None:
    assert len(queries()) == len(CASES)


def test_the_rules_of_the_page_are_those_of_the_example() -> None:
    """The example is run, and compared with answers of its own, by the tests of the examples."""
    page = PAGE.read_text("utf-8")
    query = (EXAMPLES / "query.obep").read_text("utf-8")
    rules = re.findall(r"^# (\d+\. .*)\n((?:(?:STATE|EVENT).*\n)+)", query, re.MULTILINE)
    assert len(rules) == 12
    assert (
        re.findall(r"^\*\*(\d+\. .*?)\*\* .*\n\n```text rule\n((?:.*\n)*?)```$", page, re.MULTILINE) == rules
    )


def test_the_page_says_of_spark_what_explain_says() -> None:
    [text] = [text for text, _ in queries() if "STATE Heated" in text]
    [said] = [block.text for block in blocks(PAGE) if block.text.startswith("on Spark")]
    assert obep.load(text=text, java=False).explain().endswith(f"\n\n{said.rstrip()}")


@pytest.mark.parametrize(("query", "case"), list(zip(queries(), CASES, strict=True)))
def test_the_picture_below_a_query_shows_what_it_finds(
    query: tuple[str, str], case: Case, tmp_path: Path
) -> None:
    text, known = query
    (tmp_path / "static.ttl").write_text(known, "utf-8")
    engine = obep.load(text=text, folder=tmp_path, java=False).engine()
    found = []
    for minute, triples, stream in case.items:
        found += engine.push(f"{PREFIX}{triples}\n", at=minute * 60, stream=stream or None, format="turtle")
    found += engine.close()
    assert sorted(map(_shown, found)) == sorted(case.found)


def test_the_aggregates_give_what_their_table_says() -> None:
    table = re.findall(r"^\| (`[A-Z]+\(.*?) \|.*\| (.*?) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    wanted = [
        (name, value)
        for names, values in table
        for name, value in zip(re.findall("`([^`]+)`", names), values.split("; "), strict=False)
    ]
    assert len(wanted) == 18
    chosen = " ".join(f"({name} AS ?y{number})" for number, (name, _) in enumerate(wanted))
    query = f"""PREFIX : <http://example.org/building#>
EVENT Reading AS (reading some number)
STATE S(?z) OVER Reading(?z) AS r WITHIN 5 min IF {{ EVENT r {{ ?this :reading ?x }} }}
  AGGREGATE {chosen} (COUNT(*) AS ?rows) HAVING (?rows = 4)
RETURN S AS ALERTS"""
    engine = obep.load(text=query, java=False).engine()
    found = []
    for minute, triples, _ in say(":z1 :reading %s .", {0: 4, 1: 8, 2: 6, 4: 6}):
        found += engine.push(PREFIX + triples, at=minute * 60, format="turtle")
    [alert] = found + engine.close()
    [given] = alert.bindings
    numbers = {"2/240": 2 / 240, "120/31500": 120 / 31500, "√2": 2**0.5}
    for number, (name, value) in enumerate(wanted):
        lexical = given[f"y{number}"].split('"')[1]
        if value == "false":
            assert lexical == value, name
        else:
            assert float(lexical) == pytest.approx(numbers.get(value) or float(value)), name


def test_why_not_and_explain_say_what_the_page_shows() -> None:
    query = obep.load(text=queries()[0][0], java=False)
    engine = query.engine()
    for minute, triples, _ in [
        *say(":z1 :temperature %s .", {0: 31, 4: 32, 7: 29}),
        (8, ":z2 :temperature 20 .", ""),
    ]:
        engine.push(PREFIX + triples, at=minute * 60, format="turtle")
    engine.close()
    shown = re.findall(r"^```text (why-not|explain) ?(.*)\n((?:.*\n)*?)```$", PAGE.read_text("utf-8"), re.M)
    assert [(kind, asked) for kind, asked, _ in shown] == [
        ("why-not", "Overheated"),
        ("why-not", "Hot(:z2)"),
        ("explain", ""),
    ]
    for kind, asked, text in shown:
        if kind == "why-not":
            assert f"{engine.why_not(asked)}\n" == text
        else:
            assert text in query.explain()


def _shown(one: obep.Occurrence) -> str:
    start, end = (round(instant / 60_000_000) for instant in (one.start, one.end))
    name = _local(one.event)
    if isinstance(one, Alert):
        labels = " ".join(map(_local, one.labels.values()))
        return f"{name} {one.status} {start} {end} {labels} {one.ended}".strip()
    values = [_local(value) for _, value in sorted(one.bindings[0].items())]
    return f"{name} {start} {end} {' '.join(values)}"


def _local(term: str) -> str:
    """The last part of an IRI, the text of a literal."""
    return term.split('"')[1] if term.startswith('"') else term.rpartition("#")[2].rstrip(">")
