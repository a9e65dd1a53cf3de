"""The short ways of a clock take what `observe` would take, and the clock is the same after them."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from obep.engine.clock import Clock

SETTINGS = st.tuples(
    st.sampled_from([0, 0, 2]), st.sampled_from([None, None, 5]), st.sampled_from([None, None, 3])
)
ITEMS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 2)), max_size=12)


@given(SETTINGS, ITEMS, st.integers(0, 9), st.integers(-3, 3))
def test_a_clock_that_goes_on_is_one_that_has_observed(
    settings: tuple[int, int | None, int | None], items: list[tuple[str, int, int]], start: int, ahead: int
) -> None:
    quick, plain = (Clock(*settings, streams=("a", "b")) for _ in range(2))
    for clock in (quick, plain):
        clock.advance(start)
    now, started = 0, False
    for stream, at, later in items:
        now += later
        wall = now + ahead  # the date, by which `future` goes, is another clock
        verdict = plain.observe(stream, at, now, wall)
        taken = quick.goes_on(stream, at, now, wall)
        assert taken == (started and settings[:2] == (0, None) and verdict == "on time")
        started = started or verdict != "future"
        if taken:
            assert quick.watermark == at
        else:
            assert quick.observe(stream, at, now, wall) == verdict
        assert quick.dump() == plain.dump()


@given(
    st.sampled_from([(0, None, None), (0, None, 3), (2, None, None), (0, 5, None)]),
    st.booleans(),
    st.lists(st.integers(3, 6), max_size=5),
)
@example((0, None, None), False, [5])
@example((0, None, None), True, [4, 5, 5, 3])
def test_as_many_go_on_at_once_as_go_on_one_by_one(
    settings: tuple[int, int | None, int | None], started: bool, times: list[int]
) -> None:
    clock = Clock(*settings, streams=("a",))
    if started:
        clock.observe("a", 4, now=0, wall=9)
    clock.advance(4)
    some = clock.goes_on_until(times)
    one_by_one = next((n for n, at in enumerate(times) if not clock.goes_on("a", at, 0, 9)), len(times))
    assert some == (0 if settings[2] is not None else one_by_one)
