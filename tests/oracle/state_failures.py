"""Failing cases of `state_trials`, made small: `python -m oracle.state_failures SEED …`, in tests/.

Each seed is drawn again; the first of its cases that differs from the oracle is printed as a query and
a stream of one line (`state_cases.read_items` reads it), with the difference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from obep.errors import ObepError
from oracle.semantics import TooLarge
from oracle.state_strategies import StateCase
from oracle.state_trials import Engine, cases_of, difference_of, oracle_answer
from oracle.states.state_shrinking import show_items, shrunk

NONSENSE = (ObepError, KeyError, ValueError, NotImplementedError, TooLarge)
"""What a case gives that was made smaller than it can be."""


def smallest(engine: Engine, case: StateCase, seed: int, show: Callable[[object], str] = str) -> str:
    """A smallest case that fails as this one does, to read; nothing if it does not fail.

    `seed` chooses what may not matter: it is the same for every smaller case.
    """

    def fails(smaller: StateCase) -> bool:
        try:
            return bool(difference_of(engine, smaller, seed, oracle_answer(smaller)))
        except NONSENSE:
            return False

    if not fails(case):
        return ""
    small = shrunk(case, fails)
    return (
        f"{show(small.file)}\n{show_items(small)}\n{difference_of(engine, small, seed, oracle_answer(small))}"
    )


def main(*seeds: int) -> int:
    from obep.query.print.printer import show
    from oracle.state_engine import engine_answers

    failed = False
    for seed in seeds:
        text = "no difference"
        for number, (case, handling) in enumerate(cases_of(seed)):
            if found := smallest(engine_answers, case, handling, show):
                text, failed = f"stream {number}\n{found}", True
                break
        print(f"seed {seed}, {text}\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
