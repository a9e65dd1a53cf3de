"""Window: a group over the graph of a window, or over each of them."""

from __future__ import annotations

from obep.algebra.bag_node import BagNode
from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.algebra.nodes.graph_block import named


class WindowBlock(BagNode):
    """`WINDOW <w> { … }`."""

    def __init__(self, name: str, inner: BagNode) -> None:
        self.name, self.inner = name, inner
        self.certain, self.possible = inner.certain, inner.possible

    def rows(self, run: Evaluation) -> list[Row]:
        graph = run.dataset.window(self.name)
        return [] if graph is None else self.inner.rows(run.inside(graph, self.name))

    def accepts(self, outer: Slots) -> bool:
        return self.inner.accepts(outer)

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        graph = run.dataset.window(self.name)
        return [] if graph is None else self.inner.extend(run.inside(graph, self.name), rows, outer)


class EachWindow(BagNode):
    """`WINDOW ?w { … }`: the rows of each window, with its name as an IRI."""

    def __init__(self, slot: int, inner: BagNode) -> None:
        self.slot, self.inner = slot, inner
        self.certain, self.possible = inner.certain | {slot}, inner.possible | {slot}

    def rows(self, run: Evaluation) -> list[Row]:
        found: list[Row] = []
        for name in run.dataset.windows():
            graph = run.dataset.window(name)
            if graph is not None and run.seed[self.slot] in (None, f"<{name}>"):
                found += named(self.inner.rows(run.inside(graph, name)), self.slot, f"<{name}>")
        return found
