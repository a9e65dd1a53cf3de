"""Schedules of Spark's processor: both stages without a JVM, killed between and within micro-batches.

Spark runs a micro-batch again that it has begun and not committed: with the same rows and the same time, from
the state before it. A process that did a part of it may go on, with what it remembers, or be gone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from soak_law import Broken
from soak_records import LAST, Record, make_line
from soak_runner import query_named
from soak_schedule import QUERIES, Schedule, Session, make_schedule

from obep.config.toml_file import Config
from obep.engine.split.key_routes import Layout
from obep.model import Alert, Item, Occurrence
from obep.spark.connectors.heartbeat import BEAT
from obep.spark.readers.raw_rows import Inflow, RawRead
from obep.spark.stages import block_entries, stage2
from obep.spark.stages.buckets import component_numbers
from obep.spark.stages.record_batches import unwrapped
from obep.spark.stages.stage1 import STAMP, abstracting
from obep.spark.stages.stage2 import Detecting
from obep.spark.stages.worker import Job, components_of
from obep.streams.sources.open_sources import make_reading

SECOND = 1_000_000
DAY = 86_400 * SECOND
PARTITIONS = 2
LINES = ("line",)
"""Of a dead letter: its line counts from the start of a micro-batch."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What Spark gives the stages at once; without records it is a beat."""

    now: int
    records: tuple[Record, ...]


@dataclass(slots=True)
class Committed:
    """What the micro-batches that were committed have given."""

    occurrences: list[dict[str, Any]] = field(default_factory=list)
    alerts: list[dict[str, Any]] = field(default_factory=list)
    letters: list[dict[str, Any]] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def add(self, payloads: Iterable[bytes]) -> None:
        for part in unwrapped(list(payloads)):
            for row in part.to_pylist():
                if row["kind"] == "occurrence":
                    self.occurrences.append(row)
                elif row["kind"] == "alert":
                    self.alerts.append(row)
                elif row["kind"] == "letter":
                    self.letters.append({name: row[name] for name in row if name not in LINES})
                else:
                    told = json.loads(row["progress"])
                    self.counted.update({name: told[name] for name in ("processed", "late", "refused")})


Kept = dict[int, tuple[Any, dict[Any, Any]]]
"""The state of each bucket: its clock and its pages."""


class Pipeline:
    """Both stages of one start of a query, and the state that lasts."""

    def __init__(self, schedule: Schedule, session: Session, start: int, kept: Kept) -> None:
        self._job = _job(schedule, session, start)
        self._stage1 = abstracting(self._job, _reader(schedule))
        self._tester = TwsTester(Detecting(self._job))
        self.restore(kept)

    def kept(self) -> Kept:
        peek, pages = self._tester.peekValueState, self._tester.peekMapState
        return {n: (peek("clock", n), dict(pages("pages", n))) for n in self._job.numbers if peek("clock", n)}

    def restore(self, kept: Kept, numbers: Iterable[int] = ()) -> None:
        """Take the state of these buckets (by default all) back to what it was."""
        for number in numbers or self._job.numbers:
            clock, pages = kept.get(number, (None, {}))
            if clock is None:
                self._tester.deleteState("clock", number)
                self._tester.deleteState("pages", number)
            else:
                self._tester.updateValueState("clock", number, clock)
                self._tester.updateMapState("pages", number, pages)

    def blocks(self, batch: MicroBatch) -> dict[int, bytes]:
        """What stage 1 makes of a micro-batch, by bucket."""
        rows = _rows(batch.records, batch.now)
        beat = pa.array([*[False] * len(batch.records), True])
        stamp = pa.array([batch.now] * len(rows), pa.timestamp("us", tz="UTC"))
        stamped = rows.append_column(BEAT, beat).append_column(STAMP, stamp)
        [found] = self._stage1(iter([stamped]))
        return {row["bucket"]: row["block"] for row in found.to_pylist()}

    def run(self, number: int, block: bytes) -> list[bytes]:
        """What a bucket gives."""
        return [row.payload for row in self._tester.test(number, [Row(bucket=number, block=block)])]


def hold_processor(seed: int, queries: Sequence[str] = QUERIES) -> int:
    """Play one; how many micro-batches were run more than once."""
    schedule, random = _ended(make_schedule(seed, queries)), Random(f"processor {seed}")
    batches = _cut(schedule, random)
    others = batches if schedule.shape.late else _cut(schedule, random)
    _forget()
    whole = _undisturbed(schedule, others)
    _forget()
    played, again = _played(schedule, batches, random)
    _require_conserved(schedule, whole, "undisturbed")
    _require_conserved(schedule, played, "played")
    _require_equal("occurrences", whole.occurrences, played.occurrences)
    _require_equal("alerts", whole.alerts, played.alerts)
    _require_equal("dead letters", whole.letters, played.letters)
    if schedule.punctual:
        if late := [letter for letter in whole.letters if letter["code"] == "OBEP640"]:
            raise Broken(f"undisturbed: {len(late)} records are late that are not: {late[0]}")
        shown = [*_shown(played.occurrences), *((one["id"], one["status"]) for one in played.alerts)]
        _require_equal("the embedded engine's", _embedded(schedule, others), shown)
    return again


def _ended(schedule: Schedule) -> Schedule:
    """With items at the end of both streams that meet all deadlines: nobody closes a stream on Spark."""
    shape, last = schedule.shape, schedule.records[-1].arrival
    at = max(one.at or 0 for one in schedule.records) + LAST
    graph = "<http://e/z> a <http://e/End> ."
    ends = [Record(name, at, last + 1, make_line(shape, name, at, graph)) for name in "ab"]
    return replace(schedule, records=[*schedule.records, *ends])


def _undisturbed(schedule: Schedule, batches: Sequence[MicroBatch]) -> Committed:
    found, pipeline = Committed(), Pipeline(schedule, schedule.base, 0, {})
    for batch in batches:
        for number, block in pipeline.blocks(batch).items():
            found.add(pipeline.run(number, block))
    return found


def _played(schedule: Schedule, batches: Sequence[MicroBatch], random: Random) -> tuple[Committed, int]:
    """The micro-batches through all sessions; each session but the last is over at one of them."""
    found, kept, again, at = Committed(), {}, 0, 0
    ends = sorted(random.randint(0, len(batches)) for _ in schedule.sessions[1:])
    for start, (session, end) in enumerate(zip(schedule.sessions, [*ends, len(batches)], strict=True)):
        if random.random() < 0.6:
            _forget()
        pipeline = Pipeline(schedule, session, start, kept)
        for batch in batches[at:end]:
            payloads, tries = _with_retries(pipeline, batch, random)
            found.add(payloads)
            again += tries
        kept, at = pipeline.kept(), end
        if session.fate in ("kill", "full", "break") and end < len(batches):
            blocks = list(pipeline.blocks(batches[end]).items())
            for number, block in blocks[: random.randint(0, len(blocks))]:
                pipeline.run(number, block)  # the driver is gone before it is committed
            again += 1
    return found, again


def _with_retries(pipeline: Pipeline, batch: MicroBatch, random: Random) -> tuple[list[bytes], int]:
    """A micro-batch whose tasks run in any order, some of them more than once."""
    before, tries = pipeline.kept(), 0
    payloads: list[bytes] = []
    for number, block in sorted(pipeline.blocks(batch).items(), key=lambda one: random.random()):
        if random.random() < 0.15:
            pipeline.run(number, block)
            pipeline.restore(before, (number,))
            tries += 1
            if random.random() < 0.5:
                _forget()
        payloads += pipeline.run(number, block)
    return payloads, tries


def _forget() -> None:
    """The Python worker is another one."""
    stage2._warm.clear()
    block_entries._groups.clear()
    stage2._causes.clear()


def _cut(schedule: Schedule, random: Random) -> list[MicroBatch]:
    """The records as micro-batches: those of live sources as they arrive, others a few at a time.

    Files are read as fast as they can be: no time passes meanwhile, and nobody is silent.
    """
    records, found = schedule.records, []
    at, now = 0, 0.0
    most = random.choice((1, 3, 12, 60))
    while at < len(records):
        if schedule.shape.live:
            now += random.choice((0.1, 1.0, 2.0))
            size = sum(one.arrival <= now for one in records[at:])
        else:
            size = random.randint(1, most)
        found.append(MicroBatch(round(now * SECOND), tuple(records[at : at + size])))
        at += size
    return [*found, *(MicroBatch(round((now + 20 * more) * SECOND), ()) for more in (1, 2))]


def _embedded(schedule: Schedule, batches: Sequence[MicroBatch]) -> list[tuple[object, ...]]:
    """What the embedded engine finds, if it looks at the same times."""
    base, now = schedule.base, [0]
    engine = query_named(schedule.query).engine(
        lateness=base.lateness,
        idle=base.idle,
        future=DAY / SECOND if schedule.shape.live else None,
        now=lambda: now[0],
    )
    read, streams, found = _reader(schedule), {*"ab"}, list[Occurrence]()
    for batch in batches:
        now[0] = batch.now
        for one in batch.records:
            read_now = read(_rows((one,), batch.now))
            found += engine.push_items([x for x in read_now if isinstance(x, Item) and x.stream in streams])
        found += engine.tick()
    return [
        (one.id, one.status)
        if isinstance(one, Alert)
        else (one.event[1:-1], one.id, one.start, one.end, one.detected)
        for one in found
    ]


def _rows(records: Sequence[Record], now: int) -> pa.RecordBatch:
    """Raw rows, and at their end one for a beat."""
    names = [one.source for one in records]
    count = len(names) + 1
    columns = {
        "source": pa.array([*map("ab".index, names), 0], pa.int32()),
        "name": pa.array([*names, None], pa.string()),
        "key": pa.array([None] * count, pa.string()),
        "arrived": pa.array([now] * count, pa.int64()),
        "data": pa.array([*(one.line.rstrip(b"\n") for one in records), None], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def _reader(schedule: Schedule) -> RawRead:
    named = not schedule.shape.names_streams
    readings = [make_reading(name if named else "", {}, Config(Path())) for name in "ab"]
    return RawRead(tuple(Inflow("lines", "jsonl", reading) for reading in readings))


@cache
def _bundle(query: str) -> bytes:
    return query_named(query).to_bundle()


def _job(schedule: Schedule, session: Session, start: int) -> Job:
    query = query_named(schedule.query)
    layout = Layout(components_of(query), PARTITIONS)
    return Job(
        (f"{schedule.query}.bundle",),
        PARTITIONS,
        component_numbers(layout.parts(), PARTITIONS),
        PARTITIONS,
        (layout.width,),
        session.lateness * SECOND,
        None if session.idle is None else session.idle * SECOND,
        DAY if schedule.shape.live else None,
        tuple(query.linked.streams),
        contents=(_bundle(schedule.query),),
        begun=str(start),
    )


def _require_conserved(schedule: Schedule, found: Committed, where: str) -> None:
    """Every record is taken or a dead letter."""
    taken, refused, late = (found.counted[name] for name in ("processed", "refused", "late"))
    if taken + refused + late != len(schedule.records):
        raise Broken(
            f"{where}: {taken} records are taken, {refused} refused and {late} late, "
            f"of {len(schedule.records)}"
        )


def _shown(rows: Iterable[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [
        (row["event"], row["id"], *(_micros(row[name]) for name in ("start", "end", "detected")))
        for row in rows
    ]


def _micros(at: datetime) -> int:
    return round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * SECOND)


def _require_equal(what: str, expected: Iterable[object], found: Iterable[object]) -> None:
    wanted, got = Counter(map(repr, expected)), Counter(map(repr, found))
    if wanted != got:
        missing, extra = wanted - got, got - wanted
        shown = "".join(f"\n  missing {one}" for one in list(missing)[:3])
        shown += "".join(f"\n  extra   {one}" for one in list(extra)[:3])
        raise Broken(f"{what}: {missing.total()} are missing, {extra.total()} are too many{shown}")
