"""Graph: a group over a named graph, or over each of them."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode, onto
from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.model import Term


class GraphBlock(BagNode):
    """`GRAPH <g> { … }`."""

    def __init__(self, name: Term, inner: BagNode) -> None:
        self.name, self.inner = name, inner
        self.certain, self.possible = inner.certain, inner.possible

    def rows(self, run: Evaluation) -> list[Row]:
        graph = run.dataset.graph(self.name)
        return [] if graph is None else self.inner.rows(run.inside(graph))

    def accepts(self, outer: Slots) -> bool:
        return self.inner.accepts(outer)

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        graph = run.dataset.graph(self.name)
        return [] if graph is None else self.inner.extend(run.inside(graph), rows, outer)


class EachGraph(BagNode):
    """`GRAPH ?g { … }`: the rows of each named graph, with its name."""

    def __init__(self, slot: int, inner: BagNode) -> None:
        self.slot, self.inner = slot, inner
        self.certain, self.possible = inner.certain | {slot}, inner.possible | {slot}

    def rows(self, run: Evaluation) -> list[Row]:
        found: list[Row] = []
        for name in run.dataset.graphs():
            graph = run.dataset.graph(name)
            if graph is not None and run.seed[self.slot] in (None, name):
                found += named(self.inner.rows(run.inside(graph)), self.slot, name)
        return found


def named(rows: list[Row], slot: int, name: Term) -> list[Row]:
    """The rows that agree with a name, with it."""
    return [one for row in rows if (one := onto(row, (slot,), (name,))) is not None]
