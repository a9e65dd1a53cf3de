"""Streams that fall silent: the others go on, and in the end time goes on by itself."""

from __future__ import annotations

from engine_cases import engine
from hypothesis import given
from hypothesis import strategies as st

from obep.engine.clock import Clock
from obep.model import DeadLetter
from obep.testing import HandClock

S = 1_000_000


def test_a_silent_stream_holds_the_others_only_until_its_time_out() -> None:
    clock = Clock(idle=5 * S, streams=("a", "b"))
    assert clock.observe("a", 50 * S, now=100 * S) == "on time"
    assert clock.watermark is None, "b has not been heard yet"
    assert clock.holding(100 * S) == ("b",)
    assert clock.observe("a", 53 * S, now=104 * S) == "on time"
    assert clock.watermark is None
    assert clock.observe("a", 54 * S, now=105 * S) == "on time"
    assert clock.watermark == 54 * S, "b was silent for five seconds"


def test_after_silence_of_all_time_goes_on_at_the_pace_of_arrival() -> None:
    clock = Clock(lateness=2 * S, idle=5 * S, streams=("a",))
    assert clock.tick({}, now=200 * S) is None, "no item has said what time it is"
    clock.observe("a", 50 * S, now=200 * S)
    clock.observe("a", 49 * S, now=200 * S)
    assert clock.tick({}, now=205 * S) == 48 * S
    assert clock.tick({}, now=206 * S) == 49 * S
    for now in range(207, 267):
        clock.tick({}, now=now * S)
    assert clock.watermark == 109 * S
    assert clock.observe("a", 120 * S, now=267 * S) == "on time"
    assert clock.tick({}, now=270 * S) == 118 * S, "somebody is heard again"


def test_the_time_between_two_processes_is_nobodys_silence() -> None:
    clock = Clock(idle=5 * S, streams=("a",))
    clock.observe("a", 50 * S, now=100 * S)
    again = Clock(idle=5 * S, streams=("a",))
    again.load(clock.dump())
    again.resume()
    assert again.tick({}, now=10_000 * S) == 50 * S
    assert again.tick({}, now=10_003 * S) == 50 * S
    assert again.tick({}, now=10_006 * S) == 51 * S


def test_after_a_restart_each_stream_is_waited_for_anew() -> None:
    clock = Clock(idle=5 * S, streams=("a", "b"))
    clock.observe("b", 50 * S, now=100 * S)
    clock.observe("a", 54 * S, now=104 * S)
    again = Clock(idle=5 * S, streams=("a", "b"))
    again.load(clock.dump())
    again.resume()
    again.observe("a", 60 * S, now=10_000 * S)
    again.observe("a", 62 * S, now=10_002 * S)
    assert again.watermark == 50 * S, "b was silent for two seconds of this process"
    assert again.holding(10_002 * S) == ("b",)
    assert again.holding(10_005 * S) == ("a",), "b is silent now, and holds nothing back"
    again.observe("a", 65 * S, now=10_005 * S)
    assert again.watermark == 65 * S


def test_other_streams_are_waited_for_from_then_on() -> None:
    clock = Clock(idle=5 * S, streams=("a", "b"))
    clock.observe("b", 12 * S, now=100 * S)
    clock.observe("a", 10 * S, now=101 * S)
    clock.follow(("b", "c"))
    assert clock.watermark == 10 * S, "the watermark stays"
    clock.observe("b", 20 * S, now=105 * S)
    assert clock.watermark == 10 * S, "c was silent for four seconds since it is followed"
    assert clock.tick({}, now=106 * S) == 20 * S, "c was silent for five, and nobody waits for a"


def test_a_stream_that_goes_on_beside_another_one_is_as_silent_as_before() -> None:
    clock = Clock(idle=5 * S, streams=("a", "b"))
    clock.observe("a", 10 * S, now=100 * S)
    clock.observe("b", 12 * S, now=102 * S)
    clock.follow(("b", "c"))
    clock.observe("c", 30 * S, now=103 * S)
    assert clock.tick({}, now=106 * S) == 12 * S, "b was heard four seconds ago"
    assert clock.tick({}, now=107 * S) == 30 * S


def test_without_an_idle_time_out_nobody_waits_for_another_stream() -> None:
    clock = Clock(lateness=2 * S)
    clock.observe("a", 10 * S)
    clock.observe("b", 20 * S)
    clock.follow(("b", "c"))
    clock.observe("b", 30 * S)
    assert clock.watermark == 28 * S


def test_the_fastest_part_of_an_input_that_is_one_in_order_says_the_time() -> None:
    clock = Clock()
    assert clock.tick({"a": 3 * S, "b": 5 * S, "c": 4 * S}) == 5 * S


def test_without_an_idle_time_out_time_waits() -> None:
    clock = Clock(lateness=S)
    clock.observe("a", 50 * S, now=100 * S)
    assert clock.tick({}, now=9_999 * S) == 49 * S


def test_a_clock_that_jumps_forward_moves_event_time_by_nothing() -> None:
    clock = Clock(idle=5 * S, streams=("a",))
    clock.observe("a", 50 * S, now=100 * S)
    assert clock.tick({}, now=3_700 * S) == 50 * S, "one look counts as five seconds of silence at most"
    assert clock.observe("a", 51 * S, now=3_701 * S) == "on time"
    assert clock.observe("a", 52 * S, now=3_702 * S) == "on time"


def test_a_clock_that_jumps_back_takes_no_silence_away() -> None:
    clock = Clock(idle=5 * S, streams=("a",))
    clock.observe("a", 50 * S, now=100 * S)
    clock.tick({}, now=104 * S)
    clock.tick({}, now=4 * S)
    assert clock.holding(now=4 * S) == ("a",)
    assert clock.tick({}, now=7 * S) == 52 * S, "four seconds, none, and three"


@given(
    st.lists(st.tuples(st.integers(0, 10 * S), st.integers(-7200 * S, 7200 * S)), max_size=20),
    st.integers(1, 10 * S),
)
def test_jumps_of_the_clock_add_no_more_than_one_time_out_each(
    looks: list[tuple[int, int]], idle: int
) -> None:
    """Time passes, and somebody sets the clock: event time goes on by the time that passed, or `idle`."""
    clock = Clock(idle=idle, streams=("a",))
    clock.observe("a", 0, now=0)
    now, most = 0, 0
    for passed, jump in looks:
        now += passed + jump
        most += idle if jump > 0 else passed
        before = clock.watermark
        clock.tick({}, now=now)
        assert clock.watermark is not None and before is not None
        assert 0 <= clock.watermark - before <= idle
    assert clock.watermark is not None and clock.watermark <= most


def test_the_engine_measures_silence_by_its_steady_clock_and_the_future_by_the_date() -> None:
    letters: list[DeadLetter] = []
    wall, steady = HandClock(1_000_000), HandClock()
    running = engine(
        "EVENT X AS :A\nRETURN X", idle=5, future=60, now=wall, steady=steady, on_dead_letter=letters.append
    )
    running.push("", at=1_000_000)
    wall.move(3600)
    running.tick()
    assert running.clock.watermark == 1_000_000 * S
    running.push("", at=1_000_001)
    running.push("", at=1_003_661)
    assert [letter.code for letter in letters] == ["OBEP641"]
    steady.move(7)
    running.tick()
    assert running.clock.watermark == 1_000_001 * S


def test_a_stream_whose_latest_instant_is_told_again_is_as_silent_as_before() -> None:
    """On Spark each batch tells the greatest instant so far; only a later one shows that a stream lives."""
    clock = Clock(idle=5 * S, streams=("a", "b"))
    clock.tick({"a": 50 * S, "b": 60 * S}, now=100 * S)
    assert clock.watermark == 50 * S
    clock.tick({"a": 50 * S, "b": 61 * S}, now=103 * S)
    assert clock.watermark == 50 * S
    clock.tick({"a": 50 * S, "b": 62 * S}, now=105 * S)
    assert clock.watermark == 62 * S, "a was silent for five seconds"


def test_the_silence_of_all_begins_when_the_last_of_them_was_heard() -> None:
    clock = Clock(idle=5 * S, streams=("a",))
    for second in range(4):
        clock.observe("a", (50 + second) * S, now=(100 + second) * S)
    assert clock.tick({}, now=108 * S) == 53 * S
    assert clock.tick({}, now=110 * S) == 55 * S, "two seconds beyond the five after 103"


def test_the_clock_names_the_slowest_streams_and_no_others() -> None:
    clock = Clock(lateness=100)
    for stream, at in (("c", 9), ("b", 1), ("a", 0)):
        clock.observe(stream, at, now=0)
    assert clock.holding() == ("a",)
    clock.observe("a", 1, now=0)
    assert clock.holding() == ("a", "b")


def test_a_stream_that_is_silent_by_the_last_look_is_not_named() -> None:
    clock = Clock(idle=5 * S, streams=("a", "b"))
    clock.observe("a", 50 * S, now=100 * S)
    assert clock.holding() == ("b",)
    clock.observe("a", 54 * S, now=105 * S)
    assert (clock.watermark, clock.holding()) == (54 * S, ("a",))


def test_an_item_may_lie_as_far_in_the_future_as_it_says_and_no_further() -> None:
    clock = Clock(future=5 * S)
    assert clock.observe("a", 15 * S, now=10 * S) == "on time"
    assert clock.observe("a", 15 * S + 1, now=10 * S) == "future"
    assert clock.observe("a", 15 * S + 1, now=0, wall=10 * S + 1) == "on time"


def test_a_stream_whose_other_parts_have_come_further_is_heard() -> None:
    clock = Clock(idle=5 * S, streams=("a", "b"))
    assert clock.tick({"a": 10 * S, "b": 10 * S}, now=100 * S) == 10 * S
    assert clock.tick({"a": 20 * S}, now=104 * S) == 10 * S, "b is waited for"
    assert clock.tick({"a": 30 * S}, now=105 * S) == 30 * S, "b was silent for five seconds"
    assert clock.tick({}, now=109 * S) == 30 * S, "a was heard four seconds ago"
    assert clock.tick({}, now=111 * S) == 31 * S, "nobody is heard any more"


def test_a_record_that_cannot_be_read_does_not_end_the_silence_of_its_stream() -> None:
    """A stream of nothing else would hold the clock for ever. Found by the soak: seed 706541."""
    letters: list[DeadLetter] = []
    steady = HandClock()
    text = "FROM STREAM <b>\nEVENT X AS :A\nRETURN X"
    running = engine(text, idle=3, steady=steady, on_dead_letter=letters.append)
    running.push("", at=12, stream="s")
    steady.move(4)
    running.push_items([DeadLetter("s", None, "OBEP600", "not JSON", "")])
    running.push("", at=17, stream="b")
    assert running.clock.watermark == 17 * S, "s has said nothing for four seconds"
    running.push("", at=16, stream="s")
    assert [letter.code for letter in letters] == ["OBEP600", "OBEP640"]
