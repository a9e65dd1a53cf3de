"""The embedded run: records from sources through the engine to sinks, with dead letters and checkpoints."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from obep.engine.query import Query
from obep.engine.replacing.replacement import Replacement
from obep.engine.time_letters import stray
from obep.formats.stream_reader import Notes
from obep.formats.tables.record_blocks import RecordBlock, Records
from obep.model import Alert, DeadLetter, Item, Occurrence, Triple
from obep.output.row_writer import RowIds
from obep.run.checkpoint import Checkpoint, Standing
from obep.run.dead_letters import Letters
from obep.streams.sinks.open_sinks import FileSink, OutputSink, Repeating, Sink
from obep.streams.sinks.output_files import LeftFiles
from obep.streams.sources.batches import Source
from obep.streams.sources.merge import Positions, Turn, merged

PATIENCE_S = 0.2
"""How long live sources may be silent before the engine advances the time."""
INTERVAL_S = 5.0
"""Between two checkpoints."""


Record = tuple[str, bytes]
"""The id of a record, and what is written."""


class Pushed(Protocol):
    """As much of an engine as a run needs."""

    def push_items(self, items: Iterable[Item]) -> list[Occurrence]: ...

    def too_far(self, at: int) -> bool: ...

    def tick(self) -> list[Occurrence]: ...

    def close(self) -> list[Occurrence]: ...

    def snapshot(self) -> bytes: ...

    def restore(self, data: bytes, *, resume: bool = True) -> None: ...

    def firing(self) -> list[Alert]: ...


@runtime_checkable
class Changing(Protocol):
    """An engine whose query and static graph a run can change."""

    def replace(self, query: Query) -> Replacement: ...

    def update_triples(self, insert: Iterable[Triple], delete: Iterable[Triple]) -> list[Occurrence]: ...

    def changes_of_graph(self) -> list[Item]: ...


class Sharing(Protocol):
    """What becomes of the answers of a run that has a share of the keys only."""

    def send(self, run: Run, found: Sequence[Occurrence]) -> None: ...

    def end(self) -> None: ...


@dataclass(slots=True)
class Outlet:
    """A sink, the form of its occurrences, and its events (all by default)."""

    sink: Sink
    encode: Callable[[Occurrence], bytes]
    events: frozenset[str] = frozenset()
    several: Callable[[Occurrence], Iterable[Record]] | None = None
    """The function for occurrences that may be several records."""
    together: Callable[[Sequence[Occurrence]], list[bytes] | None] = lambda found: None
    """The one record of each of many; nothing, if they are something else."""

    def records(self, occurrence: Occurrence) -> Iterable[Record]:
        """The records of an occurrence for the sink."""
        if self.several is not None:
            return self.several(occurrence)
        return ((occurrence.record_id, self.encode(occurrence)),)

    def texts(self, found: Sequence[Occurrence]) -> list[bytes]:
        """All that a file gets of each of some occurrences."""
        if self.events:
            wanted = iter(self._texts([one for one in found if one.event in self.events]))
            return [next(wanted) if one.event in self.events else b"" for one in found]
        return self._texts(found)

    def _texts(self, found: Sequence[Occurrence]) -> list[bytes]:
        written = self.together(found)
        if written is None:
            written = [b"".join([text for _, text in self.records(one)]) for one in found]
        return written

    def send(self, found: Sequence[Occurrence]) -> None:
        """Give the sink what it wants of some occurrences."""
        wanted = found if not self.events else [one for one in found if one.event in self.events]
        is_file = isinstance(self.sink, FileSink | OutputSink)
        if is_file and (written := self.together(wanted)) is not None:
            self.sink.send("", b"".join(written))
        else:
            for occurrence in wanted:
                for id, payload in self.records(occurrence):
                    self.sink.send(id, payload)
        if is_file and found:  # a reader may follow the file
            self.sink.flush()


@dataclass(slots=True)
class Run:
    """One run of a query over its sources. `go` returns when they have ended, or after `stop`."""

    engine: Pushed
    sources: Mapping[str, Source]
    outlets: Mapping[str, Outlet]
    letters: Letters
    query_hash: str = ""
    checkpoint: Checkpoint | None = None
    streams: frozenset[str] = frozenset()
    """The streams of the query; items of others are refused. Empty: any."""
    models: frozenset[str] = frozenset()
    """The streams whose items change the static graph."""
    on_turn: Callable[[Run], None] = lambda run: None
    between: Callable[[Run], None] = lambda run: None
    """Called between two turns, where a checkpoint may be written."""
    clock: Callable[[], float] = time.monotonic
    items: int = 0
    occurrences: Counter[str] = field(default_factory=Counter)
    notes: Notes = field(default_factory=Notes)
    positions: Positions = field(default_factory=dict)
    idle: bool = False
    """Whether the engine's clock has a limit for silent streams."""
    waiting: tuple[str, ...] = ()
    """The sources that the others wait for just now."""
    items_by_stream: Counter[str] = field(default_factory=Counter)
    """The number of readable items of each stream."""
    stopping: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    """The kind of each source, by its key."""
    row_ids: RowIds = field(default_factory=RowIds)
    on_found: Callable[[list[Occurrence]], None] = lambda found: None
    """Called with what was found, before sinks get it."""
    beside: Callable[[], bytes] = lambda: b""
    """Additional state for a checkpoint."""
    shares: Sharing | None = None
    """Who takes the answers, where several processes run."""
    _before: dict[str, int] | None = None
    """Where a checkpoint says that outputs stand, also those that this run does not have."""
    _left: LeftFiles | None = None
    """Where those stand that it does not have."""
    _failed_before: int = 0
    """Occurrences that sinks had not taken when the stop was asked for."""
    _saved: float = 0.0

    def restore(self, standing: Standing, *, resume: bool = True) -> None:
        """Goes on where a checkpoint stands; sinks were opened at its positions."""
        self.engine.restore(standing.state, resume=resume)
        for outlet in self.outlets.values():
            if isinstance(outlet.sink, Repeating):
                for alert in self.engine.firing():
                    if alert.event in outlet.events:
                        outlet.sink.keep(outlet.encode(alert))
        self.positions = {key: dict(position) for key, position in standing.sources.items()}
        self._before = dict(standing.outputs)
        self._left = LeftFiles(self._before, {*self.outlets, self.letters.key})
        self.row_ids.load(standing.rows)
        if standing.style is not None:
            self.notes.styles["before"] = standing.style

    def go(self) -> None:
        """Runs to the end of all sources, when the last instant closes, or until stopped, when not."""
        self._saved = self.clock()
        if self.checkpoint is not None and self._before not in (None, self._outputs()):
            self.checkpoint.save(self._standing())  # an output that begins is known before it is written
        try:
            whole = True
            for turn in merged(
                self.sources,
                self.positions,
                PATIENCE_S,
                idle=self.idle,
                orders=self.orders,
                models=self.models,
            ):
                if self.stopping:
                    break
                self.take(turn)
                self.waiting = turn.waiting
                self.on_turn(self)
                whole = turn.whole
                if whole:
                    self.between(self)
                if self.checkpoint is not None and whole and self.clock() - self._saved >= INTERVAL_S:
                    self.save()
            if whole:
                self.save()
            if not self.stopping:
                self.send(self.engine.close())
                self.on_turn(self)
        finally:
            for source in self.sources.values():
                source.stop()
        for outlet in self.outlets.values():
            outlet.sink.flush()

    def replace(self, query: Query, outlets: Mapping[str, Outlet]) -> Replacement:
        """Runs another query from the watermark on; the checkpoint is then of that query."""
        assert isinstance(self.engine, Changing)
        done = self.engine.replace(query)
        self.send([*done.records])
        self.query_hash, self.streams, self.outlets = query.hash, frozenset(query.linked.streams), outlets
        self.save()
        return done

    def changes_of_graph(self) -> list[Item]:
        """How the static graph of now differs from that of its files, by streams and earlier changes."""
        assert isinstance(self.engine, Changing)
        return self.engine.changes_of_graph()

    def update(self, insert: Iterable[Triple], delete: Iterable[Triple]) -> None:
        """Changes the static graph from the watermark on."""
        assert isinstance(self.engine, Changing)
        self.send(self.engine.update_triples(insert, delete))

    def stop(self) -> None:
        """Ends the run after the turn that is under way; may be called from a signal."""
        self.stopping = True
        self._failed_before = len(self.failed)
        for source in self.sources.values():
            source.stop()
        for outlet in self.outlets.values():
            if hurry := getattr(outlet.sink, "hurry", None):
                hurry()

    def close(self) -> None:
        """Lets go of sinks and files."""
        if self.shares is not None:
            self.shares.end()
        for outlet in self.outlets.values():
            outlet.sink.close()
        self.letters.close()

    @property
    def failed(self) -> list[tuple[str, str]]:
        """The occurrences that a sink did not take, with the reason."""
        return [failure for outlet in self.outlets.values() for failure in getattr(outlet.sink, "failed", ())]

    def save(self) -> bool:
        """Writes a checkpoint, once everything before it is safe; whether it did."""
        if self.checkpoint is None:
            return False
        for outlet in self.outlets.values():
            outlet.sink.flush()
        if self.stopping and len(self.failed) > self._failed_before:
            return False  # given up in a hurry: the next run sends them, as after a kill
        self.letters.flush()
        self.checkpoint.save(self._standing())
        for key, source in self.sources.items():
            source.committed(self.positions.get(key, {}))
        self._saved = self.clock()
        return True

    def _standing(self) -> Standing:
        return Standing(
            self.query_hash,
            self.engine.snapshot(),
            self.positions,
            self._outputs(),
            dict(self.origins),
            self.notes.style,
            self.row_ids.dump(),
            self.beside(),
        )

    def _outputs(self) -> dict[str, int]:
        """Where outputs stand, also those that this run does not have."""
        before = {} if self._left is None else self._left.positions(bool(self.items))
        sinks = {key: outlet.sink.position() for key, outlet in self.outlets.items()}
        return {**before, **sinks, **self.letters.positions()}

    def take(self, turn: Turn) -> None:
        """Gives the engine what came, and the sinks what it finds; the positions are then those after it."""
        items = self._items(turn.records)
        self.items += len(items)
        if items:
            self.send(self.engine.push_items(items))
        elif turn.drained:  # otherwise an item that waits would be late for a clock that it has not moved
            self.send(self.engine.tick())
        for key, position in turn.moved.items():
            self.positions[key] = {**self.positions.get(key, {}), **position}

    def _items(self, records: Records) -> Records:
        """The items among some records; the others are dead letters."""
        if isinstance(records, RecordBlock) and (not self.streams or records.stream in self.streams):
            self.items_by_stream[records.stream] += len(records)
            return records
        items = []
        for record in records:
            if isinstance(record, DeadLetter):
                self.letters.take(record)
            elif self._strays(record):
                self.letters.take(stray(record, self.streams))
            else:
                items.append(record)
        self.items_by_stream.update([item.stream for item in items])
        return items

    def orders(self, item: Item) -> bool:
        """Whether the instant of an item says when its source stands: not if it will be refused."""
        return not (self._strays(item) or self.engine.too_far(item.at))

    def _strays(self, item: Item) -> bool:
        return bool(self.streams) and item.stream not in self.streams

    def send(self, found: list[Occurrence]) -> None:
        """Gives the sinks what was found."""
        if self.shares is not None:
            self.shares.send(self, found)
            return
        if found:
            self.on_found(found)
        self.occurrences.update([occurrence.event for occurrence in found])
        if self._left is not None:
            for occurrence in found:
                self._left.see(occurrence.record_id)
        for outlet in self.outlets.values():
            outlet.send(found)
