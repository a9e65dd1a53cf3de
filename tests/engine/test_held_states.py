"""What holds now, and callbacks when it begins and ends: `engine.states`, `engine.on_state`."""

from __future__ import annotations

from threading import Thread

import pytest

import obep
from obep.model import SECOND

HOME = "http://example.org/home#"
QUERY = """
PREFIX : <http://example.org/home#>
FROM STREAM <urn:s>
FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 10 s STEP 1 s]
EVENT Arrives AS (says value "here")
EVENT Leaves AS (says value "gone")
STATE AtHome(?who) FROM Arrives(?who) AS a TO Leaves(?who) TIMEOUT 1 d IF { EVENT a { ?who :via ?door } }
EVENT Entered(?x) ON <urn:w> AS { ?x :says "here" }
RETURN AtHome
"""


@pytest.fixture(scope="module")
def query() -> obep.Query:
    return obep.load(text=QUERY)


def says(who: str, what: str, door: str = "front") -> str:
    return f'<{HOME}{who}> <{HOME}says> "{what}" ; <{HOME}via> "{door}" .'


def held(who: str, since: int, until: int | None = None, door: str = "front") -> obep.Held:
    own = {"who": f"<{HOME}{who}>"}
    ended = None if until is None else until * SECOND
    return obep.Held(f"<{HOME}AtHome>", own, since * SECOND, ({**own, "door": f'"{door}"'},), ended)


def test_states_are_those_that_hold_after_the_last_closed_instant(query: obep.Query) -> None:
    engine = query.engine()
    assert engine.states("AtHome") == []
    engine.push(says("bob", "here"), at=1)
    assert engine.states("AtHome") == []  # more may come at that instant
    engine.push(says("ann", "here", "back"), at=2)
    engine.advance(3)
    assert engine.states("AtHome") == [held("bob", 1), held("ann", 2, door="back")]
    engine.push(says("bob", "gone"), at=4)
    engine.close()
    assert engine.states("AtHome") == [held("ann", 2, door="back")]


@pytest.mark.parametrize("name", ["AtHome", f"{HOME}AtHome", f"<{HOME}AtHome>"])
def test_a_state_is_found_by_its_name_and_by_its_iri(query: obep.Query, name: str) -> None:
    engine = query.engine()
    engine.push(says("bob", "here"), at=1)
    engine.advance(2)
    assert engine.states(name) == [held("bob", 1)]


def test_an_unknown_state_is_refused_with_the_nearest_name(query: obep.Query) -> None:
    engine = query.engine()
    for ask in (lambda: engine.states("AtHoem"), lambda: engine.on_state("AtHoem", print)):
        with pytest.raises(obep.ObepError, match=r'OBEP100.*no state AtHoem(.|\n)*"AtHome"'):
            ask()


def test_the_hidden_state_of_a_graph_event_is_none_of_the_query(query: obep.Query) -> None:
    with pytest.raises(obep.ObepError, match="OBEP100"):
        query.engine().states("Entered#state")


def test_on_state_calls_back_when_an_episode_begins_and_when_it_ends(query: obep.Query) -> None:
    engine, seen = query.engine(), []
    engine.on_state("AtHome", seen.append)
    engine.push(says("bob", "here"), at=1)
    assert seen == []
    engine.push(says("bob", "gone"), at=5)
    assert seen == [held("bob", 1)]
    engine.close()
    assert seen == [held("bob", 1), held("bob", 1, 5)]


def test_callbacks_run_outside_of_the_lock(query: obep.Query) -> None:
    engine, seen = query.engine(), []

    def ask_in_another_thread(one: obep.Held) -> None:
        other = Thread(target=lambda: seen.append(engine.states("AtHome")))
        other.start()
        other.join(timeout=60)

    engine.on_state("AtHome", ask_in_another_thread)
    engine.push(says("bob", "here"), at=1)
    engine.advance(2)
    assert seen == [[held("bob", 1)]]


def test_a_restored_engine_holds_the_same_and_still_calls_back(query: obep.Query) -> None:
    first = query.engine()
    first.push(says("bob", "here"), at=1)
    first.advance(2)
    second, seen = query.engine(), []
    second.on_state("AtHome", seen.append)
    second.restore(first.snapshot())
    assert second.states("AtHome") == first.states("AtHome") == [held("bob", 1)]
    assert seen == []  # it began before
    second.push(says("bob", "gone"), at=3)
    second.close()
    assert seen == [held("bob", 1, 3)]


def test_what_an_engine_held_before_restore_calls_nobody(query: obep.Query) -> None:
    engine, seen = query.engine(), []
    before = engine.snapshot()
    engine.push(says("bob", "here"), at=1)
    engine.advance(2)
    engine.on_state("AtHome", seen.append)
    engine.restore(before)
    engine.push(says("bob", "gone"), at=3)
    engine.close()
    assert engine.states("AtHome") == seen == []


def test_a_calendar_that_only_while_asks_is_as_it_is_now() -> None:
    text = """
FROM STREAM <s>
EVENT Seen AS Present
STATE Night DAILY FROM 22:00 TO 06:00
EVENT Intruder(?z) MATCH Seen(?z) WHILE Night
RETURN Intruder
"""
    engine = obep.load(text=text, java=False).engine()
    hour = 3600
    engine.push("<urn:z> a <http://example.org/obep#Present> .", 12 * hour, "s")
    engine.advance(23 * hour)
    assert [one.since for one in engine.states("Night")] == [22 * hour * SECOND]
    engine.advance(31 * hour)
    assert engine.states("Night") == []
