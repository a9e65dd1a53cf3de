"""One evaluation of a group: what it looks at, when, and how much it may find."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self

from obep.algebra.dataset import Dataset, Graph
from obep.formats.input_limits import Refused
from obep.model import Term, Triple

Row = tuple[Term | None, ...]
"""The values of the variables of a scope, each in its slot; `None` is unbound."""
Slots = frozenset[int]

MOST_SOLUTIONS = 100_000
MOST_STEPS = 10_000
"""Of a path, from one node on."""

Match = Callable[[Term | None, Term | None, Term | None], Iterable[Triple]]


class Evaluation(tuple[tuple[int, int], ...]):
    """The times that expressions see (the evaluation time alone), with the dataset and the active graph.

    `seed` is the row that every leaf begins with: empty, or in EXISTS the solution that is tested.
    """

    dataset: Dataset
    match: Match
    window: str | None
    seed: Row
    query: str

    @classmethod
    def of(cls, dataset: Dataset, size: int, now: int, query: str) -> Self:
        self = cls(((now, now),))
        self.dataset, self.match, self.window = dataset, dataset.match, None
        self.seed, self.query = (None,) * size, query
        return self

    def at(self, now: int) -> Evaluation:
        """The same evaluation at another instant."""
        return self.over(now, now)

    def over(self, start: int, end: int) -> Evaluation:
        """The same evaluation for a solution with an interval."""
        other = Evaluation(((start, end),))
        other.__dict__.update(self.__dict__)
        return other

    def seeded(self, row: Row) -> Evaluation:
        """The same evaluation for a solution, whose values every leaf begins with."""
        other = self._copy()
        other.seed = row
        return other

    def inside(self, graph: Graph, window: str | None = None) -> Evaluation:
        """The same evaluation with another active graph."""
        other = self._copy()
        other.match, other.window = graph.match, window
        return other

    def _copy(self) -> Evaluation:
        other = Evaluation(self)
        other.__dict__.update(self.__dict__)
        return other


def check_solutions(number: int) -> None:
    """Refuse an answer with too many solutions (DIALECTS 2)."""
    if number > MOST_SOLUTIONS:
        raise Refused("OBEP645", f"a group has more than {MOST_SOLUTIONS:,} solutions")


def check_steps(number: int) -> None:
    """Refuse a path that visits too many nodes."""
    if number > MOST_STEPS:
        raise Refused("OBEP645", f"a path visits more than {MOST_STEPS:,} nodes")
