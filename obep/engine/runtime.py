"""The runtime: logical occurrences in, instant by instant, all reports out, stratum by stratum."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from obep.abstraction.item_blocks import DecidedBlock
from obep.algebra.over.over_expressions import MAX_BECAUSE
from obep.engine.block_feed import BlockFeed, not_alone
from obep.engine.bulk import all_of, uncollected
from obep.engine.event_run import EventRun
from obep.engine.instants.deadlines import NEVER
from obep.engine.instants.derived_items import Deriving
from obep.engine.instants.strata import Strata
from obep.engine.reporter import Detected, Reports
from obep.engine.states.episodes import Episode
from obep.engine.states.rows_in_turn import Entries, RowsInTurn
from obep.engine.states.state_run import StateRun
from obep.model import Alert, DeadLetter, Occurrence, Term
from obep.operators.state_values import Packing, Unpacking
from obep.operators.tree import Tree
from obep.operators.wire import Content
from obep.plan.plan import Plan
from obep.why_not.state_history import Spell

if TYPE_CHECKING:
    from obep.abstraction.item_blocks import Instant


class Runtime(Strata):
    """The strata of a plan, which also take very many instants at once, keep snapshots and answer questions.

    An instant that has one occurrence is decided with that, if the plan allows it.
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
        super().__init__(plan, matcher, on_dead_letter, max_keys, max_because)
        self._steady = len(self._runs) == 1 and not (self._leading or self._states or plan.windows)
        self._steady = self._steady and self._runs[0].steady and self._returned <= self._heads
        """Whether an occurrence that is alone in its instant can be fed without closing that."""
        self._alone = BlockFeed([leaf for run in self._runs if self._steady for leaf in run.leaves()])
        self._lone: dict[Term, tuple[Callable[[Entries, int, int], RowsInTurn], int]] = {}
        """The events that only one run reads, which seldom needs their instants to be closed."""
        if not (self._of_items or plan.windows):
            for event, ((_, number), *others) in self._routes.items():
                rows_alone = self._runs[number].rows_alone
                if rows_alone is not None and not others and event not in self._returned:
                    self._lone[event] = rows_alone, number
        self._flat = not self._leading and all(run.calm for run in self._runs)
        self._flat = self._flat and self._returned <= self._heads
        bounds = [NEVER if run.forgets is None else run.forgets for run in self._runs]
        self._forgets = None if NEVER in bounds else max(bounds, default=0)

    def ranks(self) -> list[tuple[EventRun, int]]:
        """What runs, in the order in which it reports what an item decides."""
        return [(run, number) for number, run in enumerate(self._runs)]

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
        place += 1
        way = self._lone.get(entries[place][1][0].event) if entries[place][1] else None
        if way is None:
            return place
        rows_alone, number = way
        rows, places, end, take = rows_alone(entries, place, last)
        done, count = 0, len(rows)
        while done < count:
            until = min(self._prune_at, self._deadlines.of_others(number, self.now))
            done, changed = take(rows, done, until)
            if done:
                self.now = rows[done - 1][0]
            if changed is not None:
                if changed == self.now and done:
                    self._arrived.append(entries[places[done - 1]][1][0])
                self.now = changed
                self._touched.add(number)
                self._close_instant(changed, found)
            elif done < count:  # something else comes before the next row
                self._stale.update(self._timed)
                at, occurrences = entries[places[done]]
                self.take(at, occurrences, (), found)
                self._close_instant(at, found)
                done += 1
        self._stale.update(self._timed)
        return end

    def _take_decided(self, block: DecidedBlock, found: list[Occurrence]) -> None:
        """The same for records: what is alone is fed without an occurrence for what no event reads."""
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
        takes |= dict.fromkeys(self._returned, said.append)  # no event reads them: the plan is flat
        take_of, now, tied = takes.get, -NEVER if self.now is None else self.now, True
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

    def _begin_instant(self, first: Occurrence) -> None:
        self._seen.clear()
        self._arrived[:] = (first,)

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
        due = self._deadlines.next(self.now, exactly=True)
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
        ending = [one for one in self._ending if isinstance(one, Detected)]
        arrived, items = pack([*self._arrived, *ending]), pack(self._items)
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
        self._deadlines.forget()
        self._tied = self.now is not None  # it is not stored; where nothing has come yet, it is false
        self._touched = set(range(len(self._runs))) if self._tied else set()
        self._arrived[:] = unpack(arrived)
        self._ending[:] = [one for one in self._arrived if one.event in self._back]
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


def _held(trees: Iterable[Tree]) -> list[dict[str, Any]]:
    """The operators that equal trees share, operands first."""
    held: list[tuple[str, int]] = []
    for tree in trees:
        sizes = [(one.field_name, one.size()) for one in tree.operators]
        held = [(name, n + more) for (name, n), (_, more) in zip(held, sizes, strict=True)] if held else sizes
    return [{"operator": name, "held": number} for name, number in held]
