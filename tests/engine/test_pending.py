"""`pending`: the deadlines that lie beyond the end and that nothing has decided before (SPEC §4)."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from engine_cases import engine, ttl
from oracle.pattern_cases import Case
from oracle.pattern_engine import runtime_of, solved
from oracle.pattern_runs import as_parsed, drawn, refusals, shown
from oracle.pattern_strategies import Maker, operands_of

from obep.model import SECOND
from obep.query import ast

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "360"))
HEAD = "EVENT A AS ClassA\nEVENT B AS ClassB\n"


def pending(pattern: str, *items: tuple[float, str], until: float | None = None) -> int:
    running = engine(f"{HEAD}EVENT H MATCH {pattern}\nRETURN H")
    for at, graph in items:
        running.push(ttl(graph), at=at)
    if until is not None:
        running.advance(until)
    running.close()
    return running.pending


A1, A2 = (1, ":x a :ClassA ."), (2, ":y a :ClassA .")
BX3, BZ3 = (3, ":x a :ClassB ."), (3, ":z a :ClassB .")


@pytest.mark.parametrize(
    ("pattern", "items", "expected"),
    [
        ("A NOT FOLLOWED BY B WITHIN 5 s", (A1, A2), 2),
        ("A NOT FOLLOWED BY B WITHIN 5 s", (A1, A2, BX3), 0),  # what has been followed waits no longer
        ("A(?i) NOT FOLLOWED BY B(?i) WITHIN 5 s", (A1, A2, BX3), 1),  # only x has been followed
        ("A(?i) NOT FOLLOWED BY B(?i) WITHIN 5 s", (A1, A2, BZ3), 2),
        ("(LAST A) NOT FOLLOWED BY B WITHIN 5 s", (A1, A2), 1),  # the second re-arms the timer
        ("(LAST A) NOT FOLLOWED BY B WITHIN 5 s", (A1, A2, BX3), 0),
        ("(FIRST A) NOT FOLLOWED BY B WITHIN 5 s", (A1, A2), 1),
        ("(A SEQ B) NOT FOLLOWED BY A WITHIN 5 s", (A1, A2, BX3), 2),
        ("(A NOT FOLLOWED BY B WITHIN 2 s) WITHIN 4 s", (A1, A2), 2),
        ("((A SEQ A AS second) NOT FOLLOWED BY B WITHIN 2 s) WITHIN 3 s", (A1, A2), 0),  # 4 - 1 is too long
        ("((A SEQ A AS second) NOT FOLLOWED BY B WITHIN 2 s) WITHIN 3001 ms", (A1, A2), 1),
        ("(OPTIONAL(B) SEQ A NOT FOLLOWED BY B AS n WITHIN 2 s) WITHIN 5 s", (A1, A2), 2),
    ],
)
def test_only_deadlines_that_may_still_be_met_are_pending(pattern, items, expected):
    assert pending(pattern, *items) == expected


def test_a_deadline_that_was_reached_is_not_pending():
    assert pending("A NOT FOLLOWED BY B WITHIN 5 s", A1, A2, until=5.9) == 2
    assert pending("A NOT FOLLOWED BY B WITHIN 5 s", A1, A2, until=6) == 1
    assert pending("A NOT FOLLOWED BY B WITHIN 5 s", A1, A2, until=7) == 0


def silent(case: Case, random: Random) -> Case:
    """The last event of a case, as what is not followed by some event; often the last item is the end."""
    event = case.events[-1]
    other = replace(random.choice(leaves(event.pattern)), alias="other", parameters=())
    waiting: ast.Pattern = ast.NotFollowedBy(event.pattern, other, ast.Duration(2 * SECOND))
    if random.random() < 0.5:
        waiting = ast.Within(waiting, ast.Duration(5 * SECOND))
    guard = event.guard  # without filters, which may refuse what has waited in vain
    blocks = replace(guard, filters=()) if guard is not None and guard.blocks else None
    changed = replace(event, pattern=waiting, guard=blocks, partition_by=(), policy="unrestricted")
    last = max((arrival.item.at for arrival in case.arrivals), default=0)
    end = last if random.random() < 0.5 else case.end
    return replace(case, events=(*case.events[:-1], changed), end=end)


def leaves(node: ast.Pattern) -> list[ast.Leaf]:
    if isinstance(node, ast.Leaf):
        return [node]
    return [leaf for operand in operands_of(node) for leaf in leaves(operand)]


def has_absence(node: ast.Pattern) -> bool:
    return isinstance(node, ast.NotFollowedBy) or any(map(has_absence, operands_of(node)))


@pytest.mark.slow
def test_what_is_pending_at_the_end_is_what_more_time_would_report():
    """Nothing is pending just where nothing more is reported, however far time goes on."""
    tried, waited = 0, 0
    for seed in range(700_000, 700_000 + EXAMPLES):
        random = Random(seed)
        case = drawn(Maker(random))
        if case is None or any(has_absence(event.pattern) for event in case.events):
            continue
        case = silent(case, random)
        if refusals(case):
            continue
        case = as_parsed(case)
        runtime, found = runtime_of(case)
        for arrival in case.arrivals:
            occurrences = [solved(o, found) for o in arrival.occurrences]
            runtime.push(arrival.item.at, occurrences, items=(arrival.item,))
        runtime.advance(case.end)
        runtime.close()
        left = runtime.pending()
        more = [o for o in runtime.advance(case.end + 100 * SECOND) if o.event == case.events[-1].name.iri]
        assert (left == 0) == (not more) and left >= len(more), f"{left} {len(more)} {shown(case)}"
        assert runtime.pending() == 0, shown(case)
        tried += 1
        waited += left > 0
    assert tried >= 0.2 * EXAMPLES and waited >= 0.2 * tried
