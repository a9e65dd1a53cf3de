"""States in several buckets: what is split, by what, and that one engine for each bucket changes nothing."""

from __future__ import annotations

import os

import pytest
from split_runs import SplitTrials

import obep
from obep.plan.components import Component
from obep.spark.stages.worker import components_of

HEAD = """PREFIX : <http://e/>
FROM STREAM <s>
FROM STREAM <t>
FROM NAMED WINDOW <now> ON <s> [LATEST 3 s]
FROM NAMED WINDOW <recent> ON <s> [RANGE 3 s]
FROM NAMED WINDOW <rows> ON <s> [ROWS 3]
EVENT A AS Alpha
EVENT B AS Beta
"""
SPLIT = {
    "by events": ("STATE S(?r) FROM A(?r) TO B(?r) LIMIT 1 h", "r"),
    "by the variable that both patterns have": (
        "STATE S(?h, ?r) FROM A(?r) AS a TO B(?r) LIMIT 1 h IF { EVENT a { ?this :heat ?h } }",
        "r",
    ),
    "by what a guard finds in each row": (
        "STATE S(?f) OVER A(?r) AS a WITHIN 5 s IF { EVENT a { ?this :floor ?f } } HAVING (COUNT(*) > 1)",
        "f",
    ),
    "with no row": (
        "STATE K(?r) AS (Sensor)\n"
        "STATE S(?r) OVER A(?r) WITHIN 5 s FOR EACH K(?r) AGGREGATE (COUNT(*) AS ?n) HAVING (?n = 0)",
        "r",
    ),
    "over a state": (
        "STATE Live(?r) FROM A(?r) TO B(?r) LIMIT 1 h\n"
        "STATE S(?r) OVER STATE Live(?r) WITHIN 5 s STEP 1 s AGGREGATE (HELD() AS ?t)",
        "r",
    ),
    "by the latest values": (
        "STATE S(?r) AS { WINDOW <now> { ?r :heat ?h } ?r :max ?m FILTER(?h > ?m) }",
        "r",
    ),
    "by a class in a window": ("STATE S(?r) ON <now> AS (heat some number[> 5] and cold value true)", "r"),
    "by what items say of an object": ("STATE S(?f) AS { WINDOW <recent> { ?r :floor ?f } }", "f"),
    "by an aggregate of each": (
        "STATE S(?f) AS { SELECT ?f (COUNT(*) AS ?n) { WINDOW <recent> { ?r :floor ?f } } GROUP BY ?f }",
        "f",
    ),
    "beside other states": (
        "STATE Night DAILY FROM 20:00 TO 06:00\nSTATE Live(?r) FROM A(?r) TO B(?r) LIMIT 1 h\n"
        "STATE S(?r) AS { Live(?r) FOR 1 s . Night() . FILTER NOT EXISTS { WINDOW <now> { ?r :heat ?h } } }",
        "r",
    ),
    "by graph events": (
        "EVENT G(?r) AS { ?r :heat ?h }\nSTATE S(?r) FROM G(?r) TO B(?r) LIMIT 1 h",
        "r",
    ),
    "by an event with a guard": (
        "EVENT Hot AS Alpha IF { ?this :heat ?h }\nSTATE S(?r) FROM Hot(?r) TO B(?r) LIMIT 1 h",
        "r",
    ),
    "of K": ("STATE S(?r) AS (Sensor)", "r"),
}
WHOLE = {
    "an end of all": "STATE S(?r) FROM A(?r) TO B LIMIT 1 h",
    "no parameter": "STATE S OVER A WITHIN 5 s AGGREGATE (COUNT(*) AS ?n) HAVING (?n > 1)",
    "two subjects": "STATE S(?r) AS { WINDOW <now> { ?r :near ?o . ?o :heat ?h } }",
    "an object of LATEST": "STATE S(?f) AS { WINDOW <now> { ?r :floor ?f } }",
    "a number of items": "STATE S(?r) ON <rows> AS { ?r :heat ?h }",
    "the instant": "STATE S(?r) AS { WINDOW <now> { ?r :until ?u } FILTER(?u < NOW()) }",
    "a class of others": "STATE S(?r) ON <now> AS (armedWith some (heat some number))",
    "an aggregate of all": "STATE S(?n) AS { SELECT (COUNT(*) AS ?n) { WINDOW <now> { ?r :heat ?h } } }",
    "an OPTIONAL before its subject": (
        "STATE S(?r) AS { OPTIONAL { WINDOW <now> { ?r :heat ?h } } VALUES ?r { :x :y } }"
    ),
    "a state of another value": (
        "STATE Live(?r) FROM A(?r) TO B(?r) LIMIT 1 h\nSTATE S(?r) AS { ?r :near ?o . Live(?o) }"
    ),
}


def component(text: str) -> Component:
    query = obep.load(text=f"{HEAD}{text}\nRETURN S AS ALERTS", java=False)
    [found] = components_of(query)
    return found


@pytest.mark.parametrize("name", SPLIT)
def test_a_state_is_split_by_a_variable_of_all_that_decides_it(name: str) -> None:
    text, key = SPLIT[name]
    found = component(text)
    assert found.keyed
    assert found.keys["<http://e/S>"] == key
    assert f"?{key}" in found.split


@pytest.mark.parametrize("name", WHOLE)
def test_a_state_that_looks_further_has_one_bucket_and_explain_says_so(name: str) -> None:
    found = component(WHOLE[name])
    assert not found.keyed
    assert found.split.startswith("in one bucket: ")


def test_a_calendar_ties_nothing_together() -> None:
    text = (
        "STATE Night DAILY FROM 20:00 TO 06:00\nEVENT P(?x) MATCH A(?x) WHILE Night\n"
        "EVENT Q MATCH (FIRST A SEQ B WITHIN 1 s) UNLESS Night\nRETURN P, Q\nRETURN Night AS ALERTS"
    )
    by_name = {one.events: one for one in components_of(obep.load(text=HEAD + text, java=False))}
    assert by_name[("<http://e/P>",)].keyed
    assert not by_name[("<http://e/Q>",)].keyed
    assert by_name[()].states == {"<http://e/Night>"}


@pytest.mark.slow
def test_buckets_report_what_one_engine_reports() -> None:
    """Random states; OBEP_SPLIT_TRIALS says how many seeds."""
    trials = SplitTrials()
    for seed in range(500, 500 + int(os.environ.get("OBEP_SPLIT_TRIALS", "5"))):
        trials.take(seed)
    assert not trials.failures, "\n\n".join(trials.failures)
    assert trials.answered > trials.split / 3 > trials.cases / 12
