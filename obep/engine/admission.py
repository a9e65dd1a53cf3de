"""Admit items and changes in their order, and hand them to the queries that run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from obep.abstraction.item_blocks import DecidedBlock, ItemBlock
from obep.engine.buffer import Buffer
from obep.engine.clock import Clock
from obep.engine.knowledge.knowledge_changes import UPDATE
from obep.engine.replacing.generations import Generation
from obep.engine.replacing.running import Running
from obep.engine.snapshots.snapshot_form import COUNTED
from obep.engine.states.held_states import HeldStates
from obep.engine.time_letters import late, late_change, not_a_model, too_far
from obep.formats.stream_reader import as_sent
from obep.formats.tables.mapped_records import Mapped
from obep.formats.tables.record_blocks import RecordBlock
from obep.model import DeadLetter, Item, Occurrence, Triple, without_record

OnDeadLetter = Callable[[DeadLetter], None]
Found = list[Occurrence]


class Admission:
    """Items on their way from a push to the queries; used under the engine's lock.

    An item that comes in order is processed at once. Another one waits in the buffer for the watermark, or
    becomes a dead letter. `letters` and `counters` are taken by the engine after each call.
    """

    def __init__(self, clock: Clock, run: Callable[[OnDeadLetter], Running]) -> None:
        self.clock = clock
        self.running = run(self.bury_derived)
        query = self.running.query
        self.held = HeldStates(query.plan.states, query.linked.states, self.running.runtime_of)
        self.buffer: Buffer[Item] = Buffer()
        self.counters: dict[str, int] = dict.fromkeys(COUNTED, 0)
        self.letters: list[DeadLetter] = []

    def take(self, items: Iterable[Item | DeadLetter | Mapped], now: int, wall: int, found: Found) -> None:
        """Take items in the order in which they come."""
        waiting, goes_on, running = len(self.buffer), self.clock.goes_on, self.running
        models, counters, plain = running.changes.streams, self.counters, running.plain
        block, follower = running.block(), running.follower
        try:
            for one in items:
                counters["items"] += 1
                if block is not None:
                    if not waiting and block.suits(one) and goes_on(one.stream, one.at, now, wall):
                        if follower is not None:
                            follower.processed(without_record(one) if isinstance(one, Item) else one)
                        if (letter := block.add(one)) is not None:
                            self._settle(block, found)
                            self._bury(letter)
                            running.advance(one.at, found)
                        continue
                    self._settle(block, found)
                item = one.item(one.sent) if isinstance(one, Mapped) else one
                if isinstance(item, DeadLetter):
                    self._bury(item)
                elif item.stream in models:
                    if self._admit_change(item, now, wall):
                        self.release(found)
                    waiting = len(self.buffer)
                elif not waiting and goes_on(item.stream, item.at, now, wall):
                    if plain and item.removed is None and not item.sent:  # `_process` without its questions
                        running.changes.judged = item.at
                        if (letter := running.process(item, item, found)) is None:
                            counters["processed"] += 1
                        else:
                            self._bury(letter)
                    else:
                        self._process(item, found)
                elif self._admit(item, now, wall):
                    self.release(found)
                    waiting = len(self.buffer)
        finally:  # also if the caller's iterator fails: the clock has seen what came
            if block is not None:
                self._settle(block, found)

    def take_records(self, records: RecordBlock, now: int, wall: int, found: Found) -> None:
        """Take records of one template; those that come in order are decided together."""
        block, place = self.running.block(), 0
        if block is None or not (self.running.feeds_blocks and block.suits_all(records)):
            self.take(records, now, wall, found)
            return
        while place < len(records):
            count = 0 if self.buffer else self.clock.goes_on_until(records.times[place:])
            if count:
                decided = block.decide(records[place : place + count])
                first = 0
                for alone in (*decided.undecided(), count):
                    self._take_decided(decided[first:alone], records.stream, now, wall, found)
                    if alone < count:
                        self.take((records[place + alone],), now, wall, found)
                    first = alone + 1
            else:
                self.take(records[place : place + 1], now, wall, found)
            place += count or 1

    def take_update(
        self, come: tuple[Triple, ...], gone: tuple[Triple, ...], at: int | None, wall: int
    ) -> Found:
        """Change the static graph from an instant on; at once, if no time has come yet."""
        found: Found = []
        item = Item(UPDATE, at or 0, come, removed=gone)
        self.counters["items"] += 1
        if at is None:
            self._make_change(item, self.running.all())
        elif self.clock.too_far(at, wall):
            self._bury(too_far(item))
        elif self._is_late_change(item):
            self._bury(late_change(item, self.clock.watermark))
        else:
            self.buffer.add(at, item, ahead=True)
            self.release(found)
        return found

    def first_instant(self) -> int | None:
        """The first instant of which nothing is decided; `None` as long as no time has come."""
        watermark = self.clock.watermark
        return None if watermark is None else self.running.changes.first_instant(watermark)

    def changes_of_graph(self) -> list[Item]:
        """The changes of the static graph that are made, as one, and those that wait before the next."""
        come, gone = self.running.changes.dump()
        first, streams = self.first_instant(), self.running.changes.streams
        waiting = [item for at, item in self.buffer if first is not None and at <= first]
        made = [Item(UPDATE, 0, tuple(come), removed=tuple(gone))] if come or gone else []
        return [*made, *(item for item in waiting if item.stream in streams)]

    def release(self, found: Found) -> None:
        """Process what the watermark has come to, and move time there."""
        watermark = self.clock.watermark
        if watermark is None:
            return
        while (item := self.buffer.pop(watermark)) is not None:
            self._process(item, found)
        self.running.advance(watermark, found)

    def end(self, found: Found) -> None:
        """Process all that waits: the input has ended."""
        for _, item in self.buffer.take(len(self.buffer)):
            self._process(item, found)
        found.extend(self.running.close())
        now = self.running.now
        if now is not None:
            self.clock.advance(now)  # what was decided is not decided again after `restore`

    def bury_derived(self, letter: DeadLetter) -> None:
        """An occurrence that contradicts T as an item of the next stratum; it is no item of the input."""
        if self.running.versions is not None and letter in self.letters:
            return  # two versions of the query have met it
        self.counters["derived_dead_letters"] = self.counters.get("derived_dead_letters", 0) + 1
        self.letters.append(letter)

    def _take_decided(self, block: DecidedBlock, stream: str, now: int, wall: int, found: Found) -> None:
        if block:
            self.clock.goes_on(stream, block.times[-1], now, wall)
            self.running.changes.judged = block.times[-1]
            self.counters["items"] += len(block)
            self.counters["processed"] += len(block)
            block.count_all()
            self.running.runtime.take_block(block, found)

    def _settle(self, block: ItemBlock, found: Found) -> None:
        """Let the runtime have what a block has gathered."""
        entries = block.take()
        if entries:
            self.running.changes.judged = entries[-1][0]
            self.counters["processed"] += len(entries)
            self.running.take_block(entries, found)

    def _admit(self, item: Item, now: int, wall: int) -> bool:
        verdict = self.clock.observe(item.stream, item.at, now, wall)
        if verdict == "on time":
            self.buffer.add(item.at, item)
            return True
        if verdict == "late":
            self._bury(late(item.stream, item.at, self.clock.watermark or 0, as_sent(item)))
        else:
            self._bury(too_far(item))
        return False

    def _admit_change(self, item: Item, now: int, wall: int) -> bool:
        """Let a change of a stream wait for its instant."""
        if item.stream == UPDATE:
            self._bury(DeadLetter(item.stream, item.at, "OBEP616", "no stream has this name", as_sent(item)))
            return False
        watermark = self.clock.watermark
        late_here = self._is_late_change(item)
        verdict = self.clock.observe(item.stream, item.at, now, wall)
        if verdict == "future":
            self._bury(too_far(item))
        elif late_here or verdict == "late":
            self._bury(late_change(item, watermark))
        else:
            self.buffer.add(item.at, item, ahead=True)
        return verdict == "on time"

    def _is_late_change(self, item: Item) -> bool:
        watermark = self.clock.watermark
        return (watermark is not None and item.at < watermark) or self.running.changes.is_late(item.at)

    def _process(self, whole: Item, found: Found) -> None:
        if whole.stream in self.running.changes.streams:
            versions = self.running.all()
            for one in versions:
                found.extend(one.settle(whole.at))
            anew = self._make_change(whole, versions)
            for one in versions:
                found.extend(one.see_knowledge(whole.at) if one in anew else one.advance(whole.at))
            return
        self.running.changes.judged = whole.at
        ready = not_a_model(whole) if whole.removed is not None else self.running.prepared(whole)
        if isinstance(ready, DeadLetter):
            self._bury(ready)
            found.extend(hit for one in self.running.all() for hit in one.advance(whole.at))
            return
        whole = ready
        item = without_record(whole)
        if self.running.observer is not None:
            self.running.observer.processed(item)
        letter = self.running.process(whole, item, found)
        if letter is None:
            self.counters["processed"] += 1
        else:
            self._bury(letter)

    def _make_change(self, item: Item, versions: list[Generation]) -> list[Generation]:
        """Change K, or bury the item that asks for it; the versions that must look at K again."""
        letter, anew = self.running.change(item, versions, self.counters)
        if letter is not None:
            self._bury(letter)
        if anew:
            runtimes = {id(one.runtime) for one in anew}
            self.held.follow(lambda runtime: id(runtime) in runtimes)
        return anew

    def _bury(self, letter: DeadLetter) -> None:
        self.counters["dead_letters"] += 1
        self.letters.append(letter)
