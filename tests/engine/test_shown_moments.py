"""Moments of states, and graphs, as parts of occurrences: people see the names of the query."""

from __future__ import annotations

import pytest

import obep
from obep.output.json_reader import read_line
from obep.output.json_writer import to_line
from obep.output.why_tree import why

QUERY = """
PREFIX : <http://example.org/home#>
EVENT Arrives AS (says value "here")
EVENT Leaves AS (says value "gone")
STATE AtHome(?who) FROM Arrives(?who) TO Leaves(?who) TIMEOUT 1 d
EVENT Stayed(?who) MATCH AtHome(?who) FOR 2 s AS h SEQ END AtHome(?who) WITHIN 1 h
EVENT Came(?who) MATCH BEGIN AtHome(?who)
EVENT Was(?who) MATCH AtHome(?who) AS all
EVENT Shown(?who) AS { ?who :says "here" }
EVENT Left(?who) MATCH Shown(?who) SEQ Leaves(?who) WITHIN 1 h
RETURN Stayed, Came, Was, Shown, Left
"""
AT_HOME = "http://example.org/home#AtHome"


@pytest.fixture(scope="module")
def found() -> dict[str, obep.Occurrence]:
    engine = obep.load(text=QUERY).engine()
    text = '@prefix : <http://example.org/home#> . :ann :says "%s" .'
    hits = [*engine.push(text % "here", at=1), *engine.push(text % "gone", at=5), *engine.close()]
    return {hit.event.rsplit("#", 1)[-1].rstrip(">"): hit for hit in hits}


def told(hit: obep.Occurrence) -> list[tuple[object, ...]]:
    causes = hit.to_json()["because"]
    assert isinstance(causes, list)
    return [(one["event"], one["alias"], one.get("moment"), one.get("lasting")) for one in causes]


def test_a_moment_is_told_by_its_state_and_kind(found: dict[str, obep.Occurrence]) -> None:
    assert told(found["Stayed"]) == [
        (AT_HOME, "h", "episode", 2),
        (AT_HOME, "AtHome", "end", None),
    ]
    assert told(found["Came"]) == [(AT_HOME, "AtHome", "begin", None)]
    assert told(found["Was"]) == [(AT_HOME, "all", "episode", None)]


def test_a_graph_is_told_by_its_event(found: dict[str, obep.Occurrence]) -> None:
    assert told(found["Shown"]) == [("http://example.org/home#Shown", "Shown", None, None)]


def test_a_graph_event_in_rdf_is_derived_from_its_item(found: dict[str, obep.Occurrence]) -> None:
    lines = found["Shown"].to_rdf(format="nquads").split("\n")
    (source,) = [line for line in lines if "#wasDerivedFrom>" in line]
    assert "<urn:obep:item:1000000:" in source


def test_a_graph_event_is_one_level_of_a_tree(found: dict[str, obep.Occurrence]) -> None:
    assert found["Left"].why().split("\n") == [
        "Left from 1 to 5",
        "  with ?who = ann",
        "  Shown at 1",
        "    with ?who = ann",
        '    ann says "here"  (seen at 1)',
        "  Leaves at 5 of ann",
        '    ann says "gone"  (seen at 5)',
    ]


def test_a_tree_names_moments_as_the_query_does(found: dict[str, obep.Occurrence]) -> None:
    lines = [line.strip() for line in found["Stayed"].why().split("\n")]
    assert "h: AtHome FOR 2 s from 1 to 3" in lines
    assert lines.index("END AtHome at 5") > 0
    assert "BEGIN AtHome at 1" in found["Came"].why()


def test_moments_read_back_as_they_were(found: dict[str, obep.Occurrence]) -> None:
    for name in ("Stayed", "Came", "Was", "Shown", "Left"):
        for style in ("iso", "integer"):
            line = to_line(found[name], style)
            again = read_line(line)
            assert again is not None
            assert to_line(again.occurrence, style) == line
            assert why(*again) == why(found[name], style)
            parts = [part.occurrence.event for part in again.occurrence.parts]
            assert parts == [part.occurrence.event for part in found[name].parts if name != "Shown"]
