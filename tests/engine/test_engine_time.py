"""Time in the engine: what is reported when, late and early items, several streams, silence."""

from __future__ import annotations

from random import Random

import pytest
from engine_cases import E, engine, ttl

from obep.errors import ObepError
from obep.model import SECOND, Item

SEQ = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 10 s\nRETURN H"
SILENCE = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT H MATCH {} NOT FOLLOWED BY B WITHIN 5 s\nRETURN H"


def thing(kind: str, name: str = "x") -> str:
    return ttl(f":{name} a :Class{kind} .")


def when(hits) -> list[tuple[int, int, int]]:
    return [(hit.start // SECOND, hit.end // SECOND, hit.detected // SECOND) for hit in hits]


# --- what is reported when ---


def test_what_the_instant_can_still_change_waits_for_its_end():
    running = engine("EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT H MATCH (LAST A) SEQ B\nRETURN H")
    running.push(thing("A"), at=1)
    assert running.push(thing("B"), at=2) == []
    assert when(running.push(thing("A"), at=3)) == [(1, 2, 2)]
    assert running.push(thing("B", "z"), at=3) == []
    assert running.close() == []  # the last A came at 3, too: none is before B


@pytest.mark.parametrize("closing", ["a later item", "advance", "close"])
def test_an_instant_closes_with_a_later_item_advance_or_close(closing: str):
    running = engine("EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT H MATCH A AND B\nRETURN H")
    running.push(thing("A"), at=1)
    assert running.push(thing("B"), at=1) == []
    if closing == "a later item":
        hits = running.push(thing("A"), at=2)
    else:
        hits = running.advance(2) if closing == "advance" else running.close()
    assert when(hits) == [(1, 1, 1)]


def test_absence_fires_only_at_its_deadline_and_as_soon_as_time_is_there():
    running = engine(SILENCE.format("A"))
    running.push(thing("A"), at=1)
    assert running.advance(5.999999) == []
    assert when(running.advance(6)) == [(1, 6, 6)]
    running.push(thing("A"), at=10)
    assert when(running.push(thing("B"), at=15)) == [(10, 15, 15)]  # at the deadline itself it is too late


def test_a_deadline_that_the_instant_can_change_waits_for_its_end():
    running = engine(SILENCE.format("(LAST A)"))
    running.push(thing("A"), at=1)
    assert running.advance(6) == []
    assert running.push(thing("A", "y"), at=6) == []  # it re-arms the timer at the last moment
    assert running.advance(10.9) == []
    assert running.advance(11) == [] and when(running.advance(11.1)) == [(6, 11, 11)]


def test_deadlines_beyond_the_end_are_pending():
    running = engine(SILENCE.format("A"))
    running.push(thing("A"), at=1)
    running.push(thing("A", "y"), at=3)
    running.advance(6)
    assert running.close() == [] and running.pending == 1


def test_several_deadlines_are_passed_in_order():
    running = engine(SILENCE.format("A"))
    for at in (1, 2, 3):
        running.push(thing("A", f"a{at}"), at=at)
    assert when(running.advance(100)) == [(1, 6, 6), (2, 7, 7), (3, 8, 8)]


# --- order ---


def test_late_is_after_the_watermark_and_told():
    letters = []
    running = engine(SEQ, lateness="2 s", on_dead_letter=letters.append)
    running.push(thing("A"), at=10)
    running.push(thing("B"), at=9)  # out of order, not late
    running.push(thing("B"), at=8)  # the watermark is 8: just in time
    assert running.push(thing("B"), at=7.9) == []
    assert [(letter.code, letter.at) for letter in letters] == [("OBEP640", 7_900_000)]
    assert when(running.push(thing("B"), at=12)) == []
    assert when(running.close()) == [(10, 12, 12)]


def items(seed: int) -> list[Item]:
    random = Random(seed)
    found = []
    for number in range(80):
        kind = random.choice("AB")
        triple = (f"<{E}x{random.randrange(3)}>", RDF_TYPE, f"<{E}Class{kind}>")
        found.append(Item("s", (number + random.randrange(2)) * SECOND, (triple,)))
    return sorted(found, key=lambda item: item.at)


RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


@pytest.mark.parametrize("seed", range(10))
def test_shuffled_within_the_lateness_is_sorted(seed: int):
    ordered = items(seed)
    random = Random(seed)
    shuffled = sorted(ordered, key=lambda item: item.at + random.random() * 5 * SECOND)
    straight, late = engine(SEQ), engine(SEQ, lateness=5)
    expected = [*straight.push_items(ordered), *straight.close()]
    found = [*late.push_items(shuffled), *late.close()]
    assert sorted(hit.id for hit in found) == sorted(hit.id for hit in expected) and expected
    assert late.counters["dead_letters"] == 0


@pytest.mark.parametrize("seed", range(5))
def test_no_item_is_lost_silently(seed: int):
    random = Random(seed)
    shuffled = sorted(items(seed), key=lambda item: item.at + random.random() * 9 * SECOND)
    running = engine(SEQ, lateness=3)
    running.push_items(shuffled)
    waiting = running.counters["items"] - running.counters["processed"] - running.counters["dead_letters"]
    assert waiting == running.waiting
    running.close()
    assert running.counters["items"] == running.counters["processed"] + running.counters["dead_letters"]
    assert running.counters["dead_letters"] > 0


# --- several streams ---


class Hands:
    """A clock of arrival that is moved by hand."""

    def __init__(self) -> None:
        self.at = 0

    def __call__(self) -> int:
        return self.at * SECOND


TWO = "FROM STREAM <t>\n" + SEQ


def test_the_slowest_stream_leads():
    hands = Hands()
    running = engine(TWO, idle=60, now=hands)
    running.push(thing("A"), at=1, stream="s")
    running.push(thing("B"), at=5, stream="s")
    assert running.clock.watermark is None and running.clock.holding(hands()) == ("t",)
    assert running.push(thing("C"), at=3, stream="t") == []
    assert running.clock.watermark == 3 * SECOND
    assert when(running.push(thing("C"), at=6, stream="t")) == [(1, 5, 5)]


def test_a_silent_stream_holds_nobody_for_longer_than_the_time_out():
    hands = Hands()
    running = engine(TWO, idle=60, now=hands)
    running.push(thing("A"), at=1, stream="s")
    running.push(thing("B"), at=5, stream="s")
    hands.at = 59
    assert running.tick() == []
    hands.at = 60
    assert when(running.tick()) == [(1, 5, 5)]


def test_a_stream_that_wakes_up_is_waited_for_again():
    hands = Hands()
    running = engine(TWO, idle=60, now=hands)
    running.push(thing("C"), at=1, stream="t")
    running.push(thing("A"), at=1, stream="s")
    hands.at = 61
    running.push(thing("B"), at=9, stream="s")
    assert running.clock.watermark == 9 * SECOND
    letters = []
    running.on_dead_letter = letters.append
    running.push(thing("C"), at=8, stream="t")  # it was away too long
    assert [letter.code for letter in letters] == ["OBEP640"]
    running.push(thing("C"), at=9, stream="t")
    running.push(thing("B"), at=12, stream="s")
    assert running.clock.watermark == 9 * SECOND


def test_without_lateness_and_time_out_the_input_is_one_stream():
    running = engine(TWO)
    running.push(thing("A"), at=1, stream="s")
    assert when(running.push(thing("B"), at=5, stream="t")) == [(1, 5, 5)]


def test_one_wrong_timestamp_does_not_poison_time():
    letters, hands = [], Hands()
    hands.at = 100
    running = engine(SEQ, future="1 h", now=hands, on_dead_letter=letters.append)
    running.push(thing("A"), at=99)
    running.push(thing("B"), at=100 + 3601)
    assert [letter.code for letter in letters] == ["OBEP641"]
    assert when(running.push(thing("B"), at=100)) == [(99, 100, 100)]


def test_a_closed_engine_takes_nothing():
    running = engine(SEQ)
    running.close()
    with pytest.raises(ObepError) as error:
        running.push(thing("A"), at=1)
    assert error.value.code == "OBEP571"
    assert running.close() == []
