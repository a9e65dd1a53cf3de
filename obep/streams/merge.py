"""Several sources as one: files merged by time, live ones as they come."""

from __future__ import annotations

import heapq
import queue
from collections.abc import Iterator, Mapping, Sequence
from threading import Event, Thread
from typing import NamedTuple

from obep.model import DeadLetter, Item
from obep.streams.batches import SIZE, Position, Source

HELD = 64
"""Batches of live sources that wait for the engine."""

Positions = dict[str, dict[str, int]]
"""Where each source stands, by its key in the run."""


class Turn(NamedTuple):
    """What the engine gets at once: records, and where the sources then stand; empty if nothing came."""

    records: list[Item | DeadLetter]
    moved: Mapping[str, Position]
    ended: tuple[str, ...] = ()


def merged(sources: Mapping[str, Source], start: Mapping[str, Position], patience: float) -> Iterator[Turn]:
    """The records of all sources until every one has ended.

    With a live source among them, an empty turn is given whenever nothing came for `patience` seconds.
    """
    if any(source.live for source in sources.values()):
        return _side_by_side(sources, start, patience)
    return _by_time(sources, start)


def _by_time(sources: Mapping[str, Source], start: Mapping[str, Position]) -> Iterator[Turn]:
    """The records of files, earliest first as far as each file is in order itself."""
    if len(sources) == 1:
        [(key, source)] = sources.items()
        for batch in source.batches(start.get(key, {})):
            yield Turn(batch.records, {key: batch.position})
        return
    lines = [_counted(key, source, start.get(key, {})) for key, source in sources.items()]
    held: list[Item | DeadLetter] = []
    moved: dict[str, Position] = {}
    for _, key, count, record in heapq.merge(*lines):
        held.append(record)
        moved[key] = {"records": count}
        if len(held) >= SIZE:
            yield Turn(held, moved)
            held, moved = [], {}
    yield Turn(held, moved, tuple(sources))


Ranked = tuple[int, str, int, "Item | DeadLetter"]


def _counted(key: str, source: Source, start: Position) -> Iterator[Ranked]:
    """Records with the instant by which they are merged: never before what came earlier in the same file."""
    latest = -(2**63)
    count = start.get("records", 0)
    for batch in source.batches(start):
        for record in batch.records:
            count += 1
            if isinstance(record, Item):
                latest = max(latest, record.at)
            yield latest, key, count, record


Arrived = tuple[str, "Sequence[Item | DeadLetter]", "Position | None", "Exception | None"]
"""What a thread has read: source, records, the position after them (none at the end), or why it failed."""


def _side_by_side(
    sources: Mapping[str, Source], start: Mapping[str, Position], patience: float
) -> Iterator[Turn]:
    """Each source in a thread of its own; a failure in one is raised here."""
    arrived: queue.Queue[Arrived] = queue.Queue(HELD)

    closing = Event()

    def put(entry: Arrived) -> None:
        while not closing.is_set():
            try:
                arrived.put(entry, timeout=0.2)
                return
            except queue.Full:
                continue

    def read(key: str, source: Source) -> None:
        failure = None
        try:
            for batch in source.batches(start.get(key, {})):
                put((key, batch.records, batch.position, None))
                if closing.is_set():
                    return
        except Exception as error:  # carried over to the thread that runs the engine
            failure = error
        put((key, (), None, failure))

    for key, source in sources.items():
        Thread(target=read, args=(key, source), name=f"obep source {key}", daemon=True).start()
    running = set(sources)
    try:
        while running:
            yield _turn(arrived, running, patience)
    finally:
        closing.set()


def _turn(arrived: queue.Queue[Arrived], running: set[str], patience: float) -> Turn:
    """All that is there, or comes within the patience."""
    records: list[Item | DeadLetter] = []
    moved: dict[str, Position] = {}
    ended: list[str] = []
    wait = True
    while running and len(records) < SIZE:
        try:
            key, found, position, failure = arrived.get(wait, patience if wait else None)
        except queue.Empty:
            break
        wait = False
        if failure is not None:
            raise failure
        if position is None:
            running.discard(key)
            ended.append(key)
        else:
            records.extend(found)
            moved[key] = {**moved.get(key, {}), **position}
    return Turn(records, moved, tuple(ended))
