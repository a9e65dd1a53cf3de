"""Windows (SPEC §7), with answers worked out by hand. `tests/abstraction` compares with the oracle."""

from __future__ import annotations

import pytest
from paper_streams import PREFIXES, bound, load, of, times

from obep.engine.query import Query
from obep.model import DeadLetter, Occurrence

ROOMS = """
:Open a owl:Class . :Busy a owl:Class . :Dark a owl:Class .
:Shut a owl:Class ; owl:disjointWith :Open .
:level a owl:DatatypeProperty . :next a owl:ObjectProperty , owl:TransitiveProperty .
"""
BOTH = "EVENT Both ON <w> AS Open and Busy\n"


def window(tmp_path, frame: str, events: str = BOTH, returned: str = "ALL", static: str = "") -> Query:
    text = f"FROM NAMED WINDOW <w> ON <s> [{frame}]\n{events}\nRETURN {returned}"
    return load(tmp_path, text, ROOMS, static)


def run(
    query: Query, stream: dict[int, list[str]], until: int | None = None, letters: list | None = None
) -> list[Occurrence]:
    with query.engine(on_dead_letter=None if letters is None else letters.append) as engine:
        hits = []
        for second, graphs in stream.items():
            for graph in graphs:
                hits += engine.push(PREFIXES + graph, at=second)
        hits += engine.advance(until) if until is not None else []
        return hits + engine.close()


def test_an_explanation_may_span_the_items_of_a_range(tmp_path):
    query = window(tmp_path, "RANGE 3 s")
    assert times(run(query, {1: [":r a :Open ."], 3: [":r a :Busy ."]})) == [(1, 3, 3)]
    assert run(query, {1: [":r a :Open ."], 4: [":r a :Busy ."]}) == []  # exactly 3 s apart is outside
    assert run(query, {1: [":r a :Open ."], 3: [":q a :Busy ."]}) == []
    assert times(run(query, {1: [":r a :Open , :Busy ."]})) == [(1, 1, 1)]


def test_every_sighting_counts_and_each_explanation_is_reported_once(tmp_path):
    query = window(tmp_path, "RANGE 10 s")
    stream = {
        1: [":r a :Open ."],
        2: [":r a :Open ."],
        3: [":r a :Busy ."],
        4: [":r a :Open ."],
        5: [":q a :Dark ."],
    }
    hits = run(query, stream)
    assert times(hits) == [(1, 3, 3), (2, 3, 3), (3, 4, 4)]
    assert len({hit.id for hit in hits}) == 3
    assert [hit.since for hit in hits] == [hit.start for hit in hits]


def test_with_a_step_it_is_detected_at_the_step(tmp_path):
    query = window(tmp_path, "RANGE 10 s STEP 5 s")
    stream = {1: [":r a :Open ."], 3: [":r a :Busy ."]}
    assert times(run(query, {**stream, 6: [":r a :Dark ."]})) == [(1, 3, 5)]
    assert times(run(query, stream, until=5)) == [(1, 3, 5)]
    assert times(run(query, {**stream, 5: [":q a :Open , :Busy ."]})) == [(1, 3, 5), (5, 5, 5)]
    with query.engine() as engine:  # nobody knows what would have come before 5
        for second, graphs in stream.items():
            engine.push(PREFIXES + graphs[0], at=second)
        assert engine.close() == [] and engine.pending == 1


def test_what_comes_and_leaves_between_two_steps_is_never_looked_at(tmp_path):
    query = window(tmp_path, "RANGE 2 s STEP 5 s")
    stream = {1: [":r a :Open , :Busy ."], 4: [":q a :Open , :Busy ."]}
    assert times(run(query, stream, until=20)) == [(4, 4, 5)]


def test_a_landmark_window_begins_there_and_keeps_all(tmp_path):
    query = window(tmp_path, "LANDMARK 2")
    stream = {1: [":r a :Open ."], 2: [":q a :Open ."], 500: [":r a :Busy . :q a :Busy ."]}
    assert times(run(query, stream)) == [(2, 500, 500)]


def test_a_fixed_window_has_both_its_ends_and_is_forgotten_after_it(tmp_path):
    query = window(tmp_path, "FROM 2 TO 4")
    stream = {1: [":r a :Busy ."], 2: [":r a :Open ."], 4: [":r a :Busy ."], 5: [":r a :Busy ."]}
    assert times(run(query, stream)) == [(2, 4, 4)]
    engine = query.engine()
    engine.push(PREFIXES + ":r a :Open .", at=3)
    engine.push(PREFIXES + ":r a :Open .", at=4)
    engine.advance(5)
    assert engine.running.runtime.size() == 2
    engine.push(PREFIXES + ":r a :Open .", at=5)
    engine.advance(6)
    assert engine.running.runtime.size() == 0


def test_rows_are_the_last_items_and_those_that_came_with_the_first_of_them(tmp_path):
    query = window(tmp_path, "ROWS 2")
    assert times(run(query, {1: [":r a :Open ."], 9: [":r a :Busy ."]})) == [(1, 9, 9)]
    assert run(query, {1: [":r a :Open ."], 2: [":x a :Dark ."], 9: [":r a :Busy ."]}) == []
    together = {1: [":r a :Open .", ":x a :Dark ."], 9: [":r a :Busy ."]}
    assert times(run(query, together)) == [(1, 9, 9)]
    assert times(run(query, {1: together[1][::-1], 9: together[9]})) == [(1, 9, 9)]
    assert run(query, {1: [":r a :Open ."], 9: [":r a :Busy .", ":x a :Dark ."]}) == []


def test_items_that_clash_together_fire_nothing_until_one_of_them_leaves(tmp_path):
    query = window(tmp_path, "RANGE 3 s", BOTH + "EVENT Closing ON <w> AS Shut and Busy")
    stream = {1: [":r a :Open ."], 2: [":r a :Shut , :Busy ."], 3: [":q a :Dark ."]}
    letters: list[DeadLetter] = []
    hits = run(query, stream, until=9, letters=letters)
    # At 2 and 3 :r would be open and shut. At 4 the open one has left; what came since is found then.
    assert [(hit.event.rsplit("#")[-1], *times([hit])[0]) for hit in hits] == [("Closing>", 2, 2, 4)]
    assert [(letter.code, letter.at) for letter in letters] == [
        ("OBEP621", 2_000_000),
        ("OBEP621", 3_000_000),
    ]
    assert "Open" in letters[0].reason and "Shut" in letters[0].reason and "<w>" in letters[0].reason


@pytest.mark.parametrize("frame", ["LANDMARK 0", "FROM 0 TO 99"])
def test_a_clash_is_the_end_of_a_window_that_nothing_leaves(tmp_path, frame):
    letters: list[DeadLetter] = []
    stream = {1: [":r a :Open ."], 2: [":r a :Shut ."], 3: [":q a :Open , :Busy ."], 4: [":q a :Dark ."]}
    assert run(window(tmp_path, frame), stream, letters=letters) == []
    assert [letter.code for letter in letters] == ["OBEP621"]  # once, though it is so at 3 and 4, too


def test_an_item_that_clashes_by_itself_never_enters(tmp_path):
    letters: list[DeadLetter] = []
    stream = {1: [":r a :Open , :Shut ."], 2: [":r a :Busy ."], 3: [":r a :Open ."]}
    hits = run(window(tmp_path, "RANGE 5 s"), stream, letters=letters)
    assert times(hits) == [(2, 3, 3)]
    assert [letter.code for letter in letters] == ["OBEP620"]


def test_what_k_says_is_behind_every_window(tmp_path):
    query = window(tmp_path, "RANGE 3 s", static=":r a :Open .")
    [hit] = run(query, {1: [":r a :Busy ."], 2: [":r a :Dark ."], 5: [":q a :Dark ."]})
    assert [at for _, at in hit.explanation] == [1_000_000, None] and times([hit]) == [(1, 1, 1)]


def test_rules_reach_across_items(tmp_path):
    query = window(tmp_path, "RANGE 9 s", "EVENT Near ON <w> AS next value :exit")
    hits = run(query, {1: [":b :next :c ."], 2: [":c :next :exit ."], 4: [":a :next :b ."]})
    assert {(hit.individual.rsplit("#")[-1], *times([hit])[0]) for hit in hits} == {
        ("c>", 2, 2, 2), ("b>", 1, 2, 2), ("a>", 1, 4, 4)
    }  # fmt: skip


def test_a_guard_sees_the_explanation_and_the_union_of_the_window(tmp_path):
    events = "EVENT Both ON <w> AS Open and Busy IF { ?this :level ?v FILTER(?v > 5) }"
    query = window(tmp_path, "RANGE 4 s", events)
    stream = {1: [":r a :Open ."], 2: [":r :level 7 ."], 3: [":r a :Busy ."]}
    [hit] = run(query, stream)
    assert times([hit]) == [(1, 3, 3)] and bound(hit, "v") == {("7",)}
    assert run(query, {1: [":r a :Open ."], 2: [":r :level 5 ."], 3: [":r a :Busy ."]}) == []
    late = {1: [":r :level 7 ."], 2: [":r a :Open ."], 5: [":r a :Busy ."]}
    assert run(query, late) == []  # the level has left the window


def test_patterns_over_window_events_know_when_they_began(tmp_path):
    pattern = "EVENT Twice(?r) MATCH Both(?r) AS a SEQ Both(?r) AS b WITHIN {}"
    events = BOTH + pattern + " IF {{ EVENT b {{ ?r :level ?v }} }}"
    stream = {
        1: [":r a :Open ."],
        3: [":r a :Busy ."],
        6: [":r a :Open ."],
        7: [":r a :Busy . :r :level 3 ."],
    }
    query = window(tmp_path, "RANGE 3 s", events.format("7 s"), "Twice")
    [hit] = run(query, stream)
    # [1,3] and [6,7]; [3,6] is 3 s apart. It takes from 1 to 7: less than 7 s.
    assert times([hit]) == [(1, 7, 7)] and bound(hit, "r", "v") == {("r", "3")}
    assert hit.since == 1_000_000
    assert run(window(tmp_path, "RANGE 3 s", events.format("6 s"), "Twice"), stream) == []


def test_an_absence_after_a_window_event(tmp_path):
    events = BOTH + "EVENT Calm AS Dark\nEVENT Alone MATCH Both NOT FOLLOWED BY Calm WITHIN 5 s"
    query = window(tmp_path, "RANGE 4 s STEP 2 s", events, "Alone")
    # [1,3] is found at 4; its 5 s are over at 8.
    stream = {1: [":r a :Open ."], 3: [":r a :Busy ."]}
    assert times(run(query, stream, until=8)) == [(1, 8, 8)]
    assert run(query, {**stream, 7: [":r a :Dark ."]}, until=9) == []


LATE = """EVENT Calm AS Dark
EVENT Then MATCH Both SEQ Calm WITHIN 20 s
EVENT Alone MATCH Both NOT FOLLOWED BY Calm WITHIN 2 s
EVENT Next MATCH Both NEXT Calm WITHIN 20 s
EVENT Any MATCH Both JOIN Calm WITHIN 20 s
EVENT Last MATCH (LAST Both) SEQ Calm WITHIN 20 s
EVENT Inside MATCH Calm DURING Both WITHIN 20 s
EVENT Clear MATCH Both WITHOUT Calm
"""


def test_operators_take_what_is_detected_after_its_end(tmp_path):
    """Both is [1,3], and known at 5; by then Calm has happened at 2 and at 4."""
    events = BOTH + LATE.replace("EVENT Next", "EVENT :Next").replace("EVENT Last", "EVENT :Last")
    query = window(tmp_path, "RANGE 10 s STEP 5 s", events)
    stream = {1: [":r a :Open ."], 2: [":q a :Dark ."], 3: [":r a :Busy ."], 4: [":q a :Dark ."]}
    hits = run(query, stream, until=9)
    assert times(of(hits, "Then")) == [(1, 4, 5)]
    assert times(of(hits, "Next")) == [(1, 4, 5)]
    assert times(of(hits, "Last")) == [(1, 4, 5)]  # decided at 5, when it is the last
    assert times(of(hits, "Any")) == [(1, 3, 5), (1, 4, 5)]
    assert times(of(hits, "Inside")) == [(2, 2, 5)]
    assert times(of(hits, "Clear")) == []  # 2 lies strictly inside
    assert times(of(hits, "Alone")) == []  # 4 lies between 3 and 5
    quiet = run(query, {1: [":r a :Open ."], 3: [":r a :Busy ."]}, until=9)
    assert times(of(quiet, "Alone")) == [(1, 5, 5)] and times(of(quiet, "Clear")) == [(1, 3, 5)]


def test_what_the_range_has_passed_is_not_kept(tmp_path):
    engine = window(tmp_path, "RANGE 3 s").engine()
    for second in range(1, 50):
        engine.push(PREFIXES + ":r a :Open .", at=second)
    assert engine.running.runtime.size() <= 3
    engine.advance(60)
    assert engine.running.runtime.size() == 0


def test_a_window_event_is_looked_for_in_its_window_alone(tmp_path):
    """Not in an item of another stream, and not in what a composite constructs."""
    text = """FROM NAMED WINDOW <w> ON <t> [RANGE 5 s]
        EVENT Both ON <w> AS Open and Busy
        EVENT Lit AS Dark
        EVENT Made MATCH Lit CONSTRUCT { ?this a :Open , :Busy }
        RETURN Both, Made"""
    query = load(tmp_path, text, ROOMS)
    with query.engine() as engine:
        hits = engine.push(PREFIXES + ":r a :Open , :Busy , :Dark .", at=1, stream="s")
        hits += engine.push(PREFIXES + ":r a :Open .", at=1, stream="t")
        hits += engine.push(PREFIXES + ":r a :Busy .", at=2, stream="t")
        hits += engine.close()
    assert times(of(hits, "Both")) == [(1, 2, 2)] and len(of(hits, "Made")) == 1


def test_more_explanations_than_the_cap_are_cut_and_counted(tmp_path):
    engine = window(tmp_path, "RANGE 100 s").engine()
    for second in range(1, 41):
        engine.push(PREFIXES + ":r a :Open .", at=second)
    hits = engine.push(PREFIXES + ":r a :Busy .", at=50) + engine.close()
    assert len(hits) == 32 and engine.running.matcher.capped == 1
    assert min(times(hits)) == (9, 50, 50)  # the latest ones are kept


@pytest.mark.java
def test_a_window_may_need_the_reasoner(tmp_path):
    """Case analysis over two items: whoever is next to a room is next to an open or a dark one."""
    import obep

    (tmp_path / "ontology.ttl").write_text(
        PREFIXES + ROOMS + ":Room a owl:Class ; owl:equivalentClass [ owl:unionOf ( :Open :Dark ) ] ."
    )
    text = """PREFIX : <http://example.org/#>
        VOCAB <ontology.ttl>
        FROM NAMED WINDOW <w> ON <s> [RANGE 5 s]
        EVENT Beside ON <w> AS (next some Open) or (next some Dark)
        RETURN ALL"""
    query = obep.load(text=text, folder=tmp_path)
    hits = run(query, {1: [":r a :Room ."], 3: [":x :next :r ."], 4: [":y :next :q ."]})
    assert times(hits) == [(1, 3, 3)] and hits[0].individual.endswith("#x>")
