"""Several sources as one: what ends is merged by time, other live sources are taken as they come."""

from __future__ import annotations

import heapq
import queue
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
from threading import BoundedSemaphore, Event, Thread
from typing import NamedTuple

from obep.formats.tables.record_blocks import Records
from obep.model import DeadLetter, Item
from obep.streams.sources.batches import SIZE, Batch, Position, Source

HELD = 64
"""Batches of a source that wait for the engine, or for another source."""
FIRST = -(2**63)

Positions = dict[str, dict[str, int]]
"""Where each source stands, by its key in the run."""

Orders = Callable[[Item], bool]
"""Whether the instant of an item counts in the order of sources. That of one that will be refused does not:
a wrong time would put all that comes after it in its source behind the other sources."""


class Turn(NamedTuple):
    """One batch for the engine: records, and the positions of the sources after them; empty if nothing
    came."""

    records: Records
    moved: Mapping[str, Position]
    ended: tuple[str, ...] = ()
    whole: bool = True
    """Whether the positions say all: no source is in the midst of a batch that it cannot break."""
    waiting: tuple[str, ...] = ()
    """The sources that others wait for, if nothing could be taken."""
    drained: bool = True
    """Whether nothing that came is left for a later turn: a stream without an item is silent only then."""


def merged(
    sources: Mapping[str, Source],
    start: Mapping[str, Position],
    patience: float,
    *,
    idle: bool = False,
    orders: Orders = lambda item: True,
    models: Container[str] = (),
) -> Iterator[Turn]:
    """The records of all sources until every one has ended.

    At one instant the records of `models` come first: these streams change the static graph.

    Files, and standard input where nothing else is live, are merged by time: the same input gives the same
    order in every run. With `idle` it is the clock that waits for who is silent, so only files are waited
    for here. With a live source among them, an empty turn is given whenever nothing came for `patience`
    seconds.
    """
    if not any(source.live for source in sources.values()):
        return _by_time(sources, start, orders, models)
    pipes = not idle and all(source.ends for source in sources.values())
    waited = {key for key, source in sources.items() if not source.live or pipes}
    return _side_by_side(sources, start, patience, waited, orders, models)


def _by_time(
    sources: Mapping[str, Source], start: Mapping[str, Position], orders: Orders, models: Container[str]
) -> Iterator[Turn]:
    """The records of files, earliest first as far as each file is in order itself."""
    if len(sources) == 1:
        [(key, source)] = sources.items()
        for batch in source.batches(start.get(key, {})):
            yield Turn(batch.records, {key: batch.position}, drained=False)
        return
    lines = [_counted(key, source, start.get(key, {}), orders, models) for key, source in sources.items()]
    held: list[Item | DeadLetter] = []
    moved: dict[str, Position] = {}
    for _, _, key, count, record, position in heapq.merge(*lines):
        held.append(record)
        moved[key] = {**position, "records": count}
        if len(held) >= SIZE:
            yield Turn(held, moved, drained=False)
            held, moved = [], {}
    yield Turn(held, moved, tuple(sources))


Ranked = tuple[int, bool, str, int, "Item | DeadLetter", Position]


def _counted(
    key: str, source: Source, start: Position, orders: Orders, models: Container[str]
) -> Iterator[Ranked]:
    """Records with the instant by which they are merged: never before what came earlier in the same file."""
    latest = FIRST
    for batch in source.batches(start):
        before = batch.position["records"] - len(batch.records)
        for count, record in enumerate(batch.records, before + 1):
            latest = _latest(latest, record, orders)
            yield latest, record.stream not in models, key, count, record, batch.position


def _latest(before: int, record: Item | DeadLetter, orders: Orders) -> int:
    """The latest instant of a source up to a record: the one by which the record is merged."""
    if not isinstance(record, DeadLetter) and record.at > before and orders(record):
        return record.at
    return before


Arrived = tuple[str, "Batch | None", "Exception | None"]
"""The result of a reading thread: source and batch (None at the end), or its error."""


class Lane:
    """The records of one source that the engine has not taken yet."""

    def __init__(self, key: str, orders: Orders = lambda item: True, models: Container[str] = ()) -> None:
        self.key, self._models = key, models
        self.running = True
        self.failure: Exception | None = None
        self.room = BoundedSemaphore(HELD)
        self._batches: deque[Batch] = deque()
        self._taken = 0
        self._latest = FIRST
        self._orders = orders

    def add(self, batch: Batch) -> None:
        self._batches.append(batch)

    @property
    def empty(self) -> bool:
        return not self._batches

    @property
    def rank(self) -> tuple[int, bool, str]:
        """By which its next record is merged: as in `_counted`."""
        records = self._batches[0].records
        if not records:  # such a batch only moves the position
            return self._latest, True, self.key
        record = records[self._taken]
        return _latest(self._latest, record, self._orders), record.stream not in self._models, self.key

    @property
    def broken(self) -> bool:
        """Whether it stands in the midst of a batch, where there is no position to go on from."""
        return bool(self._taken) and self._batches[0].after(self._taken) is None

    def take(self, most: int) -> tuple[Records, Position]:
        """Its next records, and how far it then has moved."""
        batch = self._batches[0]
        found = batch.records[self._taken : self._taken + most]
        self._taken += len(found)
        for record in found:
            self._latest = _latest(self._latest, record, self._orders)
        moved = batch.after(self._taken) or {}
        if self._taken == len(batch.records):
            self._batches.popleft()
            self._taken = 0
            self.room.release()
        return found, moved


def _side_by_side(
    sources: Mapping[str, Source],
    start: Mapping[str, Position],
    patience: float,
    waited: set[str],
    orders: Orders,
    models: Container[str],
) -> Iterator[Turn]:
    """Each source in a thread of its own; a failure is raised once what came before is taken."""
    arrived: queue.SimpleQueue[Arrived] = queue.SimpleQueue()
    lanes = {key: Lane(key, orders, models) for key in sources}
    closing = Event()

    def read(key: str, source: Source) -> None:
        failure = None
        try:
            for batch in source.batches(start.get(key, {})):
                while not lanes[key].room.acquire(timeout=0.2):
                    if closing.is_set():
                        return
                arrived.put((key, batch, None))
                if closing.is_set():
                    return
        except Exception as error:  # carried over to the thread that runs the engine
            failure = error
        arrived.put((key, None, failure))

    for key, source in sources.items():
        Thread(target=read, args=(key, source), name=f"obep source {key}", daemon=True).start()
    try:
        yield from turns(lanes, sources, waited, lambda: _arrived(arrived, lanes, waited, patience))
    finally:
        closing.set()


def turns(
    lanes: Mapping[str, Lane],
    sources: Mapping[str, Source],
    waited: set[str],
    arrive: Callable[[], tuple[str, ...]],
) -> Iterator[Turn]:
    """Turn for turn what lies in the lanes; `arrive` fills them and says which sources have ended.

    What came before a source failed is taken before its failure is raised: a connection has no position to
    read it from again. Then no pipe is waited for any more: it may be silent for ever.
    """
    while any(lane.running or not lane.empty for lane in lanes.values()):
        ended = arrive()
        yield _turn(lanes, waited, ended)
        failed = next((lane for lane in lanes.values() if lane.failure is not None), None)
        if failed is None:
            continue
        waited -= {key for key, source in sources.items() if source.live}
        if failed.empty:
            while _ready(lanes, waited):
                yield _turn(lanes, waited)
            assert failed.failure is not None
            raise failed.failure


def _arrived(
    arrived: queue.SimpleQueue[Arrived], lanes: Mapping[str, Lane], waited: set[str], patience: float
) -> tuple[str, ...]:
    """Puts what has come into its lanes, or what comes within the patience; the sources that have ended."""
    ended: list[str] = []
    wait = not _ready(lanes, waited)
    while True:
        try:
            key, batch, failure = arrived.get(wait, patience if wait else None)
        except queue.Empty:
            break
        wait = False
        if batch is not None:
            lanes[key].add(batch)
            continue
        lanes[key].running = False
        lanes[key].failure = failure
        if failure is None:
            ended.append(key)
    return tuple(ended)


def _turn(lanes: Mapping[str, Lane], waited: set[str], ended: tuple[str, ...] = ()) -> Turn:
    """All available records that need not wait."""
    records: list[Item | DeadLetter] = []
    moved: dict[str, Position] = {}
    while len(records) < SIZE and (ready := _ready(lanes, waited)):
        lane = min(ready, key=lambda lane: lane.rank)
        found, position = lane.take(SIZE if len(ready) == 1 else 1)
        records.extend(found)
        moved[lane.key] = {**moved.get(lane.key, {}), **position}
    drained = all(lane.empty for lane in lanes.values())
    waiting = () if records or drained else tuple(_awaited(lanes, waited))
    return Turn(records, moved, ended, not any(lane.broken for lane in lanes.values()), waiting, drained)


def _ready(lanes: Mapping[str, Lane], waited: set[str]) -> list[Lane]:
    """The sources whose next record may be taken: none while the engine waits for another source."""
    if next(_awaited(lanes, waited), None) is not None:
        return []
    return [lane for lane in lanes.values() if not lane.empty]


def _awaited(lanes: Mapping[str, Lane], waited: set[str]) -> Iterator[str]:
    return (key for key, lane in lanes.items() if key in waited and lane.running and lane.empty)
