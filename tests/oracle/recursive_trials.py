"""Random events that are built on themselves (D40), against the oracle: in order, and disturbed.

`python -m oracle.recursive_trials SEED CASES`, in tests/, runs them from a seed on and prints the counts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random

from oracle.pattern_random import Draw
from oracle.pattern_trials import Trials

STARTS = (
    "X", "X OR Y", "X SEQ Y", "X WITHOUT Y", "X NOT FOLLOWED BY Y WITHIN 2 s", "X AND NOT Y", "X TIMES 2",
)  # fmt: skip
STEPS = (
    "R SEQ X", "R NEXT X", "R SEQ X SEQ Y", "Y SEQ R SEQ X", "(R OR Y) NEXT X", "(R SEQ X) AND Y",
    "(R SEQ X) WITHOUT Y", "(R SEQ X) TIMES 2", "(R JOIN Y) SEQ X", "(R AND Y) SEQ X", "R SEQ R SEQ X",
    "(R NEXT X) NOT FOLLOWED BY Y WITHIN 2 s", "R SEQ (X NOT FOLLOWED BY Y WITHIN 2 s)", "R SEQ (X JOIN Y)",
    "(R NEXT R) SEQ X", "(Y NEXT R) SEQ X", "R SEQ NOT X", "R NEXT (X SEQ Y)", "(R WITHIN 2 s) SEQ X",
    "((R SEQ X) WITHIN 3 s) NEXT Y", "(R WITHOUT Y) SEQ X", "(R NOT FOLLOWED BY Y WITHIN 1 s) SEQ X",
    "(R AND NOT Y) SEQ X", "EVERY (R NEXT X)", "(R MEETS X) SEQ Y", "(R TIMES 2) SEQ X", "R NEXT R NEXT X",
)  # fmt: skip
BOUNDS = (" WITHIN 2 s", " WITHIN 4 s", " WITHIN 5 s", "")
KEYED = ("X(?k) OR (R(?k) SEQ X(?k))", "X(?k) OR (R(?k) NEXT X(?k))", "X(?k) OR (R(?k) SEQ Y(?k))")


OTHERS = ("R OR X", "R", "X OR (R SEQ Y)", "R JOIN X", "(R SEQ X) OR Y")


@dataclass
class RecursiveDraw(Draw):
    """Draws an event that is built on itself, or two that are built on each other, and streams."""

    aliases: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(cls, seed: int) -> RecursiveDraw:
        return cls(Random(f"recursive {seed}"))

    def query(self) -> str:
        chance, choice = self.random.random(), self.random.choice
        bound = choice(BOUNDS)
        if chance < 0.25:
            shape = self._named(choice(KEYED), "H", aliases=False)
            return f"EVENT H(?k) MATCH {shape}{bound}{choice(('', ' PARTITION BY ?k'))}"
        within = "F" if chance < 0.5 else "H"
        pattern = f"({choice(STARTS)}) OR ({choice(STEPS)}){bound}"
        events = [f"EVENT H MATCH {self._named(pattern, within)}"]
        if within == "F":  # each is built on the other
            other = f"EVENT F MATCH ({self._named(choice(OTHERS), 'H')}){choice(BOUNDS)}"
            events.insert(choice((0, 1)), other)
        elif chance < 0.7:  # another event reads it, and may share a part of it
            events.append(f"EVENT F MATCH ({self._named(choice(STEPS), 'H')}){bound}")
        return "\n".join(events)

    def _named(self, shape: str, recursive: str, aliases: bool = True) -> str:
        """The shape with events for its letters, each with an alias of its own."""

        def event(letter: re.Match[str]) -> str:
            name = recursive if letter[0] == "R" else self.random.choice(self.letters)
            return f"({name} AS a{next(self.aliases)})" if aliases else name

        return re.sub(r"\b[RXY]\b", event, shape)


def run(seed: int, cases: int) -> Trials:
    """So many cases from a seed on."""
    trials = Trials()
    while trials.cases < cases and not trials.failures:
        trials.run_draw(RecursiveDraw.of(seed), seed)
        seed += 1
    return trials


if __name__ == "__main__":
    done = run(*map(int, sys.argv[1:]))
    print(
        f"{done.cases} cases of {done.queries} queries, {done.answered} with answers, "
        f"{done.refused} queries refused, {done.too_large} too large"
    )
    print("\n\n".join(done.failures))
