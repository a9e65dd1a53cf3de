"""Many random cases of `pattern_random` against the oracle: in order, and disturbed.

`python -m oracle.pattern_trials SEED CASES`, in tests/, runs them from a seed on and prints the counts. A
failing seed is made small and printed as a test case.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from oracle.pattern_cases import Case, read_case, read_stream
from oracle.pattern_engine import difference, disturbed_answers, engine_answers
from oracle.pattern_random import PAIRS, Draw
from oracle.pattern_runs import refusals, shown, shrunk
from oracle.semantics import Found, TooLarge


def problem_of(case: Case, seed: int, found: list[Found] | None = None) -> str:
    """How an engine differs from the oracle, run in order and disturbed; a crash is a difference, too."""
    try:
        expected = case.oracle() if found is None else found
    except TooLarge:
        return ""
    for way, run in (
        ("", lambda: engine_answers(case)),
        ("disturbed, ", lambda: disturbed_answers(case, Random(seed))),
    ):
        try:
            problem = difference(case, run(), expected)
        except Exception as crash:  # shrunk and shown like any other difference
            problem = f"{type(crash).__name__}: {crash}"
        if problem:
            return f"{way}{problem}"
    return ""


@dataclass
class Trials:
    """What a run has seen."""

    streams: int = 4
    """For each query."""
    queries: int = 0
    refused: int = 0
    cases: int = 0
    answered: int = 0
    too_large: int = 0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    clauses: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def run(self, seed: int, cases: int, most_failures: int = 3) -> int:
        """Runs so many cases from a seed on; the first seed that was not used."""
        wanted = self.cases + cases
        while self.cases < wanted and len(self.failures) < most_failures:
            self.run_draw(Draw.of(seed), seed)
            seed += 1
        return seed

    def run_draws(self, draws: Iterable[Draw], until: tuple[str, str]) -> None:
        """Runs these until one has a pair of operators and is not refused."""
        for number, draw in enumerate(draws):
            self.run_draw(draw, number)
            if self.pairs[until]:
                return

    def run_draw(self, draw: Draw, seed: int) -> None:
        """The streams of what was drawn."""
        for case in self._cases(draw):
            self._take(case, seed)

    def _cases(self, draw: Draw) -> Iterator[Case]:
        """A query with its streams: nothing if the checker refuses it."""
        text = draw.query()
        case = read_case(text, "A0")
        if refusals(case):
            self.refused += 1
            return
        self.queries += 1
        self.pairs.update({pair for shape in draw.shapes for pair in shape.pairs()})
        self.clauses.update({word for word in ("PARTITION", "POLICY", "FILTER", "EVENT F") if word in text})
        for _ in range(self.streams):
            arrivals, end = read_stream(draw.stream())
            yield replace(case, arrivals=arrivals, end=end)

    def _take(self, case: Case, seed: int) -> None:
        try:
            found = case.oracle()
        except TooLarge:
            self.too_large += 1
            return
        self.cases += 1
        self.answered += any(hit.occurrence.event == case.events[-1].name.iri for hit in found)
        if problem_of(case, seed, found):
            small = shrunk(case, lambda smaller: bool(problem_of(smaller, seed)))
            self.failures.append(f"seed {seed}\n{shown(small)}\n{problem_of(small, seed)}")


def main(seed: int, cases: int) -> int:
    trials = Trials()
    after = trials.run(seed, cases)
    print(
        f"seeds {seed} to {after - 1}: {trials.cases} cases of {trials.queries} queries, "
        f"{trials.answered} with answers, {trials.refused} queries refused, {trials.too_large} too large, "
        f"{len([pair for pair in PAIRS if not trials.pairs[pair]])} pairs of operators missing"
    )
    print("\n\n".join(trials.failures))
    return bool(trials.failures)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
