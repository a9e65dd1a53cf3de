"""What OBEP219 says to be never true of times holds of nothing that the engine finds, on random streams.

OBEP_EXAMPLES is the number of cases, OBEP_SEED where their seeds begin. The run asserts its own mix.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any

import pytest

from obep.lints.check_query import check
from obep.query import ast
from obep.query.walk import walk
from oracle.guard_semantics import alias_of
from oracle.pattern_cases import Case
from oracle.pattern_engine import engine_answers
from oracle.pattern_runs import drawn, linked_case, refusals, shown, shrunk
from oracle.pattern_semantics import leaves_of
from oracle.pattern_strategies import FOCUSED, Maker, number, operators_of, seconds

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "400"))
SEED = int(os.environ.get("OBEP_SEED", "0"))
SIGNS: tuple[Any, ...] = ("=", "!=", "<", "<=", ">", ">=")
PLUS_OR_MINUS: tuple[Any, ...] = ("+", "-")


def moment(random: Random, aliases: list[str | None]) -> ast.Expression:
    time = ast.TimeFunction(random.choice(("getSTARTTIME", "getENDTIME")), random.choice(aliases))
    if random.random() < 0.2:
        return ast.Arithmetic(random.choice(PLUS_OR_MINUS), time, seconds(random.randint(0, 4)))
    return time


def duration(random: Random, aliases: list[str | None]) -> ast.Expression:
    if random.random() < 0.3:
        return ast.TimeFunction("getDURATION", random.choice(aliases))
    found = ast.Arithmetic("-", moment(random, aliases), moment(random, aliases))
    if random.random() < 0.2:
        return ast.Arithmetic(random.choice(PLUS_OR_MINUS), found, duration(random, aliases))
    return ast.Arithmetic("*", number(2), found) if random.random() < 0.1 else found


def comparison(random: Random, aliases: list[str | None]) -> ast.Comparison:
    """A comparison of times, as users write them."""
    constant = random.choice((0, 1, 2, 3, 4, 5, 8))
    kind = random.random()
    if kind < 0.4:
        sides = [moment(random, aliases), moment(random, aliases)]
    elif kind < 0.9:
        sides = [duration(random, aliases), seconds(constant)]
    else:
        sides = [ast.Call("SECONDS", (duration(random, aliases),)), number(constant)]
    if random.random() < 0.2:
        sides.reverse()
    return ast.Comparison(random.choice(SIGNS), *sides)


def with_condition(case: Case, condition: ast.Expression) -> Case:
    """The case with this condition on its last event, and none on those below."""
    bare = [replace(e, guard=replace(e.guard, filters=()) if e.guard else None) for e in case.events]
    guard = replace(bare[-1].guard or ast.Guard((), ()), filters=(ast.Filter(condition),))
    return replace(case, events=(*bare[:-1], replace(bare[-1], guard=guard)))


def said(case: Case) -> bool:
    """Whether the condition of the last event is said to be never true."""
    return any(
        one.code == "OBEP219" and one.message.endswith("is never true in this pattern")
        for one in check(linked_case(case))
    )


def escapes(case: Case) -> bool:
    """Whether a condition that is said to be never true lets something through that has all its aliases."""
    event = case.events[-1]
    if event.guard is None or not event.guard.filters or not said(case):
        return False
    named = {n.alias for n in walk(event.guard) if isinstance(n, ast.TimeFunction) and n.alias}
    return any(
        named <= {part.alias.split("#")[0] for part in found.parts}
        for found in engine_answers(case)
        if found.event == event.name.iri
    )


@dataclass
class Run:
    tried: int = 0
    said: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def take(self, case: Case, random: Random) -> None:
        pattern = case.events[-1].pattern
        times = Counter(map(alias_of, leaves_of(pattern)))
        aliases: list[str | None] = [alias for alias, often in times.items() if often == 1]
        for _ in range(6):
            asked = with_condition(case, comparison(random, [*aliases, None]))
            if refusals(asked):
                continue
            self.tried += 1
            if said(asked):
                self.said += 1
                self.operators.update(operators_of(asked))
            if escapes(asked):
                self.failures.append(shown(shrunk(asked, escapes)))


@pytest.fixture(scope="module")
def run() -> Run:
    seen = Run()
    for seed in count(SEED):
        random = Random(seed)
        focus = random.choice(FOCUSED) if random.random() < 0.6 else None
        case = drawn(Maker(random, focus=focus))
        # That an item may take time is told by a window, which these queries do not have.
        if case is None or any(o.start < o.end for one in case.arrivals for o in one.occurrences):
            continue
        seen.take(case, random)
        if len(seen.failures) >= 3 or seen.tried >= EXAMPLES * 6:
            return seen
    raise AssertionError


def test_nothing_escapes_what_is_said_to_be_never_true(run: Run) -> None:
    assert not run.failures, "\n\n".join(run.failures)


def test_the_mix_of_what_is_said(run: Run) -> None:
    if run.failures:
        pytest.skip("the run has stopped early")
    assert run.said > run.tried // 5
    rare = {"SEQ", "NEXT", "AND", "ALLEN", "DURING", "TIMES", "WITHOUT", "NOT FOLLOWED BY", "WITHIN", "LAST"}
    assert {name for name in rare if run.operators[name] < 5} == set()
