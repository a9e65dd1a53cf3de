"""Stage 2, in `transformWithState`: each bucket runs its component, segment by segment, from block to block.

The state of a bucket is a clock and its segments; a micro-batch reads and writes only the segments that its
blocks or due deadlines touch. What is warm in this process is used only if its version is that of the state.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

import msgspec
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from obep.engine.blocks import Block, Entry, decode_block
from obep.engine.clock import Clock
from obep.engine.segments import Segment
from obep.model import DeadLetter, Occurrence
from obep.plan.components import Component
from obep.spark.records import letters_payload, occurrences_payload, progress_payload
from obep.spark.worker import Job, layout_of, matcher_of, query_of

FOUND = "kind string, payload binary"
CHUNK = 5_000

_warm: dict[tuple[str, int], tuple[str, dict[int, Segment]]] = {}
"""The segments of the buckets that this process ran last, each bucket under the version of its state."""


class Detecting(StatefulProcessor):
    """One bucket's engine. Its fields are the job alone: Spark pickles them."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._clock_state = handle.getValueState("clock", "data binary")
        self._segment_state = handle.getMapState("segments", "segment int", "data binary")

    def handleInputRows(self, key: Any, rows: Iterable[Any], timerValues: Any) -> Iterator[Row]:
        number = self._job.numbers.index(key[0])
        blocks = [decode_block(bytes(row.block)) for row in rows]
        saved = self._clock_state.get() if self._clock_state.exists() else None
        run = Run(self._job, number, saved[0] if saved else None, self._stored)
        found, letters = run.take(blocks)
        if not self._job.bounded:  # a bounded input is all here: nothing will be asked again
            for segment, data in run.touched_segments():
                self._segment_state.updateValue((segment,), (data,))
            self._clock_state.update((run.state(),))
            run.keep()
        for start in range(0, len(found), CHUNK):
            yield Row(
                kind="occurrences", payload=occurrences_payload(found[start : start + CHUNK], self._job.rdf)
            )
        if letters:
            yield Row(kind="letters", payload=letters_payload(letters))
        yield Row(kind="progress", payload=progress_payload(run.progress(blocks, found, letters)))

    def _stored(self, segment: int) -> bytes | None:
        if not self._segment_state.containsKey((segment,)):
            return None
        return bytes(self._segment_state.getValue((segment,))[0])

    def close(self) -> None:
        """Nothing is held between batches but `_warm`."""


class Run:
    """One bucket in one micro-batch."""

    def __init__(self, job: Job, number: int, state: bytes | None, stored: Any) -> None:
        self._job = job
        self.bundle, self.component, self._within = _place(job, number)
        query = query_of(self.bundle)
        self._plan = self.component.plan(query.plan)
        self._stored = stored
        self._key = (self.bundle, number)
        self._clock = Clock(job.lateness, job.idle, job.future, query.linked.streams)
        self._wakes: dict[int, int] = {}
        self._letters: list[DeadLetter] = []
        self._version = ""
        if state is not None:
            self._version, clock, self._wakes = msgspec.msgpack.decode(
                state, type=tuple[str, dict[str, Any], dict[int, int]]
            )
            self._clock.load(clock)
        version, segments = _warm.pop(self._key, ("", {}))
        self._segments: dict[int, Segment] = segments if version == self._version and state else {}
        self._touched: set[int] = set()

    def take(self, blocks: list[Block]) -> tuple[list[Occurrence], list[DeadLetter]]:
        """What the blocks of a micro-batch decide, and what takes part in nothing."""
        floor = self._clock.watermark
        now = time.time_ns() // 1000
        entries: dict[int, list[Entry]] = {}
        for block in blocks:
            self._letters.extend(block.letters)
            for stream, instants in block.arrivals.items():
                self._letters.extend(_late(stream, instants, floor))
            for entry in block.entries:
                if floor is None or entry.at >= floor:
                    entries.setdefault(entry.segment, []).append(entry)
        maxima: dict[str, int] = {}
        for block in blocks:
            for stream, at in block.maxima.items():
                maxima[stream] = max(at, maxima.get(stream, at))
        self._clock.tick(maxima, now)
        found = self._run(entries)
        found.sort(key=lambda one: one.detected)
        return found, self._letters

    def _run(self, entries: dict[int, list[Entry]]) -> list[Occurrence]:
        watermark = self._clock.watermark
        due = {s for s, at in self._wakes.items() if watermark is not None and at <= watermark}
        touched = set(entries) | (set(self._wakes) if self._job.bounded else due)
        found: list[Occurrence] = []
        for number in sorted(touched):
            segment = self._segment(number)
            segment.add(entries.get(number, ()))
            if watermark is not None:
                found.extend(segment.release(watermark))
            if self._job.bounded:
                found.extend(segment.close())
                continue
            wakes = segment.wakes()
            if wakes is None:
                self._wakes.pop(number, None)
            else:
                self._wakes[number] = wakes
        self._touched = touched
        return found

    def _segment(self, number: int) -> Segment:
        segment = self._segments.get(number)
        if segment is None:
            segment = self._segments[number] = Segment(
                self._plan, matcher_of(self.bundle), self._letters.append
            )
            data = self._stored(number)
            if data is not None:
                segment.load(data)
        return segment

    def touched_segments(self) -> Iterator[tuple[int, bytes]]:
        """The segments to write, as bytes."""
        for number in sorted(self._touched):
            yield number, self._segments[number].dump()

    def state(self) -> bytes:
        """The clock and what wakes when, under a new version."""
        self._version = uuid4().hex
        return msgspec.msgpack.encode((self._version, self._clock.dump(), self._wakes))

    def keep(self) -> None:
        """Stay warm for the next micro-batch."""
        _warm[self._key] = (self._version, self._segments)

    def progress(
        self, blocks: list[Block], found: list[Occurrence], letters: list[DeadLetter]
    ) -> dict[str, Any]:
        """What can be told of this micro-batch."""
        return {
            "bucket": self._key[1],
            "items": sum(len(instants) for block in blocks for instants in block.arrivals.values()),
            "occurrences": len(found),
            "dead_letters": len(letters),
            "watermark": self._clock.watermark,
            "holding": list(self._clock.holding()),
            "segments": len(self._touched),
            "pending": sum(segment.pending for segment in self._segments.values()),
        }


def _place(job: Job, number: int) -> tuple[str, Component, int]:
    """The bundle and the component that a bucket of the job runs."""
    for bundle in job.bundles:
        layout = layout_of(bundle, job.buckets)
        if number < layout.width:
            return bundle, layout.component_of(number), number
        number -= layout.width
    raise AssertionError("a bucket beyond the layout")


def _late(stream: str, instants: list[int], floor: int | None) -> Iterator[DeadLetter]:
    if floor is not None:
        for at in instants:
            if at < floor:
                yield DeadLetter(stream, at, "OBEP640", f"it comes after the watermark, {floor}")
