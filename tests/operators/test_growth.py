"""The cost of an instant does not grow with history: ten times the stream is ten times the work."""

from __future__ import annotations

import cProfile
from random import Random
from types import SimpleNamespace

import pytest

from obep.engine.runtime import Runtime
from obep.guards.block_queries import asks
from obep.model import EagerOccurrence
from obep.plan.build_plan import plan
from obep.query.link import link
from obep.query.parse.parser import parse

pytestmark = pytest.mark.slow

LOGICAL = "PREFIX : <http://e/#>\n" + "".join(f"EVENT {name} AS Class{name}\n" for name in "ABCD")
PATTERNS = (
    "A(?x) SEQ B(?x) WITHIN 50 ms",
    "A(?x) SEQ B(?x) SEQ C(?x) WITHIN 50 ms",
    "A(?x) NEXT B(?x)",
    "A(?x) TIMES 3 WITHIN 200 ms",
    "(A(?x) SEQ B(?x)) WITHOUT C(?x) WITHIN 50 ms",
    "A(?x) NOT FOLLOWED BY B(?x) WITHIN 20 ms",
    "(LAST A) SEQ B",
    "(FIRST A) SEQ B WITHIN 20 ms",
    "(FIRST ((LAST A) OR B)) SEQ C",
    "(LAST ((FIRST A) OR B)) SEQ C",
    "A SEQ B WITHIN 50 ms POLICY chronological",
    "A(?x) SEQ B(?x) POLICY recent",
    "OPTIONAL(A(?x)) SEQ B(?x) WITHIN 50 ms",
    "A(?x) AND B(?x) WITHIN 50 ms",
    "(A(?x) SEQ B(?x) WITHIN 20 ms) OVERLAPS (C(?x) SEQ D(?x) WITHIN 20 ms) WITHIN 40 ms",
    "C DURING (A(?x) SEQ B(?x) WITHIN 30 ms) WITHIN 50 ms",
    "A(?x) SEQ B(?x) WITHIN 50 ms PARTITION BY ?x",
)


def calls(pattern: str, events: int) -> int:
    """The calls that a random stream takes, Python's and those into C."""
    linked = link(parse(f"{LOGICAL}EVENT H MATCH {pattern}\nRETURN H"))
    found = asks(linked)
    running = Runtime(plan(linked, found, SimpleNamespace(vocabulary=lambda event: frozenset(), bounded=())))
    random = Random(1)
    stream = []
    for number in range(events):
        event, name, at = (
            f"<http://e/#{random.choice('ABCD')}>",
            f"<http://e/#x{random.randrange(5)}>",
            number * 1000,
        )
        triple = (name, "<p>", event)
        occurrence = EagerOccurrence(event, name, ((triple, at),), at, at, at, at)
        occurrence.solutions = {
            ask.number: ask.solve(occurrence, None) for ask in found.all if ask.event == event
        }
        stream.append(occurrence)
    profile = cProfile.Profile()
    profile.enable()
    for occurrence in stream:
        running.push(occurrence.detected, (occurrence,))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_ten_times_the_stream_is_ten_times_the_work(pattern: str):
    small, large = calls(pattern, 1000), calls(pattern, 10_000)
    assert 9 <= large / small <= 11
