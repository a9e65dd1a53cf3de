"""An instant with many items costs as much as its items and its answers, not the square of them."""

from __future__ import annotations

import cProfile
from types import SimpleNamespace

import pytest

from obep.engine.runtime import Runtime
from obep.guards.block_queries import asks
from obep.model import SECOND, EagerOccurrence
from obep.plan.build_plan import plan
from obep.query.link import link
from obep.query.parse.parser import parse

LOGICAL = "PREFIX : <http://e/#>\n" + "".join(f"EVENT {name} AS Class{name}\n" for name in "ABN")
STREAMS = {
    "many, then one": ((1, "A"), (1, "A*"), (2, "B")),
    "one, then many": ((1, "A"), (2, "B*")),
    "both at once": ((1, "A"), (2, "A*"), (2, "B*"), (3, "B")),
    "many, then many": ((1, "A*"), (2, "B*")),
    "many between": ((1, "A"), (2, "N*"), (3, "B*")),
}
"""Instants and events; `*`: as many individuals as there are."""
KEYED = "many, then many"
"""For patterns with a key: without one the answers are the square."""
PATTERNS = (
    "(LAST A) SEQ B",
    "(FIRST A) SEQ B",
    "A SEQ (LAST B)",
    "FIRST A",
    "(FIRST A) SEQ B WITHIN 5 s",
    "((LAST A(?k)) OR N(?k)) SEQ B(?k)",
    "A NEXT B",
    "A TIMES 2",
    "OPTIONAL(A) SEQ B",
    "OPTIONAL(LAST A) SEQ B",
    "A NOT FOLLOWED BY N WITHIN 5 s",
    "(LAST A) NOT FOLLOWED BY N WITHIN 5 s",
    "A SEQ B POLICY chronological",
    "A SEQ B POLICY recent",
    "A SEQ B POLICY naive",
    "(LAST A(?k)) SEQ B(?k)",
    "(FIRST A(?k)) SEQ B(?k)",
    "A(?k) SEQ (LAST B(?k))",
    "(LAST A(?k)) AND B(?k)",
    "(LAST A(?k)) SEQ B(?k) PARTITION BY ?k",
    "A(?k) SEQ B(?k) PARTITION BY ?k",
    "(LAST A(?k)) NEXT B(?k)",
    "A(?k) NEXT (LAST B(?k))",
    "OPTIONAL(LAST A(?k)) SEQ B(?k)",
    "OPTIONAL(A(?k)) AND B(?k)",
    "OPTIONAL(A(?k)) SEQ B(?k) POLICY naive",
    "(A(?k) SEQ B(?k)) WITHOUT (LAST N(?k))",
    "A(?k) NOT FOLLOWED BY (LAST N(?k)) WITHIN 5 s",
    "(LAST A(?k)) NOT FOLLOWED BY N(?k) WITHIN 5 s",
    "A(?k) SEQ B(?k) POLICY recent",
)
CASES = [(pattern, name) for pattern in PATTERNS for name in STREAMS if "(?k)" in pattern or name != KEYED]


def cost(pattern: str, stream: str, many: int) -> tuple[int, int]:
    """The calls that a stream takes, Python's and those into C; and how many answers it has."""
    linked = link(parse(f"{LOGICAL}EVENT H MATCH {pattern}\nRETURN H"))
    found = asks(linked)
    running = Runtime(plan(linked, found, SimpleNamespace(vocabulary=lambda event: frozenset(), bounded=())))
    occurrences = []
    for second, name in STREAMS[stream]:
        event, at = f"<http://e/#{name[0]}>", second * SECOND
        for number in range(many if name.endswith("*") else 1):
            individual = f"<http://e/#x{number}>"
            one = EagerOccurrence(event, individual, (((individual, "<p>", event), at),), at, at, at, at)
            one.solutions = {ask.number: ask.solve(one, None) for ask in found.all if ask.event == event}
            occurrences.append(one)
    profile = cProfile.Profile()
    profile.enable()
    answers = sum(len(running.push(one.detected, (one,))) for one in occurrences)
    answers += len(running.advance(20 * SECOND))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), answers


@pytest.mark.parametrize(("pattern", "stream"), CASES)
def test_an_instant_costs_what_its_items_and_answers_are(pattern: str, stream: str):
    (small, few), (large, several) = cost(pattern, stream, 20), cost(pattern, stream, 80)
    assert several <= max(4 * few, 80)  # so the answers themselves are no square
    assert large < 6 * small  # the square would be sixteen times
