"""Simulated sources, and the turns of live ones without threads: who is read next follows from the seed."""

from __future__ import annotations

import queue
from collections.abc import Callable, Container, Iterator, Mapping
from random import Random

from soak_faults import Fate
from soak_records import Record

from obep.errors import ObepError
from obep.formats.json_lines import read_json_lines
from obep.formats.stream_reader import Reading
from obep.streams.sources import merge
from obep.streams.sources.batches import Batch, Position, Source


class LogSource:
    """A topic whose records can be had from any position on that has not been committed."""

    live = True
    ends = False
    lost = ""

    def __init__(self, name: str, records: list[Record], reading: Reading, world: World, apart: bool) -> None:
        self.name = name
        self._apart = apart
        """Whether the records of another source come beside these, in any order."""
        self._records = records
        self._reading = reading
        self._world = world
        self._stopped = False

    def batches(self, start: Position) -> Iterator[Batch]:
        at = start.get("0", 0)
        assert at >= self._world.committed.get(self.name, 0), "a committed position was taken back"
        while at < len(self._records) and not self._stopped:
            size = self._world.random.randint(1, self._world.size)
            ready = self._ready(at, size)
            at += len(ready)
            self._world.behind |= bool(self._ready(at, 1))
            yield Batch(list(read_json_lines(Lines(ready), self._reading)), {"0": at})

    def _ready(self, at: int, size: int) -> list[bytes]:
        """So many records that have arrived; beside another source more, up to the first that has an instant.
        A record that cannot be read does not end a silence: the other stream would make that one late."""
        arrived = [one for one in self._records[at:] if one.arrival <= self._world.now]
        dated = (number for number, one in enumerate(arrived, 1) if one.at is not None)
        least = next(dated, 0) if self._apart else 0
        return [one.line for one in arrived[: max(size, least)]]

    def committed(self, position: Position) -> None:
        self._world.committed[self.name] = position.get("0", 0)

    def stop(self) -> None:
        self._stopped = True


class Lines:
    """As much of a file as lines are read from."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = iter(lines)

    def readline(self, most: int = -1) -> bytes:
        return next(self._lines, b"")


class World:
    """Time, and what lasts from one session to the next outside of obep."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.now = 0.0
        self.size = 1
        self.behind = False
        """Whether a source has more to give than it gave: then it is read again at once."""
        self.committed: dict[str, int] = {}
        self._calls = 0.0

    def micros(self) -> int:
        return round(self.now * 1_000_000)

    def calls(self) -> float:
        """A clock that goes on whenever somebody looks at it."""
        self._calls += 1.0
        return self._calls


def stepped(world: World, fate: Fate, passing: bool) -> Callable[..., Iterator[merge.Turn]]:
    """`merged`, with live sources read in this thread; `passing`: time goes on meanwhile."""

    def turns(
        sources: Mapping[str, Source],
        start: Mapping[str, Position],
        patience: float,
        *,
        idle: bool = False,
        orders: merge.Orders,
        models: Container[str] = (),
    ) -> Iterator[merge.Turn]:
        watched = {key: Touched(source, fate) for key, source in sources.items()}
        if not any(source.live for source in sources.values()):
            yield from merge.merged(watched, start, patience, idle=idle, orders=orders, models=models)
            return
        pipes = not idle and all(source.ends for source in sources.values())
        waited = {key for key, source in sources.items() if not source.live or pipes}
        yield from _side_by_side(world, watched, start, waited, passing, orders, models)

    return turns


def _side_by_side(
    world: World,
    sources: Mapping[str, Source],
    start: Mapping[str, Position],
    waited: set[str],
    passing: bool,
    orders: merge.Orders,
    models: Container[str],
) -> Iterator[merge.Turn]:
    arrived: queue.SimpleQueue[merge.Arrived] = queue.SimpleQueue()
    lanes = {key: merge.Lane(key, orders, models) for key in sources}
    reads = {key: source.batches(start.get(key, {})) for key, source in sources.items()}
    stands: dict[str, Position] = {}

    def arrive() -> tuple[str, ...]:
        world.now += world.random.choice((0.1, 1.0, 2.0)) if passing and not world.behind else 0.0
        world.behind = False
        for key in world.random.sample(list(reads), len(reads)):
            if lanes[key].room.acquire(blocking=False):
                try:
                    batch = next(reads[key], None)
                except ObepError as error:  # as a thread that reads would carry it over
                    del reads[key]
                    arrived.put((key, None, error))
                    continue
                if batch is None:
                    del reads[key]
                    arrived.put((key, None, None))
                elif batch.records or batch.position != stands.get(key):
                    stands[key] = batch.position
                    arrived.put((key, batch, None))
                else:
                    lanes[key].room.release()
        return merge._arrived(arrived, lanes, waited, 0.0)

    yield from merge.turns(lanes, sources, waited, arrive)


class Touched:
    """A source whose every batch is a step."""

    def __init__(self, source: Source, fate: Fate) -> None:
        self._source = source
        self._fate = fate
        self.name, self.live, self.ends, self.lost = source.name, source.live, source.ends, source.lost

    def batches(self, start: Position) -> Iterator[Batch]:
        for batch in self._source.batches(start):
            self._fate.touch("source")
            yield batch

    def committed(self, position: Position) -> None:
        self._source.committed(position)

    def stop(self) -> None:
        self._source.stop()
