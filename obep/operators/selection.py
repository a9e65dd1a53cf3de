"""FIRST and LAST: views of what there is (SPEC §4), and where the rows below them are settled (D9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from obep.operators.candidates import DONE, END, PARTS, SINCE, START, Candidate, Emit
from obep.operators.operator import Operator
from obep.operators.rows import Gathering, compile_test
from obep.plan import nodes


def first_of(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those that none of them is before."""
    found = list(candidates)
    bound = min((candidate[END] for candidate in found), default=0)
    return [candidate for candidate in found if candidate[START] <= bound]


def last_of(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those that none of them is after."""
    found = list(candidates)
    bound = max((candidate[START] for candidate in found), default=0)
    return [candidate for candidate in found if candidate[END] >= bound]


class Choice(Operator):
    """Emits what is first (last) when it comes; shows what is first (last) now.

    One that is not first is never first later, unless what was is consumed: only then all are kept.
    """

    state = ("_members", "_new")

    def __init__(self, node: nodes.Choice, emit: Emit, *, consumes: bool) -> None:
        self.emit = emit
        self.below: Operator | None = None
        self.choose = first_of if node.which == "first" else last_of
        self._first = node.which == "first"
        self._eager = node.prompt
        self.waits = not self._eager
        self._keep_all = consumes
        self._horizon = node.horizon
        self._window = node.horizon if node.windowed else None
        operand = node.operand
        self._in_order = operand.point and operand.rooted and operand.punctual and not consumes
        self._now = 0
        self._members: list[Candidate] = []
        self._new: list[Candidate] = []
        self._watching: list[Callable[[Candidate], None]] = []

    def take(self, candidate: Candidate) -> None:
        for seen in self._watching:
            seen(candidate)
        self._now = candidate[DONE]
        if self.below is None:
            self._members.append(candidate)
            if not self._keep_all and self._window is None:
                self._members = self.choose(self._members)
        if not self._eager:
            self._new.append(candidate)
        elif self._shows(candidate, self.live()):
            self.emit(candidate)

    def close(self, at: int) -> None:
        self._now = at
        if self._new:
            new, self._new = self._new, []
            shown = list(self.live())
            for candidate in new:
                if self._shows(candidate, shown):
                    self.emit(candidate)

    def live(self) -> Iterable[Candidate]:
        if self.below is not None:
            return self.choose(self._in_window(self.below.live()))
        if self._window is not None:
            return self._first_in_window(self._now - self._window)
        return self.choose(self._members) if self._keep_all else self._members

    def _in_window(self, shown: Iterable[Candidate]) -> Iterable[Candidate]:
        """What another view shows, without what lies outside of the window: it forgets that later."""
        if self._window is None:
            return shown
        before = self._now - self._window
        return [candidate for candidate in shown if candidate[SINCE] > before]

    def _first_in_window(self, before: int) -> list[Candidate]:
        """What lies outside of the window has no say any more."""
        members = self._members
        if not self._in_order:
            members[:] = [member for member in members if member[SINCE] > before]
            return first_of(members)
        expired = 0
        while expired < len(members) and members[expired][SINCE] <= before:
            expired += 1
        if expired:
            del members[:expired]
        shown = 1 if members else 0  # all are instants, in order: the first ones are those that tie
        while 0 < shown < len(members) and members[shown][START] == members[0][START]:
            shown += 1
        return members[:shown]

    def _shows(self, candidate: Candidate, among: Iterable[Candidate]) -> bool:
        if self._first:
            return all(candidate[START] <= other[END] for other in among)
        return all(candidate[END] >= other[START] for other in among)

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        self._watching.append(seen)

    @property
    def lasting(self) -> bool:
        """Whether one that hides another hides it for ever."""
        return not self._keep_all and self._window is None

    def prune(self, at: int) -> None:
        if self._horizon is not None:
            before = at - self._horizon
            self._members = [member for member in self._members if member[SINCE] > before]

    def consume(self, gone: Set[int], at: int) -> None:
        self._members = [m for m in self._members if not any(id(part) in gone for part in m[PARTS])]

    def size(self) -> int:
        return len(self._members)


class Settle(Operator):
    """Joins the rows that were kept apart below, and decides the conditions over them.

    With `keep` a candidate goes on without rows: whoever is above chooses before it looks at them.
    """

    def __init__(self, node: nodes.Settle, emit: Emit) -> None:
        self.emit = emit
        self.below: Operator | None = None
        self._gather = Gathering(node.operand.factors, node.variables)
        self._test = compile_test(node.conditions, node.variables, node.aliases)
        self._keep = node.keep

    def take(self, candidate: Candidate) -> None:
        settled = self._settled(candidate)
        if settled is not None:
            self.emit(settled)

    def live(self) -> Iterable[Candidate]:
        assert self.below is not None
        found = (self._settled(candidate) for candidate in self.below.live())
        return [candidate for candidate in found if candidate is not None]

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        assert self.below is not None
        self.below.watch(seen)

    def _settled(self, candidate: Candidate) -> Candidate | None:
        start, end, done, since, parts, lots = candidate
        rows = self._gather(lots)
        if rows and self._test is not None:
            rows = self._test(rows, parts, start, end)
        return (start, end, done, since, parts, rows) if rows or self._keep else None
