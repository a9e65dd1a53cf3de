"""What the planner knows of windows: who runs where, and with which items."""

from __future__ import annotations

import obep
from obep.plan.components import components

HEAD = """PREFIX : <http://e/>
FROM STREAM <s>
FROM NAMED WINDOW <w> ON <t> [RANGE 10 s]
FROM NAMED WINDOW <v> ON <t> [ROWS 3]
EVENT Both ON <w> AS Alpha and Beta
EVENT Warm ON <v> AS Gamma IF { ?this :heat ?h }
EVENT A AS Alpha
"""


def test_a_component_over_windows_is_not_split_and_wants_the_items_of_their_streams() -> None:
    query = obep.load(text=HEAD + "EVENT AB(?r) MATCH A(?r) SEQ Both(?r) WITHIN 5 s\nRETURN ALL", java=False)
    found = {one.events: one for one in components(query.plan, query.derived)}
    names = {tuple(sorted(name[10:-1] for name in events)): one for events, one in found.items()}
    assert set(names) == {("AB", "Both"), ("Warm",), ("A",)}
    for some in (("AB", "Both"), ("Warm",)):
        assert names[some].whole and not names[some].keyed and not names[some].spread
        assert names[some].streams == {"t"}
    assert "<http://e/A>" in names["AB", "Both"].reads
    assert "<http://e/Warm#body>" not in names["Warm",].reads
    assert [window.name for window in names["AB", "Both"].plan(query.plan).windows] == ["w"]
    assert [window.goals for window in names["Warm",].plan(query.plan).windows] == [("<http://e/Warm#body>",)]
    assert names["A",].spread and not names["A",].whole


def test_with_a_not_the_items_of_all_streams_are_wanted() -> None:
    query = obep.load(text=HEAD + "EVENT Calm MATCH Both JOIN (NOT A) WITHIN 5 s\nRETURN Calm", java=False)
    (only,) = components(query.plan, query.derived)
    assert only.whole and only.streams is None


def test_the_plan_says_what_an_event_looks_at() -> None:
    query = obep.load(text=HEAD + "RETURN ALL", java=False)
    lines = str(query.plan).splitlines()
    assert "Both: logical, over <w>, stratum 0, reports when the instant closes" in lines
    assert "A: logical, stratum 0, reports at the push" in lines
