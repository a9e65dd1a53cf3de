"""One group of a window: its rows, its aggregates, and its last reported values."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from obep.algebra.aggregates.accumulator import Collecting
from obep.algebra.aggregates.argument_figures import ArgumentFigures
from obep.algebra.aggregates.presence import Full, Held
from obep.algebra.over.figure_compiler import Blocked, Quick
from obep.algebra.over.over_expressions import END, ORDER, TERMS, GroupKey, KeptRow, OverExpressions, Values

FEW = 32


class GroupChange(NamedTuple):
    """A group begins to hold at an instant, holds with other values, or holds no more."""

    at: int
    group: GroupKey
    holds: bool
    """Whether the group is there and HAVING is true."""
    values: Values
    """The values of AGGREGATE, in its order: those that it held with, if it holds no more."""
    rows: int
    expired: bool
    """Whether rows only left: what ends so has expired, and was not changed (STATES 4)."""


class RowGroup:
    """The rows with one key, in their order."""

    __slots__ = (
        "accumulators",
        "before",
        "blocked",
        "changed",
        "expressions",
        "failed",
        "first",
        "gone",
        "kept",
        "kept_sources",
        "key",
        "last",
        "left",
        "moved",
        "seen",
        "since",
        "standing",
        "turned",
        "unread",
    )

    def __init__(self, key: GroupKey, expressions: OverExpressions) -> None:
        self.key = key
        self.expressions = expressions
        self.kept: list[KeptRow] = []
        self.kept_sources: list[Any] = []
        """The sources of the last rows."""
        self.first = 0
        """The number of rows at the beginning that have left."""
        self.accumulators: list[Collecting] = expressions.accumulators()
        self.since: int | None = None
        """Since when it has had rows without a break."""
        self.seen: int | None = None
        """Since when it had rows when it was last looked at."""
        self.turned = False
        """Whether its first row has come, or the last one has left, since it was last settled."""
        self.moved = 0
        """When a row last came or left."""
        self.standing = False
        """Whether it is there without rows: FOR EACH, or a state without parameters."""
        self.changed = self.left = False
        """Changes since the last evaluation: `left` if rows left, `changed` for any other change."""
        self.gone: list[tuple[KeptRow, Any]] | None = None
        """If it held when it was last looked at: the rows that have left since."""
        self.blocked: bool | Blocked = False
        """If it did not hold when it was last looked at: what must happen before it can."""
        self.failed: Quick | None = None
        """If it did not hold then: the part of HAVING that was not true, which is tried first."""
        self.last: Values | None = None
        """Its values when it was last looked at, if it held then."""
        self.unread = False
        """Whether it has held on with other values, which have not been computed (`OverExpressions.lazy`)."""
        self.before: list[Collecting] | None = None
        """Its accumulators as they were when it was last looked at, where `last` is older."""

    @property
    def size(self) -> int:
        """The number of its rows."""
        return len(self.kept) - self.first

    @property
    def rows(self) -> list[tuple[KeptRow, Any]]:
        """The rows in their order, each with its source."""
        return list(zip(self.kept[self.first :], self.kept_sources[self.first :], strict=True))

    def add(self, row: KeptRow, source: Any) -> bool:
        """Takes a row; whether it was not there yet."""
        if self.unread and self.before is None:
            self._keep_figures()
        rows, sources = self.kept, self.kept_sources
        if rows and rows[-1][END] >= row[END]:
            place = bisect_left(rows, row[:TERMS], self.first)
            if place < len(rows) and rows[place][:TERMS] == row[:TERMS]:
                return False
            rows.insert(place, row)
            sources.insert(place, source)
        else:
            if not rows:
                self.turned = True
            rows.append(row)
            sources.append(source)
        expressions = self.expressions
        if len(sources) > expressions.max_because:
            sources[-expressions.max_because - 1] = None
        if expressions.slot is not None:
            self.accumulators[0].add(row[END], row[ORDER], row[TERMS][expressions.slot])
        else:
            for accumulator, argument in zip(self.accumulators, expressions.arguments, strict=True):
                accumulator.add(row[END], row[ORDER], argument(row))
        self.changed = True
        return True

    def sources(self) -> list[Any]:
        """Those of its last rows."""
        last = self.kept_sources[max(self.first, len(self.kept_sources) - self.expressions.max_because) :]
        return [source for source in last if source is not None]

    def remove(self, row: KeptRow) -> None:
        """A row leaves, mostly the first one."""
        if self.unread and self.before is None:
            self._keep_figures()
        rows, first = self.kept, self.first
        place = first if rows[first] is row else bisect_left(rows, row[:TERMS], first)
        if self.gone is not None:
            self.gone.append((rows[place], self.kept_sources[place]))
        if place == first:
            self.kept_sources[first] = None
            self.first = first = first + 1
            if first == len(rows):
                self.turned = True
                rows.clear()
                self.kept_sources.clear()
                self.first = 0
            elif first >= FEW and 2 * first > len(rows):
                del rows[:first], self.kept_sources[:first]
                self.first = 0
        else:
            del rows[place], self.kept_sources[place]
        expressions = self.expressions
        if expressions.slot is not None:
            self.accumulators[0].remove(row[END], row[ORDER], row[TERMS][expressions.slot])
        else:
            for accumulator, argument in zip(self.accumulators, expressions.arguments, strict=True):
                accumulator.remove(row[END], row[ORDER], argument(row))
        self.left = True

    def settle(self, at: int) -> bool:
        """Looks whether it has rows, at the end of an instant; whether it has just come to have some."""
        there = len(self.kept) > self.first
        self.turned = False
        if there == (self.since is not None):
            return False
        self.since = at if there else None
        if self.expressions.asks_full:
            self.tell_full()
        return there

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

    def look(self, at: int, before: int) -> GroupChange | None:
        """Evaluate the group at an instant and return its change; `before` is the last instant of the old
        values."""
        expressions = self.expressions
        if self.blocked and not (self.changed if self.blocked == "row comes" else self.left):
            self.changed = self.left = False
            self.seen = self.since
            return None
        if self.failed is not None and self.since is not None:
            passed = self.failed(self.accumulators, at)
            if passed is not True:
                self.blocked = passed
                self.changed = self.left = False
                self.seen = self.since
                return None
        if self.standing or expressions.each:
            there = self.standing and (not expressions.bare or self.since is not None)
        else:
            there = self.since is not None
        self.blocked = False
        self.failed = None
        if not there:
            values = None
        elif self.last is not None and expressions.lazy:
            if expressions.passes(self.accumulators, at):
                self.unread, self.before = True, None
                self.changed = self.left = False
                self.seen = self.since
                if self.gone:
                    self.gone.clear()
                return None
            values = None
        elif expressions.lags:
            values = self._values(at)
        else:
            values = expressions.result(self.key, self.accumulators, at)
        if values is None and self.last is None:  # so it is most often
            if there:
                self.blocked = expressions.blocked
                self.failed = None if expressions.lags else expressions.failed
            self.changed = self.left = False
            self.seen = self.since
            return None
        ended = self.last is not None and values is None
        expired = ended and self.left and (self._only_left or self._held_with_all(at, before))
        self.changed = self.left = False
        self.seen = self.since
        if values == self.last:
            if self.gone:
                self.gone.clear()
            return None
        shown = self.read() if values is None else values
        self.last = values
        self.unread, self.before = False, None
        self.gone = None if values is None else []
        return GroupChange(at, self.key, values is not None, shown or (), self.size, expired)

    def read(self) -> Values | None:
        """Its values as it was last looked at, if it held then."""
        if self.unread:
            self.last = self.expressions.values(self.key, self.before or self.accumulators, self.moved)
            self.unread = False
        return self.last

    def _keep_figures(self) -> None:
        """Something changes: if it then holds no more, its values before that are asked for."""
        self.before = [one.frozen() for one in self.accumulators if isinstance(one, ArgumentFigures)]

    @property
    def _only_left(self) -> bool:
        expressions = self.expressions
        return not (self.changed or expressions.of_time or expressions.asks_full)

    def _values(self, at: int) -> Values | None:
        """Its values if HAVING is true. Without STEP what depends on the time is as of the last row."""
        expressions = self.expressions
        if not expressions.lags or at == self.moved:
            return expressions.result(self.key, self.accumulators, at)
        self.tell_full(at - self.moved)
        values = expressions.result(self.key, self.accumulators, self.moved)
        self.tell_full()
        return values

    def _held_with_all(self, at: int, before: int) -> bool:
        """Whether HAVING would be true if no row had left; FULL() is not less than it was."""
        if self.expressions.each and not self.standing:
            return False
        gone, self.gone = self.gone or [], None
        for row, source in gone:
            self.add(row, source)
        since = self.since
        if self.seen is not None and since != self.seen:
            was = self.seen + at - before
            self.since = was if since is None else min(was, since)
        self.tell_full()
        values = self._values(at)
        self.since = since
        self.tell_full()
        for row, _ in gone:
            self.remove(row)
        return values is not None
