"""Many random cases of `state_strategies` against the oracle.

`python -m oracle.state_trials SEED CASES`, in tests/, runs them from a seed on. It counts the cases in which
a pattern has an answer, and in how many of these each construct stands in a definition that has some; it
fails if these are too few, or if the engine differs. For each query there is a case of
`lone_state_strategies`, too: it counts those whose rows the engine takes in one loop. With `lone` behind, it
runs only these.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from obep.errors import ObepError
from obep.model import SECOND
from obep.query import ast
from oracle.lone_state_strategies import LoneStateCases
from oracle.pattern_cases import iri
from oracle.semantics import TooLarge
from oracle.state_engine import Handling, engine_answers, rows_in_loop
from oracle.state_semantics import Answer, evaluate
from oracle.state_strategies import StateCase, StateCases
from oracle.states.state_constructs import EXPECTED, constructs, in_stream
from oracle.states.state_draws import SHIFTS

Engine = Callable[[StateCase, int], "tuple[Counter[tuple[object, ...]], Counter[tuple[object, ...]]]"]
"""The occurrences and alerts that an engine reports for a case, told as the oracle tells them; with a seed
for what may not matter (order within the lateness, snapshots)."""


STREAMS = 4
"""How many streams there are for each query: each is a case."""


def handling_seed(seed: int, number: int) -> int:
    """The seed of what may not matter, for one of the streams of a query."""
    return seed * STREAMS + number


def cases_of(seed: int, lone_only: bool = False) -> Iterator[tuple[StateCase, int]]:
    """The cases of a seed, the lone one last, and for each the seed of what may not matter."""
    if not lone_only:
        for number, case in enumerate(StateCases.of(seed).cases(STREAMS)):
            yield case, handling_seed(seed, number)
    yield next(LoneStateCases.of(seed).cases(1)), seed


def oracle_answer(case: StateCase) -> Answer:
    return evaluate(case.file, case.items, case.k, end=case.end)


@dataclass
class StateTrials:
    """What a run has seen."""

    engine: Engine | None = None
    cases: int = 0
    answered: int = 0
    too_large: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """How many cases with answers have a construct in a definition with an answer."""
    lone: Counter[str] = field(default_factory=Counter)
    """Of the cases of a lone state by rows, which count for nothing else: how many there are, how many have
    an answer, and how many have rows, and changes, in the engine's loop."""
    failures: list[str] = field(default_factory=list)

    def run(self, seed: int, cases: int, most_failures: int = 3, *, lone_only: bool = False) -> int:
        """Runs so many cases from a seed on; the first seed that was not used."""
        wanted = cases + self.count(lone_only)
        while self.count(lone_only) < wanted and len(self.failures) < most_failures:
            for case, handling in cases_of(seed, lone_only):
                self.take(case, seed, handling)
            seed += 1
        return seed

    def count(self, lone_only: bool) -> int:
        return self.lone["cases"] if lone_only else self.cases

    def take(self, case: StateCase, seed: int, handling: int) -> None:
        try:
            answer = oracle_answer(case)
        except TooLarge:
            self.too_large += 1
            return
        if case.in_lots:
            self.lone.update(cases=1, answers=bool(answer.occurrences or answer.alerts))
        else:
            self.cases += 1
            if any(answer.run.pool[iri(event)] for event in ("E", "F", "H")):
                self.answered += 1
                self.seen.update({*answered_constructs(case, answer), *Handling.of(handling).names()})
        if self.engine is not None:
            with rows_in_loop() as counted:
                problem = difference_of(self.engine, case, handling, answer)
            if case.in_lots:
                self.lone.update({name for name, count in counted.items() if count})
            if problem:
                what = "lone" if case.in_lots else f"stream {handling - handling_seed(seed, 0)}"
                self.failures.append(f"seed {seed}, {what}\n{problem}")

    def shortages_of_loops(self) -> list[str]:
        """Which are too few of the lone cases, where an engine has run them."""
        told = ", ".join(f"{count} with {name}" for name, count in sorted(self.lone.items()))
        wanted = {"answers": 0.8, "rows": 0.6, "changes": 0.35}
        short = any(self.lone[name] < share * self.lone["cases"] for name, share in wanted.items())
        return [f"lone: {told}"] if short else []

    def shortages(self) -> list[str]:
        """What the cases have too little of."""
        found = [] if self.answered >= 0.4 * self.cases else [f"{self.answered} of {self.cases} with answers"]
        rare = {name: self.seen[name] for name in EXPECTED if self.seen[name] < 0.05 * self.answered}
        return found + [f"{name}: {count} of {self.answered}" for name, count in rare.items()]


def answered_constructs(case: StateCase, answer: Answer) -> set[str]:
    """The constructs of all definitions that have an answer."""
    windows = {window.name: window for window in case.file.windows}
    found: set[str] = set()
    for event in case.file.events:
        if answer.run.pool[event.name.iri]:
            found |= constructs(event, windows)
    for state in case.file.states:
        if answer.run.lines[state.name.iri].episodes:
            found |= constructs(state, windows)
            if isinstance(state, ast.DailyState) and case.end > min(SHIFTS) * SECOND:
                found.add("CHANGED CLOCKS")
    for record in answer.alerts:
        found.add("ALERT FOR" if record[3] else "ALERT")
    return found | set(in_stream(case.items))


def difference_of(engine: Engine, case: StateCase, seed: int, answer: Answer) -> str:
    """How an engine differs from the oracle; a crash is a difference, too."""
    try:
        return difference(case, answer, *engine(case, seed))
    except ObepError:
        raise
    except Exception as crash:  # shrunk and shown like any other difference
        return f"{type(crash).__name__}: {crash}"


def difference(
    case: StateCase,
    answer: Answer,
    occurrences: Counter[tuple[object, ...]],
    alerts: Counter[tuple[object, ...]],
) -> str:
    """How what is reported differs from the oracle; empty if it does not."""
    lines = []
    returned = {name.iri for clause in case.file.returns for name in clause.events}
    expected = Counter({one: often for one, often in answer.occurrences.items() if one[0] in returned})
    for what, ours, theirs in (
        ("occurrence", expected, occurrences),
        ("alert", answer.alerts, alerts),
    ):
        lines += [f"missing {what}: {told}" for told in (ours - theirs)]
        lines += [f"too much, {what}: {told}" for told in (theirs - ours)]
    return "\n".join(sorted(lines))


def main(seed: int, cases: int, lone_only: bool = False) -> int:
    trials = StateTrials(engine_answers)
    after = trials.run(seed, cases, most_failures=20, lone_only=lone_only)
    print(f"lone states by rows: {dict(trials.lone)}")
    if lone_only:
        print("\n".join([f"seeds {seed} to {after - 1}", *trials.shortages_of_loops(), *trials.failures]))
        return bool(trials.failures or trials.shortages_of_loops())
    print(
        f"seeds {seed} to {after - 1}: {trials.cases} cases, {trials.answered} with answers, "
        f"{trials.too_large} too large"
    )
    for name in EXPECTED:
        print(f"{name:20} {trials.seen[name]:7} {trials.seen[name] / max(trials.answered, 1):6.1%}")
    short = [*trials.shortages(), *trials.shortages_of_loops()]
    print("\n".join([*short, *trials.failures]))
    return bool(trials.failures or short)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), "lone" in sys.argv[3:]))
