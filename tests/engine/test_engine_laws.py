"""Laws that hold for every pattern, on the oracle's random cases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import msgspec
import pytest
from oracle.pattern_cases import Case
from oracle.pattern_engine import engine_answers, solved
from oracle.pattern_runs import drawn, linked_case, refusals, shown
from oracle.pattern_strategies import Maker, operands_of, with_operands

from obep.engine.runtime import Runtime
from obep.guards.block_queries import asks
from obep.model import SECOND, Occurrence
from obep.plan.build_plan import plan
from obep.plan.plan import Plan
from obep.query import ast

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "120"))


class Everything(frozenset):
    """A vocabulary that has every name: no guard looks at the whole item."""

    def __contains__(self, name: object) -> bool:
        return True


def cases(examples: int = EXAMPLES, first: int = 500_000) -> Iterator[Case]:
    seeds = iter(range(first, first + 100 * examples))
    for _ in range(examples):
        case = None
        while case is None:
            case = drawn(Maker(Random(next(seeds)), None))
        yield case


def told(reported: list[Occurrence]) -> list[tuple[object, ...]]:
    return sorted(
        (o.id, o.detected, o.since, str(sorted(map(str, o.bindings))), str([part[0] for part in o.parts]))
        for o in reported
    )


def runtime_of(case: Case, *, known: bool = False) -> tuple[Runtime, Plan]:
    linked = linked_case(case)
    bundle = SimpleNamespace(vocabulary=lambda event: Everything(), bounded=()) if known else None
    made = replace(plan(linked, asks(linked), bundle), returned={})  # that is: all composites
    return Runtime(made), made


@pytest.mark.slow
def test_any_order_of_the_items_of_an_instant_gives_the_same_answers():
    for case in cases():
        random = Random(str(case.end))
        arrivals = [arrival for _, same in case.instants() for arrival in random.sample(same, len(same))]
        assert told(engine_answers(case, arrivals)) == told(engine_answers(case)), shown(case)


@pytest.mark.slow
def test_all_of_an_instant_at_once_is_one_by_one():
    for case in cases():
        runtime, made = runtime_of(case)
        reported: list[Occurrence] = []
        for at, same in case.instants():
            occurrences = [solved(o, made.asks) for arrival in same for o in arrival.occurrences]
            reported += runtime.push(at, occurrences, items=[arrival.item for arrival in same])
        reported += runtime.advance(case.end)
        reported += runtime.close()
        assert told(reported) == told(engine_answers(case)), shown(case)


@pytest.mark.slow
def test_in_bulk_is_one_by_one():
    flat = 0
    for case in cases(4 * EXAMPLES):
        lasting = any(o.start != o.end for arrival in case.arrivals for o in arrival.occurrences)
        runtime, made = runtime_of(case, known=not lasting)
        if not runtime.flat:
            continue
        flat += 1
        everything = [solved(o, made.asks) for arrival in case.arrivals for o in arrival.occurrences]
        half = len(everything) // 2
        reported = [
            *runtime.push_occurrences(everything[:half]),
            *runtime.push_occurrences(everything[half:]),
        ]
        assert told(reported) == told(engine_answers(case)), shown(case)
    assert flat >= 5


@pytest.mark.slow
def test_nothing_is_left_when_the_horizon_has_passed():
    for case in map(bounded, cases()):
        if refusals(case):
            continue
        runtime, made = runtime_of(case)
        horizons = [event.horizon for event in made.events if event.root is not None]
        for arrival in case.arrivals:
            occurrences = [solved(o, made.asks) for o in arrival.occurrences]
            runtime.push(arrival.item.at, occurrences, items=(arrival.item,))
        runtime.advance(case.end + max(horizons) + 1)
        runtime.advance(case.end + 3 * max(horizons) + 2)
        assert runtime.size() == 0 and runtime.pending() == 0, shown(case)
        assert msgspec.msgpack.encode(runtime.dump()[2:]) == msgspec.msgpack.encode(
            runtime_of(case)[0].dump()[2:]
        ), shown(case)


def bounded(case: Case) -> Case:
    """The same events, each within a bound."""
    within = ast.Duration(4 * SECOND)
    return replace(case, events=tuple(replace(e, pattern=ast.Within(e.pattern, within)) for e in case.events))


@pytest.mark.slow
def test_split_by_the_key_is_not_split():
    split = 0
    for case in map(keyed, cases(3 * EXAMPLES)):
        if refusals(case):
            continue
        runtime, made = runtime_of(case)
        composites = [event for event in made.events if event.root is not None]
        if len(composites) != 1 or composites[0].key is None or composites[0].partition_by:
            continue
        split += 1
        reported: list[Occurrence] = []
        for value in sorted({o.individual for arrival in case.arrivals for o in arrival.occurrences}):
            runtime, _ = runtime_of(case)
            for arrival in case.arrivals:
                own = [solved(o, made.asks) for o in arrival.occurrences if o.individual == value]
                reported += runtime.push(arrival.item.at, own, items=(arrival.item,))
            reported += runtime.advance(case.end)
            reported += runtime.close()
        assert told(reported) == told(engine_answers(case)), shown(case)
    assert split >= 0.1 * EXAMPLES


def keyed(case: Case) -> Case:
    """The last event alone, with every alias tied to one individual."""

    def tied(node):
        if isinstance(node, ast.Leaf):
            return replace(node, parameters=(ast.Var("key"),))
        return with_operands(node, tuple(map(tied, operands_of(node))))

    event = case.events[-1]
    alone = replace(event, pattern=tied(event.pattern), policy="unrestricted", partition_by=())
    return replace(case, events=(alone,))


@pytest.mark.slow
def test_more_time_at_the_end_changes_nothing_but_deadlines():
    for case in cases():
        longer = {o.id for o in engine_answers(replace(case, end=case.end + 100 * SECOND))}
        assert {o.id for o in engine_answers(case)} <= longer, shown(case)
