"""The engine against the oracle on random cases: the same occurrences with the same start, end, detected,
since, parts, contexts and bindings; also when the items are shuffled within a lateness, and new engines go on
from snapshots.

OBEP_EXAMPLES is the number of cases, OBEP_SEED where their seeds begin. The run asserts its own mix.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count, cycle, islice
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings

from oracle.pattern_cases import Case, read_case
from oracle.pattern_runs import drawn, refusals, shown, shrunk
from oracle.pattern_strategies import (
    FOCUSED,
    NEVER_NESTED,
    OPERATORS,
    POLICIES,
    Maker,
    cases,
    nestings,
    operators_of,
)
from oracle.pattern_trials import problem_of
from oracle.semantics import TooLarge
from oracle.test_oracle_by_hand import GUARDS, ROWS

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "360"))
SEED = int(os.environ.get("OBEP_SEED", "0"))
PAIRS = [(a, b) for a in OPERATORS for b in OPERATORS if (a, b) not in NEVER_NESTED]
MOST_FAILURES = 3


@dataclass
class Run:
    """What a run has seen."""

    tried: int = 0
    answered: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    nested: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def take(self, case: Case) -> None:
        for event in case.events:
            self.nested.update(set(nestings(event.pattern)))
        try:
            found = case.oracle()
        except TooLarge:
            return
        self.tried += 1
        self.answered += any(hit.occurrence.event == case.events[-1].name.iri for hit in found)
        self.operators.update(operators_of(case))
        if problem_of(case, self.tried, found):
            seed = self.tried
            small = shrunk(case, lambda smaller: bool(problem_of(smaller, seed)))
            self.failures.append(f"{shown(small)}\n{problem_of(small, seed)}")


def makers(seeds: Iterator[int]) -> Iterator[Maker]:
    """First each pair of operators nested in each other, then given shapes, pairs and free ones in turn."""
    for pair in PAIRS:
        yield Maker(Random(next(seeds)), pair)
    for pair, focus in zip(cycle(PAIRS), cycle(FOCUSED), strict=False):
        yield Maker(Random(next(seeds)), focus=focus)
        yield Maker(Random(next(seeds)), focus=focus, keen=True)
        yield Maker(Random(next(seeds)), pair)
        yield Maker(Random(next(seeds)))


def nested(case: Case, pair: tuple[str, str]) -> bool:
    """Whether a case has the nesting that it is for: it may be lost where a case is made valid."""
    return any(pair in set(nestings(event.pattern)) for event in case.events)


@pytest.fixture(scope="module")
def run() -> Run:
    """One pass over the cases; what the checker refuses is drawn again."""
    seen = Run()
    seeds = count(SEED)
    for maker in islice(makers(seeds), EXAMPLES):
        case = drawn(maker)
        tries = 0
        while case is None or (tries < 60 and maker.nest and not nested(case, maker.nest)):
            case = drawn(replace(maker, random=Random(next(seeds)), heads={})) or case
            tries += 1
        seen.take(case)
        if len(seen.failures) >= MOST_FAILURES:
            break
    return seen


def test_the_engine_answers_as_the_oracle_does(run: Run) -> None:
    assert not run.failures, "\n\n".join(run.failures)


def test_the_mix_of_the_cases(run: Run) -> None:
    if run.failures:
        pytest.skip("the run has stopped early")
    assert run.answered >= 0.4 * run.tried
    clauses = ("PARTITION BY", "FILTER", "stacked", *POLICIES)
    rare = {
        name: run.operators[name] for name in (*OPERATORS, *clauses) if run.operators[name] < 0.05 * run.tried
    }
    assert not rare
    assert not [pair for pair in PAIRS if not run.nested[pair]]


@settings(max_examples=max(20, EXAMPLES // 10), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_the_engine_answers_as_the_oracle_does_on_what_hypothesis_finds(case: Case) -> None:
    assume(not refusals(case))
    problem = problem_of(case, 0)
    assert not problem, f"{shown(case)}\n{problem}"


@pytest.mark.parametrize(("event", "stream", "_"), [*ROWS.values(), *GUARDS.values()], ids=[*ROWS, *GUARDS])
def test_the_engine_answers_as_worked_out_by_hand(event: str, stream: str, _: object) -> None:
    problem = problem_of(read_case(f"EVENT H MATCH {event}", stream), 0)
    assert not problem, problem
