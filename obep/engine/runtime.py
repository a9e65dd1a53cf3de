"""The runtime: logical occurrences in, instant by instant, all reports out, stratum by stratum."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from obep.abstraction.item_blocks import DecidedBlock
from obep.algebra.over.over_expressions import MAX_BECAUSE
from obep.engine.block_feed import BlockFeed, not_alone
from obep.engine.bulk import all_of, uncollected
from obep.engine.event_run import Running
from obep.engine.pushed_graphs import Plain
from obep.engine.reporter import Detected, Reports
from obep.engine.shared_pattern import all_running, connect
from obep.engine.states.episodes import Episode
from obep.engine.states.state_run import StateRun
from obep.engine.windows import Gathering, Windowed
from obep.formats.input_limits import Refused
from obep.guards.block_queries import Ask
from obep.model import Alert, Answer, DeadLetter, Item, Occurrence, Term, Triple, body_of
from obep.operators.candidates import Take
from obep.operators.state_values import Packing, Unpacking
from obep.operators.tree import Tree
from obep.operators.wire import Carried, Content
from obep.plan.plan import Plan
from obep.plan.window_plan import WindowPlan
from obep.why_not.state_history import Spell

if TYPE_CHECKING:
    from obep.abstraction.item_blocks import Instant
    from obep.abstraction.matcher import Matched

_NEVER = 1 << 62
_RECORDS = (Alert, Answer)
"""Records that are reported and that no event reads."""


class Deriving(Protocol):
    """As much of a matcher as the strata need."""

    def match_derived(self, occurrence: Occurrence) -> Matched | DeadLetter: ...

    def together(self, window: str, goals: Iterable[Term]) -> Gathering: ...


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
        *,
        max_keys: int | None = None,
        max_because: int = MAX_BECAUSE,
    ) -> None:
        """`max_keys`: how many values of its partition each event with PARTITION BY remembers at most;
        `max_because`: of how many rows a state by rows keeps the explanations."""
        self.plan = plan
        self.now: int | None = None
        self._matcher = matcher
        self._on_dead_letter = on_dead_letter
        windows = [Windowed(window, self._gathering(window), on_dead_letter) for window in plan.windows]
        self._runs: list[Running] = [*windows, *all_running(plan, max_keys, matcher, max_because)]
        self._routes: dict[Term, list[tuple[Take, int]]] = {}
        for number, run in enumerate(self._runs):
            for event, take in run.routes():
                self._routes.setdefault(event, []).append((take, number))
        self._timed = [number for number, run in enumerate(self._runs) if run.timed]
        self._of_items = [number for number, run in enumerate(self._runs) if run.wants_items]
        composites = [event.event for event in plan.events if event.root is not None and not event.hidden]
        chosen = bool(plan.returned or plan.alerting)
        self._returned = frozenset(plan.returned if chosen else composites)
        self._asked: dict[Term, list[Ask]] = {}
        for ask in plan.asks.all:
            self._asked.setdefault(ask.event, []).append(ask)
        heads = {head for run in self._runs for head in run.heads}
        self._states = [run for run in self._runs if isinstance(run, StateRun)]
        self._leading = frozenset().union(heads & self._routes.keys(), *plan.derived.values())
        """The events whose occurrences an event reads or a matcher examines."""
        self._inside: dict[Term, set[Term]] = {}
        """The events that may be found in the occurrences of an event."""
        for event, below in plan.derived.items():
            for head in below:
                self._inside.setdefault(head, set()).update((event, body_of(event)))
        moments = {head for run in self._states for head in run.heads}
        patterns = {event.event for event in plan.events if event.hidden}
        self._closed_moments = {
            head
            for head in (moments | patterns) - self._inside.keys()
            if not any(ask.triples for ask in self._asked.get(head, ()))
        }
        """The moments of states, and what their patterns find, that nothing is found in, and whose triples no
        guard asks for."""
        self._steady = len(self._runs) == 1 and not (self._leading or self._states or windows)
        self._steady = self._steady and all(run.steady for run in self._runs) and self._returned <= heads
        """Whether an occurrence that is alone in its instant can be fed without closing that."""
        self._alone = BlockFeed([leaf for run in self._runs if self._steady for leaf in run.leaves()])
        self._lone: dict[Term, tuple[Callable[[Occurrence, int], bool], int]] = {}
        """The events that only one run reads, which seldom needs their instants to be closed."""
        if not (self._of_items or windows):
            for event, ((_, number), *others) in self._routes.items():
                take_alone = self._runs[number].take_alone
                if take_alone is not None and not others and event not in self._returned:
                    self._lone[event] = take_alone, number
        self._flat = not self._leading and all(run.calm for run in self._runs) and self._returned <= heads
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
        self._dues: dict[int, int] = dict.fromkeys(self._timed, _NEVER)
        self._first_due = _NEVER
        """The least of them."""
        self._stale: set[int] = set(self._timed)
        """The events whose deadline may differ from `_dues`."""
        self._arrived: list[Occurrence] = []
        self._seen: dict[tuple[object, ...], Occurrence] = {}
        self._items: list[Item] = []
        self.observer: Callable[[Occurrence], None] | None = None
        """Called with every occurrence that may be a part of another, and with every report."""
        self._begun = False
        """Whether an item has come."""
        self._tied = False
        """Whether two occurrences ever came at the same instant."""
        self._prunes = [_NEVER if run.longest is None else -_NEVER for run in self._runs]
        self._prune_at = min(self._prunes, default=_NEVER)
        bounds = [_NEVER if run.forgets is None else run.forgets for run in self._runs]
        self._forgets = None if _NEVER in bounds else max(bounds, default=0)

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

    @property
    def takes_blocks(self) -> bool:
        """Whether `take_block` is quicker than `take`."""
        return self._steady or bool(self._lone)

    def take_block(self, entries: Sequence[Instant], found: list[Occurrence]) -> None:
        """The same as `take` for each of very many instants in their order; no items are needed.

        Of a steady plan, an occurrence that is alone in its instant is fed at once. The last instant of all
        stays open.
        """
        if isinstance(entries, DecidedBlock):
            if self._steady:
                self._take_decided(entries, found)
                return
            entries = list(entries)
        place, last = 0, len(entries) - 1
        while place <= last:
            at, occurrences = entries[place]
            now = self.now
            if (
                place == last
                or len(occurrences) > 1
                or now is None
                or at <= now
                or entries[place + 1][0] == at
            ):
                self.take(at, occurrences, (), found)
                place += 1
            else:
                feed = self._feed_alone if self._steady else self._close_alone
                place = feed(entries, place, last, found)

    def _feed_alone(self, entries: Sequence[Instant], place: int, last: int, found: list[Occurrence]) -> int:
        """Feed instants of at most one occurrence each, from a place on; where others begin."""
        take_of, at = self._alone.takes.get, entries[place][0]
        self._move(at, found)
        while place < last:
            at, occurrences = entries[place]
            if len(occurrences) > 1 or entries[place + 1][0] == at:
                break
            if at >= self._prune_at:
                self._hand_over(found)  # what is pruned may be reported
                self._prune(at)
            self.now = at
            if occurrences:
                one = occurrences[0]
                take = take_of(one.event)
                if take is not None:
                    take(one)
            place += 1
        self._hand_over(found)
        return place

    def _close_alone(self, entries: Sequence[Instant], place: int, last: int, found: list[Occurrence]) -> int:
        """Feed and close instants of one occurrence each, from a place on; where others begin."""
        at, occurrences = entries[place]
        self.take(at, occurrences, (), found)  # and close what was open before
        self._close_instant(at, found)
        self._next_deadline(exactly=True)
        lone, dues, place = self._lone, self._dues, place + 1
        while place < last:
            at, occurrences = entries[place]
            if len(occurrences) != 1 or at >= self._prune_at or entries[place + 1][0] == at:
                break
            one = occurrences[0]
            if one.event not in lone:
                break
            take_alone, number = lone[one.event]
            if self._first_due <= at or dues[number] == _NEVER:
                self._stale.add(number)
                due = self._next_deadline(exactly=True)
                if due is not None and due <= at and (due < at or self._others_due(number, at)):
                    break
            self.now = at
            if take_alone(one, at):
                self._arrived.append(one)
                self._touched.add(number)
                self._close_instant(at, found)
                self._next_deadline(exactly=True)
            place += 1
        self._stale.update(self._timed)
        return place

    def _others_due(self, number: int, at: int) -> bool:
        """Whether another run has a deadline by an instant."""
        return len(self._dues) > 1 and any(due <= at for n, due in self._dues.items() if n != number)

    def _take_decided(self, block: DecidedBlock, found: list[Occurrence]) -> None:
        """The same for records: what is alone is fed without an occurrence for what nobody wants."""
        times, rows, feeds, place = block.times, block.rows, self._alone.of(block), 0
        for stop in not_alone(times, feeds, self.now):
            if place < stop:
                self._move(times[place], found)
                while place < stop:
                    if times[place] >= self._prune_at:
                        self._hand_over(found)  # what is pruned may be reported
                        self._prune(times[place])
                    end = max(place + 1, bisect_left(times, self._prune_at, place, stop))
                    span = slice(place, end)
                    for at, feed, terms in zip(times[span], feeds[span], rows[span], strict=True):
                        if feed is not None:
                            feed(at, terms)
                    self.now, place = times[end - 1], end
                self._hand_over(found)
            self.take(*block[stop], (), found)
            place = stop + 1

    def _hand_over(self, found: list[Occurrence]) -> None:
        reports = Reports()
        for run in self._runs:
            run.hand_over(reports, not self._tied)
        found += reports

    def push_occurrences(self, occurrences: Sequence[Occurrence]) -> Sequence[Occurrence]:
        """Many at once, sorted by `detected`; for a plan without NOT."""
        if not self.flat:
            return [hit for one in occurrences for hit in self.push(one.detected, (one,))]
        reports = Reports()
        # Nothing waits for an instant to close, and no event reads another: all reports can come at the end.
        with uncollected():
            reports.add_made(self._feed_flat(occurrences))
            for run in self._runs:
                run.hand_over(reports, not self._tied)
        if self.now is not None and self.now >= self._prune_at:
            self._prune(self.now)
        return reports

    @property
    def flat(self) -> bool:
        """Whether it makes no difference that `push_occurrences` takes the parts of an item one by one."""
        return self._flat

    def _feed_flat(self, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
        """Feed them; occurrences that are returned unchanged come back."""
        takes = {event: all_of([take for take, _ in routes]) for event, routes in self._routes.items()}
        said: list[Occurrence] = []
        takes |= dict.fromkeys(self._returned, said.append)  # nobody reads them: the plan is flat
        take_of, now, tied = takes.get, -_NEVER if self.now is None else self.now, True
        last: Occurrence | None = None
        for occurrence in occurrences:
            at = occurrence.detected
            if at > now:
                now, tied = at, False
            elif at < now:
                raise AssertionError("occurrences come in the order of time")
            else:
                if not tied and last is not None:  # the second of an instant: only now the first one matters
                    self._begin_instant(last)
                    tied = True
                if not self._new((occurrence,)):
                    continue
            last = occurrence
            take = take_of(occurrence.event)
            if take is not None:
                take(occurrence)
        if last is not None:
            self.now = now
            if not tied:
                self._begin_instant(last)
        return said

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

    def _begin_instant(self, first: Occurrence) -> None:
        self._seen.clear()
        self._arrived[:] = (first,)

    def advance(self, to: int) -> list[Occurrence]:
        """Advance the time without data: close instants before `to`, decide deadlines up to `to`."""
        found: list[Occurrence] = []
        if self.now is None or to > self.now:
            self._move(to, found)
        return found

    @property
    def reads_k(self) -> bool:
        """Whether something that runs here looks at K itself, beside the matcher."""
        plan = self.plan
        return bool(plan.windows or plan.states or plan.graphs or plan.queries)

    def settle(self, at: int, found: list[Occurrence]) -> None:
        """Close all that lies before an instant, at which K changes."""
        if self.now is None or self.now < at - 1:
            self._move(at - 1, found)
        if self.now is not None and self.now < at:
            self._close_instant(self.now, found)

    def see_knowledge(self, at: int, found: list[Occurrence]) -> None:
        """K is another one since an instant: all that looks at it is decided when that closes."""
        self._touched.clear()
        if self.now is None or self.now < at:
            self._move(at, found)
        self._touched.update(range(len(self._runs)))
        for run in self._runs:
            run.see_knowledge()

    def close(self) -> list[Occurrence]:
        """The end: the last instant closes; deadlines beyond it stay undecided."""
        found: list[Occurrence] = []
        if self.now is not None:
            self._close_instant(self.now, found)
        return found

    def wakes(self) -> int | None:
        """The first instant that has something to do here without new data: the open one must close."""
        self._stale.update(self._timed)
        due = self._next_deadline(exactly=True)
        if self.now is None or not self._touched:
            return due
        return self.now + 1 if due is None else min(due, self.now + 1)

    def expires(self) -> int | None:
        """From when on all that it remembers is of no consequence; `None`: not before `wakes`, or never."""
        if self.now is None or self._forgets is None or self.wakes() is not None:
            return None
        return self.now + 1 + self._forgets

    def dump(self) -> Any:
        """The state as plain values for msgpack."""
        pack = Packing()
        runs = [(run.plan.event, run.dump(pack)) for run in self._runs]
        arrived, items = pack(self._arrived), pack(self._items)
        return [self.now, pack.occurrences, runs, arrived, items, pack.contents, self._begun]

    def load(self, data: Any) -> None:
        """Resume from a dump of the same plan; the current state is dropped."""
        now, occurrences, runs, arrived, items, contents, begun = data
        self._begun = msgspec.convert(begun, bool)
        self.now = msgspec.convert(now, int | None)
        unpack = Unpacking(occurrences, msgspec.convert(contents, list[Content]))
        known = {run.plan.event: run for run in self._runs}
        for event, state in runs:
            known[event].load(state, unpack)
        self._dues = dict.fromkeys(self._timed, _NEVER)
        self._first_due = _NEVER
        self._stale.update(self._timed)
        self._tied = self.now is not None  # nobody knows; where nothing has come yet, it has not
        self._touched = set(range(len(self._runs))) if self._tied else set()
        self._arrived[:] = unpack(arrived)
        self._seen.clear()
        self._items[:] = unpack(items)

    @property
    def returned(self) -> frozenset[Term]:
        """The events that are reported."""
        return self._returned

    def show(self, events: frozenset[Term]) -> None:
        """Report these events from now on."""
        self._returned = events

    def seen_now(self, events: Collection[Term]) -> frozenset[str]:
        """The ids of what came of some logical events at the open instant: they come no second time."""
        return frozenset(one.id for one in self._arrived if one.event in events)

    def run_of(self, state: Term) -> StateRun:
        """The run of a state of the plan."""
        return next(run for run in self._states if run.state.state == state)

    def follow_states(self, callback: Callable[[Term, Spell], None], most: int | None) -> None:
        """Call back with each episode that is over; keep the latest rows of states, of each so many."""
        for state in self._states:
            state.follow(callback, most)

    def holding(self, state: Term) -> Iterable[Episode]:
        """The episodes of a state that are open after the last instant that has closed."""
        if self.now is None:
            return ()
        at = self.now - 1 if self._touched else self.now
        return self.run_of(state).covering(None, at, at)

    def firing(self) -> list[Alert]:
        """The alerts that have fired and are not resolved."""
        return [alert for run in self._states for alert in run.episodes.firing()]

    def pending(self) -> int:
        """The number of future deadlines that would be met if no more items came."""
        return sum(run.pending() for run in self._runs)

    @property
    def evicted(self) -> int:
        """The number of values of partitions that were discarded because of `max_keys`."""
        return sum(run.evicted for run in self._runs)

    def size(self) -> int:
        """The number of kept occurrences and partial matches."""
        return sum(run.size() for run in self._runs)

    def held_by_operators(self) -> list[dict[str, Any]]:
        """For each event and state, what is remembered of it, and what of that each operator holds."""
        return [
            {
                "event": run.plan.event.strip("<>"),
                "name": run.plan.name,
                "held": run.size(),
                "pending": run.pending(),
                "operators": _held(run.trees()),
            }
            for run in self._runs
        ]

    def _move(self, to: int, found: list[Occurrence]) -> None:
        if self.now is not None:
            assert to > self.now, "occurrences come in the order of time"
            self._close_instant(self.now, found)
        if self._timed:
            while (due := self._next_deadline()) is not None and due < to:
                self._reach(due, found)
                self._close_instant(due, found)
            if due is not None and due <= to:
                self._reach(to, found)
        self.now = to
        if to >= self._prune_at:
            self._prune(to)

    def _next_deadline(self, exactly: bool = False) -> int | None:
        """The next instant at which something is decided without any item.

        Perhaps nothing is, where a run has its deadlines `in_turn` and its first has moved on; not `exactly`.
        """
        dues, now, runs = self._dues, self.now or 0, self._runs
        for number in self._stale:
            before = dues.get(number)
            if before is None:
                continue
            run = runs[number]
            if run.in_turn and now < before < _NEVER and not exactly:
                continue
            due = run.next_deadline()
            dues[number] = after = _NEVER if due is None else due
            if after < self._first_due:
                self._first_due = after
            elif before == self._first_due:
                self._first_due = min(dues.values())
        self._stale.clear()
        return None if self._first_due == _NEVER else self._first_due

    def _reach(self, at: int, found: list[Occurrence]) -> None:
        self.now = at
        for number, due in self._dues.items():
            if due <= at:
                self._runs[number].reach(at)
                self._touch(number)
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
                reports = runs[number].close(at, items)
                if reports and runs[number].logical:
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
        self._arrived.clear()
        if self._seen:
            self._seen.clear()

    def _prune(self, at: int) -> None:
        """Every now and then: forget what can have no part in an answer any more."""
        for number, run in enumerate(self._runs):
            if run.longest is not None and at >= self._prunes[number]:
                run.prune(at)
                self._stale.add(number)
                self._prunes[number] = at + run.longest
        self._prune_at = min(self._prunes, default=_NEVER)

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

    def _deliver(self, reports: Sequence[Occurrence], found: list[Occurrence]) -> None:
        """A report is an item of the next stratum, too."""
        for occurrence in reports:
            if isinstance(occurrence, _RECORDS):
                late = isinstance(occurrence, Alert) and occurrence.status == "resolved"
                (self._resolved if late else found).append(occurrence)
                continue
            if not isinstance(occurrence, Detected) and not self._new((occurrence,)):
                continue  # a guarded event that an item has said already
            if occurrence.event in self._leading:
                inside = self._derived(occurrence)
                for derived in self._new(inside) if inside else ():
                    self._feed(derived, found)
                self._feed(occurrence, found)
            else:
                if self.observer is not None:
                    self.observer(occurrence)
                if occurrence.event in self._returned:
                    found.append(occurrence)

    def _gathering(self, window: WindowPlan) -> Callable[[], Gathering]:
        assert self._matcher is not None, "a window needs a matcher"
        return partial(self._matcher.together, window.name, window.goals)

    def _derived(self, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Find occurrences in an occurrence as an item, and answer the asks about it."""
        if self._matcher is None or occurrence.event in self._closed_moments:
            for ask in self._asked.get(occurrence.event, ()):
                try:
                    if rows := ask.solve(occurrence, Plain(occurrence)):
                        occurrence.solutions[ask.number] = rows
                except Refused as refused:
                    if self._on_dead_letter is not None:
                        at = occurrence.detected
                        self._on_dead_letter(DeadLetter("", at, refused.code, refused.reason))
            return ()
        matched = self._matcher.match_derived(occurrence)
        if isinstance(matched, DeadLetter):
            if self._on_dead_letter is not None:
                self._on_dead_letter(matched)
            return ()
        inside = self._inside.get(occurrence.event, ())
        found = [one for one in matched.occurrences if one.event in inside]
        for one in found:
            one.items = (occurrence,)
        return found


def _assertions(one: Occurrence) -> list[tuple[Triple, bool]]:
    return [(triple, at is not None) for triple, at in one.explanation]


def _explain_as(one: Occurrence, other: Occurrence) -> None:
    """Choose the least explanation of an occurrence that two items show, in any order of the items."""
    one.explanation, one._stamp = other.explanation, None
    if isinstance(one, Carried) and isinstance(other, Carried):
        one.content = other.content


def _held(trees: Iterable[Tree]) -> list[dict[str, Any]]:
    """The operators that equal trees share, operands first."""
    held: list[tuple[str, int]] = []
    for tree in trees:
        sizes = [(type(one).__name__, one.size()) for one in tree.operators]
        held = [(name, n + more) for (name, n), (_, more) in zip(held, sizes, strict=True)] if held else sizes
    return [{"operator": name, "held": number} for name, number in held]
