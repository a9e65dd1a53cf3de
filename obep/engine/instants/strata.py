"""The strata of a plan at one instant: occurrences in, and what they decide out, lower strata first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from math import gcd

from obep.engine.event_run import EventRun
from obep.engine.instants.deadlines import NEVER, Deadlines
from obep.engine.instants.derived_items import DerivedItems, Deriving
from obep.engine.reporter import Detected
from obep.engine.shared_pattern import all_running, connect
from obep.engine.states.state_run import StateRun
from obep.engine.windows import Gathering, Windowed
from obep.model import Alert, Answer, DeadLetter, Item, Occurrence, Term, Triple, is_empty
from obep.operators.candidates import Take
from obep.operators.wire import Carried
from obep.plan.event_strata import heads
from obep.plan.plan import Plan
from obep.plan.window_plan import WindowPlan

_RECORDS = (Alert, Answer)
"""Records that are reported and that no event reads."""


class Strata:
    """Runs a plan over logical occurrences, one instant after the other.

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
        matcher: Deriving | None,
        on_dead_letter: Callable[[DeadLetter], None] | None,
        max_keys: int | None,
        max_because: int,
    ) -> None:
        self.plan = plan
        self.now: int | None = None
        self.gives_empty = False
        """Whether it gives answers without rows, too."""
        windows = [Windowed(window, gathering(window, matcher), on_dead_letter) for window in plan.windows]
        self._runs: list[EventRun] = [*windows, *all_running(plan, max_keys, matcher, max_because)]
        self._routes: dict[Term, list[tuple[Take, int]]] = {}
        for number, run in enumerate(self._runs):
            for event, take in run.routes():
                self._routes.setdefault(event, []).append((take, number))
        self._of_items = [number for number, run in enumerate(self._runs) if run.wants_items]
        composites = [event.event for event in plan.events if event.root is not None and not event.hidden]
        chosen = bool(plan.returned or plan.alerting)
        self._returned = frozenset(plan.returned if chosen else composites)
        self._heads = {head for run in self._runs for head in run.heads}
        self._states = [run for run in self._runs if isinstance(run, StateRun)]
        self._leading = heads(plan.derived) | (self._heads & self._routes.keys())
        """The events whose occurrences an event reads or a matcher examines."""
        self._back = self._ways_back()
        """Where the occurrences of an event that is built on itself go when their instant is over (D40)."""
        self._ending: list[Occurrence] = []
        """The occurrences of this instant that go there."""
        moments = {head: run.state.parameters for run in self._states for head in run.heads}
        self._derived = DerivedItems(plan, moments, matcher, on_dead_letter)
        connect(self._runs, self._touch)
        for run in self._runs:
            run.on_dead_letter = on_dead_letter
        self._touched: set[int] = set()
        self._queue: list[int] = []
        self._queued: set[int] = set()
        """The events in the queue."""
        self._closing = False
        """Whether the queue is of what closes, and not of what reports before that."""
        self._resolved: list[Occurrence] = []
        """The alerts that the instant that closes has resolved."""
        self._deadlines = Deadlines(self._runs)
        self._timed, self._stale = self._deadlines.timed, self._deadlines.stale
        self._arrived: list[Occurrence] = []
        self._seen: dict[tuple[object, ...], Occurrence] = {}
        self._items: list[Item] = []
        """The items of the instant that is open, or of all since the last multiple of the grid."""
        grids = [run.grid for run in self._runs]
        self._grid = 0 if None in grids or not self._of_items else gcd(*[one for one in grids if one])
        """The instants after one of its multiples, up to the next, are closed together; 0: each is alone."""
        self.observer: Callable[[Occurrence], None] | None = None
        """Called with every occurrence that may be a part of another, and with every report."""
        self._begun = False
        """Whether an item has come."""
        self._tied = False
        """Whether two occurrences ever came at the same instant."""
        self._prunes = [NEVER if run.longest is None else -NEVER for run in self._runs]
        self._prune_at = min(self._prunes, default=NEVER)

    def _ways_back(self) -> dict[Term, list[tuple[Take, int]]]:
        """Take the routes to what runs no later than their event out of the others."""
        reporting = {head: number for number, run in enumerate(self._runs) for head in run.heads}
        found: dict[Term, list[tuple[Take, int]]] = {}
        for event in {one for plan in self.plan.events for one in plan.earlier} & self._routes.keys():
            ways = self._routes.pop(event)
            found[event] = [
                way
                for way in ways
                if way[1] <= reporting[event] and not isinstance(self._runs[way[1]], Windowed)
            ]
            if onward := [way for way in ways if way not in found[event]]:
                self._routes[event] = onward
        return found

    def push(
        self, at: int, occurrences: Sequence[Occurrence], items: Iterable[Item] = ()
    ) -> list[Occurrence]:
        """Take the occurrences (and items) of an instant; return what they and earlier instants decide."""
        found: list[Occurrence] = []
        self.take(at, occurrences, items, found)
        return found

    def take(
        self, at: int, occurrences: Sequence[Occurrence], items: Iterable[Item], found: list[Occurrence]
    ) -> None:
        """`push` into a list that is there."""
        if not self._begun and self._states:
            self._begin_run(at, found)
        if at != self.now:
            if (grid := self._grid) and self.now is not None and -(-at // grid) == -(-self.now // grid):
                self.now = at  # nothing looks at what lies between two of its multiples
            else:
                self._move(at, found)
        if self._of_items:
            self._items.extend(items)
            self._touched.update(self._of_items)
        if occurrences:
            for occurrence in self._new(occurrences):
                self._feed(occurrence, found)
        if self._queue:
            self._report(found)

    @property
    def wants_items(self) -> bool:
        """Whether the items of an instant are needed, not only what occurs in them."""
        return bool(self._of_items)

    def _begin_run(self, at: int, found: list[Occurrence]) -> None:
        """The first item comes: states that K and calendars give hold just before it."""
        self._begun = True
        if self.now is None or self.now < at - 1:
            self._move(at - 1, found)
        self.now = at - 1  # time may have come to the item's instant before it: nothing was there yet
        for number, run in enumerate(self._runs):
            if isinstance(run, StateRun):
                run.start(at)
                self._touched.add(number)

    def advance(self, to: int) -> list[Occurrence]:
        """Advance the time without data: close instants before `to`, decide deadlines up to `to`."""
        found: list[Occurrence] = []
        if self.now is None or to > self.now:
            self._move(to, found)
        return found

    def _move(self, to: int, found: list[Occurrence]) -> None:
        if self.now is not None:
            assert to > self.now, "occurrences come in the order of time"
            self._close_instant(self.now, found)
        if self._timed:
            while (due := self._deadlines.next(self.now)) is not None and due < to:
                self._reach(due, found)
                self._close_instant(due, found)
            if due is not None and due <= to:
                self._reach(to, found)
        self.now = to
        if to >= self._prune_at:
            self._prune(to)

    def _reach(self, at: int, found: list[Occurrence]) -> None:
        self.now = at
        for number in self._deadlines.reached(at):
            self._runs[number].reach(at)
            self._touch(number)
        if self._queue:
            self._report(found)

    def _touch(self, number: int) -> None:
        if not self._runs[number].calm:
            self._touched.add(number)
        self._stale.add(number)
        if number not in self._queued and (self._closing or self._runs[number].prompt):
            self._queued.add(number)
            heappush(self._queue, number)

    def _report(self, found: list[Occurrence]) -> None:
        """Report what does not have to wait for the end of the instant, lower strata first."""
        queue = self._queue
        while queue:
            self._queued.discard(queue[0])
            reports = self._runs[heappop(queue)].report()
            if reports:
                self._deliver(reports, found)

    def _close_instant(self, at: int, found: list[Occurrence]) -> None:
        touched = self._touched
        if touched:
            queue, queued, runs, items = self._queue, self._queued, self._runs, self._items
            number = min(touched)
            if len(touched) > 1:
                queue[:] = sorted(touched)[1:]
                queued.update(queue)
            self._closing = True
            while True:
                run = runs[number]
                reports = run.report() if run.calm else run.close(at, items)
                if reports and run.logical:
                    for occurrence in self._new(reports):
                        self._feed(occurrence, found)
                elif reports:
                    self._deliver(reports, found)
                if not queue:
                    break
                number = heappop(queue)
                queued.discard(number)
            self._closing = False
            if self._resolved:  # at one instant firing comes before resolved, whatever the state (STATES 4)
                found += self._resolved
                self._resolved.clear()
            self._stale |= touched
            touched.clear()
            items.clear()
        if self._ending:
            self._go_back(at, found)
        self._arrived.clear()
        if self._seen:
            self._seen.clear()

    def _go_back(self, at: int, found: list[Occurrence]) -> None:
        """Give what was detected at an instant to the events below it: it counts from then on."""
        ending, self._ending = self._ending, []
        for occurrence in ending:
            for take, number in self._back[occurrence.event]:
                take(occurrence)
                self._touched.add(number)
        self._close_instant(at, found)

    def _prune(self, at: int) -> None:
        """Every now and then: forget what can have no part in an answer any more."""
        for number, run in enumerate(self._runs):
            if run.longest is not None and at >= self._prunes[number]:
                run.prune(at)
                self._stale.add(number)
                self._prunes[number] = at + run.longest
        self._prune_at = min(self._prunes, default=NEVER)

    def _new(self, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
        """The occurrences that are new in this instant: one found in two items is one, with the rows of
        both."""
        if len(occurrences) == 1 and not self._arrived:
            self._arrived.extend(occurrences)
            return list(occurrences)
        self._tied = True
        if not self._seen:
            self._seen = {one.key: one for one in self._arrived}
        new = []
        for occurrence in occurrences:
            first = self._seen.setdefault(occurrence.key, occurrence)
            if first is occurrence:
                new.append(occurrence)
            else:
                both = dict(first.solutions)  # the rows may be those of other occurrences, too
                for ask, rows in occurrence.solutions.items():
                    both[ask] = tuple(dict.fromkeys((*both.get(ask, ()), *rows)))
                first.solutions = both
                first.items = tuple(dict.fromkeys((*first.items, *occurrence.items)))
                if first._id and _assertions(occurrence) < _assertions(first):
                    _explain_as(first, occurrence)
        self._arrived.extend(new)
        return new

    def _feed(self, occurrence: Occurrence, found: list[Occurrence]) -> None:
        """Feed a logical occurrence to the events that read it."""
        if self.observer is not None:
            self.observer(occurrence)
        if occurrence.event in self._returned:
            found.append(occurrence)
        for take, number in self._routes.get(occurrence.event, ()):
            take(occurrence)
            self._touch(number)
        if occurrence.event in self._back:
            self._ending.append(occurrence)

    def _deliver(self, reports: Sequence[Occurrence], found: list[Occurrence]) -> None:
        """A report is an item of the next stratum, too."""
        for occurrence in reports:
            if isinstance(occurrence, _RECORDS):
                if is_empty(occurrence) and not self.gives_empty:
                    continue
                late = isinstance(occurrence, Alert) and occurrence.status == "resolved"
                (self._resolved if late else found).append(occurrence)
                continue
            if not isinstance(occurrence, Detected):
                if not self._arrived:
                    self._arrived.append(occurrence)
                elif not self._new((occurrence,)):
                    continue  # a guarded event that an item has said already
            if occurrence.event in self._leading:
                inside = self._derived.found_in(occurrence)
                for derived in self._new(inside) if inside else ():
                    self._feed(derived, found)
                self._feed(occurrence, found)
            else:
                if self.observer is not None:
                    self.observer(occurrence)
                if occurrence.event in self._returned:
                    found.append(occurrence)


def gathering(window: WindowPlan, matcher: Deriving | None) -> Callable[[], Gathering]:
    """What gathers the items of a window."""
    assert matcher is not None, "a window needs a matcher"
    return partial(matcher.together, window.name, window.goals)


def _assertions(one: Occurrence) -> list[tuple[Triple, bool]]:
    return [(triple, at is not None) for triple, at in one.explanation]


def _explain_as(one: Occurrence, other: Occurrence) -> None:
    """Choose the least explanation of an occurrence that two items show, in any order of the items."""
    one.explanation, one._stamp = other.explanation, None
    if isinstance(one, Carried) and isinstance(other, Carried):
        one.content = other.content
