"""A tree of operators that runs: occurrences go in at its leaves, candidates come out at its top."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from obep.model import Item, Occurrence, Term
from obep.operators.candidates import NOTHING, Candidate, Emit, Rows
from obep.operators.operator import Operator
from obep.operators.pair import Pair
from obep.operators.window import bounded, checked
from obep.plan import nodes
from obep.plan.nodes import Node, Read

Enter = Callable[[Occurrence, Rows], None]


class Leaf:
    """Where the occurrences of an event enter. Below FIRST and LAST those without rows do, too."""

    def __init__(self, node: Read, emit: Emit) -> None:
        self.node = node
        self._emit = emit

    def take(self, occurrence: Occurrence) -> None:
        """Let an occurrence in, with the rows that its ask has found."""
        rows = NOTHING if self.node.free else occurrence.solutions.get(self.node.ask, ())
        self.enter(occurrence, rows)

    def enter(self, occurrence: Occurrence, rows: Rows) -> None:
        o = occurrence
        if self.node.held:
            self._emit((o.start, o.end, o.detected, o.since, (o,), (rows,)))
        elif rows:
            self._emit((o.start, o.end, o.detected, o.since, (o,), rows))


class Tree:
    """The operators of one pattern, for one value of its partition."""

    def __init__(self, root: Node, *, consumes: bool = False) -> None:
        self.found: list[Candidate] = []
        """What has come out; whoever reads it empties it."""
        self.leaves: list[Leaf] = []
        self._consumes = consumes
        self._closing: list[Operator] = []
        self._consuming: list[Operator] = []
        self._grow(root, self.found.append, negated=False)

    def leaves_of(self, event: Term) -> list[Leaf]:
        return [leaf for leaf in self.leaves if leaf.node.event == event]

    def close(self, at: int) -> None:
        """All of the instant is there: decide the rest."""
        for operator in self._closing:
            operator.close(at)

    def reach(self, at: int) -> None:
        """Time has come to an instant: what its items cannot change is decided."""

    def next_deadline(self) -> int | None:
        """The next instant at which something is decided without any item."""
        return None

    def items(self, items: Iterable[Item]) -> None:
        """The items of the instant, for NOT."""

    def consume(self, gone: Container[int]) -> None:
        """These occurrences (by `id`) take no part any more."""
        for operator in self._consuming:
            operator.consume(gone)

    def prune(self, at: int) -> None:
        for operator in self._closing:
            operator.prune(at)

    def size(self) -> int:
        """How many candidates are remembered."""
        return sum(operator.size() for operator in self._closing)

    def _grow(self, node: Node, emit: Emit, *, negated: bool) -> Operator | None:
        """The operator of a node, over those of its operands; `None` where nothing is remembered."""
        match node:
            case Read():
                self.leaves.append(Leaf(node, emit))
                return None
            case nodes.Check():
                return self._grow(node.operand, checked(node, emit), negated=negated)
            case nodes.Within() if not node.replay:
                self._grow(node.operand, bounded(node, emit), negated=negated)
                return None
            case nodes.Pair():
                pair = Pair(node, emit)
                pair.left_view = self._grow(node.left, pair.take_left, negated=negated)
                pair.right_view = self._grow(node.right, pair.take_right, negated=negated)
                return self._add(pair, node, negated)
        raise NotImplementedError(type(node).__name__)

    def _add(self, operator: Operator, node: Node, negated: bool) -> Operator | None:
        self._closing.append(operator)
        if not negated:
            self._consuming.append(operator)
        return operator if node.view else None
