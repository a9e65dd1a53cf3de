"""NEXT (and so TIMES): a pair with nothing of the kind in between (SPEC §4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from obep.operators.candidates import DONE, END, PARTS, ROWS, START, Candidate, Emit, Parts, Row
from obep.operators.memory import Memory
from obep.operators.operator import Operator, Place, grows
from obep.operators.pair import PairsOfRight, Union
from obep.operators.view import Shown, shown_by
from obep.plan import nodes


class Next(PairsOfRight):
    """Remembers both operands: what lies between two of them separates them.

    Under a policy that consumes, what is consumed makes no pairs any more but still lies between others
    (SPEC §6): then the operands are there a second time (`between_…`), with nothing consumed.
    """

    field_name = "next (NEXT, TIMES)"
    state = ("lefts", "rights", "between_lefts", "between_rights", "_new_left", "_new_right")

    def __init__(self, node: nodes.Next, emit: Emit, *, twice: bool) -> None:
        union = Union(node, "SEQ")
        views = node.left.view or node.right.view
        super().__init__(
            union,
            Memory(union.key_left, node.horizon),
            Memory(union.key_right, node.horizon),
            emit,
            eager=node.left.punctual and node.right.punctual and not views,
        )
        self.between_lefts = Memory(union.key_left, node.horizon) if twice else self.lefts
        self.between_rights = Memory(union.key_right, node.horizon) if twice else self.rights
        self.between_left_view: Operator | None = None
        self.between_right_view: Operator | None = None
        self._between_left: Memory | Shown = self.between_lefts
        self._between_right: Memory | Shown = self.between_rights
        self._held = node.held
        self._probes_rights = not node.left.punctual
        # Where all join, the last l hides those before it.
        self._plain = self._all_join and not twice

    def take_right(self, right: Candidate) -> None:
        if self.right_view is None:
            self.rights.add(right)
        super().take_right(right)

    def _with_lefts(self, lefts: list[Candidate], rights: list[Candidate], at: int) -> None:
        if self._probes_rights:
            for left in lefts:
                for right in self._rights(left):
                    if right[DONE] < at:
                        self._try(left, right)

    def _look(self) -> None:
        super()._look()
        self._between_left = shown_by(self.between_left_view, self.union.key_left) or self.between_lefts
        self._between_right = shown_by(self.between_right_view, self.union.key_right) or self.between_rights

    def _with_right(self, right: Candidate) -> None:
        if self._plain and self.left_view is None and len(right[ROWS]) == 1:
            wall = None
            key = self.union.key_right(right[ROWS][0])
            for left in self.lefts.latest(key, right[START] - 1):
                if wall is not None and left[END] < wall:
                    break
                wall = left[START] if wall is None else max(wall, left[START])
                self._try(left, right)
        else:
            for left in self._lefts(right):
                self._try(left, right)

    def _lefts(self, right: Candidate) -> list[Candidate]:
        return self._left.partners(right, self.union.key_right, None, right[START] - 1)

    def _rights(self, left: Candidate) -> list[Candidate]:
        return self._right.partners(left, self.union.key_left, left[END] + 1, None)

    def _try(self, left: Candidate, right: Candidate) -> None:
        pair = self.union.beside(left, right)
        if pair is None:
            return
        start, end, done, since, parts, _ = pair
        rows = tuple(dict.fromkeys(self._rows(left, right, parts, start, end)))
        if rows:
            self.emit((start, end, done, since, parts, (rows,) if self._held else rows))

    def _rows(self, left: Candidate, right: Candidate, parts: Parts, start: int, end: int) -> Iterator[Row]:
        """The joined rows whose parts from l and from r nothing in between joins."""
        rights_free = [row for row in right[ROWS] if not self._left_between(left, right, row)]
        for row in left[ROWS]:
            joined = self.union.rows_of((row,), tuple(rights_free), parts, start, end)
            if joined and not self._right_between(left, right, row):
                yield from joined

    def _right_between(self, left: Candidate, right: Candidate, row: Row) -> bool:
        """Whether an r' between the two joins a row of l."""
        one = (left[START], left[END], left[DONE], left[3], left[PARTS], (row,))
        others = self._between_right.latest(self.union.key_left(row), right[START] - 1, left[END] + 1)
        return any(
            left[END] < other[START] and other[END] < right[START] and self._joins(one, other)
            for other in others
        )

    def _left_between(self, left: Candidate, right: Candidate, row: Row) -> bool:
        """Whether an l' between the two joins a row of r."""
        one = (right[START], right[END], right[DONE], right[3], right[PARTS], (row,))
        others = self._between_left.latest(self.union.key_right(row), right[START] - 1, left[END] + 1)
        return any(
            left[END] < other[START] and other[END] < right[START] and self._joins(other, one)
            for other in others
        )

    def _joins(self, left: Candidate, right: Candidate) -> bool:
        pair = self.union.beside(left, right)
        if pair is None:
            return False
        start, end, _, _, parts, _ = pair
        return bool(self.union.rows_of(left[ROWS], right[ROWS], parts, start, end))

    def memories(self) -> Iterable[Memory]:
        twice = () if self.between_lefts is self.lefts else (self.between_lefts, self.between_rights)
        return (self.lefts, self.rights, *twice)

    def consume(self, gone: Set[int], at: int) -> None:
        self.lefts.forget(gone)
        self.rights.forget(gone)


@grows(nodes.Next)
def _(node: nodes.Next, place: Place) -> Operator | None:
    operator = Next(node, place.emit, twice=place.consumes)
    operator.left_view = operator.between_left_view = place.grow(node.left, operator.take_left)
    operator.right_view = operator.between_right_view = place.grow(node.right, operator.take_right)
    if place.consumes:
        operator.between_left_view = place.grow(node.left, operator.between_lefts.add, exempt=True)
        operator.between_right_view = place.grow(node.right, operator.between_rights.add, exempt=True)
    return place.add(operator)
