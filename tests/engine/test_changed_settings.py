"""A snapshot may be restored with other settings: they hold from its watermark on, and time never stops."""

from __future__ import annotations

import pytest
from engine_cases import engine, ttl
from hypothesis import example, given
from hypothesis import strategies as st

from obep.engine.clock import Clock
from obep.engine.engine import Engine
from obep.model import DeadLetter

S = 1_000_000
STREAMS = ("s", "t")
TEXT = """FROM STREAM <t>
EVENT X AS :A
EVENT Y AS :B
EVENT Pair MATCH X SEQ Y WITHIN 10 s
EVENT Alone MATCH X NOT FOLLOWED BY Y WITHIN 4 s
RETURN Pair, Alone
"""
Settings = tuple[int, int | None]
"""Lateness and idle, in seconds."""
settings = st.tuples(st.sampled_from([0, 0, 2, 5]), st.sampled_from([None, None, 30]))
Step = tuple[str, str, int] | Settings


def expected(seen: dict[str, int], lateness: int, idle: int | None, before: int | None) -> int | None:
    """The watermark by the words of docs/time.md, while nobody has been silent for long."""
    if lateness == 0 and idle is None:
        now = max(seen.values(), default=None)
    elif idle is not None and set(seen) < set(STREAMS):
        now = None
    else:
        now = min(seen.values()) - lateness if seen else None
    return max((one for one in (now, before) if one is not None), default=None)


@pytest.mark.slow
@given(st.lists(st.one_of(st.tuples(st.sampled_from(STREAMS), st.integers(0, 40)), settings), max_size=30))
@example([("s", 20), (5, None), ("s", 30)])  # 0, then 5 s
@example([(5, None), ("s", 20), (0, None), ("s", 30)])  # 5 s, then 0
@example([(5, 30), ("s", 20), (5, None), ("s", 30)])  # t was waited for, and is no more
def test_the_watermark_is_what_the_settings_of_now_make_of_all_that_was_seen(steps: list[tuple]) -> None:
    clock = Clock()
    lateness, idle = 0, None
    seen: dict[str, int] = {}
    watermark: int | None = None
    for step in steps:
        if isinstance(step[0], str):
            stream, at = step
            late = watermark is not None and at < watermark
            assert clock.observe(stream, at, now=0) == ("late" if late else "on time")
            if not late:
                seen[stream] = max(at, seen.get(stream, at))
        else:
            lateness, idle = step
            again = Clock(lateness, idle, streams=STREAMS)
            again.load(clock.dump())
            again.resume()
            clock = again
            clock.tick({}, now=0)
        watermark = expected(seen, lateness, idle, watermark)
        assert clock.watermark == watermark


def thing(kind: str) -> str:
    return ttl(f":x a :{kind} .")


def opened(chosen: Settings, letters: list[DeadLetter]) -> Engine:
    lateness, idle = chosen
    return engine(TEXT, lateness=lateness, idle=idle, now=lambda: 0, on_dead_letter=letters.append)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(STREAMS), st.sampled_from("ABC"), st.integers(0, 3)), max_size=25),
    st.lists(st.tuples(st.integers(0, 25), settings), max_size=4),
    settings,
)
def test_items_in_order_give_the_same_whatever_the_settings_become(
    items: list[tuple[str, str, int]], changes: list[tuple[int, Settings]], first: Settings
) -> None:
    """Lateness and idle say how long answers wait, not what they are, so a change on resume takes nothing."""
    letters: list[DeadLetter] = []
    undisturbed, running = opened((0, None), letters), opened(first, letters)
    whole, found, at = [], [], 0
    for number, (stream, kind, step) in enumerate(items):
        at += step
        whole += undisturbed.push(thing(kind), at=at, stream=stream)
        found += running.push(thing(kind), at=at, stream=stream)
        for when, chosen in changes:
            if when == number:
                again = opened(chosen, letters)
                again.restore(running.snapshot())
                running = again
    whole += undisturbed.close()
    found += running.close()
    assert sorted(one.id for one in found) == sorted(one.id for one in whole)
    assert letters == []
    assert running.waiting == 0


def test_a_run_that_goes_on_with_another_lateness_takes_its_items() -> None:
    """4,979 further items waited for ever, and the watermark stayed at 20."""
    for before, after in ((0, 5), (5, 0)):
        running = opened((before, None), [])
        for at in range(21):
            running.push(thing("A"), at=at, stream="s")
        again = opened((after, None), [])
        again.restore(running.snapshot())
        for at in range(21, 500):
            again.push(thing("A"), at=at, stream="s")
        assert again.clock.watermark == (499 - after) * S
        assert again.waiting == after
