"""A query may have thousands of events: the work of planning grows with their number, not its square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

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


@pytest.mark.parametrize("shape", [side_by_side, found_in_each_other])
def test_planning_grows_with_the_number_of_events(shape: Callable[[int], str]) -> None:
    planning(shape(2))  # what is imported and remembered once
    assert planning(shape(120)) < 2.6 * planning(shape(60))  # twice the square would be four times


@pytest.mark.parametrize("shape", [side_by_side, a_tower, found_in_each_other])
def test_checking_grows_with_the_number_of_events(shape: Callable[[int], str]) -> None:
    def checking(n: int) -> int:
        linked = link(parse(shape(n)))
        return calls(lambda: check(linked))

    checking(2)
    assert checking(120) < 2.6 * checking(60)
