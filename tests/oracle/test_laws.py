"""Laws of the engine: what must not make a difference does not, on random cases."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from obep.model import SECOND, Occurrence
from obep.query import ast
from oracle.guard_semantics import bound_by, solve_on_explanation
from oracle.pattern_cases import Arrival, Case, read_case, show_stream
from oracle.pattern_engine import all_told, engine_answers, engine_of, identity, named, runtime_of, solved
from oracle.pattern_runs import as_parsed, case_text, drawn, refusals, shown
from oracle.pattern_semantics import leaves_of
from oracle.pattern_strategies import FOCUSED, Maker, operators_of

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "80"))
SEED = int(os.environ.get("OBEP_SEED", "0"))


def some(salt: int, share: float = 1.0) -> Iterator[tuple[Case, Random]]:
    """Valid cases, half of them of the focused shapes, each with dice for what the law shuffles."""
    for number in range(int(EXAMPLES * share)):
        random = Random(SEED + salt * 100_003 + number)
        focus = random.choice(FOCUSED) if number % 2 else None
        case = drawn(Maker(random, focus=focus))
        if case is not None:
            yield named(case), random


# --- order and portions -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_order_of_the_items_of_one_instant_does_not_matter() -> None:
    for case, random in some(1):
        shuffled = list(case.arrivals)
        random.shuffle(shuffled)
        shuffled.sort(key=lambda arrival: arrival.item.at)
        assert all_told(engine_answers(case)) == all_told(engine_answers(case, shuffled)), shown(case)


@pytest.mark.slow
def test_an_instant_may_come_in_one_push() -> None:
    for case, _ in some(2):
        runtime, found = runtime_of(case)
        reported: list[Occurrence] = []
        for at, arrivals in case.instants():
            occurrences = [solved(o, found) for arrival in arrivals for o in arrival.occurrences]
            reported += runtime.push(at, occurrences, items=[arrival.item for arrival in arrivals])
        reported += runtime.advance(case.end)
        reported += runtime.close()
        assert all_told(reported) == all_told(engine_answers(case)), shown(case)


def test_a_stream_may_come_in_bulk() -> None:
    for case, _ in some(3):
        if "NOT" in operators_of(case):
            continue
        runtime, found = runtime_of(case)
        reported = [
            *runtime.push_occurrences([solved(o, found) for a in case.arrivals for o in a.occurrences]),
            *runtime.advance(case.end),
            *runtime.close(),
        ]
        assert all_told(reported) == all_told(engine_answers(case)), shown(case)


def run_engine(case: Case, portions: Sequence[Sequence[Arrival]], **settings: object) -> list[Occurrence]:
    engine = engine_of(case, **settings)
    reported: list[Occurrence] = []
    for portion in portions:
        reported += engine.push_items([arrival.item for arrival in portion])
    reported += engine.advance(case.end // SECOND)
    return reported + list(engine.close())


@pytest.mark.slow
def test_items_one_by_one_or_in_bulk() -> None:
    for case, _ in some(4, 0.5):
        one_by_one = run_engine(case, [[arrival] for arrival in case.arrivals])
        in_bulk = run_engine(case, [case.arrivals])
        assert all_told(one_by_one) == all_told(in_bulk), shown(case)
        assert all_told(one_by_one) == all_told(engine_answers(case)), shown(case)


def test_shuffled_within_the_lateness_is_sorted() -> None:
    for case, random in some(5, 0.5):
        lateness = random.choice((1, 2, 4))
        delayed = sorted(case.arrivals, key=lambda a: a.item.at + random.random() * lateness * SECOND)
        in_order = run_engine(case, [[arrival] for arrival in case.arrivals])
        shuffled = run_engine(case, [[arrival] for arrival in delayed], lateness=lateness)
        assert all_told(in_order) == all_told(shuffled), shown(case)


# --- time -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_detected_before_an_instant_is_told_when_that_instant_comes() -> None:
    """Nothing is told before it is detected, and nothing stays behind when time has gone on."""
    for case, _ in some(6):
        runtime, found = runtime_of(case)
        expected = engine_answers(case)
        known: set[object] = set()
        for arrival in case.arrivals:
            occurrences = [solved(o, found) for o in arrival.occurrences]
            news = runtime.push(arrival.item.at, occurrences, items=(arrival.item,))
            assert _in_time(news, expected, known, arrival.item.at), shown(case)
        last = case.arrivals[-1].item.at if case.arrivals else 0
        for now in range(last, case.end + 1, SECOND // 2):
            assert _in_time(runtime.advance(now), expected, known, now), shown(case)


def _in_time(
    news: Sequence[Occurrence], expected: Sequence[Occurrence], known: set[object], now: int
) -> bool:
    known |= {identity(o) for o in news}
    too_early = any(o.detected > now for o in news)
    return not too_early and all(identity(o) in known for o in expected if o.detected < now)


def test_absence_fires_exactly_at_its_deadline() -> None:
    case = read_case("EVENT H MATCH A NOT FOLLOWED BY B WITHIN 3 s", "A1")
    (arrival,) = case.arrivals
    runtime, found = runtime_of(case)
    pushed = runtime.push(SECOND, [solved(o, found) for o in arrival.occurrences], items=(arrival.item,))
    assert not all_told([*pushed, *runtime.advance(4 * SECOND - 1)])
    assert _number(runtime.pending) == 1
    news = [*runtime.advance(4 * SECOND), *runtime.advance(4 * SECOND + 1)]
    assert [(o.start, o.end, o.detected) for o in news] == [(SECOND, 4 * SECOND, 4 * SECOND)]
    assert not runtime.close()


def test_absence_beyond_the_end_stays_pending() -> None:
    case = read_case("EVENT H MATCH A NOT FOLLOWED BY B WITHIN 3 s", "A1 |3")
    assert not engine_answers(case)


# --- state ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_snapshot_and_restore_after_any_item() -> None:
    for case, random in some(7, 0.5):
        lateness = random.choice((0, 2))
        unbroken = run_engine(case, [[arrival] for arrival in case.arrivals], lateness=lateness)
        for cut in range(len(case.arrivals) + 1):
            before = engine_of(case, lateness=lateness)
            reported = [o for arrival in case.arrivals[:cut] for o in before.push_items([arrival.item])]
            after = engine_of(case, lateness=lateness)
            after.restore(before.snapshot())
            reported += [o for arrival in case.arrivals[cut:] for o in after.push_items([arrival.item])]
            reported += [*after.advance(case.end // SECOND), *after.close()]
            assert all_told(reported) == all_told(unbroken), (cut, shown(case))


def goes_on(query: str, stream: str, cut: int, snapshot: bytes) -> list[str]:
    """The ids of what is reported after the cut."""
    case = named(read_case(query, stream))
    engine = engine_of(case)
    engine.restore(snapshot)
    reported = [o for arrival in case.arrivals[cut:] for o in engine.push_items([arrival.item])]
    return [o.id for o in (*reported, *engine.advance(case.end // SECOND), *engine.close())]


@pytest.mark.slow
def test_snapshot_here_and_restore_in_another_process() -> None:
    tasks, expected = [], []
    for case, random in some(8, 0.25):
        cut = random.randint(0, len(case.arrivals))
        engine = engine_of(case)
        first = {o.id for arrival in case.arrivals[:cut] for o in engine.push_items([arrival.item])}
        tasks.append((case_text(case), show_stream(case), cut, engine.snapshot().hex()))
        unbroken = run_engine(case, [[arrival] for arrival in case.arrivals])
        expected.append(sorted({o.id for o in unbroken} - first))
    done = subprocess.run(
        [sys.executable, "-c", "from oracle import test_laws; test_laws.main()"],
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": f"{Path(__file__).parent.parent}:{Path(__file__).parent.parent.parent}",
            "PYTHONHASHSEED": "7",
        },
    )
    assert done.returncode == 0, done.stderr
    assert [sorted(ids) for ids in json.loads(done.stdout)] == expected


def main() -> None:
    """The other process."""
    tasks = json.load(sys.stdin)
    json.dump(
        [goes_on(query, stream, cut, bytes.fromhex(data)) for query, stream, cut, data in tasks], sys.stdout
    )


def bounded(case: Case, bound: int) -> Case | None:
    """The case with a WITHIN around every pattern, if the checker allows it."""
    around = ast.Duration(bound * SECOND)
    events = tuple(replace(event, pattern=ast.Within(event.pattern, around)) for event in case.events)
    wrapped = replace(case, events=events)
    return None if refusals(wrapped) else as_parsed(wrapped)


@pytest.mark.slow
def test_state_is_that_of_a_new_engine_when_the_horizon_has_passed() -> None:
    tried = 0
    for case, random in some(9):
        wrapped = bounded(case, random.choice((5, 8)))
        if wrapped is None:
            continue
        tried += 1
        runtime, found = runtime_of(wrapped)
        for arrival in wrapped.arrivals:
            runtime.push(
                arrival.item.at, [solved(o, found) for o in arrival.occurrences], items=(arrival.item,)
            )
        later = wrapped.end + 100 * SECOND
        runtime.advance(later)
        fresh, _ = runtime_of(wrapped)
        fresh.advance(later)
        assert _number(runtime.size) == _number(fresh.size), shown(wrapped)
        assert _number(runtime.pending) == _number(fresh.pending) == 0, shown(wrapped)
        assert runtime.dump() == fresh.dump(), shown(wrapped)
    assert tried > EXAMPLES / 4


def _number(value: object) -> int:
    return value() if callable(value) else value  # type: ignore[no-any-return, return-value]


# --- splitting --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_split_by_a_variable_that_all_aliases_bind_is_not_split() -> None:
    """SPEC §4: without NOT, FIRST, LAST and policies that never changes the answer."""
    tried = 0
    shapes = [shape for shape in FOCUSED if not re.search(r"\b(NOT|FIRST|LAST|G)\b", shape)]
    for number in range(EXAMPLES):
        random = Random(SEED + 7_000_003 + number)
        case = drawn(Maker(random, focus=random.choice(shapes), keyed=True))
        if case is None or len(case.events[0].partition_by) != 1:
            continue
        event = replace(case.events[0], policy="unrestricted")
        (key,) = (var.name for var in event.partition_by)
        whole = as_parsed(replace(case, events=(replace(event, partition_by=()),)))
        if not _shared(whole.events[0], key):
            continue
        arrivals = [_single_valued(arrival, event, key) for arrival in whole.arrivals]
        whole = replace(whole, arrivals=tuple(arrivals))
        values = {_value(o, event, key) for arrival in arrivals for o in arrival.occurrences}
        parts = set()
        for value in values:
            kept = tuple(
                arrival._replace(
                    occurrences=tuple(o for o in arrival.occurrences if _value(o, event, key) == value)
                )
                for arrival in arrivals
            )
            parts |= all_told(engine_answers(replace(whole, arrivals=kept)))
        assert all_told(engine_answers(whole)) == parts, shown(whole)
        tried += bool(parts)
    assert tried > EXAMPLES / 10


def _shared(event: ast.CompositeEvent, key: str) -> bool:
    """Whether no TIMES has copies of the variable, now that PARTITION BY does not share it any more."""
    inside = [
        leaf
        for node in _nodes(event.pattern)
        if isinstance(node, ast.Times)
        for leaf in leaves_of(node)
        if ast.Var(key) not in leaf.parameters
    ]
    return not inside


def _nodes(node: object) -> Iterator[ast.Node]:
    from oracle.guard_semantics import parts

    return iter(parts(node))


def _value(o: Occurrence, event: ast.CompositeEvent, key: str) -> object:
    """The one value of the key in an occurrence; nothing if no leaf reads it."""
    values = {
        term
        for leaf in leaves_of(event.pattern)
        if leaf.event.iri == o.event and key in bound_by(event, leaf)
        for row in solve_on_explanation(event, leaf, o)
        for name, term in row
        if name == key
    }
    return next(iter(values)) if len(values) == 1 else None


def _single_valued(arrival: Arrival, event: ast.CompositeEvent, key: str) -> Arrival:
    kept = tuple(o for o in arrival.occurrences if _value(o, event, key) is not None)
    return arrival._replace(occurrences=kept)
