"""One group of a window: its rows, its aggregates, and what was last said of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from obep.algebra.aggregates.accumulator import Accumulator
from obep.algebra.aggregates.presence import Full, Held
from obep.algebra.over.over_expressions import GroupKey, OverExpressions, OverRow, Values

MAX_BECAUSE = 100
"""The rows of a group, the last ones, whose sources are kept (STATES 2)."""
_FEW = 8


class GroupChange(NamedTuple):
    """A group begins to hold at an instant, holds with other values, or holds no more."""

    at: int
    group: GroupKey
    holds: bool
    """Whether the group is there and HAVING is true."""
    values: Values
    """The values of AGGREGATE, in its order; nothing if it does not hold."""
    rows: int
    expired: bool
    """Whether rows only left: what ends so has expired, and was not changed (STATES 4)."""


class RowGroup:
    """The rows with one key."""

    __slots__ = (
        "accumulators",
        "arguments",
        "changed",
        "gone",
        "key",
        "last",
        "latest",
        "left",
        "moved",
        "order",
        "rows",
        "seen",
        "since",
        "standing",
    )

    def __init__(self, key: GroupKey, expressions: OverExpressions) -> None:
        self.key = key
        self.order = tuple(["" if term is None else term for term in key])
        self.rows: dict[OverRow, Any] = {}
        """Each with its source, as long as it is among the last."""
        self.latest: list[OverRow] = []
        """The last rows that came."""
        self.arguments = expressions.arguments
        self.accumulators: list[Accumulator] = expressions.accumulators()
        self.since: int | None = None
        """Since when it has had rows without a break."""
        self.seen: int | None = None
        """Since when it had rows when it was last looked at."""
        self.moved = 0
        """When a row last came or left."""
        self.standing = False
        """Whether it is there without rows: FOR EACH, or a state without parameters."""
        self.changed = self.left = False
        """What is new since it was last looked at: anything but a row's leaving; a row's leaving."""
        self.gone: list[tuple[OverRow, Any]] = []
        """The rows that have left since it was last looked at."""
        self.last: Values | None = None
        """Its values when it was last looked at, if it held then."""

    def add(self, row: OverRow, source: Any) -> None:
        self.rows[row] = source
        self.latest.append(row)
        if len(self.latest) >= 2 * MAX_BECAUSE:
            self._forget_sources()
        end, order = row[0], row[1]
        for accumulator, value in zip(self.accumulators, self.arguments(row), strict=True):
            accumulator.add(end, order, value)
        self.changed = True

    def _forget_sources(self) -> None:
        for row in self.latest[:MAX_BECAUSE]:
            if row in self.rows:
                self.rows[row] = None
        del self.latest[:MAX_BECAUSE]

    def sources(self) -> list[Any]:
        """Those of its last rows."""
        found = [self.rows.get(row) for row in self.latest[-MAX_BECAUSE:]]
        return [source for source in found if source is not None]

    def remove(self, row: OverRow) -> None:
        self.gone.append((row, self.rows.pop(row)))
        if len(self.latest) > 2 * len(self.rows) + _FEW:
            self.latest = [one for one in self.latest if one in self.rows]
        end, order = row[0], row[1]
        for accumulator, value in zip(self.accumulators, self.arguments(row), strict=True):
            accumulator.remove(end, order, value)
        self.left = True

    def settle(self, at: int) -> bool:
        """Looks whether it has rows, at the end of an instant; whether it has just come to have some."""
        if bool(self.rows) == (self.since is not None):
            return False
        self.since = at if self.rows else None
        self.tell_full()
        return self.since is not None

    def tell_full(self, sooner: int = 0) -> None:
        """Says to FULL since when there are rows, as if they had come so much sooner."""
        for accumulator in self.accumulators:
            if isinstance(accumulator, Full):
                if self.since is None:
                    accumulator.cease()
                else:
                    accumulator.begin(self.since - sooner)

    def held(self) -> list[Held]:
        """The HELD among the aggregates."""
        return [accumulator for accumulator in self.accumulators if isinstance(accumulator, Held)]

    def look(self, at: int, before: int, expressions: OverExpressions) -> GroupChange | None:
        """What is new of it at an instant, if anything is; `before` is the last one at which it was old."""
        there = self.standing or not expressions.each
        if expressions.bare or not self.standing:
            there = there and bool(self.rows)
        values = self._values(at, expressions) if there else None
        ends = self.left and self.last is not None and values is None
        only_left = not (self.changed or expressions.of_time or expressions.asks_full)
        expired = ends and (only_left or self._held_with_all(at, before, expressions))
        self.changed = self.left = False
        self.seen = self.since
        self.gone.clear()
        if values == self.last:
            return None
        self.last = values
        return GroupChange(at, self.key, values is not None, values or (), len(self.rows), expired)

    def _values(self, at: int, expressions: OverExpressions) -> Values | None:
        """Its values if HAVING is true. Without STEP what depends on the time is as of the last row."""
        if not expressions.lags or at == self.moved:
            return expressions.result(self.key, self.accumulators, at)
        self.tell_full(at - self.moved)
        values = expressions.result(self.key, self.accumulators, self.moved)
        self.tell_full()
        return values

    def _held_with_all(self, at: int, before: int, expressions: OverExpressions) -> bool:
        """Whether HAVING would be true if no row had left; FULL() is not less than it was."""
        if expressions.each and not self.standing:
            return False
        gone = list(self.gone)
        latest = list(self.latest)
        for row, source in gone:
            self.add(row, source)
        since = self.since
        if self.seen is not None and since != self.seen:
            was = self.seen + at - before
            self.since = was if since is None else min(was, since)
        self.tell_full()
        values = self._values(at, expressions)
        self.since = since
        self.tell_full()
        for row, _ in gone:
            self.remove(row)
        self.latest = latest
        self.changed = self.left = False
        return values is not None
