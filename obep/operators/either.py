"""OR: the candidates of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from obep.operators.candidates import PARTS, SINCE, Candidate, Emit
from obep.operators.memory import FEW
from obep.operators.operator import Operator, Place, grows
from obep.operators.row_join import widener
from obep.plan import nodes

Widen = Callable[[Candidate], Candidate]
Choose = Callable[[Iterable[Candidate]], list[Candidate]]


def branches(node: nodes.Either) -> tuple[Widen, Widen]:
    """How a candidate of each branch looks as one of the whole: the other branch takes no part."""
    left, right = len(node.left.aliases), len(node.right.aliases)
    lots_left, lots_right = len(node.left.factors), len(node.right.factors)
    if node.held:
        return _branch(0, right, _lots(0, lots_right)), _branch(left, 0, _lots(lots_left, 0))
    return (
        _branch(0, right, widener(node.left.variables, node.variables)),
        _branch(left, 0, widener(node.right.variables, node.variables)),
    )


def _branch(before: int, after: int, widen: Callable[..., object] | None) -> Widen:
    head, tail = (None,) * before, (None,) * after

    def widened(candidate: Candidate) -> Candidate:
        start, end, done, since, parts, rows = candidate
        return start, end, done, since, head + parts + tail, rows if widen is None else widen(rows)

    return widened


def _lots(before: int, after: int) -> Callable[..., object]:
    head, tail = (None,) * before, (None,) * after
    return lambda lots: head + lots + tail


class Either(Operator):
    """OR where a branch is a view: it shows what both show."""

    field_name = "disjunction (OR)"

    def __init__(self, node: nodes.Either, emit: Emit) -> None:
        self.emit = emit
        self.widen_left, self.widen_right = branches(node)
        self.left: Operator | None = None
        self.right: Operator | None = None

    def take_left(self, candidate: Candidate) -> None:
        self.emit(self.widen_left(candidate))

    def take_right(self, candidate: Candidate) -> None:
        self.emit(self.widen_right(candidate))

    def live(self) -> Iterable[Candidate]:
        assert self.left is not None and self.right is not None
        return [
            *(self.widen_left(candidate) for candidate in self.left.live()),
            *(self.widen_right(candidate) for candidate in self.right.live()),
        ]

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        assert self.left is not None and self.right is not None
        self.left.watch(seen)
        self.right.watch(seen)

    def narrow(self, choose: Choose) -> None:
        """Let both branches choose in this way; nothing that they keep is removed."""
        for branch in (self.left, self.right):
            if isinstance(branch, Either | Store):
                branch.narrow(choose)


class Store(Operator):
    """Keeps all candidates of an operand that is no view, for an OR with one that is.

    `horizon` is that of the OR: what lies in a WITHIN of the operand itself is shown after its bound, too.
    """

    field_name = "disjunction (OR)"
    state = ("_all",)

    def __init__(self, horizon: int | None, emit: Emit) -> None:
        self.emit = emit
        self._horizon = horizon
        self._all: list[Candidate] = []
        self._choose: Choose | None = None
        self._most = 0
        self._watching: list[Callable[[Candidate], None]] = []

    def take(self, candidate: Candidate) -> None:
        for seen in self._watching:
            seen(candidate)
        self._all.append(candidate)
        if self._choose is not None and len(self._all) > self._most:
            self._all = self._choose(self._all)
            self._most = 2 * len(self._all) + FEW
        self.emit(candidate)

    def narrow(self, choose: Choose) -> None:
        """What another one here keeps from being chosen need not be kept."""
        self._choose = choose

    def live(self) -> Iterable[Candidate]:
        return self._all

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        self._watching.append(seen)

    def prune(self, at: int) -> None:
        if self._horizon is not None:
            before = at - self._horizon
            self._all = [candidate for candidate in self._all if candidate[SINCE] > before]

    def consume(self, gone: Set[int], at: int) -> None:
        self._all = [c for c in self._all if not any(id(part) in gone for part in c[PARTS])]

    def size(self) -> int:
        return len(self._all)


@grows(nodes.Either)
def _(node: nodes.Either, place: Place) -> Operator | None:
    emit = place.emit
    if not node.view:
        left, right = branches(node)
        place.grow(node.left, lambda candidate: emit(left(candidate)))
        place.grow(node.right, lambda candidate: emit(right(candidate)))
        return None
    operator = Either(node, emit)
    operator.left = _stored(node.left, node.horizon, operator.take_left, place)
    operator.right = _stored(node.right, node.horizon, operator.take_right, place)
    return place.add(operator)


def _stored(node: nodes.Node, horizon: int | None, emit: Emit, place: Place) -> Operator | None:
    """A branch whose candidates can be looked at."""
    if node.view:
        return place.grow(node, emit)
    store = Store(horizon, emit)
    place.grow(node, store.take)
    place.add(store)
    return store
