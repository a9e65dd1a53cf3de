"""Atom: the rows of a state that holds, or of the occurrences of an event in a window."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode, onto
from obep.algebra.evaluation import Evaluation, Row, check_solutions
from obep.model import Term


class AtomRows(BagNode):
    """`S(?k, …) [FOR d]`: its parameters by place, which are always bound, its other columns by name."""

    def __init__(self, name: Term, slots: tuple[int, ...], parameters: int, lasting: int | None) -> None:
        self.name, self.slots, self.lasting = name, slots, lasting
        self.certain = frozenset(slots[:parameters])
        self.possible = frozenset(slots)

    def rows(self, run: Evaluation) -> list[Row]:
        given = run.dataset.atom(self.name, self.lasting, run.window)
        found = [row for values in given if (row := onto(run.seed, self.slots, values)) is not None]
        check_solutions(len(found))
        return found
