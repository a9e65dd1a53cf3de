"""The negations: NOT, WITHOUT, NOT FOLLOWED BY (SPEC §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from heapq import heapify, heappop, heappush

from obep.model import Assertion, EagerOccurrence, Item
from obep.operators.candidates import (
    DONE,
    END,
    NOTHING,
    PARTS,
    ROWS,
    SINCE,
    START,
    Candidate,
    Emit,
    Row,
    Rows,
)
from obep.operators.memory import Memory
from obep.operators.operator import Operator, Place, clashes, grows
from obep.operators.row_join import Joining, compile_test
from obep.operators.view import Shown, shown_by
from obep.plan import nodes


class Rest(Operator):
    """`NOT E`: each item of the instant, without what explains an E that is all of this instant."""

    field_name = "negation (NOT)"
    waits = True

    state = ("_explained", "_items")

    def __init__(self, node: nodes.Rest, emit: Emit) -> None:
        self.emit = emit
        self._rows = (NOTHING,) if node.held else NOTHING
        self._counted = [at for at, alias in enumerate(node.operand.aliases) if not alias.context]
        self._explained: set[Assertion] = set()
        self._items: list[Item] = []

    def take(self, candidate: Candidate) -> None:
        if candidate[START] == candidate[DONE]:
            for at in self._counted:
                part = candidate[PARTS][at]
                if part is not None:
                    self._explained.update(part.explanation)

    def take_items(self, items: Iterable[Item]) -> None:
        self._items.extend(items)

    def close(self, at: int) -> None:
        items, self._items = self._items, []
        explained, self._explained = self._explained, set()
        seen = set()
        for item in items:
            rest = tuple(sorted({(triple, at) for triple in item.triples} - explained))
            if rest and rest not in seen:
                seen.add(rest)
                part = EagerOccurrence("", "", rest, at, at, at, at, items=(item,))
                self.emit((at, at, at, at, (part,), self._rows))


class Blocking:
    """The n of a negation, and what of an l they leave."""

    def __init__(self, node: nodes.Negation, *, exclusive: bool = True) -> None:
        """`exclusive`: an occurrence of l is no n (SPEC D11)."""
        left, right = node.left, node.right
        self._joining = Joining(left.variables, right.variables, left.sure, right.sure)
        both = (*left.variables, *(name for name in right.variables if name not in left.variables))
        self._test = compile_test(node.conditions, both, left.aliases + right.aliases)
        self._clash = clashes(left.aliases, right.aliases, apart=False) if exclusive else None
        bounds = [bound for bound in (node.horizon, node.keeps) if bound is not None]
        self.memory = Memory(self._joining.key_right, min(bounds, default=None), START)
        self.view: Operator | None = None
        self._shown: Shown | None = None

    def look(self) -> None:
        """Read the view anew when it is needed next: it is what it is while an instant closes."""
        self._shown = shown_by(self.view, self._joining.key_right)

    def rows_left(
        self, left: Candidate, least: int, greatest: int, inside: Callable[[Candidate, Candidate], bool]
    ) -> Rows:
        """The rows of l that no n joins; the ends of the n that may lie between the two bounds."""
        rows: Rows = left[ROWS]
        among = self._shown or self.memory
        for candidate in among.partners(left, self._joining.key_left, least, greatest):
            if not rows:
                break
            if inside(left, candidate) and not (
                self._clash is not None and self._clash(left[PARTS], candidate[PARTS])
            ):
                rows = tuple(row for row in rows if not self._joins(row, left, candidate))
        return rows

    def _joins(self, row: Row, left: Candidate, candidate: Candidate) -> bool:
        joined = self._joining.join((row,), candidate[ROWS])
        if joined and self._test is not None:
            joined = self._test(joined, left[PARTS] + candidate[PARTS], left[START], left[END])
        return bool(joined)


class Without(Operator):
    """`L WITHOUT N`: decided when l is done."""

    field_name = "negation (WITHOUT)"
    state = ("blocking.memory", "_new")

    def __init__(self, node: nodes.Without, emit: Emit) -> None:
        self.emit = emit
        self.blocking = Blocking(node)
        self._held = node.held
        calm = node.left.punctual and node.right.punctual and not node.right.view
        self._eager = calm  # all that lies strictly inside l was there before
        self.waits = not calm
        self._new: list[Candidate] = []

    def take_left(self, left: Candidate) -> None:
        if self._eager:
            self._decide(left)
        else:
            self._new.append(left)

    def take_right(self, candidate: Candidate) -> None:
        if self.blocking.view is None:
            self.blocking.memory.add(candidate)

    def close(self, at: int) -> None:
        if self._new:
            new, self._new = self._new, []
            self.blocking.look()
            for left in new:
                self._decide(left)
            self.blocking.look()  # and keep nothing of it

    def _decide(self, left: Candidate) -> None:
        start, end, done, since, parts, _ = left
        kept = self.blocking.rows_left(left, start + 1, end - 1, _strictly_inside)
        if kept:
            self.emit((start, end, done, since, parts, (kept,) if self._held else kept))

    def memories(self) -> Iterable[Memory]:
        return (self.blocking.memory,)

    def consume(self, gone: Set[int], at: int) -> None:
        """What is consumed still counts as n."""


def _strictly_inside(left: Candidate, candidate: Candidate) -> bool:
    return left[START] < candidate[START] and candidate[END] < left[END]


class Silence(Operator):
    """`L NOT FOLLOWED BY N WITHIN d`: l waits for its deadline."""

    field_name = "absence (NOT FOLLOWED BY)"
    waits = True

    state = ("blocking.memory", "_waiting", "_count")

    def __init__(self, node: nodes.Silence, emit: Emit) -> None:
        self.emit = emit
        self.early = node.prompt
        self._micros = node.micros
        self._held = node.held
        self._horizon = node.horizon
        self.blocking = Blocking(node)
        self.left_view: Operator | None = None
        self._waiting: list[tuple[int, int, Candidate | None]] = []
        self._count = 0

    def take_left(self, left: Candidate) -> None:
        if self.left_view is None:
            self._wait(left, left)

    def watch_left(self, left: Candidate) -> None:
        """The view may show this one when its time has come."""
        self._wait(left, None)

    def _wait(self, left: Candidate, kept: Candidate | None) -> None:
        self._count += 1
        heappush(self._waiting, (self._due(left), self._count, kept))

    def _due(self, left: Candidate) -> int:
        return max(left[END] + self._micros, left[DONE])

    def take_right(self, candidate: Candidate) -> None:
        if self.blocking.view is None:
            self.blocking.memory.add(candidate)

    def next_deadline(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    def reach(self, at: int) -> None:
        if self.early:
            self.close(at)

    def close(self, at: int) -> None:
        if not (self._waiting and self._waiting[0][0] <= at):
            return
        due: list[Candidate] = []
        while self._waiting and self._waiting[0][0] <= at:
            kept = heappop(self._waiting)[2]
            if kept is not None:
                due.append(kept)
        if not self._waiting:
            self._count = 0
        if self.left_view is not None:
            due = [one for one in self.left_view.live() if self._due(one) == at]
        self.blocking.look()
        for left in due:
            self._decide(left, at)
        self.blocking.look()  # and keep nothing of it

    def _decide(self, left: Candidate, at: int) -> None:
        kept = self._unfollowed(left, at)
        if kept:
            start, end, _, since, parts, _ = left
            deadline = end + self._micros
            self.emit((start, deadline, at, since, parts, (kept,) if self._held else kept))

    def _unfollowed(self, left: Candidate, at: int) -> Rows:
        """The rows of l that would stand at its deadline, as things are now."""
        end, deadline = left[END], left[END] + self._micros
        if self._horizon is not None and at - left[SINCE] >= self._horizon:
            return ()
        return self.blocking.rows_left(
            left, end + 1, deadline - 1, lambda _, other: end < other[START] and other[END] < deadline
        )

    def memories(self) -> Iterable[Memory]:
        return (self.blocking.memory,)

    def prune(self, at: int) -> None:
        super().prune(at)
        if self._horizon is not None:
            before = at - self._horizon
            self._retain(lambda left: left[SINCE] > before)

    def consume(self, gone: Set[int], at: int) -> None:
        """What is consumed still counts as n, but waits for nothing."""
        self._retain(lambda left: not any(id(part) in gone for part in left[PARTS]))

    def _retain(self, wanted: Callable[[Candidate], bool]) -> None:
        self._waiting = [entry for entry in self._waiting if entry[2] is None or wanted(entry[2])]
        heapify(self._waiting)
        if not self._waiting:
            self._count = 0

    def pending(self, only: int | None) -> int:
        self.blocking.look()
        if self.left_view is not None:
            waits = {due for due, _, _ in self._waiting}
            ahead = [(due, left) for left in self.left_view.live() if (due := self._due(left)) in waits]
        else:
            ahead = [(due, left) for due, _, left in self._waiting if left is not None]
        return sum(only in (None, due) and bool(self._unfollowed(left, due)) for due, left in ahead)

    def size(self) -> int:
        return super().size() + len(self._waiting)


@grows(nodes.Rest)
def _(node: nodes.Rest, place: Place) -> Operator | None:
    operator = Rest(node, place.emit)
    place.grow(node.operand, operator.take, exempt=True)
    place.add_of_items(operator)
    return place.add(operator)


@grows(nodes.Without)
def _(node: nodes.Without, place: Place) -> Operator | None:
    operator = Without(node, place.emit)
    place.grow(node.left, operator.take_left)
    operator.blocking.view = place.grow(node.right, operator.take_right, exempt=True)
    return place.add(operator)


@grows(nodes.Silence)
def _(node: nodes.Silence, place: Place) -> Operator | None:
    operator = Silence(node, place.emit)
    place.add_timed(operator)
    left = place.grow(node.left, operator.take_left)
    operator.blocking.view = place.grow(node.right, operator.take_right, exempt=True)
    if left is not None:
        operator.left_view = left
        left.watch(operator.watch_left)
    return place.add(operator)
