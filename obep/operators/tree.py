"""A tree of operators that runs: occurrences go in at its leaves, candidates come out at its top."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

from obep.model import Item, Occurrence, Term
from obep.operators.absence import Rest, Silence, Without
from obep.operators.candidates import NOTHING, Candidate, Emit, Rows, Take
from obep.operators.contextual import InState, States, Unless, While
from obep.operators.either import Either, Store, branches
from obep.operators.next import Next
from obep.operators.operator import Operator
from obep.operators.pair import Pair
from obep.operators.policy import Fallback, Pick
from obep.operators.repeated import Repeated
from obep.operators.replayed_window import Replay
from obep.operators.selection import Choice, Settle
from obep.operators.sequence import Sequence
from obep.operators.state_values import Pack, Unpack
from obep.operators.within import bounded, checked
from obep.plan import nodes
from obep.plan.nodes import Node, Read, ReadAny
from obep.plan.shared_patterns import Feed

Enter = Callable[[Occurrence, Rows], None]


class Leaf:
    """Where the occurrences of an event enter, with the rows that its ask has found."""

    def __init__(self, node: Read, enter: Enter, take: Take | None = None) -> None:
        self.node = node
        self.enter = enter
        self.take: Take = self._take if take is None else take
        """Let an occurrence in with all of its rows."""

    def _take(self, occurrence: Occurrence) -> None:
        self.enter(occurrence, NOTHING if self.node.free else occurrence.solutions.get(self.node.ask, ()))


def leaf(node: Read, emit: Emit) -> Leaf:
    """Occurrences as candidates. Below FIRST and LAST those without rows come in, too."""
    ask = node.ask

    def enter(occurrence: Occurrence, rows: Rows) -> None:
        o = occurrence
        if rows:
            emit((o.start, o.end, o.detected, o.since, (o,), rows))

    def enter_held(occurrence: Occurrence, rows: Rows) -> None:
        o = occurrence
        emit((o.start, o.end, o.detected, o.since, (o,), (rows,)))

    def take(o: Occurrence) -> None:
        rows = o.solutions.get(ask)
        if rows:
            emit((o.start, o.end, o.detected, o.since, (o,), rows))

    if node.held:
        return Leaf(node, enter_held)
    if isinstance(node, ReadAny):
        return Leaf(node, enter, _take_any(node, enter))
    return Leaf(node, enter, None if node.free else take)


def _take_any(node: ReadAny, enter: Enter) -> Take:
    """An occurrence with the rows of all asks that are read here."""
    asked: dict[Term, set[int]] = {}
    for event, ask in node.asked:
        asked.setdefault(event, set()).add(ask)

    def take(occurrence: Occurrence) -> None:
        wanted = asked[occurrence.event]
        lots = [rows for ask, rows in occurrence.solutions.items() if ask in wanted]
        if len(lots) < 2 or all(rows == lots[0] for rows in lots):
            enter(occurrence, lots[0] if lots else ())
        else:
            enter(occurrence, tuple(sorted({row for rows in lots for row in rows}, key=str)))

    return take


class Tree:
    """The operators of one pattern, for one value of its partition."""

    def __init__(self, root: Node, *, consumes: bool = False, states: States | None = None) -> None:
        """`states` are those that WHILE and UNLESS look at."""
        self._states: States = states or {}
        self.found: list[Candidate] = []
        """What has come out; whoever reads it empties it."""
        self.leaves: list[Leaf] = []
        self.operators: list[Operator] = []
        """Operands before what stands on them."""
        self.inlets: list[tuple[str, Emit]] = []
        """Where the candidates of sub-patterns that run elsewhere come in, by their names."""
        self._consumes = consumes
        self._consuming: list[Operator] = []
        self._timed: list[Silence | Replay | Repeated] = []
        self._of_items: list[Rest | Replay] = []
        self._grow(root, self.found.append, False)

    @property
    def wants_items(self) -> bool:
        return bool(self._of_items)

    @property
    def waits(self) -> bool:
        """Whether it ever has something to decide when an instant closes."""
        return any(operator.waits for operator in self.operators)

    @property
    def timed(self) -> bool:
        """Whether it ever has deadlines."""
        return bool(self._timed)

    def items(self, items: Iterable[Item]) -> None:
        """The items of the instant, for NOT."""
        for operator in self._of_items:
            operator.take_items(items)

    def reach(self, at: int) -> None:
        """Time has come to an instant: what its items cannot change is decided."""
        for operator in self._timed:
            operator.reach(at)

    def close(self, at: int) -> None:
        """All of the instant is there: decide the rest."""
        for operator in self.operators:
            operator.close(at)

    def next_deadline(self) -> int | None:
        """The next instant at which something is decided without any item."""
        deadlines = [due for operator in self._timed if (due := operator.next_deadline()) is not None]
        return min(deadlines, default=None)

    def consume(self, gone: Set[int], at: int) -> None:
        """These occurrences (by `id`) take no part in what is done after this instant."""
        for operator in self._consuming:
            operator.consume(gone, at)

    def prune(self, at: int) -> None:
        """Forget what can have no part in an answer after this instant."""
        for operator in self.operators:
            operator.prune(at)

    def dump(self, pack: Pack) -> list[Any]:
        """What its operators remember, and what has come out and is not read yet."""
        return [pack(self.found), [operator.dump(pack) for operator in self.operators]]

    def load(self, data: list[Any], unpack: Unpack) -> None:
        """Go on from a dump."""
        self.found[:] = unpack(data[0])
        for operator, state in zip(self.operators, data[1], strict=True):
            operator.load(state, unpack)

    def pending(self, only: int | None = None) -> int:
        """How many deadlines (those at one instant, or all) would be met if nothing more came."""
        return sum(operator.pending(only) for operator in self._timed)

    def size(self) -> int:
        """How many candidates are remembered."""
        return sum(operator.size() for operator in self.operators)

    def _grow(self, node: Node, emit: Emit, exempt: bool) -> Operator | None:
        """The operator of a node, over those of its operands; `None` unless it is a view.

        `exempt`: nothing is consumed here.
        """
        match node:
            case Read():
                self.leaves.append(leaf(node, emit))
                return None
            case Feed():
                self.inlets.append((node.name, emit))
                return None
            case nodes.Check():
                return self._grow(node.operand, checked(node, emit), exempt)
            case nodes.Within(replay=True):
                self._replay(node, emit, exempt)
                return None
            case nodes.Within():
                heeded = isinstance(node.operand, nodes.Pair)  # pairs look at their horizon themselves
                self._grow(node.operand, emit if heeded else bounded(node, emit), exempt)
                return None
            case nodes.Choice() | nodes.Settle():
                return self._unary(node, emit, exempt)
            case nodes.InState():
                look = While if isinstance(node, nodes.While) else Unless
                context: InState = look(node, emit, self._states)
                self._grow(node.operand, context.take, exempt)
                return self._add(context, node, exempt)
            case nodes.Never():
                return None
            case nodes.Rest():
                rest = Rest(node, emit)
                self._grow(node.operand, rest.take, True)
                self._of_items.append(rest)
                return self._add(rest, node, exempt)
            case nodes.Either():
                return self._either(node, emit, exempt)
            case nodes.Negation():
                return self._negation(node, emit, exempt)
            case nodes.Binary():
                return self._binary(node, emit, exempt)
        raise AssertionError(node)

    def _unary(self, node: nodes.Choice | nodes.Settle, emit: Emit, exempt: bool) -> Operator | None:
        operator: Choice | Settle
        if isinstance(node, nodes.Choice):
            operator = Choice(node, emit, consumes=self._consumes and not exempt)
        else:
            operator = Settle(node, emit)
        operator.below = self._grow(node.operand, operator.take, exempt)
        if isinstance(operator, Choice) and isinstance(operator.below, Either) and operator.lasting:
            operator.below.narrow(operator.choose)
        return self._add(operator, node, exempt)

    def _binary(self, node: nodes.Binary, emit: Emit, exempt: bool) -> Operator | None:
        operator: Sequence | Pair | Pick | Next | Fallback
        match node:
            case nodes.Pair() if Sequence.suits(node):
                operator = Sequence(node, emit, consumes=self._consumes and not exempt)
            case nodes.Pair():
                operator = Pair(node, emit)
            case nodes.Pick():
                operator = Pick(node, emit)
            case nodes.Next():
                operator = Next(node, emit, twice=self._consumes and not exempt)
            case nodes.Fallback():
                operator = Fallback(node, emit)
            case _:
                raise AssertionError(node)
        operator.left_view = self._grow(node.left, operator.take_left, exempt)
        left = self.leaves[-1:]
        operator.right_view = self._grow(node.right, operator.take_right, exempt)
        if isinstance(operator, Sequence) and isinstance(node, nodes.Pair):
            # only for an operand that is a leaf, which then is the last one that was added
            for leaf, take in zip((left, self.leaves[-1:]), operator.leaf_takers(node), strict=True):
                if take is not None:
                    leaf[0].take = take
        if isinstance(operator, Next):
            self._between(operator, node, exempt)
        return self._add(operator, node, exempt)

    def _between(self, operator: Next, node: nodes.Binary, exempt: bool) -> None:
        operator.between_left_view = operator.left_view
        operator.between_right_view = operator.right_view
        if self._consumes and not exempt:
            operator.between_left_view = self._grow(node.left, operator.between_lefts.add, True)
            operator.between_right_view = self._grow(node.right, operator.between_rights.add, True)

    def _either(self, node: nodes.Either, emit: Emit, exempt: bool) -> Operator | None:
        if not node.view:
            left, right = branches(node)
            self._grow(node.left, lambda candidate: emit(left(candidate)), exempt)
            self._grow(node.right, lambda candidate: emit(right(candidate)), exempt)
            return None
        operator = Either(node, emit)
        operator.left = self._stored(node.left, node.horizon, operator.take_left, exempt)
        operator.right = self._stored(node.right, node.horizon, operator.take_right, exempt)
        return self._add(operator, node, exempt)

    def _stored(self, node: Node, horizon: int | None, emit: Emit, exempt: bool) -> Operator | None:
        if node.view:
            return self._grow(node, emit, exempt)
        store = Store(horizon, emit)
        self._grow(node, store.take, exempt)
        self._add(store, node, exempt)
        return store

    def _negation(self, node: nodes.Negation, emit: Emit, exempt: bool) -> Operator | None:
        operator: Without | Silence | Repeated
        if isinstance(node, nodes.Silence):
            operator = Silence(node, emit)
            self._timed.append(operator)
        elif isinstance(node, nodes.Repeated):
            operator = Repeated(node, emit)
            self._timed.append(operator)
        else:
            assert isinstance(node, nodes.Without)
            operator = Without(node, emit)
        left = self._grow(node.left, operator.take_left, exempt)
        operator.blocking.view = self._grow(node.right, operator.take_right, True)
        if isinstance(operator, Silence) and left is not None:
            operator.left_view = left
            left.watch(operator.watch_left)
        return self._add(operator, node, exempt)

    def _replay(self, node: nodes.Within, emit: Emit, exempt: bool) -> None:
        consumes = self._consumes and not exempt
        operator = Replay(node, emit, lambda: Tree(node.operand, consumes=consumes, states=self._states))
        pattern = Tree(node.operand, consumes=consumes, states=self._states)
        for number, leaf in enumerate(pattern.leaves):
            self.leaves.append(Leaf(leaf.node, operator.entrance(number)))
        if pattern.wants_items:
            self._of_items.append(operator)
        if pattern.timed:
            self._timed.append(operator)
        self._add(operator, node, exempt)

    def _add(self, operator: Operator, node: Node, exempt: bool) -> Operator | None:
        self.operators.append(operator)
        if not exempt:
            self._consuming.append(operator)
        return operator if node.view else None
