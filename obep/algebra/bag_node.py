"""The base of all nodes of the algebra: a bag of rows, and its join with given rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from obep.algebra.evaluation import Evaluation, Row, Slots, check_solutions
from obep.model import Term

NONE: Slots = frozenset()


class BagNode:
    """A bag of rows over the layout of its scope.

    Each row of it binds the slots `certain`, and perhaps others of `possible`.
    """

    certain: Slots = NONE
    possible: Slots = NONE

    def rows(self, run: Evaluation) -> list[Row]:
        """The rows, each as often as it is a solution. All of them contain `run.seed`."""
        raise NotImplementedError

    def accepts(self, outer: Slots) -> bool:
        """Whether `extend` joins rows that bind slots of `outer`.

        A filter inside, for example, must not see what rows from outside its group bind.
        """
        return False

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        """The join of rows with this bag, made by looking up from each row. Needs `accepts(outer)`."""
        raise NotImplementedError

    def joined(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        """The join of rows, which may bind the slots of `outer`, with this bag."""
        if not rows:
            return []
        if self.accepts(outer):
            return self.extend(run, rows, outer)
        return hash_join(rows, self.rows(run), outer & self.possible)


class LookedUp(BagNode):
    """A bag whose rows are found by looking up from each given row, whatever that row binds."""

    def rows(self, run: Evaluation) -> list[Row]:
        return self.extend(run, [run.seed], self.possible)

    def accepts(self, outer: Slots) -> bool:
        return True


class PathEnds(LookedUp):
    """A path between a subject and an object, each a constant or the slot of a variable."""

    def __init__(self, subject: Term | int, object_: Term | int) -> None:
        self.subject, self.object = subject, object_
        self.certain = self.possible = frozenset(one for one in (subject, object_) if isinstance(one, int))


class RowIndex:
    """Rows by the values of the slots that all of them bind, to find those compatible with a row."""

    def __init__(self, rows: Sequence[Row], shared: Iterable[int]) -> None:
        self._rows = rows
        self._shared = tuple(shared)
        self._tables: dict[tuple[int, ...], dict[tuple[Any, ...], list[Row]]] = {}
        self._always = tuple(slot for slot in self._shared if all(row[slot] is not None for row in rows))

    def compatible(self, row: Row) -> list[Row]:
        """The rows that agree with a row where both bind a shared slot."""
        key = tuple([slot for slot in self._always if row[slot] is not None])
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = {}
            for one in self._rows:
                table.setdefault(tuple([one[slot] for slot in key]), []).append(one)
        found = table.get(tuple([row[slot] for slot in key]), [])
        rest = [slot for slot in self._shared if slot not in key and row[slot] is not None]
        if rest:
            found = [one for one in found if all(one[slot] in (None, row[slot]) for slot in rest)]
        return found


def hash_join(left: list[Row], right: list[Row], shared: Iterable[int]) -> list[Row]:
    """All unions of two compatible rows."""
    if not left or not right:
        return []
    index = RowIndex(right, shared)
    found: list[Row] = []
    for row in left:
        found += [united(row, other) for other in index.compatible(row)]
        check_solutions(len(found))
    return found


def united(left: Row, right: Row) -> Row:
    """The union of two compatible rows."""
    return tuple([b if a is None else a for a, b in zip(left, right, strict=True)])


def onto(seed: Row, slots: Sequence[int], values: Sequence[str | None]) -> Row | None:
    """A row with values in some slots, if they agree with each other and with the seed."""
    row = list(seed)
    for slot, value in zip(slots, values, strict=False):
        if value is not None:
            if row[slot] is None:
                row[slot] = value
            elif row[slot] != value:
                return None
    return tuple(row)
