"""Leaves on windows through the whole engine: items, snapshots, what is checked and shown."""

from __future__ import annotations

import pytest

import obep
from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse

QUERY = """
PREFIX : <http://example.org/home#>
FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
FROM NAMED WINDOW <opened> ON EVENT Pair [RANGE 20 s STEP 5 s]
EVENT Open AS (says value "open")
EVENT Ring AS { ?who :says "ring" }
EVENT Pair(?d) MATCH Open(?d) IN <recent> SEQ Ring(?d)
EVENT Again(?d) MATCH Pair(?d) IN <opened> AS p SEQ Ring(?d) IN <recent> AS later
RETURN Pair, Again
"""
SAID = ((1, "open"), (5, "ring"), (9, "ring"), (11, "ring"), (25, "ring"), (31, "ring"))


@pytest.mark.parametrize("restored", [False, True])
def test_windows_bound_what_patterns_join_also_across_snapshots(restored: bool) -> None:
    query = obep.load(text=QUERY)
    engine, found = query.engine(), []
    for at, word in SAID:
        text = f'@prefix : <http://example.org/home#> . :d :says "{word}" .'
        found += engine.push(text, at=at, stream="doors")
        if restored:
            data = engine.snapshot()
            engine = query.engine()
            engine.restore(data)
    found += engine.close()
    times = [(one.event.rsplit("#")[1], one.end // 10**6, one.detected // 10**6) for one in found]
    assert [(end, at) for event, end, at in times if event == "Pair>"] == [(5, 5), (9, 9)], "1 has left at 11"
    # the pair of 5 is in its window from 5 until 25, that of 9 from 10 until 30
    assert sorted(end for event, end, _ in times if event == "Again>") == [9, 11, 11, 25]
    assert "p: Pair from 1 to 9" in found[-1].why()


def test_a_leaf_that_leaves_its_window_is_not_kept_for_ever() -> None:
    def codes(text: str) -> list[str]:
        return [one.code for one in check(link(parse(text), None))]

    assert codes(QUERY) == []
    assert codes(QUERY.replace("Open(?d) IN <recent>", "Open(?d)")) == ["OBEP200"]
    assert "OBEP200" in codes(QUERY.replace("[RANGE 10 s]", "[LANDMARK 0]"))


def test_the_plan_shows_the_window_of_a_leaf() -> None:
    query = obep.load(text=QUERY)
    assert "IN <recent>" in str(query.plan)
    assert "Open(?d) IN <recent>" in query.explain()


def test_what_is_found_in_another_occurrence_is_no_item_of_the_stream() -> None:
    """EVENT Two follows from the class of a composite, which is an item of the next stratum only."""
    text = """
    PREFIX : <http://example.org/home#>
    FROM NAMED WINDOW <recent> ON <doors> [RANGE 10 s]
    EVENT Open AS (says value "open")
    EVENT Pair MATCH Open AS a SEQ Open AS b WITHIN 5 s CONSTRUCT { ?this :says "two" }
    EVENT Two AS (says value "two")
    EVENT Seen MATCH Two IN <recent>
    EVENT Any MATCH Two
    RETURN Seen, Any
    """
    engine = obep.load(text=text).engine()
    said = '@prefix : <http://example.org/home#> . :d :says "%s" .'
    found = [
        one for at, word in ((1, "open"), (2, "open"), (3, "two")) for one in engine.push(said % word, at=at)
    ]
    found += engine.close()
    times = [(one.event.rsplit("#")[1], one.detected // 10**6) for one in found]
    assert sorted(at for event, at in times if event == "Any>") == [2, 3]
    assert [at for event, at in times if event == "Seen>"] == [3]
