"""What waits leaves in the order of time, and at one instant in the order of arrival."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obep.engine.buffer import Buffer

INSTANTS = st.integers(0, 20)
STEPS = st.one_of(
    st.tuples(st.just("add"), INSTANTS),
    st.tuples(st.just("extend"), st.lists(INSTANTS, max_size=5)),
    st.tuples(st.just("release"), INSTANTS),
    st.tuples(st.just("take"), st.integers(0, 3)),
    st.tuples(st.just("pop"), INSTANTS),
    st.tuples(st.just("clear"), st.none()),
    st.tuples(st.just("look"), st.none()),
)


@given(st.lists(STEPS, max_size=40))
def test_a_buffer_is_a_list_that_is_sorted_by_time(steps: list[tuple[str, object]]) -> None:
    buffer: Buffer[int] = Buffer()
    waiting: list[tuple[int, int]] = []
    arrivals = 0
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
        elif step == "look":
            assert list(buffer) == waiting
        elif step == "clear":
            buffer.clear()
            waiting.clear()
        elif step == "pop":
            assert isinstance(given_, int)
            due = bool(waiting) and waiting[0][0] <= given_
            assert buffer.pop(given_) == (waiting.pop(0)[1] if due else None)
        else:
            assert isinstance(given_, int)
            waiting.sort(key=lambda entry: entry[0])
            due = sum(at <= given_ for at, _ in waiting)
            count = due if step == "release" else given_
            assert buffer.due(given_) == due
            assert buffer.take(count) == waiting[:count]
            del waiting[:count]
        waiting.sort(key=lambda entry: entry[0])
        assert (len(buffer), buffer.first) == (len(waiting), waiting[0][0] if waiting else None)
