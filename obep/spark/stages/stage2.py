"""Stage 2, in `transformWithState`: each bucket runs its component, segment by segment, from block to block.

The state of a bucket is a clock and its segments, in pages; a micro-batch reads and writes only the segments
that its blocks or due deadlines touch. What is warm in this process is used only if its version is that of
the state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec
from pyspark import TaskContext
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from obep.abstraction.matcher import NOTED, noted
from obep.config.output_forms import writes_empty
from obep.engine.blocks import NOW, REFUSED, STYLE, STYLES, Block, Entry, decode_block
from obep.engine.bulk import uncollected
from obep.engine.clock import Clock
from obep.engine.knowledge.judged_items import JudgedItems
from obep.engine.knowledge.knowledge_changes import MISSING
from obep.engine.replacing.running import EVICTED
from obep.engine.segment import Segment
from obep.engine.time_letters import LATE
from obep.errors import ObepError, fail
from obep.model import DeadLetter, Occurrence, is_empty
from obep.plan.components import Component
from obep.spark.stages.block_entries import entries_of, late_letters, made_at, read_and_refused
from obep.spark.stages.buckets import partition_of
from obep.spark.stages.bulk_causes import Causes
from obep.spark.stages.found_columns import found_payloads
from obep.spark.stages.record_batches import letters_payload, progress_payload
from obep.spark.stages.state_identity import identity, refuse_changed
from obep.spark.stages.state_pages import Index, Pages, squeezed, unsqueezed
from obep.spark.stages.stream_notes import warnings_of
from obep.spark.stages.worker import (
    Job,
    around,
    ask_names,
    drop,
    hold,
    matcher_of,
    place_of,
    prepared_by,
    query_of,
    rest,
    routes_of,
    shares,
)

FOUND = "payload binary"
CHUNK = 10_000
COMMON = 50_000
"""How much of `_causes` is remembered."""


class Warm(NamedTuple):
    """What this process keeps of a bucket: the segments that its last two micro-batches touched."""

    version: str
    segments: dict[int, Segment]
    letters: list[DeadLetter]
    """Where the segments put theirs."""
    touched: frozenset[int]
    """By the last one."""


_warm: dict[tuple[str, int], Warm] = {}
"""The buckets that this process ran last, each under the version of its state."""


_causes: dict[tuple[str, int], Causes] = {}
"""What the occurrences of a bucket had in common so far."""


class Detecting(StatefulProcessor):
    """One bucket's engine. Its fields are the job alone: Spark pickles them."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def init(self, handle: StatefulProcessorHandle) -> None:
        hold(self._job)
        self._clock_state = handle.getValueState("clock", "data binary")
        self._page_state = handle.getMapState("pages", "page long", "data binary")

    def handleInputRows(self, key: Any, rows: Iterable[Any], timerValues: Any) -> Iterator[Row]:
        with uncollected():
            yield from self._take(key, rows)

    def _take(self, key: Any, rows: Iterable[Any]) -> Iterator[Row]:
        number = self._job.numbers.index(key[0])
        self._require_partition(key[0])
        blocks = [decode_block(bytes(row.block)) for row in rows]
        blocks.sort(key=made_at)  # Spark gives each bucket another order
        saved = self._clock_state.get() if self._clock_state.exists() else None
        run = Run(self._job, number, saved[0] if saved else None, self._stored)
        found, letters = run.take(blocks)
        if run.dropped:
            self._page_state.clear()
        if not self._job.bounded:  # a bounded input is all here: nothing will be asked again
            for page, data in run.turned_pages():
                if data is None:
                    self._page_state.removeKey((page,))
                else:
                    self._page_state.updateValue((page,), (squeezed(data),))
            self._clock_state.update((run.state(),))
            run.keep()
        style = STYLES[run.style]
        causes = run.causes()
        for start in range(0, len(found), CHUNK):
            part = found[start : start + CHUNK]
            for payload in found_payloads(part, self._job.rdf, self._job.forms, style, causes, run.plan):
                yield Row(payload=payload)
        if letters:
            yield Row(payload=letters_payload(letters))
        yield Row(payload=progress_payload(run.progress(blocks, found, letters)))

    def _require_partition(self, key: int) -> None:
        """Keys are chosen for a number of partitions: with another one the old state would not be found."""
        context = TaskContext.get()
        if context is None or self._job.bounded:
            return
        if partition_of(key, self._job.partitions) != context.partitionId():
            raise fail(
                "OBEP558",
                f"the checkpoint has its state in another number of partitions than {self._job.partitions}",
                reason="Spark keeps the partitions of a checkpoint, whatever its settings say.",
                remedy="set spark.sql.shuffle.partitions as it was, or begin with a new checkpoint",
            )

    def _stored(self, page: int) -> bytes:
        found = self._page_state.getValue((page,))
        assert found is not None, "a page of the index is stored"
        return unsqueezed(bytes(found[0]))

    def close(self) -> None:
        """Nothing is held between batches but `_warm`."""
        rest()


class State(msgspec.Struct, array_like=True):
    """What a bucket keeps beside its pages."""

    version: str
    identity: dict[str, Any]
    clock: dict[str, Any]
    index: Any
    """That of the pages, `squeezed`, if it is of this format."""
    style: int = 0
    begun: str = ""
    """That of the job that wrote it."""


class Run:
    """One bucket in one micro-batch."""

    def __init__(self, job: Job, number: int, state: bytes | None, stored: Callable[[int], bytes]) -> None:
        self._job = job
        self._where = where = place_of(job, number)
        self.bundle, self.component = where.bundle, where.component
        query = query_of(self.bundle)
        self._noted = noted(matcher_of(self.bundle))
        self.plan = self.component.plan(query.plan, *where.share)
        self._identity = identity(query, self.component, around(self.bundle), job.buckets)
        self._asks = _asks(self.bundle, self.component)
        self._key = (self.bundle, number)
        self._clock = Clock(job.lateness, job.idle, job.future, job.streams)
        self._version = ""
        self.style = 0
        self.dropped = False
        """Whether there was a state of another query, which is to be forgotten."""
        self._other_k = False
        """Whether the static graph is another one than when the state was stored."""
        before = self._resume(state) if state is not None else None
        if before is None and job.clock:
            self._clock.load(msgspec.msgpack.decode(job.clock))
            self._clock.follow(job.streams)
            self._clock.resume()
        index = msgspec.msgpack.decode(unsqueezed(before.index), type=Index) if before else Index()
        self._pages = Pages(index, stored)
        warm = _warm.pop(self._key, Warm("", {}, [], frozenset()))
        self._letters = warm.letters
        self._letters.clear()
        self._spare: list[Segment] = []
        """Segments whose state is not the newest: another may be loaded into them."""
        self._common: tuple[Segment, bytes] | None = None
        """One that all new segments are run in, one after the other, and its state before the first."""
        self._segments, self._before = warm.segments, warm.touched
        if before is None or warm.version != before.version:
            self._spare.extend(warm.segments.values())
            self._segments, self._before = {}, frozenset()
        self._touched: tuple[int, ...] = ()
        self._undecided = 0
        """Deadlines beyond the end of a bounded input."""
        self._floor: int | None = None
        """The watermark before this micro-batch."""
        self._seen: list[Occurrence] = []
        """What another static graph has decided."""
        self._here: Counter[str] = Counter()
        """What was counted in the segments."""

    def _resume(self, data: bytes) -> State | None:
        """Go on from a state, unless it is that of another query."""
        state = msgspec.msgpack.decode(data, type=State)
        if state.identity["graph"] in self._job.graphs:
            self._other_k = state.identity["graph"] != self._identity.graph
            state.identity["graph"] = self._identity.graph
        try:
            refuse_changed(self.component.name, state.identity, self._identity)
        except ObepError:
            if not self._job.drop_state:
                raise
            self.dropped = True
            return None
        self._clock.load(state.clock)
        if state.begun != self._job.begun:
            self._clock.resume()
            if self._job.watched:
                self._clock.follow(self._job.streams)
        self.style = state.style
        return state

    def take(self, blocks: list[Block]) -> tuple[list[Occurrence], list[DeadLetter]]:
        """What the blocks of a micro-batch decide, and what takes part in nothing."""
        self._floor = floor = self._clock.watermark
        maxima: dict[str, int] = {}
        for block in blocks:
            self._letters.extend(block.letters)
            if floor is not None:
                for stream, instants in block.arrived():
                    if min(instants) < floor:
                        self._letters.extend(late_letters(stream, instants, floor))
            for stream, at in block.maxima.items():
                maxima[stream] = max(at, maxima.get(stream, at))
            self.style = max(self.style, block.counters.get(STYLE, 0))
        self._clock.tick(maxima, max((block.counters.get(NOW, 0) for block in blocks), default=None))
        found = self._run(entries_of(blocks, floor), max(maxima.values(), default=None))
        if not any(map(writes_empty, self._job.forms)):
            found = [one for one in found if not is_empty(one)]
        return found, self._letters

    def _run(self, entries: dict[int, list[Entry]], end: int | None) -> list[Occurrence]:
        watermark = self._clock.watermark
        due: set[int] = set()
        if watermark is not None:
            for number in self._pages.index.expire(watermark, entries):
                if number in self._segments:
                    self._spare.append(self._segments.pop(number))
            due = self._pages.index.due(watermark)
        if self._other_k and self._floor is not None:
            due = {*self._pages.index.segments}
        found: list[Occurrence] = []
        # What has most to do comes first, and so stands together in the pages: it will come again.
        self._touched = tuple(sorted({*entries, *due}, key=lambda n: (-len(entries.get(n, ())), n)))
        for number in self._touched:
            new = number not in self._segments and number not in self._pages
            segment = self._blank() if new else self._segment(number)
            before = segment.counted()
            found += self._seen
            self._seen.clear()
            segment.add(entries.get(number, ()))
            if watermark is not None:
                found.extend(segment.release(watermark))
            if self._job.bounded:
                found.extend(segment.close(end))
                self._undecided += segment.pending
            elif new:
                self._put(number, segment)
            self._here.update(segment.counted())
            self._here.subtract(before)
            if segment.judge is not None:
                self._account(segment.judge)
        return found

    def _account(self, judge: JudgedItems) -> None:
        """What became of items in a bucket that judges them."""
        self._letters.extend(judge.letters)
        self._here[REFUSED] += sum(one.code != LATE for one in judge.letters)
        judge.letters.clear()

    def _segment(self, number: int) -> Segment:
        segment = self._segments.get(number)
        if segment is None:
            segment = self._segments[number] = self._spare.pop() if self._spare else self._new_segment()
            segment.load(self._pages.get(number))
            if self._other_k and self._floor is not None:
                self._seen.extend(segment.see_knowledge(self._floor + 1))
        return segment

    def _blank(self) -> Segment:
        """For a new segment, which is not kept warm: of many that come once, each would need an engine."""
        if self._common is None:
            made = self._new_segment()
            self._common = made, made.dump()
        segment, nothing = self._common
        segment.load(nothing)
        return segment

    def _new_segment(self) -> Segment:
        judge = self._new_judge() if self.component.judges else None
        return Segment(
            self.plan,
            matcher_of(self.bundle) if judge is None else judge.matcher,
            self._letters.append,
            self._asks,
            split=self.component.begins,
            judge=judge,
            max_keys=self._job.max_keys,
        )

    def _new_judge(self) -> JudgedItems:
        job, where, query = self._job, self._where, query_of(self.bundle)
        routes = routes_of(job, where.query, shares(job)[where.query])
        place = partial(routes.brought_to, where.bucket)
        return JudgedItems(query, place, prepared_by(job.prepares, query), speaks=where.bucket == 0)

    def turned_pages(self) -> Iterator[tuple[int, bytes | None]]:
        """The pages to write, and those that are gone (`None`)."""
        for number in self._touched:
            if number in self._segments:
                self._put(number, self._segments[number])
        return self._pages.turn()

    def _put(self, number: int, segment: Segment) -> None:
        wakes, expires = segment.wakes(), segment.expires()
        self._pages.put(number, segment.dump(), wakes=wakes, expires=expires, pending=segment.pending)

    def state(self) -> bytes:
        """The clock and what wakes when, under a new version."""
        self._version = uuid4().hex
        kept = msgspec.to_builtins(self._identity)
        index = squeezed(msgspec.msgpack.encode(self._pages.index))
        clock, begun = self._clock.dump(), self._job.begun
        return msgspec.msgpack.encode(State(self._version, kept, clock, index, self.style, begun))

    def keep(self) -> None:
        """Stay warm for the next micro-batch."""
        recent = self._before.union(self._touched)
        segments = {number: segment for number, segment in self._segments.items() if number in recent}
        drop(len(self._segments) - len(segments) + len(self._spare))
        _warm[self._key] = Warm(self._version, segments, self._letters, frozenset(self._touched))

    def causes(self) -> Causes:
        """Those of earlier micro-batches, while they are not too many."""
        if sum(map(len, _causes.values())) > COMMON:
            _causes.clear()
        return _causes.setdefault(self._key, Causes())

    def progress(
        self, blocks: list[Block], found: list[Occurrence], letters: list[DeadLetter]
    ) -> dict[str, Any]:
        """The figures of this micro-batch."""
        arrived = sum(len(instants) for block in blocks for _, instants in block.arrived())
        late = sum(letter.code == LATE for letter in letters)
        refused = sum(len(block.letters) for block in blocks)
        return {
            "bucket": self._key[1],
            "events": list(self.component.name),
            "style": STYLES[self.style],
            "notes": (notes := [block.notes for block in blocks if block.notes]),
            "warnings": warnings_of(notes),
            "items": arrived + sum(read_and_refused(block) for block in blocks),
            "processed": arrived - late - (judged := self._here[REFUSED]),
            "occurrences": len(found),
            "late": late,
            "refused": refused + judged,
            "derived": len(letters) - late - refused - judged,  # of occurrences and windows, no items
            EVICTED: self._here[EVICTED],
            MISSING: self._here[MISSING],
            "watermark": self._clock.watermark,
            "holding": list(self._clock.holding()),
            "segments": len(self._touched),
            **self._counted(blocks),
            **({"clock": self._clock.dump()} if self._job.watched else {}),
            "pending": self._pages.index.pending + self._undecided,
        }

    def _counted(self, blocks: list[Block]) -> dict[str, int]:
        """What the matcher counted: in stage 1, and here, over windows and occurrences."""
        here = zip(noted(matcher_of(self.bundle)), self._noted, strict=True)
        return {
            name: now - before + self._here[name] + sum(block.counters.get(name, 0) for block in blocks)
            for name, (now, before) in zip(NOTED, here, strict=True)
        }


def _asks(bundle: str, component: Component) -> dict[int, str]:
    """The names of the asks that the occurrences in a component's state may answer."""
    read = {*component.events, *component.reads}
    asks = query_of(bundle).asks.all
    return {ask.number: ask_names(bundle)[ask.number] for ask in asks if ask.event in read}
