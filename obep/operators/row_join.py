"""Rows: joining the solutions of two operands, and the conditions over them (SPEC §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from obep.guards.filter_closures import compile_condition
from obep.model import Term
from obep.operators.candidates import Key, Parts, Row, Rows
from obep.plan.nodes import Alias, Condition

Test = Callable[[Rows, Parts, int, int], Rows]
"""Rows that meet all conditions, given the parts, start and end of the candidate."""
KeyOf = Callable[[Row], Key]


class Joining:
    """How rows over `left` variables join rows over `right` ones: shared variables are equal.

    `key_left` and `key_right` are equal for rows that can join; rows whose keys are equal may still differ
    in a variable that is not always bound.
    """

    def __init__(
        self,
        left: Sequence[str],
        right: Sequence[str],
        left_sure: frozenset[str],
        right_sure: frozenset[str],
    ) -> None:
        shared = [name for name in left if name in right]
        keyed = [name for name in shared if name in left_sure and name in right_sure]
        self.key_left = key_function([left.index(name) for name in keyed])
        self.key_right = key_function([right.index(name) for name in keyed])
        self.left_key = tuple(left.index(name) for name in keyed)
        self.right_key = tuple(right.index(name) for name in keyed)
        self._checked = [(left.index(name), right.index(name)) for name in shared if name not in keyed]
        added = [at for at, name in enumerate(right) if name not in left]
        self._added = tuple(added)
        self.exact = not self._checked
        """Rows with equal keys always join."""
        self.trivial = self.exact and not added and len(right) == len(keyed)
        """The joined row is the left one."""

    def merge(self, left: Row, right: Row) -> Row | None:
        """The joined row of two rows whose keys are equal, if they do join."""
        for here, there in self._checked:
            mine, other = left[here], right[there]
            if mine is None:
                if other is not None:
                    left = (*left[:here], other, *left[here + 1 :])
            elif other is not None and other != mine:
                return None
        return (*left, *[right[at] for at in self._added]) if self._added else left

    def join(self, left: Rows, right: Rows) -> Rows:
        """All joined rows, each once."""
        if len(left) == 1 and len(right) == 1:
            (one,), (other,) = left, right
            if self.left_key and self.key_left(one) != self.key_right(other):
                return ()
            row = self.merge(one, other)
            return () if row is None else (row,)
        found: dict[Row, None] = {}
        for one in left:
            key = self.key_left(one)
            for other in right:
                if self.key_right(other) == key and (row := self.merge(one, other)) is not None:
                    found[row] = None
        return tuple(found)


def key_function(positions: Sequence[int]) -> KeyOf:
    """Return a function that gives the hash key of a row; a single value is not wrapped in a tuple."""
    if not positions:
        return lambda row: ()
    return itemgetter(*positions)


def keys_of(key: KeyOf, rows: Rows) -> Iterable[Key]:
    """The distinct keys of some rows."""
    if len(rows) == 1:
        return (key(rows[0]),)
    return dict.fromkeys(map(key, rows))


def compile_test(
    conditions: Sequence[Condition], variables: Sequence[str], aliases: Sequence[Alias]
) -> Test | None:
    """All conditions as one test; `None` if there is none."""
    tests = [_compile(condition, variables, aliases) for condition in conditions]
    if not tests:
        return None

    def test(rows: Rows, parts: Parts, start: int, end: int) -> Rows:
        for one in tests:
            rows = one(rows, parts, start, end)
            if not rows:
                break
        return rows

    return test


def _compile(condition: Condition, variables: Sequence[str], aliases: Sequence[Alias]) -> Test:
    index = {name: at for at, name in enumerate(variables)}
    places = {alias.name: at for at, alias in enumerate(aliases)}
    timed = sorted(name for name in condition.named if name in places)
    holds = compile_condition(
        condition.expression, index, {**{name: at for at, name in enumerate(timed)}, "": len(timed)}
    )
    needed = [index[name] for name in condition.variables if name in index]
    taking_part = [places[name] for name in timed]

    def test(rows: Rows, parts: Parts, start: int, end: int) -> Rows:
        times = []
        for place in taking_part:
            part = parts[place]
            if part is None:  # an alias that did not take part asks nothing (SPEC D8)
                return rows
            times.append((part.start, part.end))
        times.append((start, end))
        return tuple(row for row in rows if any(row[at] is None for at in needed) or holds(row, times))

    return test


class Gathering:
    """Joins the lots of rows that a candidate below FIRST or LAST has kept apart, into rows over `into`."""

    def __init__(self, factors: Sequence[Sequence[str]], into: Sequence[str]) -> None:
        self._places = [[into.index(name) for name in factor] for factor in factors]
        self._width = len(into)

    def __call__(self, lots: tuple[Rows | None, ...]) -> Rows:
        found: list[list[Term | None]] = [[None] * self._width]
        for lot, places in zip(lots, self._places, strict=True):
            if lot is None or (not places and lot):
                continue
            joined = []
            for row in found:
                for values in lot:
                    merged = _fill(row, places, values)
                    if merged is not None:
                        joined.append(merged)
            found = joined
        return tuple(dict.fromkeys(map(tuple, found)))


def _fill(row: list[Term | None], places: list[int], values: Row) -> list[Term | None] | None:
    new = list(row)
    for place, value in zip(places, values, strict=True):
        if value is None:
            continue
        if new[place] is None:
            new[place] = value
        elif new[place] != value:
            return None
    return new


def widener(variables: Sequence[str], into: Sequence[str]) -> Callable[[Rows], Rows] | None:
    """Rows over `variables` as rows over `into`, unbound elsewhere; `None` where they are the same."""
    if tuple(variables) == tuple(into):
        return None
    places = [variables.index(name) if name in variables else None for name in into]

    def widen(rows: Rows) -> Rows:
        return tuple(tuple(None if at is None else row[at] for at in places) for row in rows)

    return widen
