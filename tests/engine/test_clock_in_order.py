"""An item that `goes_on` takes is one that `observe` would take, and the clock is the same after it."""

from __future__ import annotations

from hypothesis import given
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
    now = 0
    for stream, at, later in items:
        now += later
        wall = now + ahead  # the date, by which `future` goes, is another clock
        verdict = plain.observe(stream, at, now, wall)
        if not quick.goes_on(stream, at, now, wall):
            assert quick.observe(stream, at, now, wall) == verdict
        else:
            assert verdict == "on time"
            assert quick.watermark == at
        assert quick.dump() == plain.dump()
