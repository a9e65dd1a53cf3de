"""The episodes that wait for FOR: the same order whether all wait equally long or not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obep.engine.states.due_episodes import Due, Heaped, InTurn

begins = st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abc")), max_size=12)


def due(begun: int, name: str) -> Due:
    return (begun + 5, 5, (f"<{name}>",), begun)


@given(begins, st.lists(st.integers(0, 30), max_size=5).map(sorted))
def test_a_queue_and_a_heap_give_the_same(added: list[tuple[int, str]], instants: list[int]) -> None:
    queue, heap = InTurn(), Heaped()
    for one in added:  # not in the order of time, as those that began before the run
        queue.add(due(*one))
        heap.add(due(*one))
        assert queue.waiting[0][0] == heap.waiting[0][0]
    for at in instants:
        assert queue.reached(at) == heap.reached(at)
    queue.load(reversed(heap.waiting))
    assert list(queue.waiting) == sorted(heap.waiting)


def test_those_of_one_instant_come_in_the_order_of_their_values() -> None:
    queue = InTurn()
    for name in "cab":
        queue.add(due(1, name))
    queue.add(due(0, "z"))
    assert [one[2] for one in queue.reached(6)] == [("<z>",), ("<a>",), ("<b>",), ("<c>",)]
    assert not queue.waiting
