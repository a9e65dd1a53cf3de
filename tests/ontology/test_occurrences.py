"""A variable that is an occurrence here and an individual of items there is warned of (OBEP251)."""

from __future__ import annotations

from pathlib import Path

import pytest

import obep
from obep.errors import Diagnostic
from obep.lints.check_project import examine
from obep.query.link import link
from obep.query.parse.parser import parse

PREFIXES = "@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
T = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :kw a owl:DatatypeProperty .
:Off a owl:Class ; rdfs:subClassOf :Alarm . :Alarm a owl:Class .
:Found a owl:Class ; rdfs:subClassOf :Alarm ."""
HEAD = "PREFIX : <http://e/#>\nFROM STREAM <s>\n"
EVENTS = """EVENT R AS (kw some number[> 5])
EVENT S AS (kw some number[< 1])
EVENT Off MATCH R(?m) SEQ S(?m) WITHIN 5 min
"""


def said(folder: Path, text: str) -> list[Diagnostic]:
    (folder / "t.ttl").write_text(PREFIXES + T)
    found = examine(link(parse(text), folder), {}, java=False)
    assert not found.errors, found.errors
    return [one for one in found.diagnostics if one.code == "OBEP251"]


def occurrences(text: str) -> list[str]:
    engine = obep.load(text=text).engine()
    found = []
    for time, kw in ((1, 9), (2, 0), (3, 9)):
        found += engine.push(f"<http://e/#m1> <http://e/#kw> {kw} .", time)
    found += engine.close()
    return [one.event.rpartition("#")[2].rstrip(">") for one in found]


def test_what_is_warned_of_never_matches_and_the_remedy_does(tmp_path: Path) -> None:
    text = HEAD + EVENTS + "EVENT Again MATCH Off(?p) SEQ R(?p) WITHIN 1 h\nRETURN Again\n"
    (only,) = said(tmp_path, text)
    assert only.message == "?p is the occurrence of Off, and the individual of R"
    assert only.remedy == "EVENT Off(?m) MATCH …"
    assert occurrences(text) == []
    mended = text.replace("EVENT Off MATCH", "EVENT Off(?m) MATCH")
    assert said(tmp_path, mended) == []
    assert occurrences(mended) == ["Again"]


MADE = EVENTS.replace("5 min\n", "5 min CONSTRUCT { ?this :level 3 . }\n")


def test_an_event_that_is_found_in_the_occurrence_is_no_other_one(tmp_path: Path) -> None:
    severe = (
        "EVENT Severe AS (level some number[> 2])\nEVENT Both MATCH Off(?o) AND Severe(?o)\nRETURN Both\n"
    )
    assert said(tmp_path, HEAD + MADE + severe) == []
    assert occurrences(HEAD + MADE + severe) == ["Both"]
    assert said(tmp_path, HEAD + EVENTS + severe)  # nothing constructs a level


@pytest.mark.parametrize(
    "events",
    [
        EVENTS + "EVENT Bad AS (Off and level some number)\nEVENT X MATCH Off(?o) AND Bad(?o)",
        EVENTS + "EVENT X MATCH Off(?o) OR R(?o)",  # they are not compared
        EVENTS + "EVENT X(?o) MATCH Off(?o) SEQ R WITHIN 1 h EVENT Y MATCH X(?o) JOIN Off(?o) WITHIN 1 h",
        EVENTS + "EVENT X(?v) MATCH R SEQ S WITHIN 1 h IF { EVENT R { ?this :by ?v . } }\n"
        "EVENT Y MATCH Off(?v) SEQ X(?v) WITHIN 1 h",  # whatever an item says
        EVENTS + "EVENT Two(?v) MATCH R(?v) OR Off(?v)\nEVENT Y MATCH Off(?v) JOIN Two(?v) WITHIN 1 h",
        EVENTS + "EVENT Link MATCH Off(?o) SEQ R(?r) WITHIN 1 h CONSTRUCT { ?o :about ?r . }\n"
        "EVENT About AS (about some Thing)\nEVENT X MATCH Off(?o) SEQ About(?o) WITHIN 2 h",
    ],
)
def test_what_may_be_right_is_not_spoken_of(tmp_path: Path, events: str) -> None:
    assert said(tmp_path, f"{HEAD}{events}\n") == []


def test_the_ontology_may_lead_from_an_occurrence_to_another_event(tmp_path: Path) -> None:
    head = HEAD.replace("FROM", "VOCAB <t.ttl>\nFROM")
    alarm = "EVENT Alarmed AS Alarm\nEVENT X MATCH Off(?o) AND Alarmed(?o)\nRETURN X\n"
    assert said(tmp_path, head + EVENTS + alarm) == []
    gone = EVENTS.replace("Off", "Gone") + alarm.replace("Off", "Gone")
    assert len(said(tmp_path, head + gone)) == 1  # which T does not know
    found = "EVENT Found AS (Gone and kw some number)\n"
    assert said(tmp_path, head + gone + found) == []  # every Found is an Alarm
