"""The engine on a sequence: what is reported, when, and how it is written."""

from __future__ import annotations

from engine_cases import engine, ttl

LEAVING = """
EVENT Busy AS BusyRoom
EVENT Free AS FreeRoom
EVENT Leaving(?room) MATCH Busy(?room) SEQ Free(?room) WITHIN 5 s
RETURN Leaving
"""


def test_a_sequence_is_reported_when_its_last_part_is_pushed():
    running = engine(LEAVING)
    assert running.push(ttl(":a a :BusyRoom ."), at=0) == []
    assert running.push(ttl(":b a :FreeRoom ."), at=1) == []
    [hit] = running.push(ttl(":a a :FreeRoom ."), at=2)
    assert hit.to_json() == {
        "event": "http://e/#Leaving",
        "id": hit.id,
        "start": 0,
        "end": 2,
        "detected": 2,
        "bindings": [{"room": "<http://e/#a>"}],
        "because": [
            {
                "event": "http://e/#Busy",
                "alias": "Busy",
                "individual": "http://e/#a",
                "start": 0,
                "end": 0,
                "assertions": [
                    "<http://e/#a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/#BusyRoom> ."
                ],
            },
            {
                "event": "http://e/#Free",
                "alias": "Free",
                "individual": "http://e/#a",
                "start": 2,
                "end": 2,
                "assertions": [
                    "<http://e/#a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/#FreeRoom> ."
                ],
            },
        ],
    }


def test_exactly_the_bound_apart_is_outside():
    running = engine(LEAVING)
    running.push(ttl(":a a :BusyRoom ."), at=0)
    assert running.push(ttl(":a a :FreeRoom ."), at=5) == []
    running.push(ttl(":a a :BusyRoom ."), at=6)
    assert len(running.push(ttl(":a a :FreeRoom ."), at=10.999999)) == 1


def test_equal_input_gives_equal_ids():
    def ids():
        running = engine(LEAVING)
        running.push(ttl(":a a :BusyRoom ."), at="2026-01-01T10:00:00Z")
        return [hit.id for hit in running.push(ttl(":a a :FreeRoom ."), at="2026-01-01T10:00:01Z")]

    first, second = ids(), ids()
    assert first == second and first[0].startswith("urn:obep:Leaving:")


def test_a_late_item_is_a_dead_letter_and_counted():
    letters = []
    running = engine(LEAVING, on_dead_letter=letters.append)
    running.push(ttl(":a a :BusyRoom ."), at=3)
    running.push(ttl(":a a :BusyRoom ."), at=2)
    assert [letter.code for letter in letters] == ["OBEP640"]
    assert running.counters["items"] == running.counters["processed"] + running.counters["dead_letters"] == 2
