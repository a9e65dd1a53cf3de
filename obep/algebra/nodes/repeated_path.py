"""Paths that repeat: `p?`, `p*`, `p+`, with SPARQL's rule that each pair of nodes is found once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal as Choice

from obep.algebra.bag_node import PathEnds, onto
from obep.algebra.evaluation import Evaluation, Row, Slots, check_solutions
from obep.algebra.path_steps import Successors, walked
from obep.model import Term


class RepeatedPath(PathEnds):
    """A subject and an object, each a constant or a slot, and the nodes that the path leads to."""

    def __init__(
        self,
        subject: Term | int,
        object_: Term | int,
        forward: Successors,
        backward: Successors,
        times: Choice["?", "*", "+"],
    ) -> None:
        super().__init__(subject, object_)
        self.forward, self.backward, self.times = forward, backward, times

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        slots = tuple(place if isinstance(place, int) else -1 for place in (self.subject, self.object))
        used = [slot for slot in slots if slot >= 0]
        found: list[Row] = []
        for row in rows:
            pairs = self._pairs(run, _value(self.subject, row), _value(self.object, row))
            for pair in pairs:
                values = [value for value, slot in zip(pair, slots, strict=True) if slot >= 0]
                one = onto(row, used, values)
                if one is not None:
                    found.append(one)
            check_solutions(len(found))
        return found

    def _pairs(self, run: Evaluation, start: Term | None, end: Term | None) -> Iterable[tuple[Term, Term]]:
        if start is None and end is None:
            return ((node, other) for node in nodes_of(run) for other in self._reached(run, node))
        known = start if start is not None else end
        assert known is not None
        if self.times != "+" and not self._is_node(run, known):
            return ()
        if start is None:
            return ((other, known) for other in walked(run, self.backward, known, self.times))
        reached = self._reached(run, start)
        if end is None:
            return ((start, other) for other in reached)
        return [(start, end)] if end in reached else ()

    def _reached(self, run: Evaluation, node: Term) -> Iterable[Term]:
        return walked(run, self.forward, node, self.times)

    def _is_node(self, run: Evaluation, term: Term) -> bool:
        """Between two variables a path of no steps leads only from nodes of the graph to themselves."""
        if not isinstance(self.subject, int) or not isinstance(self.object, int):
            return True
        return any(True for _ in run.match(term, None, None)) or any(
            True for _ in run.match(None, None, term)
        )


def nodes_of(run: Evaluation) -> list[Term]:
    """The subjects and objects of the active graph."""
    return list(dict.fromkeys(node for s, _, o in run.match(None, None, None) for node in (s, o)))


def _value(place: Term | int, row: Row) -> Term | None:
    return row[place] if isinstance(place, int) else place
