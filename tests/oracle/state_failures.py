"""Failing cases of `state_trials`, made small: `python -m oracle.state_failures SEED …`, in tests/.

Each seed is drawn again; what differs from the oracle is printed as a query and
a stream of one line (`state_cases.read_items` reads it), with the difference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from random import Random

from obep.errors import ObepError
from obep.model import SECOND, Item
from oracle.semantics import TooLarge
from oracle.state_strategies import StateCase, StateCases
from oracle.state_trials import Engine, difference, oracle_answer
from oracle.states.state_shrinking import show_items, shrunk

NONSENSE = (ObepError, KeyError, ValueError, NotImplementedError, TooLarge)
"""What a case gives that was made smaller than it can be."""


def problem_of(engine: Engine, case: StateCase, seed: int) -> str:
    """How an engine differs from the oracle; a crash is a difference, too."""
    answer = oracle_answer(case)
    try:
        return difference(case, answer, *engine(case, seed))
    except ObepError:
        raise
    except Exception as crash:  # shrunk and shown like any other difference
        return f"{type(crash).__name__}: {crash}"


def smallest(engine: Engine, case: StateCase, seed: int, show: Callable[[object], str] = str) -> str:
    """A smallest case that fails as this one does, to read; nothing if it does not fail."""

    def fails(smaller: StateCase) -> bool:
        try:
            return bool(problem_of(engine, smaller, seed))
        except NONSENSE:
            return False

    if not fails(case):
        return ""
    small = shrunk(case, fails)
    return f"{show(small.file)}\n{show_items(small)}\n{problem_of(engine, small, seed)}"


def arrivals(items: Sequence[Item], random: Random, lateness: int) -> list[Item]:
    """The items in an order that the lateness allows; sometimes, at the end, one that is too late."""
    order = random.sample(items, len(items))
    order.sort(key=lambda item: item.at + random.random() * lateness)
    last = max(item.at for item in order)
    old = Item("s", last - lateness - 2 * SECOND, items[-1].triples)
    return [*order, old] if random.random() < 0.3 and old.at >= 0 else order


def main(*seeds: int) -> int:
    from obep.query.print.printer import show
    from oracle.state_engine import engine_answers

    found = [(seed, smallest(engine_answers, StateCases.of(seed).case(), seed, show)) for seed in seeds]
    for seed, text in found:
        print(f"seed {seed}\n{text or 'no difference'}\n")
    return int(any(text for _, text in found))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
