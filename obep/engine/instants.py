"""The runtime: logical occurrences in, instant by instant, all reports out, stratum by stratum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from obep.engine.graphs import Plain
from obep.engine.running import Take, running
from obep.guards.asks import Ask
from obep.model import DeadLetter, Item, Occurrence, Term
from obep.operators.state import Packing, Unpacking
from obep.plan.plan import Plan


class Deriving(Protocol):
    """As much of a matcher as the strata need."""

    def match_derived(self, occurrence: Occurrence) -> object: ...


class Runtime:
    """Runs a plan over logical occurrences that come in the order of time.

    `push(at, occurrences, items)` brings what is detected at one instant, in one call or in several;
    `items` are the items of that instant, and only needed if the plan has a NOT. Every occurrence carries
    its `solutions` by the number of an ask (`plan.asks`); `detected` must be `at`. Each call returns the
    occurrences of returned events (of all composite ones, if the query returns none) that were decided:
    some at the push, the others when the instant closes, that is at the next push of a later instant, at
    `advance(to)` beyond it, or at `close()`.
    """

    def __init__(
        self,
        plan: Plan,
        matcher: Deriving | None = None,
        on_dead_letter: Callable[[DeadLetter], None] | None = None,
    ) -> None:
        self.plan = plan
        self.now: int | None = None
        self._matcher = matcher
        self._on_dead_letter = on_dead_letter
        self._runs = [run for event in plan.events if (run := running(event)) is not None]
        self._routes: dict[Term, list[Take]] = {}
        for run in self._runs:
            for event, take in run.routes():
                self._routes.setdefault(event, []).append(take)
        composites = [event.event for event in plan.events if event.root is not None]
        self._returned = frozenset(plan.returned) or frozenset(composites)
        self._asked: dict[Term, list[Ask]] = {}
        for ask in plan.asks.all:
            self._asked.setdefault(ask.event, []).append(ask)
        self._arrived: list[Occurrence] = []
        self._seen: dict[tuple[object, ...], Occurrence] = {}
        self._items: list[Item] = []

    def push(
        self, at: int, occurrences: Sequence[Occurrence], items: Iterable[Item] = ()
    ) -> list[Occurrence]:
        """What the occurrences (and items) of an instant decide at once, and all that came before it."""
        found = self._move(at) if at != self.now else []
        self._items.extend(items)
        for occurrence in self._new(occurrences):
            self._feed(occurrence, found)
        for run in self._runs:
            self._deliver(run.report(), found)
        return found

    def push_occurrences(self, occurrences: Iterable[Occurrence]) -> list[Occurrence]:
        """Many at once, sorted by `detected`."""
        found: list[Occurrence] = []
        for occurrence in occurrences:
            found.extend(self.push(occurrence.detected, (occurrence,)))
        return found

    def advance(self, to: int) -> list[Occurrence]:
        """Time goes on without data: instants before `to` are closed, deadlines up to `to` fall due."""
        return self._move(to) if self.now is None or to > self.now else []

    def close(self) -> list[Occurrence]:
        """The end: the last instant closes; deadlines beyond it stay undecided."""
        found: list[Occurrence] = []
        if self.now is not None:
            self._close_instant(self.now, found)
        return found

    def wakes(self) -> int | None:
        """The first instant that has something to do here without new data: the open one must close."""
        due = self._next_deadline()
        if self.now is None or not (self._arrived or self._items):
            return due
        return self.now + 1 if due is None else min(due, self.now + 1)

    def dump(self) -> Any:
        """All that it remembers, as plain values for msgpack."""
        pack = Packing()
        runs = [(run.plan.event, run.dump(pack)) for run in self._runs]
        arrived, items = pack(self._arrived), pack(self._items)
        return [self.now, pack.occurrences, runs, arrived, items]

    def load(self, data: Any) -> None:
        """Go on from a dump of the same plan."""
        self.now, occurrences, runs, arrived, items = data
        unpack = Unpacking(occurrences)
        known = {run.plan.event: run for run in self._runs}
        for event, state in runs:
            known[event].load(state, unpack)
        self._arrived[:] = unpack(arrived)
        self._seen.clear()
        self._items[:] = unpack(items)

    def pending(self) -> int:
        """How many deadlines have not been reached."""
        return sum(run.pending() for run in self._runs)

    def size(self) -> int:
        """How much is remembered."""
        return sum(run.size() for run in self._runs)

    def _move(self, to: int) -> list[Occurrence]:
        found: list[Occurrence] = []
        if self.now is not None:
            assert to > self.now, "occurrences come in the order of time"
            self._close_instant(self.now, found)
        while (due := self._next_deadline()) is not None and due < to:
            self.now = due
            self._reach(due, found)
            self._close_instant(due, found)
        self.now = to
        self._reach(to, found)
        return found

    def _next_deadline(self) -> int | None:
        deadlines = [due for run in self._runs if (due := run.next_deadline()) is not None]
        return min(deadlines, default=None)

    def _reach(self, at: int, found: list[Occurrence]) -> None:
        for run in self._runs:
            run.reach(at)
            self._deliver(run.report(), found)

    def _close_instant(self, at: int, found: list[Occurrence]) -> None:
        for run in self._runs:
            self._deliver(run.close(at, self._items), found)
        self._arrived.clear()
        self._seen.clear()
        self._items.clear()

    def _new(self, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
        """Those that this instant has not seen: one found in two items is one, with the rows of both."""
        if len(occurrences) == 1 and not self._arrived:
            self._arrived.extend(occurrences)
            return list(occurrences)
        if not self._seen:
            self._seen = {one.key: one for one in self._arrived}
        new = []
        for occurrence in occurrences:
            first = self._seen.setdefault(occurrence.key, occurrence)
            if first is occurrence:
                new.append(occurrence)
            else:
                for ask, rows in occurrence.solutions.items():
                    first.solutions[ask] = tuple(dict.fromkeys((*first.solutions.get(ask, ()), *rows)))
        self._arrived.extend(new)
        return new

    def _feed(self, occurrence: Occurrence, found: list[Occurrence]) -> None:
        """A logical occurrence goes to whoever wants it."""
        if occurrence.event in self._returned:
            found.append(occurrence)
        for take in self._routes.get(occurrence.event, ()):
            take(occurrence)

    def _deliver(self, reports: Sequence[Occurrence], found: list[Occurrence]) -> None:
        """A report is an item of the next stratum, too."""
        for occurrence in reports:
            if occurrence.event in self._returned:
                found.append(occurrence)
            for derived in self._derived(occurrence):
                self._feed(derived, found)
            for take in self._routes.get(occurrence.event, ()):
                take(occurrence)

    def _derived(self, occurrence: Occurrence) -> Iterable[Occurrence]:
        if self._matcher is None:
            for ask in self._asked.get(occurrence.event, ()):
                if rows := ask.solve(occurrence, Plain(occurrence)):
                    occurrence.solutions[ask.number] = rows
            return ()
        matched = self._matcher.match_derived(occurrence)
        if isinstance(matched, DeadLetter):
            if self._on_dead_letter is not None:
                self._on_dead_letter(matched)
            return ()
        return matched.occurrences  # type: ignore[attr-defined, no-any-return]
