"""A runtime that is stopped and restored after any item answers as one that never stopped."""

from __future__ import annotations

import os
from random import Random

import msgspec
import pytest
from oracle.pattern_cases import Case, answers, read_case
from oracle.pattern_engine import engine_answers, runtime_of, solved
from oracle.pattern_runs import drawn, shown
from oracle.pattern_strategies import Maker

from obep.model import Occurrence

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "150"))


def restored_answers(case: Case, used: bool) -> list[Occurrence]:
    """All answers, with another runtime after each item: a new one that knows its predecessor's bytes alone.

    `used`: it is no new one, but the one before the predecessor, with all that it knew.
    """
    runtime, found = runtime_of(case)
    other, _ = runtime_of(case)
    reported: list[Occurrence] = []
    for arrival in case.arrivals:
        occurrences = [solved(o, found) for o in arrival.occurrences]
        reported += runtime.push(arrival.item.at, occurrences, items=(arrival.item,))
        data = msgspec.msgpack.encode(runtime.dump())
        runtime, other = (other if used else runtime_of(case)[0]), runtime
        runtime.load(msgspec.msgpack.decode(data))
    reported += runtime.advance(case.end)
    reported += runtime.close()
    composites = {event.name.iri for event in case.events}
    return [o for o in reported if o.event in composites]


def told(reported: list[Occurrence]) -> list[tuple[object, ...]]:
    return sorted(
        (o.id, o.detected, o.since, str(sorted(map(str, o.bindings))), str(sorted(p.alias for p in o.parts)))
        for o in reported
    )


@pytest.mark.parametrize("used", [False, True])
def test_rows_of_a_branch_that_took_no_part_survive_a_snapshot(used: bool) -> None:
    """Below FIRST the rows of `a` and `c` stay apart; C1 is in the branch of `c`, so `a` has none."""
    case = read_case(
        "EVENT H MATCH FIRST ((A AS a OR C AS c) SEQ B AS b) SEQ C AS z IF { EVENT a { ?this p ?k . } }",
        "C1 B2 A3(p=1) B4 C5",
    )
    expected = told(engine_answers(case))
    assert told(restored_answers(case, used)) == expected
    # (C1, B2) is not before (C1, B4), which begins with C1, too; it is before (A3, B4)
    assert answers(case.oracle()) == {"C1 B2 C5 [1,5]@5", "C1 B4 C5 [1,5]@5"}
    assert len(expected) == 2


@pytest.mark.slow
@pytest.mark.parametrize("used", [False, True])
def test_restored_after_every_item_is_never_stopped(used: bool) -> None:
    seeds = iter(range(10**6))
    answered = 0
    for _ in range(EXAMPLES):
        case = None
        while case is None:
            case = drawn(Maker(Random(next(seeds)), None))
        expected = told(engine_answers(case))
        answered += bool(expected)
        assert told(restored_answers(case, used)) == expected, shown(case)
    assert answered >= 0.4 * EXAMPLES
