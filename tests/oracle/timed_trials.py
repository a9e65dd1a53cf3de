"""Random cases of `timed_cases`, the engine against the oracle.

`python -m oracle.timed_trials SEED CASES`, in tests/, runs them from a seed on, prints each difference with
the smallest stream that shows it, and counts the operators.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import obep
from obep.errors import ObepError
from obep.model import Occurrence
from obep.query import ast
from oracle.timed_cases import BASE, TimedCase, constructs, drawn_case, turtle
from oracle.timed_semantics import (
    XSD,
    Solution,
    Statement,
    TooLargeCase,
    closed,
    instances,
    projected,
    solutions_of,
)

Answers = Counter[tuple[object, ...]]
"""(statement, row or triples, start, end); of DISTINCT and ASK there is no start (T6)."""

TRUE = frozenset({("ask", f'"true"^^<{XSD}boolean>')})


def merges(statement: Statement) -> bool:
    """Whether one answer may stand for several solutions of an instant."""
    return isinstance(statement, ast.AskQuery) or (isinstance(statement, ast.Select) and statement.distinct)


def oracle_answers(case: TimedCase) -> Answers:
    rules = [
        [rule for place in stratum if isinstance(rule := case.statements[place], ast.ConstructQuery)]
        for stratum in case.strata
    ]
    occurring = closed(rules, case.occurring())
    found: Answers = Counter()
    for place, statement in enumerate(case.statements, 1):
        told = [answer for one in solutions_of(statement, occurring) for answer in answer_of(statement, one)]
        of_each = Counter((f"<q{place}>", *answer) for answer in told)
        found += (
            of_each if isinstance(statement, ast.Select) and not merges(statement) else Counter(set(of_each))
        )
    return found


def answer_of(statement: Statement, solution: Solution) -> list[tuple[object, ...]]:
    if isinstance(statement, ast.ConstructQuery):
        made = instances(statement, solution)
        return [(made, solution.start, solution.end)] if made else []
    if isinstance(statement, ast.AskQuery):
        return [(TRUE, None, solution.end)]
    start = None if merges(statement) else solution.start
    return [(projected(solution, statement).row, start, solution.end)]


def engine_answers(case: TimedCase, folder: Path, cut: int | None = None) -> Answers:
    """What the engine reports; with a snapshot, restored in another engine, before item number `cut`."""
    path = folder / "case.epsparql"
    path.write_text(case.text(), encoding="utf-8")
    (folder / "k.ttl").write_text(turtle(case.timeless), encoding="utf-8")
    query = obep.load(path, java=False)
    engine = query.engine()
    reported: list[Occurrence] = []
    last = (case.items[-1][0] + 1 if case.items else 0, ((f"<{BASE}a>", f"<{BASE}closing>", f"<{BASE}a>"),))
    for place, (at, triples) in enumerate((*case.items, last)):
        if place == cut:
            saved = engine.snapshot()
            engine = query.engine()
            engine.restore(saved)
        reported.extend(engine.push(turtle(triples), at, "s", format="turtle"))
    return told_by_engine(case, reported)


def told_by_engine(case: TimedCase, reported: list[Occurrence]) -> Answers:
    found: Answers = Counter()
    for answer in reported:
        name = f"<{answer.event.rpartition('#')[2]}"
        statement = case.statements[int(name[2:-1]) - 1]
        if isinstance(statement, ast.ConstructQuery):
            key = (name, frozenset(answer.constructed), answer.start, answer.end)
            found[key] = 1
            continue
        start = None if merges(statement) else answer.start
        for row in answer.bindings:
            found[name, frozenset(row.items()), start, answer.end] += 1
    return found


def difference(case: TimedCase, folder: Path, cut: int | None = None) -> str:
    """How the engine differs from the oracle; empty if it does not."""
    expected = oracle_answers(case)
    try:
        found = engine_answers(case, folder, cut)
    except ObepError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"crashed: {error!r}"
    missing, extra = expected - found, found - expected
    return "".join(
        f"{word}: {', '.join(map(shown, answers))}\n"
        for word, answers in (("missing", missing), ("extra", extra))
        if answers
    )


def shown(answer: tuple[object, ...]) -> str:
    event, row, start, end = answer
    assert isinstance(row, frozenset)
    return f"{event} {sorted(row)} [{start}, {end}]"


# --- shrinking ------------------------------------------------------------------------------------------


def smaller(case: TimedCase) -> list[TimedCase]:
    """Cases with one item, triple of an item, timeless triple or query less."""
    found = [replace(case, items=case.items[:n] + case.items[n + 1 :]) for n in range(len(case.items))]
    found += [
        replace(case, timeless=case.timeless[:n] + case.timeless[n + 1 :]) for n in range(len(case.timeless))
    ]
    for n, (at, triples) in enumerate(case.items):
        found += [
            replace(
                case, items=(*case.items[:n], (at, (*triples[:k], *triples[k + 1 :])), *case.items[n + 1 :])
            )
            for k in range(len(triples) if len(triples) > 1 else 0)
        ]
    if len(case.statements) > 1:
        last = case.statements[-1]
        if not isinstance(last, ast.ConstructQuery):
            found.append(replace(case, statements=case.statements[:-1]))
        if not isinstance(case.statements[-2], ast.ConstructQuery):
            found.append(replace(case, statements=(*case.statements[:-2], last)))
    return found


def shrunk(case: TimedCase, folder: Path, cut: int | None) -> TimedCase:
    kind = difference(case, folder, cut)[:7]
    for less in smaller(case):
        problem = difference(less, folder, cut)
        if problem and (problem[:7] == kind or {problem[:7], kind} <= {"missing", "extra: "}):
            return shrunk(less, folder, cut)
    return case


# --- many cases -----------------------------------------------------------------------------------------


@dataclass
class TimedTrials:
    """What a run has seen."""

    folder: Path
    cases: int = 0
    answered: int = 0
    too_large: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def run(self, seed: int, cases: int, most_failures: int = 3) -> None:
        for number in range(seed, seed + cases):
            self.take(number)
            if len(self.failures) >= most_failures:
                return

    def take(self, seed: int) -> None:
        case = drawn_case(seed)
        cut = seed // 2 % (len(case.items) + 1) if seed % 2 else None
        try:
            answers = oracle_answers(case)
            problem = difference(case, self.folder, cut)
        except TooLargeCase:
            self.too_large += 1
            return
        self.cases += 1
        self.answered += bool(answers)
        self.seen.update(set(constructs(case.statements)))
        if problem:
            least = shrunk(case, self.folder, cut)
            problem = difference(least, self.folder, cut)
            self.failures.append(f"seed {seed}, snapshot before item {cut}\n{least.shown()}\n{problem}")


def main(seed: int, cases: int, most: int = 5) -> int:
    with tempfile.TemporaryDirectory() as folder:
        trials = TimedTrials(Path(folder))
        trials.run(seed, cases, most)
    print(f"{trials.cases} cases, {trials.answered} with answers")
    print(f"beside these {trials.too_large} too large")
    print(", ".join(f"{word} {count}" for word, count in trials.seen.most_common()))
    print("\n\n".join(trials.failures))
    return 1 if trials.failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
