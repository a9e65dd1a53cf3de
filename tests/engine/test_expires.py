"""What a runtime says that it forgets may be forgotten: a new one in its place answers the same."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import msgspec
import pytest
from oracle.pattern_cases import Arrival, Case, read_case
from oracle.pattern_engine import runtime_of, solved
from oracle.pattern_runs import drawn, refusals, shown
from oracle.pattern_strategies import Maker, seconds

from obep.engine.runtime import Runtime
from obep.guards.block_queries import Asks
from obep.model import SECOND, EagerOccurrence, Occurrence
from obep.query import ast

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "200"))


def answers(case: Case, *, forget: bool) -> tuple[list[tuple[object, ...]], int]:
    """All answers, and how often the runtime was expired when an item came; `forget`: a new one goes on."""
    runtime, found = runtime_of(case)
    return run(case, runtime, found, forget=forget)


def run(case: Case, runtime: Runtime, found: Asks, *, forget: bool) -> tuple[list[tuple[object, ...]], int]:
    """The same, beginning with a runtime that there is."""
    reported: list[Occurrence] = []
    expired = 0
    expires: int | None = None
    for arrival in case.arrivals:
        at = arrival.item.at
        if expires is not None and expires <= at:
            expired += 1
            if forget:
                runtime, found = runtime_of(case)
        reported += runtime.push(at, [solved(o, found) for o in arrival.occurrences], items=(arrival.item,))
        if _last_of_instant(case, arrival):
            reported += runtime.advance(at + 1)
        expires = runtime.expires()
    reported += runtime.advance(case.end)
    reported += runtime.close()
    told = [(o.id, o.detected, o.since, str(sorted(map(str, o.bindings))), o.partition) for o in reported]
    return sorted(told), expired


def _last_of_instant(case: Case, arrival: Arrival) -> bool:
    later = case.arrivals[case.arrivals.index(arrival) + 1 :]
    return all(other.item.at > arrival.item.at for other in later)


def stretched(case: Case, gap: int) -> Case:
    """The case with a silence before the second half of its items."""
    instants = sorted({arrival.item.at for arrival in case.arrivals})
    middle = instants[len(instants) // 2] if instants else 0

    def later(at: int) -> int:
        return at + gap if at >= middle else at

    def moved(arrival: Arrival) -> Arrival:
        if arrival.item.at < middle:
            return arrival
        occurrences = tuple(_moved(o, gap) for o in arrival.occurrences)
        return Arrival(arrival.item._replace(at=later(arrival.item.at)), occurrences)

    return Case(case.events, tuple(map(moved, case.arrivals)), later(case.end))


def bounded(case: Case) -> Case:
    """The case with a WITHIN around each of its patterns."""
    events = tuple(replace(event, pattern=ast.Within(event.pattern, seconds(9))) for event in case.events)
    return replace(case, events=events)


def _moved(o: Occurrence, gap: int) -> Occurrence:
    explanation = tuple((triple, None if at is None else at + gap) for triple, at in o.explanation)
    times = (o.start + gap, o.end + gap, o.detected + gap, o.since + gap)
    return EagerOccurrence(o.event, o.individual, explanation, *times)


@pytest.mark.slow
def test_what_has_expired_has_no_part_in_any_answer() -> None:
    seeds = iter(range(10**6))
    expired = answered = 0
    for _ in range(EXAMPLES):
        case = None
        while case is None or refusals(bounded(case)):
            case = drawn(Maker(Random(next(seeds)), None))
        case = stretched(bounded(case), 40 * SECOND)
        expected, times = answers(case, forget=False)
        found, _ = answers(case, forget=True)
        assert found == expected, shown(case)
        expired += bool(times)
        answered += bool(times and expected)
    assert expired >= 0.2 * EXAMPLES
    assert answered >= 0.1 * EXAMPLES


@pytest.mark.slow
def test_a_used_runtime_with_the_state_of_a_new_one_is_a_new_one() -> None:
    """Spark runs all new segments of a micro-batch in one: their times may lie before those of the last."""
    seeds = iter(range(10**6))
    answered = 0
    for _ in range(EXAMPLES):
        case = None
        while case is None or refusals(case):
            case = drawn(Maker(Random(next(seeds)), None))
        expected, _ = answers(case, forget=False)
        runtime, found = runtime_of(case)
        nothing = msgspec.msgpack.encode(runtime.dump())
        begun = replace(case, arrivals=case.arrivals[: len(case.arrivals) * 2 // 3 + 1])
        run(begun, runtime, found, forget=False)
        runtime.load(msgspec.msgpack.decode(nothing))
        assert run(case, runtime, found, forget=False)[0] == expected, shown(case)
        answered += bool(expected)
    assert answered >= 0.3 * EXAMPLES


@pytest.mark.parametrize(
    ("event", "expires"),
    [
        ("A SEQ B WITHIN 5 s", 5),
        ("A SEQ B", None),
        ("(A SEQ B WITHIN 5 s) SEQ C", None),
        ("A AND (B SEQ C WITHIN 5 s)", 5),
        ("(A SEQ B WITHIN 2 s) OR (B SEQ C WITHIN 3 s)", 3),
        ("A", 0),
    ],
)
def test_after_the_longest_horizon_nothing_is_left(event: str, expires: int | None) -> None:
    """An A at 1 s; time has come to 2 s."""
    case = read_case(f"EVENT H MATCH {event}", "A1")
    runtime, found = runtime_of(case)
    (arrival,) = case.arrivals
    runtime.push(arrival.item.at, [solved(o, found) for o in arrival.occurrences])
    runtime.advance(2 * SECOND)
    assert runtime.expires() == (None if expires is None else (2 + expires) * SECOND + 1)


def test_a_deadline_keeps_it() -> None:
    case = read_case("EVENT H MATCH A NOT FOLLOWED BY B WITHIN 5 s", "A1")
    runtime, found = runtime_of(case)
    (arrival,) = case.arrivals
    runtime.push(arrival.item.at, [solved(o, found) for o in arrival.occurrences])
    runtime.advance(2 * SECOND)
    assert (runtime.wakes(), runtime.expires()) == (6 * SECOND, None)
    assert len(runtime.advance(7 * SECOND)) == 1
    assert runtime.wakes() is None
