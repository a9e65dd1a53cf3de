"""The embedded engine: push items, get occurrences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from types import TracebackType
from typing import Any, Self

from obep.abstraction.item_blocks import DecidedBlock, ItemBlock
from obep.algebra.over.over_expressions import MAX_BECAUSE
from obep.engine.buffer import Buffer
from obep.engine.clock import Clock, micros
from obep.engine.knowledge.knowledge_changes import UPDATE
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.observer import Observer
from obep.engine.pushed_graphs import refuse_blank_nodes, triples_of
from obep.engine.pushed_instants import Instant, instant_of, written
from obep.engine.query import Query
from obep.engine.replacing.generations import Generation
from obep.engine.replacing.replacement import Replacement
from obep.engine.replacing.running import Running
from obep.engine.runtime import Runtime
from obep.engine.snapshots.engine_snapshot import restore_snapshot, write_snapshot
from obep.engine.snapshots.snapshot_form import COUNTED
from obep.engine.states.held_states import Held, HeldStates, OnState
from obep.engine.time_letters import kept_streams, late, late_change, not_a_model, too_far
from obep.errors import fail
from obep.formats.stream_reader import as_sent
from obep.formats.tables.mapped_records import Mapped, whole
from obep.formats.tables.record_blocks import RecordBlock
from obep.formats.timestamps import Style, style_of_text
from obep.model import Alert, DeadLetter, Item, Occurrence, Triple
from obep.query.nearest_name import nearest
from obep.why_not.report import WhyNot

__all__ = ["Engine", "Runtime"]

RECENT = 100
"""Items, and occurrences of each event, that `why_not` looks at."""
OnDeadLetter = Callable[[DeadLetter], None]
Found = list[Occurrence]


class Engine:
    """Runs a query over items that come in (nearly) the order of time.

    `lateness`, `idle` and `future` are those of `Clock`, as seconds, `timedelta` or text (`5 s`).
    `on_dead_letter` is called with the dead letter of every refused item; `now` is the clock of arrival,
    in microseconds, and `steady` the one that silence is measured by (by default `now` if that is given, else
    a monotonic one); `max_explanations` is how many of one event and individual are looked for in an item
    (SPEC D4; by default that of `load`; `counters["capped"]` says how often there were more);
    `max_keys` is how many values of its PARTITION BY each event remembers (default: all); of more, those
    whose last occurrence is oldest are forgotten when the instant closes (`counters["evicted"]`);
    `max_because` is of how many rows, the last ones, a state by OVER keeps the explanations (default: 100);
    `remember` is how many items, and occurrences of each event, `why_not` looks at (`None`: all; 0: none, so
    that nothing is kept for it); `observer` listens to items and occurrences; with `gives_empty` answers that
    are reported without rows are returned, too. An engine may be used from several threads; callbacks run
    outside of its lock.

    >>> import obep
    >>> pair = "EVENT A AS Room EVENT B MATCH A SEQ A WITHIN 5 s RETURN B"
    >>> query = obep.load(text=f"PREFIX : <http://e/> {pair}")
    >>> room = "@prefix : <http://e/> . :a a :Room ."
    >>> with query.engine(lateness="1 s") as engine:
    ...     hits = [hit for second in (1, 2, 9) for hit in engine.push(room, at=second)]
    >>> [(hit.start, hit.end) for hit in hits]
    [(1000000, 2000000)]
    """

    def __init__(
        self,
        query: Query,
        *,
        lateness: object = 0,
        idle: object = None,
        future: object = None,
        on_dead_letter: OnDeadLetter | None = None,
        now: Callable[[], int] | None = None,
        steady: Callable[[], int] | None = None,
        max_explanations: int | None = None,
        max_keys: int | None = None,
        max_because: int | None = None,
        remember: int | None = RECENT,
        observer: Observer | None = None,
        matcher: Any = None,
        prepares: Callable[[], PreparedItems | None] = lambda: None,
        gives_empty: bool = False,
    ) -> None:
        query.require_returns()
        self.clock = Clock(micros(lateness) or 0, micros(idle), micros(future), query.linked.streams)
        self.counters: dict[str, int] = dict.fromkeys(COUNTED, 0)
        self.on_dead_letter = on_dead_letter
        self._letters: list[DeadLetter] = []
        self._now = now or (lambda: time.time_ns() // 1000)
        self._steady = steady or now or (lambda: time.monotonic_ns() // 1000)
        self._lock = RLock()
        self.running = Running(
            query,
            self._bury_derived,
            matcher=matcher,
            max_explanations=max_explanations,
            max_keys=cap("max_keys", max_keys),
            max_because=cap("max_because", max_because) or MAX_BECAUSE,
            observer=observer,
            remember=remember,
            prepares=prepares(),
            gives_empty=gives_empty,
        )
        self.held = HeldStates(query.plan.states, query.linked.states, self.running.runtime_of)
        self.buffer: Buffer[Item] = Buffer()
        self._style: Style | None = None
        self._closed = False

    @property
    def query(self) -> Query:
        """The query that it runs; after a replacement the newest one."""
        return self.running.query

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def push(
        self, graph: Any, at: Instant, stream: str | None = None, *, format: str | None = None
    ) -> list[Occurrence]:
        """Take one item and return what is decided now.

        `graph` is an rdflib graph, triples, Turtle, N-Triples or JSON-LD text, or a JSON-LD dict; `at` a
        date-time or a number of seconds; `stream` may be left out when the query names just one.
        """
        at = written(at)
        instant = instant_of(at)
        if self._style != "iso":  # one date-time makes all instants date-times
            self._style = style_of_text(at)
        name = self._stream(stream)
        return self.push_items((Item(name, instant, triples_of(graph, name, instant, format)),))

    def push_items(self, items: Iterable[Item | DeadLetter | Mapped]) -> list[Occurrence]:
        """Take many items, as `obep.formats` reads them."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            now, wall = self._steady(), self._now()
            if self.running.observer is not None and not self.running.observer.sated:
                items = self.running.observer.taken(map(whole, items))
            if isinstance(items, RecordBlock):
                self._take_records(items, now, wall, found)
            else:
                self._take(items, now, wall, found)
        return self._out(found)

    def _take_records(self, records: RecordBlock, now: int, wall: int, found: Found) -> None:
        """The same for records of one template: those that come in order are decided at once."""
        block, place = self.running.block(), 0
        if block is None or not (self.running.feeds_blocks and block.suits_all(records)):
            self._take(records, now, wall, found)
            return
        while place < len(records):
            count = 0 if self.buffer else self.clock.goes_on_until(records.times[place:])
            if count:
                decided = block.decide(records[place : place + count])
                first = 0
                for alone in (*decided.undecided(), count):
                    self._take_decided(decided[first:alone], records.stream, now, wall, found)
                    if alone < count:
                        self._take((records[place + alone],), now, wall, found)
                    first = alone + 1
            else:
                self._take(records[place : place + 1], now, wall, found)
            place += count or 1

    def _take_decided(self, block: DecidedBlock, stream: str, now: int, wall: int, found: Found) -> None:
        if block:
            self.clock.goes_on(stream, block.times[-1], now, wall)
            self.running.changes.judged = block.times[-1]
            self.counters["items"] += len(block)
            self.counters["processed"] += len(block)
            block.count_all()
            self.running.runtime.take_block(block, found)

    def _take(self, items: Iterable[Item | DeadLetter | Mapped], now: int, wall: int, found: Found) -> None:
        waiting, goes_on, running = len(self.buffer), self.clock.goes_on, self.running
        models, counters, plain = running.changes.streams, self.counters, running.plain
        block, follower = running.block(), running.follower
        try:
            for one in items:
                counters["items"] += 1
                if block is not None:
                    if not waiting and block.suits(one) and goes_on(one.stream, one.at, now, wall):
                        if follower is not None:
                            follower.processed(Item(*one[:4]) if isinstance(one, Item) and one.sent else one)
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
                        self._release(found)
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
                    self._release(found)
                    waiting = len(self.buffer)
        finally:  # also if the caller's iterator fails: the clock has seen what came
            if block is not None:
                self._settle(block, found)

    def _settle(self, block: ItemBlock, found: Found) -> None:
        """Let the runtime have what a block has gathered."""
        entries = block.take()
        if entries:
            self.running.changes.judged = entries[-1][0]
            self.counters["processed"] += len(entries)
            self.running.take_block(entries, found)

    def update(
        self, insert: Any = (), delete: Any = (), at: Instant | None = None, *, format: str | None = None
    ) -> list[Occurrence]:
        """Change the static graph in event time: items from `at` on are judged by what it is then.

        `insert` and `delete` are graphs as `push` takes them. A change comes before the items of its instant;
        nothing that was decided is revised. Without `at` it is made at the first instant of which nothing is
        decided: the watermark, or just after it. A change that comes too late, that contradicts the ontology,
        or that only a restart can make is a dead letter, and the graph stays as it is. A triple that is to go
        and is not there is counted (`counters["missing_deletes"]`).

            engine.update(insert="<urn:s9> a <urn:Sensor> .", at="2026-01-01T12:00:00Z")
        """
        instant = None if at is None else instant_of(written(at))
        if at is not None and self._style != "iso":
            self._style = style_of_text(written(at))
        with self._lock:
            self._check_open()
            when = self._first_instant() if instant is None else instant
            come, gone = (triples_of(graph, UPDATE, when or 0, format) for graph in (insert, delete))
            refuse_blank_nodes(gone)
            found = self._take_update(come, gone, when)
        return self._out(found)

    def update_triples(self, insert: Iterable[Triple], delete: Iterable[Triple]) -> list[Occurrence]:
        """`update` with triples as the files of the static graph have them, blank nodes included."""
        with self._lock:
            self._check_open()
            found = self._take_update(tuple(insert), tuple(delete), self._first_instant())
        return self._out(found)

    def _first_instant(self) -> int | None:
        """The first instant of which nothing is decided; `None` as long as no time has come."""
        watermark = self.clock.watermark
        return None if watermark is None else self.running.changes.first_instant(watermark)

    def _take_update(
        self, come: tuple[Triple, ...], gone: tuple[Triple, ...], at: int | None
    ) -> list[Occurrence]:
        found: list[Occurrence] = []
        item = Item(UPDATE, at or 0, come, removed=gone)
        self.counters["items"] += 1
        if at is None:
            self._make_change(item, self.running.all())
        elif self.clock.too_far(at, self._now()):
            self._bury(too_far(item))
        elif self._is_late_change(item):
            self._bury(late_change(item, self.clock.watermark))
        else:
            self.buffer.add(at, item, ahead=True)
            self._release(found)
        return found

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

    def push_frame(
        self,
        frame: Any,
        *,
        mapping: Mapping[str, Any] | None = None,
        time: str = "",
        subject: str = "",
        stream: str | None = None,
    ) -> list[Occurrence]:
        """Take the rows of a frame: pandas, polars, Arrow, DuckDB, or dicts; `obep.detect` says how.

        A program that pushes several frames gives them one mapping: without it each frame has its own.
        """
        from obep.formats.tables.frame_items import frame_items

        name = self._stream(stream)
        read = frame_items(
            frame, mapping=mapping, time=time, subject=subject, stream=name, names=self.query.names
        )
        streams = self.query.linked.streams
        found = [hit for lot in read.lots for hit in self.push_items(kept_streams(lot, streams))]
        if self._style != "iso" and read.notes.style is not None:
            self._style = read.notes.style
        for hit in found:
            hit.style = self._style or ""
        return found

    def too_far(self, at: int) -> bool:
        """Whether an item of that instant, if it came now, would be refused since `future` is the limit."""
        return self.clock.too_far(at, self._now())

    def advance(self, to: Instant) -> list[Occurrence]:
        """Move time on without data: nothing before `to` will come any more."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            self.clock.advance(instant_of(written(to)))
            self._release(found)
        return self._out(found)

    def tick(self) -> list[Occurrence]:
        """Check the clock of arrival: streams that have been silent too long no longer delay the
        watermark."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            self.clock.tick({}, self._steady())
            self._release(found)
        return self._out(found)

    def close(self) -> list[Occurrence]:
        """End the input: all that has come is decided. Deadlines beyond its last instant stay `pending`."""
        found: list[Occurrence] = []
        with self._lock:
            if self._closed:
                return []
            self._closed = True
            for _, item in self.buffer.take(len(self.buffer)):
                self._process(item, found)
            found.extend(self.running.close())
            now = self.running.now
            if now is not None:
                self.clock.advance(now)  # what was decided is not decided again after `restore`
        return self._out(found)

    @property
    def may_reason(self) -> bool:
        """Whether a push may ask the reasoner, which takes long."""
        return any(getattr(one.matcher, "may_reason", False) for one in self.running.all())

    async def apush(self, graph: Any, at: Instant, stream: str | None = None) -> list[Occurrence]:
        """`push` for a program with an event loop; the reasoner, if it may be called, does not block it."""
        if self.may_reason:
            import asyncio  # only here: it takes a tenth of the start of a run

            return await asyncio.to_thread(self.push, graph, at, stream)
        return self.push(graph, at, stream)

    def snapshot(self) -> bytes:
        """All of its state, as bytes: msgpack with a version and a digest, text, bytes and numbers only."""
        with self._lock:
            return write_snapshot(self)

    def restore(self, data: bytes, *, resume: bool = True) -> None:
        """Go on from a snapshot of the same query, in this process or in another.

        What the engine held before is forgotten; a snapshot that is refused changes nothing. Settings may be
        others than those of the snapshot: they hold from its watermark on. `resume=False`: what came since is
        pushed again as it came, so silence is counted on.
        """
        with self._lock:
            restore_snapshot(self, data, resume)

    def replace(
        self, query: Query, *, warm: object = None, history: Iterable[Item | DeadLetter] | None = None
    ) -> Replacement:
        """Run another query from the watermark on.

        Events, states and queries that mean the same keep their state; the others begin empty with all that
        they are made of, or from `history`: items that came before, of which those of the last `warm` (all
        of them, if it is left out) build their state. What these items decide is not reported, but for
        alerts that still fire. Items that wait for the watermark are judged by the new query. Alerts of
        states that go or change are resolved. `Replacement.records` are to be delivered as occurrences are.
        What is refused changes nothing.
        """
        from obep.engine.replacing.replace_query import replaced

        with self._lock:
            self._check_open()
            found = replaced(self, query, micros(warm), history)
        self._out(list(found.records))
        return found

    def compare(
        self, query: Query, *, warm: object = None, history: Iterable[Item | DeadLetter] | None = None
    ) -> Replacement:
        """Report what `replace` would do with the same arguments, without doing it."""
        from obep.engine.replacing.replace_query import compared

        with self._lock:
            self._check_open()
            return compared(self, query, micros(warm), history)

    def states(self, state: str) -> list[Held]:
        """The episodes of a state that are open after the last closed instant; the oldest first."""
        with self._lock:
            return self.held.holding(state)

    def firing(self) -> list[Alert]:
        """The alerts that have fired and are not resolved, as they would be reported now."""
        with self._lock:
            return self.running.firing()

    def on_state(self, state: str, callback: OnState) -> None:
        """Call back with each episode of a state when it begins, and, with its `until`, when it ends."""
        with self._lock:
            self.held.listen(state, callback)

    def why_not(self, event: str) -> WhyNot:
        """What came furthest of an event that was not reported, and what it waits for or what refused it.

        Of a logical event: which parts of its definition an item shows, and which are missing. Of a state:
        when it held lately, and what keeps it from holding. It looks at the latest occurrences, episodes and
        items only; print it to read it. `Low(:PenA)` asks about one individual, `Pair(:a, _)` about some of
        the parameters, with names as in the query or as `<iri>`.
        """
        from obep.engine.answers.why_not_answers import WhyNotAnswers

        with self._lock:
            one = self.running.asked_about(event)
            answers = WhyNotAnswers(
                one.query.over(one.matcher.bundle) if self.running.changes.made else one.query,
                one.runtime,
                self.running.latest,
                one.matcher,
                style=self._style,
                ended=self._closed,
            )
            return answers.ask(event)

    def held_by_operators(self) -> list[dict[str, Any]]:
        """For each event and state, what is remembered of it, by operator where there is one of each."""
        with self._lock:
            return [held for one in self.running.all() for held in one.runtime.held_by_operators()]

    @property
    def waiting(self) -> int:
        """The number of items that wait for the watermark."""
        with self._lock:
            return len(self.buffer)

    @property
    def pending(self) -> int:
        """The number of future deadlines that would be met if no more items came."""
        with self._lock:
            return sum(one.runtime.pending() for one in self.running.all())

    @property
    def remembered(self) -> int:
        """The number of occurrences and partial matches that are kept."""
        with self._lock:
            return sum(one.runtime.size() for one in self.running.all())

    def _stream(self, stream: str | None) -> str:
        streams = self.query.linked.streams
        items = [one for one in streams if one not in self.running.changes.streams]
        if stream is None and len(items) <= 1:
            return items[0] if items else ""
        if stream is None or (streams and stream not in streams):
            raise fail(
                "OBEP570",
                "the query has several streams" if stream is None else f"the query has no stream {stream!r}",
                reason=f"It reads {', '.join(streams)}.",
                remedy=f"push(…, stream={nearest(stream or '', streams) or streams[0]!r})",
            )
        return stream

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

    def _release(self, found: list[Occurrence]) -> None:
        """Process what the watermark has come to, and move time there."""
        watermark = self.clock.watermark
        if watermark is None:
            return
        while (item := self.buffer.pop(watermark)) is not None:
            self._process(item, found)
        self.running.advance(watermark, found)

    def _process(self, whole: Item, found: list[Occurrence]) -> None:
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
        item = Item(*whole[:4]) if whole.sent else whole  # items may be kept for long, the record is not
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

    def _bury_derived(self, letter: DeadLetter) -> None:
        """An occurrence that contradicts T as an item of the next stratum; it is no item of the input."""
        if self.running.versions is not None and letter in self._letters:
            return  # two versions of the query have met it
        self.counters["derived_dead_letters"] = self.counters.get("derived_dead_letters", 0) + 1
        self._letters.append(letter)

    def _bury(self, letter: DeadLetter) -> None:
        self.counters["dead_letters"] += 1
        self._letters.append(letter)

    def _out(self, found: list[Occurrence]) -> list[Occurrence]:
        """Callbacks run outside of the lock."""
        with self._lock:
            self.counters["occurrences"] += len(found)
            if self._style is not None:
                for hit in found:
                    hit.style = self._style
            if found and self.running.observer is not None:
                self.running.observer.reported(found)
            self.running.count(self.counters)
            letters, self._letters = self._letters, []
            calls = self.held.take() if self.held.waiting else []
        if self.on_dead_letter is not None:
            for letter in letters:
                self.on_dead_letter(letter)
        for callback, held in calls:
            callback(held)
        return found

    def _check_open(self) -> None:
        if self._closed:
            raise fail("OBEP571", "the engine is closed", remedy="query.engine() for a new one")


def cap(name: str, most: int | None) -> int | None:
    """Refuse what is no cap."""
    if most is not None and (type(most) is not int or most < 1):
        raise fail("OBEP588", f"{name} is {most!r}", remedy="a whole number of at least 1, or None")
    return most
