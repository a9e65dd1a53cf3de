"""What waits leaves in the order of time, and at one instant in the order of arrival."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obep.engine.buffer import SPARE, Buffer

INSTANTS = st.integers(0, 20)
STEPS = st.one_of(
    st.tuples(st.just("add"), INSTANTS),
    st.tuples(st.just("extend"), st.lists(INSTANTS, max_size=5)),
    st.tuples(st.just("release"), INSTANTS),
    st.tuples(st.just("take"), st.integers(0, 3)),
    st.tuples(st.just("clear"), st.none()),
)


@given(st.lists(STEPS, max_size=40), st.integers(0, 2 * SPARE))
def test_a_buffer_is_a_list_that_is_sorted_by_time(steps: list[tuple[str, object]], before: int) -> None:
    buffer: Buffer[int] = Buffer()
    waiting: list[tuple[int, int]] = []
    arrivals = 0
    for number in range(before):  # so many that some are dropped, some are kept
        buffer.add(number % 7, -number)
        waiting.append((number % 7, -number))
    for step, given_ in steps:
        if step in ("add", "extend"):
            instants = given_ if isinstance(given_, list) else [given_]
            new = [(at, arrivals + number) for number, at in enumerate(instants)]
            arrivals += len(new)
            waiting += new
            if step == "extend":
                buffer.extend(new)
            else:
                buffer.add(*new[0])
        elif step == "clear":
            buffer.clear()
            waiting.clear()
        else:
            assert isinstance(given_, int)
            waiting.sort(key=lambda entry: entry[0])
            due = sum(at <= given_ for at, _ in waiting)
            count = due if step == "release" else given_
            assert buffer.due(given_) == due
            assert buffer.take(count) == waiting[:count]
            del waiting[:count]
        waiting.sort(key=lambda entry: entry[0])
        assert list(buffer) == waiting
        assert (len(buffer), buffer.first) == (len(waiting), waiting[0][0] if waiting else None)
