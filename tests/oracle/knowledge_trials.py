"""Random cases in which K changes, against the oracle, which takes the K of each instant.

`python -m oracle.knowledge_trials SEED CASES`, in tests/, runs them from a seed on.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from obep.errors import ObepError
from obep.model import SECOND, Alert, DeadLetter, Item, Occurrence, Triple
from oracle.semantics import TooLarge
from oracle.state_cases import read_k
from oracle.state_engine import Handling, alert_told, query_of, told
from oracle.state_semantics import Answer, Told, evaluate
from oracle.state_strategies import StateCase, StateCases
from oracle.state_trials import difference

SAID = read_k(
    "x a Sensor . y a Sensor . z a Sensor . x floor f1 . x floor f2 . y floor f1 . y floor f2 . z floor f1 . "
    "x max 1 . x max 2 . x max 4 . y max 2 . y max 3 . z max 3 . f1 a Sensor . x near y . y near x"
)
"""What K may come to say."""


@dataclass(frozen=True)
class Change:
    """Triples that come and that go at an instant."""

    at: int
    insert: tuple[Triple, ...]
    delete: tuple[Triple, ...]


def draw_changes(random: Random, case: StateCase) -> list[Change]:
    """Changes in the order of time, some at the instants of items, some that say what is so already."""
    instants = sorted({random.randint(0, max(1, case.end // SECOND)) for _ in range(random.randint(1, 5))})
    drawn = []
    for at in instants:  # in seconds, as the items are
        come, gone = (tuple(random.sample(SAID, random.randint(0, 3))) for _ in range(2))
        drawn.append(Change(at * SECOND, come, gone))
    return drawn


def oracle_answer(case: StateCase, changes: list[Change]) -> Answer:
    """Up to the first item a change is as if K had said it at the start."""
    first = min((item.at for item in case.items), default=0)
    start = frozenset(case.k)
    later = []
    k = start
    for change in changes:
        k = k - frozenset(change.delete) | frozenset(change.insert)
        if change.at <= first:
            start = k
        else:
            later.append((change.at, k))
    return evaluate(case.file, case.items, start, end=case.end, changes=later)


def engine_answer(
    case: StateCase, changes: list[Change], seed: int
) -> tuple[Counter[Told], Counter[Told], list[DeadLetter]]:
    """The engine gets the changes while it runs; the seed chooses the order, and where it is restored."""
    query, how = query_of(case), Handling.of(seed)
    letters: list[DeadLetter] = []
    engine = query.engine(remember=0, lateness=how.lateness, on_dead_letter=letters.append)
    found: list[Occurrence] = []
    arriving: list[Item | Change] = [*how.order(case.items)]
    for change in changes:  # after all that lies before it, ahead of what does not
        place = next((n for n, one in enumerate(arriving) if one.at >= change.at), len(arriving))
        arriving.insert(place, change)
    for one in arriving:
        if isinstance(one, Change):
            found += engine.update(one.insert, one.delete, one.at / SECOND)
        else:
            found += engine.push_items([one])
        if how.restores and how.random.random() < 0.2:
            state = engine.snapshot()
            engine = query.engine(remember=0, lateness=how.lateness, on_dead_letter=letters.append)
            engine.restore(state)
    found += engine.advance(case.end / SECOND)
    found += engine.close()
    alerts = Counter(alert_told(one) for one in found if isinstance(one, Alert))
    return Counter(told(one, query) for one in found if not isinstance(one, Alert)), alerts, letters


@dataclass
class KnowledgeTrials:
    """What a run has seen."""

    cases: int = 0
    answered: int = 0
    different: int = 0
    """Cases in which the changes make a difference."""
    refused: int = 0
    failures: list[str] = field(default_factory=list)

    def run(self, seed: int, cases: int) -> int:
        """Runs so many cases from a seed on; the first seed that was not used."""
        wanted = self.cases + cases
        while self.cases < wanted and len(self.failures) < 3:
            for case in StateCases.of(seed).cases(2):
                self.take(case, seed)
            seed += 1
        return seed

    def take(self, case: StateCase, seed: int) -> None:
        random = Random(seed)
        changes = draw_changes(random, case)
        try:
            answer = oracle_answer(case, changes)
            before = evaluate(case.file, case.items, case.k, end=case.end)
            found, alerts, letters = engine_answer(case, changes, seed)
        except TooLarge:
            return
        except ObepError as error:
            self.failures.append(f"seed {seed}: {error}")
            return
        self.cases += 1
        if any(letter.code == "OBEP822" for letter in letters):  # the calendar of a DAILY state
            self.refused += 1
            return
        self.answered += bool(answer.occurrences)
        self.different += answer.occurrences != before.occurrences
        if problem := difference(case, answer, found, alerts):
            self.failures.append(f"seed {seed}\n{changes}\n{problem}")


if __name__ == "__main__":
    trials = KnowledgeTrials()
    trials.run(int(sys.argv[1]), int(sys.argv[2]))
    print(replace(trials, failures=[]))
    sys.exit("\n\n".join(trials.failures))
