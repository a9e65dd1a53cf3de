"""`STATE … OVER E WITHIN d [STEP s] … GROUP BY … AGGREGATE … HAVING` as rows come and time goes on."""

from __future__ import annotations

from typing import Any, Literal

from obep.algebra.over.over_expressions import GROUP, GroupKey, KeptRow, OverExpressions, OverRow, Values
from obep.algebra.over.row_groups import GroupChange, RowGroup
from obep.algebra.over.timeline import Timeline
from obep.model import Term

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
        self.leaving: Timeline[KeptRow] = Timeline()
        """Rows that leave d after their end."""
        self.ahead: Timeline[tuple[int, Ahead, GroupKey, Any]] = Timeline()
        """All else that happens at instants to come."""

    # --- what happens ---------------------------------------------------------------------------------------

    def add(self, row: OverRow, done: int, source: Any = None) -> None:
        """Add a row that is known at an instant, with a source that the caller can retrieve."""
        self.put(*row, done, source)

    def put(
        self,
        end: int,
        order: tuple[Term, ...],
        start: int,
        individuals: str,
        terms: Values,
        key: GroupKey,
        done: int,
        source: Any,
    ) -> None:
        """`add` with the parts of a row."""
        at = self.clock
        if at is None or done > at:
            at = self._feed(done)
        if end + self.within > at:
            group = self.groups.get(key) or self.open_group(key)
            row: KeptRow = (end, order, start, individuals, terms, group)
            if group.add(row, source):
                self.moved[key] = group
                group.moved = at
                self.leaving.put(row)

    def begin(self, row: OverRow, source: Any = None) -> None:
        """In OVER STATE: an episode begins at `row.start`. It is a row until d after it has ended."""
        at = self._feed(row.start)
        group = self.groups.get(row.group) or self.open_group(row.group)
        if group.add((*row[:GROUP], group), source):
            self.moved[row.group] = group
            group.moved = at
            for held in group.held():
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
        if not self.settle(until):
            return []
        found, self.found = self.found, []
        return found

    def settle(self, until: int) -> bool:
        """The same, where `advance` gives the changes later; whether there are any."""
        if self.step is None and self.clock == until:
            self._close(until)
            self._look_at(self.moved, until)
            self.closed = until
        else:
            self._run(until)
        return bool(self.found)

    def next_moment(self) -> int | None:
        """The next instant at which something changes though nothing comes, if any is known."""
        if self.step is None:
            left, ahead = self.leaving.next, self.ahead.next
            if ahead is None and left is not None and not self.moved:
                return left + self.within
            return self._next_instant()
        instant, multiple = self._next_instant(), self._next_multiple(self.step)
        if instant is not None:
            instant = _up_to_multiple(instant, self.step)
        return instant if multiple is None else multiple if instant is None else min(instant, multiple)

    def sources_of(self, group: GroupKey) -> list[Any]:
        """The sources of the last rows of a group."""
        known = self.groups.get(group)
        return known.sources() if known else []

    def rows_in(self, group: GroupKey) -> int:
        """The number of rows of a group."""
        known = self.groups.get(group)
        return known.size if known else 0

    # --- how time goes on -----------------------------------------------------------------------------------

    def _feed(self, at: int) -> int:
        """Goes on to an instant that something happens at; what comes too late happens now."""
        clock = self.clock
        if clock is None or at > clock:
            left, ahead = self.leaving.next, self.ahead.next
            if (
                self.moved
                or self.step is not None
                or (left is not None and left + self.within < at)
                or (ahead is not None and ahead < at)
            ):
                self._run(at - 1)
            self.closed, clock = at - 1, at
            self.clock = at
        return clock

    def _run(self, until: int) -> None:
        if self.step is None:
            while (instant := self._next_instant()) is not None and instant <= until:
                self._close(instant)
                self._look_at(self.moved, instant)
        else:
            self._run_by_step(until, self.step)
        if self.closed is None or until > self.closed:
            self.closed = until
        if self.clock is None or until > self.clock:
            self.clock = until

    def _run_by_step(self, until: int, step: int) -> None:
        while True:
            instant, multiple = self._next_instant(), self._next_multiple(step)
            if instant is not None and instant <= until and (multiple is None or instant <= multiple):
                self._close(instant)
                if self.moved and not self.due:
                    self.due_from = instant
                self.due.update(self.moved)
                self.moved.clear()
            elif multiple is not None and multiple <= until:
                self._look_at(self.groups if self.expressions.of_time else self.due, multiple)
                self.due.clear()
                self.looked = multiple
            else:
                break

    def _next_instant(self) -> int | None:
        """The next instant that is not closed and that something happens at, as far as is known."""
        if self.moved:
            return self.clock
        left, ahead = self.leaving.next, self.ahead.next
        if left is None:
            return ahead
        left += self.within
        return left if ahead is None else min(left, ahead)

    def _next_multiple(self, step: int) -> int | None:
        """The next instant at which groups are looked at, as far as is known."""
        found = _up_to_multiple(self.due_from, step) if self.due else None
        if self.groups and self.expressions.of_time and self.looked is not None:
            following = self.looked + step
            found = following if found is None else min(found, following)
        return found

    def _close(self, at: int) -> None:
        """The end of an instant: what leaves at it, and which groups have rows then."""
        self.clock = at
        moved, least = self.moved, at - self.within
        leaving, ahead = self.leaving.next, self.ahead.next
        if leaving is not None and leaving <= least:
            for row in self.leaving.until(least):
                group = row[GROUP]
                group.remove(row)
                group.moved = at
                moved[group.key] = group
        if ahead is not None and ahead <= at:
            self._come_to(at)
        for key, group in moved.items():
            if group.turned and group.settle(at) and self.expressions.asks_full:
                self.ahead.put((at + self.within, FILLS, key, at))

    def _come_to(self, at: int) -> None:
        """Process the other changes of an instant."""
        for _, kind, key, what in self.ahead.until(at):
            if kind == LEAVES:
                group = self._touch(key)
                group.remove(what)
                group.moved = at
            elif kind == FILLS:
                if key in self.groups and self.groups[key].since == what:
                    self._touch(key)
            elif self.each.get(key) == what:
                group = self._touch(key)
                group.standing = group.changed = True

    def _look_at(self, looked: dict[GroupKey, RowGroup], at: int) -> None:
        """Computes groups: those that are due, or with STEP all, if they change with the time alone."""
        before = at - (self.step or 1)
        found: list[GroupChange] = []
        empty: list[GroupKey] = []
        for key, group in looked.items():
            change = group.look(at, before)
            if change is not None:
                found.append(change)
            if group.since is None and not group.standing:
                empty.append(key)
        for key in empty:
            del self.groups[key]
        if found:
            self.found.extend(sorted(found, key=group_order) if len(found) > 1 else found)
        if looked is self.moved:
            looked.clear()

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


def group_order(change: GroupChange) -> tuple[str, ...]:
    """The order in which the changes of an instant are given."""
    return tuple(["" if term is None else term for term in change.group])
