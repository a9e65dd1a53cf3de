"""`STATE … OVER E WITHIN d [STEP s] … GROUP BY … AGGREGATE … HAVING` as rows come and time goes on."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Literal

from obep.algebra.over.over_expressions import GroupKey, OverExpressions, OverRow
from obep.algebra.over.row_groups import GroupChange, RowGroup
from obep.algebra.over.timeline import Timeline

Ahead = Literal["leaves", "fills", "stands"]
"""A row of OVER STATE leaves; FULL() becomes true of a group that has had rows since an instant; FOR EACH has
a group."""
LEAVES: Ahead = "leaves"
FILLS: Ahead = "fills"
STANDS: Ahead = "stands"


class OverRows:
    """The rows of the last `within` microseconds, in groups.

    What happens at an instant is fed in the order of the instants: `add`, `begin`, `cease`, `stand`, `fall`.
    Then `advance(t)` closes all instants up to t, and answers with what changed at them.
    """

    def __init__(self, expressions: OverExpressions, within: int, step: int | None = None) -> None:
        self.expressions = expressions
        self.within = within
        self.step = step
        expressions.lags = step is None and expressions.of_time
        self.groups: dict[GroupKey, RowGroup] = {}
        self.each: dict[GroupKey, int] = {}
        """Since when the state of FOR EACH holds for a group, where it does."""
        self.clock: int | None = None
        """The instant that is fed."""
        self.closed: int | None = None
        """All instants up to this one are closed."""
        self.looked: int | None = None
        """The last multiple of STEP at which the groups were looked at."""
        self.moved: dict[GroupKey, RowGroup] = {}
        """Groups to which something happened at the clock's instant."""
        self.due: dict[GroupKey, RowGroup] = {}
        """Groups that are to be looked at."""
        self.due_from = 0
        self.found: list[GroupChange] = []
        self.leaving: Timeline[OverRow] = Timeline()
        """Rows that leave d after their end."""
        self.ahead: Timeline[tuple[int, Ahead, GroupKey, Any]] = Timeline()
        """All else that happens at instants to come."""

    # --- what happens ---------------------------------------------------------------------------------------

    def add(self, row: OverRow, done: int, source: Any = None) -> None:
        """A row that is known at an instant, and whatever the caller wants to find again."""
        at = self._feed(done)
        if row.end + self.within > at and self._put(row, source):
            self.leaving.put(row)

    def begin(self, row: OverRow, source: Any = None) -> None:
        """In OVER STATE: an episode begins at `row.start`. It is a row until d after it has ended."""
        at = self._feed(row.start)
        if self._put(row, source):
            for held in self.groups[row.group].held():
                held.begin(at)

    def cease(self, row: OverRow, at: int) -> None:
        """In OVER STATE: the episode that began so ends at an instant."""
        at = self._feed(at)
        group = self._touch(row.group)
        group.changed, group.moved = True, at
        for held in group.held():
            held.cease(at)
        self.ahead.put((at + self.within, LEAVES, row.group, row))

    def stand(self, group: GroupKey, since: int, at: int) -> None:
        """FOR EACH: the state holds for these values since an instant, which is known at another, mostly the
        same. When it has held for d, they have a group in any case.

        For a state without parameters: () since the first item.
        """
        at = self._feed(at)
        self.each[group] = since
        self.ahead.put((max(since + self.within, at), STANDS, group, since))

    def fall(self, group: GroupKey, at: int) -> None:
        """FOR EACH: the state holds for these values no more."""
        self._feed(at)
        del self.each[group]
        known = self.groups.get(group)
        if known is not None and known.standing:
            self._touch(group).standing = False
            known.changed = True

    def advance(self, until: int) -> list[GroupChange]:
        """Closes all instants up to one; what changed at them, in the order of time and of the groups."""
        self._run(until)
        found, self.found = self.found, []
        return found

    def next_moment(self) -> int | None:
        """The next instant at which something changes though nothing comes, if any is known."""
        if self.step is None:
            return self._next_instant() if not self.due else self.due_from
        instant, multiple = self._next_instant(), self._next_multiple()
        if instant is not None:
            instant = _up_to_multiple(instant, self.step)
        return instant if multiple is None else multiple if instant is None else min(instant, multiple)

    def sources_of(self, group: GroupKey) -> list[Any]:
        """Those of the last rows of a group."""
        known = self.groups.get(group)
        return known.sources() if known else []

    def rows_in(self, group: GroupKey) -> int:
        """How many rows a group has."""
        known = self.groups.get(group)
        return len(known.rows) if known else 0

    # --- how time goes on -----------------------------------------------------------------------------------

    def _feed(self, at: int) -> int:
        """Goes on to an instant that something happens at; what comes too late happens now."""
        clock = self.clock
        if clock is None or at > clock:
            self._run(at - 1)
            clock = self.clock = at
        return clock

    def _run(self, until: int) -> None:
        while True:
            instant = self._next_instant()
            multiple = None if self.step is None else self._next_multiple()
            if instant is not None and instant <= until and (multiple is None or instant <= multiple):
                self._close(instant)
                if self.step is None:
                    self._look(instant)
            elif multiple is not None and multiple <= until:
                self._look(multiple)
            else:
                break
        if self.closed is None or until > self.closed:
            self.closed = until
        if self.clock is None or until > self.clock:
            self.clock = until

    def _next_instant(self) -> int | None:
        """The next instant that is not closed and that something happens at, as far as is known."""
        if self.moved:
            return self.clock
        left, ahead = self.leaving.next, self.ahead.next
        if left is None:
            return ahead
        left += self.within
        return left if ahead is None else min(left, ahead)

    def _next_multiple(self) -> int | None:
        """The next instant at which groups are looked at, as far as is known."""
        found = None
        if self.due:
            found = self.due_from if self.step is None else _up_to_multiple(self.due_from, self.step)
        if self.step is not None and self.groups and self.expressions.of_time and self.looked is not None:
            following = self.looked + self.step
            found = following if found is None else min(found, following)
        return found

    def _close(self, at: int) -> None:
        """The end of an instant: what leaves at it, and which groups have rows then."""
        self.clock = at
        left, ahead = self.leaving.next, self.ahead.next
        if left is not None and left <= at - self.within:
            for row in self.leaving.until(at - self.within):
                self._leave(row, at)
        for _, kind, key, what in () if ahead is None or ahead > at else self.ahead.until(at):
            if kind == LEAVES:
                self._leave(what, at)
            elif kind == FILLS:
                if key in self.groups and self.groups[key].since == what:
                    self._touch(key)
            elif self.each.get(key) == what:
                group = self._touch(key)
                group.standing = group.changed = True
        if self.moved and not self.due:
            self.due_from = at
        for key, group in self.moved.items():
            if group.settle(at) and self.expressions.asks_full:
                self.ahead.put((at + self.within, FILLS, key, at))
        self.due.update(self.moved)
        self.moved.clear()

    def _look(self, at: int) -> None:
        """Computes the groups that are due; with STEP, all of them if they change with the time alone."""
        every = self.step is not None and self.expressions.of_time
        groups: Iterable[RowGroup] = (self.groups if every else self.due).values()
        for group in sorted(groups, key=_order) if every or len(self.due) > 1 else tuple(groups):
            change = group.look(at, at - (self.step or 1), self.expressions)
            if change is not None:
                self.found.append(change)
            if not group.rows and not group.standing:
                del self.groups[group.key]
        self.due.clear()
        self.looked = at

    def _put(self, row: OverRow, source: Any) -> bool:
        """Puts a row in its group; whether it was not there yet."""
        group = self.groups.get(row.group) or self.open_group(row.group)
        if row in group.rows:
            return False
        self.moved[row.group] = group
        group.moved = self.clock or 0
        group.add(row, source)
        return True

    def _leave(self, row: OverRow, at: int) -> None:
        group = self._touch(row.group)
        group.moved = at
        group.remove(row)

    def _touch(self, key: GroupKey) -> RowGroup:
        group = self.moved[key] = self.groups.get(key) or self.open_group(key)
        return group

    def open_group(self, key: GroupKey) -> RowGroup:
        """The group with a key; an empty one, if there is none."""
        group = self.groups.get(key)
        if group is None:
            if not self.groups and self.step is not None and self.clock is not None:
                # No group was there to be looked at in between.
                self.looked = _up_to_multiple(self.clock, self.step) - self.step
            group = self.groups[key] = RowGroup(key, self.expressions)
        return group


def _up_to_multiple(at: int, step: int) -> int:
    return -(-at // step) * step


_order = attrgetter("order")
