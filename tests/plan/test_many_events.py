"""A query may have thousands of events: the work of planning grows with their number, not its square."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType

import pytest

import obep
from obep.guards.block_queries import asks
from obep.lints.check_query import check
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.load import load_ontology
from obep.plan.build_plan import plan
from obep.query.link import Linked, link
from obep.query.parse.parser import parse


def side_by_side(n: int) -> str:
    return "".join(f"EVENT A{i} AS Room{i}\nEVENT B{i} MATCH A{i} SEQ A{i} WITHIN 5 s\n" for i in range(n))


def a_tower(n: int) -> str:
    upper = "".join(f"EVENT B{i} MATCH B{i - 1} SEQ A WITHIN 5 s\n" for i in range(n - 1, 0, -1))
    return f"EVENT A AS Room\n{upper}EVENT B0 MATCH A SEQ A WITHIN 5 s\n"


def found_in_each_other(n: int) -> str:
    return "EVENT A AS Room\nEVENT B MATCH A SEQ A WITHIN 5 s\n" + "".join(
        f"EVENT C{i} AS p some (B and q some Room{i})\n" for i in range(n)
    )


def guarded_over_one_class(n: int) -> str:
    return "".join(f"EVENT G{i} AS Room IF {{ ?this :v ?v . FILTER(?v > {i}) }}\n" for i in range(n))


def guarded_with_values(n: int) -> str:
    guard = "?this :v ?v . FILTER(?v > {0})"
    return "".join(f"EVENT G{i} AS p value k{i} IF {{ {guard.format(i)} }}\n" for i in range(n))


def guarded_and_found_in_them(n: int) -> str:
    return guarded_with_values(n) + "".join(f"EVENT C{i} AS p some Room{i}\n" for i in range(n))


def guarded_with_new_names(n: int) -> str:
    events = guarded_over_one_class(n).splitlines()
    return "".join(f"{event} CONSTRUCT {{ [] a :Room }}\n" for event in events)


GUARDED = [guarded_over_one_class, guarded_with_values, guarded_and_found_in_them]


def calls(work: Callable[[], object]) -> int:
    """How many functions are called: the same every time, whatever else the machine does."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def planning(text: str) -> int:
    linked: Linked = link(parse(text))
    found = asks(linked)
    bundle = compile_bundle(linked, load_ontology((), {}), (), java=False)
    return calls(lambda: plan(linked, found, bundle))


@pytest.mark.parametrize("shape", [side_by_side, found_in_each_other, *GUARDED])
def test_planning_grows_with_the_number_of_events(shape: Callable[[int], str]) -> None:
    planning(shape(2))  # what is imported and remembered once
    assert planning(shape(120)) < 2.6 * planning(shape(60))  # twice the square would be four times


@pytest.mark.parametrize("shape", [side_by_side, a_tower, found_in_each_other, *GUARDED])
def test_checking_grows_with_the_number_of_events(shape: Callable[[int], str]) -> None:
    def checking(n: int) -> int:
        linked = link(parse(shape(n)))
        return calls(lambda: check(linked))

    checking(2)
    assert checking(120) < 2.6 * checking(60)


def loaded(shape: Callable[[int], str], n: int) -> obep.Query:
    return obep.load(text=f"PREFIX : <http://e/#>\n{shape(n)}RETURN ALL", java=False)


@pytest.mark.parametrize("shape", GUARDED)
def test_loading_and_explaining_guarded_events_grow_with_their_number(shape: Callable[[int], str]) -> None:
    def work(n: int) -> int:
        return calls(lambda: loaded(shape, n).explain())

    work(2)
    assert work(120) < 2.6 * work(60)


@pytest.mark.parametrize("shape", GUARDED)
def test_memory_of_guarded_events_grows_with_their_number(shape: Callable[[int], str]) -> None:
    def size(n: int) -> int:
        """Of what the engine and the plan hold."""
        query = loaded(shape, n)
        tracemalloc.start()
        engine = query.engine()
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert engine.counters["items"] == 0
        return held

    size(2)
    assert size(300) < 2.6 * size(150)


@pytest.mark.parametrize("shape", [guarded_with_values, guarded_and_found_in_them])
def test_bundles_of_guarded_events_grow_with_their_number(shape: Callable[[int], str]) -> None:
    def size(n: int) -> int:
        query = loaded(shape, n)
        query.engine()
        return len(query.to_bundle())

    assert size(300) < 2.6 * size(150)


def test_events_with_new_names_are_found_in_one_direction_only() -> None:
    """Else there would be no end: each is found in those that stand before it (the last first)."""
    query = loaded(guarded_with_new_names, 5)
    names = [*query.linked.events]
    assert {iri: set(below) for iri, below in query.derived.items()} == {
        iri: set(names[:place]) for place, iri in enumerate(names) if place
    }


@pytest.mark.parametrize("count", [1, 4])
def test_what_an_event_may_be_found_in_is_a_set(count: int) -> None:
    query = loaded(guarded_and_found_in_them, count)
    guarded = {iri for iri in query.linked.events if query.linked.events[iri].guard is not None}
    for iri in query.linked.events:
        below = query.derived.get(iri, frozenset())
        assert set(below) == guarded - {iri}
        assert len(below) == len(guarded - {iri})
        assert all(head in below for head in guarded - {iri}) and iri not in below
    assert len({id(below.shared) for below in query.derived.values()}) <= 2  # one for each kind
