"""EXISTS in expressions over timed triples: its group is evaluated for one solution, over all triples so far.

Where EXISTS can be joined with the solutions that it tests, `TimedExists` does that instead, step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, product

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.timed.timed_node import Round, TimedNode
from obep.algebra.timed.triple_occurrences import Shape, TripleOccurrence, TripleOccurrences, Wanted

SHAPES: list[Shape] = [(s, p, o) for s, p, o in product((False, True), repeat=3)]
"""Any place may be known by the solution that is tested."""


class History:
    """The triple occurrences that a statement has seen, and the groups that are evaluated over them all."""

    def __init__(self, reach: int | None = None) -> None:
        """`reach`: for how long triples are there, those with a lead for less; `None` is for ever."""
        self.reach = reach
        self.groups: list[GroupInHistory] = []
        self._old: Iterable[TripleOccurrence] = ()
        self._new: Iterable[TripleOccurrence] = ()

    def see(self, old: Iterable[TripleOccurrence], new: Iterable[TripleOccurrence]) -> None:
        """The triples of earlier instants, and those of this one up to now."""
        self._old, self._new = old, new

    def instants(self) -> Iterator[tuple[int, list[TripleOccurrence]]]:
        """The occurrences by their ends, the first one first."""
        now = max((one.end for one in self._new), default=0)
        for at, some in groupby(chain(self._old, self._new), key=lambda one: one.end):
            yield (
                at,
                [one for one in some if self.reach is None or now - one.start + one.lead < self.reach],
            )

    def asked(self) -> Iterator[Wanted]:
        """The constants of the triple patterns of its groups."""
        for one in self.groups:
            yield from one.node.asked()


class GroupInHistory(BagNode):
    """The group of an EXISTS: a row if it has a solution that ends no later, with the values of the seed."""

    def __init__(self, node: TimedNode, history: History) -> None:
        self.node, self._history = node, history
        self.certain, self.possible = node.certain, node.possible

    def rows(self, run: Evaluation) -> list[Row]:
        for memory in self.node.memories():
            memory.load(())
        found = self.node.timeless(run)
        old = TripleOccurrences(SHAPES)
        for at, occurrences in () if found else self._history.instants():
            new = TripleOccurrences(SHAPES)
            for one in occurrences:
                new.add(one)
            found = self.node.found(Round(at, new, new, old, run))
            self.node.close(at)
            if found:
                break
            for one in occurrences:
                old.add(one)
        return [found[0].row] if found else []
