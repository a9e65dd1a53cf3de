"""Streams that fall silent: the others go on, and in the end time goes on by itself."""

from __future__ import annotations

from obep.engine.clock import Clock

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
    assert clock.tick({}, now=266 * S) == 109 * S
    assert clock.observe("a", 120 * S, now=267 * S) == "on time"
    assert clock.tick({}, now=270 * S) == 118 * S, "somebody is heard again"


def test_the_time_between_two_processes_is_nobodys_silence() -> None:
    clock = Clock(idle=5 * S, streams=("a",))
    clock.observe("a", 50 * S, now=100 * S)
    again = Clock(idle=5 * S, streams=("a",))
    again.load(clock.dump())
    again.resume()
    assert again.tick({}, now=10_000 * S) == 50 * S
    assert again.tick({}, now=10_006 * S) == 51 * S


def test_without_an_idle_time_out_time_waits() -> None:
    clock = Clock(lateness=S)
    clock.observe("a", 50 * S, now=100 * S)
    assert clock.tick({}, now=9_999 * S) == 49 * S
