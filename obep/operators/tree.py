"""A tree of operators that runs: occurrences go in at its leaves, candidates come out at its top."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Protocol

from obep.model import Item, Occurrence, Term
from obep.operators import absence, either, next, policy, repeated, selection, sequence, state_context, within
from obep.operators.candidates import NOTHING, Candidate, Emit, Enter, Rows, Take
from obep.operators.operator import GROWN, Operator
from obep.operators.replayed_window import Replay
from obep.operators.state_context import States
from obep.operators.state_values import Pack, Unpack
from obep.operators.within import bounded
from obep.plan import nodes
from obep.plan.nodes import Node, Read, ReadAny
from obep.plan.shared_patterns import Feed
from obep.query.state_parts import moment_name

WITH_OPERATORS = (absence, either, next, policy, repeated, selection, sequence, state_context, within)
"""The modules that say how operators grow; a new one is named here."""


class Timed(Protocol):
    """An operator that has deadlines."""

    def reach(self, at: int) -> None: ...

    def next_deadline(self) -> int | None: ...

    def pending(self, only: int | None) -> int: ...


class OfItems(Protocol):
    """An operator that looks at items."""

    def take_items(self, items: Iterable[Item]) -> None: ...


class Leaf:
    """Where the occurrences of an event enter, with the rows that its ask has found."""

    def __init__(self, node: Read, enter: Enter, take: Take | None = None) -> None:
        self.node = node
        self.enter = enter
        self.take: Take = self.take_rows if take is None else take
        """Let an occurrence in with all of its rows."""

    def shorten(self, enter: Enter) -> None:
        """Let occurrences in by a shorter way."""
        ask = self.node.ask

        def take(occurrence: Occurrence) -> None:
            rows = occurrence._rows_of(ask)
            if rows:
                enter(occurrence, rows)

        self.enter, self.take = enter, take

    def take_rows(self, occurrence: Occurrence) -> None:
        """Let it in with the rows of the node's ask."""
        self.enter(occurrence, NOTHING if self.node.free else occurrence._rows_of(self.node.ask))


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
        rows = o._rows_of(ask)
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


class Ends:
    """One occurrence for one end of an episode, whether END S or END S FOR d reads it (D43)."""

    def __init__(self) -> None:
        self._at: int | None = None
        self._known: dict[str, Occurrence] = {}
        """The occurrences of that instant; equal ones always come at one instant."""

    def into(self, enter: Enter) -> Enter:
        """Let the first that is the same in, with the rows of each."""

        def enter_first(occurrence: Occurrence, rows: Rows) -> None:
            if occurrence.detected != self._at:
                self._at = occurrence.detected
                self._known.clear()
            enter(self._known.setdefault(occurrence.id, occurrence), rows)

        return enter_first


def unite_ends(leaves: Iterable[Leaf]) -> None:
    """Where several leaves read the ends of a state, what one of them uses up is gone for all (SPEC 6)."""
    by_name: dict[Term, list[Leaf]] = {}
    for one in leaves:
        by_name.setdefault(moment_name(one.node.event), []).append(one)
    for alike in by_name.values():
        if len({one.node.event for one in alike}) > 1:
            ends = Ends()
            for one in alike:
                one.enter, one.take = ends.into(one.enter), one.take_rows


class Tree:
    """The operators of one pattern, for one value of its partition."""

    def __init__(self, root: Node, *, consumes: bool = False, states: States | None = None) -> None:
        """`states` are those that WHILE and UNLESS look at."""
        self.states: States = states or {}
        self.found: list[Candidate] = []
        """The results; reading them clears the list."""
        self.leaves: list[Leaf] = []
        self.operators: list[Operator] = []
        """Operands before what stands on them."""
        self.inlets: list[tuple[str, Emit]] = []
        """Where the candidates of sub-patterns that run elsewhere come in, by their names."""
        self.consumes = consumes
        self._consuming: list[Operator] = []
        self.timed_operators: list[Timed] = []
        self.of_items: list[OfItems] = []
        self.grow(root, self.found.append, False)
        if consumes:
            unite_ends(self.leaves)

    @property
    def wants_items(self) -> bool:
        return bool(self.of_items)

    @property
    def waits(self) -> bool:
        """Whether it ever has something to decide when an instant closes."""
        return any(operator.waits for operator in self.operators)

    @property
    def timed(self) -> bool:
        """Whether it ever has deadlines."""
        return bool(self.timed_operators)

    def items(self, items: Iterable[Item]) -> None:
        """The items of the instant, for NOT."""
        for operator in self.of_items:
            operator.take_items(items)

    def reach(self, at: int) -> None:
        """Time has come to an instant: what its items cannot change is decided."""
        for operator in self.timed_operators:
            operator.reach(at)

    def close(self, at: int) -> None:
        """All of the instant is there: decide the rest."""
        for operator in self.operators:
            operator.close(at)

    def next_deadline(self) -> int | None:
        """The next instant at which something is decided without any item."""
        deadlines = [
            due for operator in self.timed_operators if (due := operator.next_deadline()) is not None
        ]
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
        """The state of its operators, and the results that are not read yet."""
        return [pack(self.found), [operator.dump(pack) for operator in self.operators]]

    def load(self, data: list[Any], unpack: Unpack) -> None:
        """Go on from a dump."""
        self.found[:] = unpack(data[0])
        for operator, state in zip(self.operators, data[1], strict=True):
            operator.load(state, unpack)

    def pending(self, only: int | None = None) -> int:
        """The number of deadlines (those at one instant, or all) that would be met if no more items came."""
        return sum(operator.pending(only) for operator in self.timed_operators)

    def size(self) -> int:
        """The number of kept candidates."""
        return sum(operator.size() for operator in self.operators)

    def grow(self, node: Node, emit: Emit, exempt: bool) -> Operator | None:
        """The operator of a node, over those of its operands; `None` unless it is a view.

        It grows as the function beside its class says; leaves, and what is a tree of its own, grow here.
        `exempt`: nothing is consumed here.
        """
        match node:
            case Read():
                self.leaves.append(leaf(node, emit))
            case Feed():
                self.inlets.append((node.name, emit))
            case nodes.Within(replay=True):
                self._replay(node, emit, exempt)
            case nodes.Within():
                heeded = isinstance(node.operand, nodes.Pair)  # pairs look at their horizon themselves
                self.grow(node.operand, emit if heeded else bounded(node, emit), exempt)
            case _:
                return GROWN[type(node)](node, _Place(self, node, emit, exempt))
        return None

    def _replay(self, node: nodes.Within, emit: Emit, exempt: bool) -> None:
        consumes = self.consumes and not exempt
        operator = Replay(node, emit, lambda: Tree(node.operand, consumes=consumes, states=self.states))
        pattern = Tree(node.operand, consumes=consumes, states=self.states)
        for number, leaf in enumerate(pattern.leaves):
            self.leaves.append(Leaf(leaf.node, operator.entrance(number)))
        if pattern.wants_items:
            self.of_items.append(operator)
        if pattern.timed:
            self.timed_operators.append(operator)
        self.add(operator, exempt)

    def add(self, operator: Operator, exempt: bool) -> None:
        """Take up an operator, after those of its operands."""
        self.operators.append(operator)
        if not exempt:
            self._consuming.append(operator)


class _Place:
    """Where the operator of a node grows; see `obep.operators.operator.Place`."""

    def __init__(self, tree: Tree, node: Node, emit: Emit, exempt: bool) -> None:
        self._tree = tree
        self._node = node
        self._exempt = exempt
        self.emit = emit
        self.consumes = tree.consumes and not exempt
        self.states = tree.states

    def grow(self, node: Node, emit: Emit, *, exempt: bool = False) -> Operator | None:
        return self._tree.grow(node, emit, exempt or self._exempt)

    def shorten(self, enter: Enter | None) -> None:
        if enter is not None:
            self._tree.leaves[-1].shorten(enter)

    def add(self, operator: Operator) -> Operator | None:
        self._tree.add(operator, self._exempt)
        return operator if self._node.view else None

    def add_timed(self, operator: Timed) -> None:
        self._tree.timed_operators.append(operator)

    def add_of_items(self, operator: OfItems) -> None:
        self._tree.of_items.append(operator)
