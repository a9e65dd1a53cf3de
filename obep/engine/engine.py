"""The embedded engine: push items, get occurrences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from threading import RLock
from types import TracebackType
from typing import Any, Self

import msgspec

from obep.engine.blocks import EVICTED, NOTED, noted
from obep.engine.buffer import Buffer
from obep.engine.clock import Clock, micros
from obep.engine.knowledge.knowledge_changes import CHANGES, MISSING, UPDATE, KnowledgeChanges
from obep.engine.observer import Observer, together
from obep.engine.pushed_graphs import refuse_blank_nodes, triples_of
from obep.engine.query import Query
from obep.engine.runtime import Runtime
from obep.engine.sealed import damaged, sealed, unsealed
from obep.engine.snapshot_form import COUNTED, kept_in
from obep.engine.states.held_states import Held, HeldStates, OnState
from obep.engine.time_letters import late, late_change, not_a_model, too_far
from obep.errors import ObepError, fail
from obep.formats.stream_reader import as_sent
from obep.formats.time_hints import likely_unit
from obep.formats.timestamps import Style, parse_instant, style_of_text
from obep.model import Alert, DeadLetter, Item, Occurrence, Triple
from obep.query.nearest_name import nearest
from obep.why_not.latest import Latest
from obep.why_not.report import WhyNot

__all__ = ["Engine", "Runtime"]

SNAPSHOT = 8
"""The version of the format of snapshots."""
ANEW = "restore an older snapshot, or begin anew"
MISFITS = (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""What reading a state raises whose parts are not what they should be."""
RECENT = 100
"""Items, and occurrences of each event, that `why_not` looks at."""
Instant = str | int | float | datetime
OnDeadLetter = Callable[[DeadLetter], None]


class Engine:
    """Runs a query over items that come in (nearly) the order of time.

    `lateness`, `idle` and `future` are those of `Clock`, as seconds, `timedelta` or text (`5 s`).
    `on_dead_letter` is told of every item that takes part in nothing, and why; `now` is the clock of arrival,
    in microseconds, and `steady` the one that silence is measured by (by default `now` if that is given, else
    a monotonic one); `max_explanations` is how many of one event and individual are looked for in an item
    (SPEC D4; by default what `load` was told; `counters["capped"]` says how often there were more);
    `max_keys` is how many values of its PARTITION BY each event remembers (default: all); of more, those
    whose last occurrence is oldest are forgotten when the instant closes (`counters["evicted"]`);
    `remember` is how many items, and occurrences of each event, `why_not` looks at (`None`: all; 0: none, so
    that nothing is kept for it); `observer` listens to items and occurrences. An engine may be used from
    several threads; callbacks run outside of its lock.
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
        remember: int | None = RECENT,
        observer: Observer | None = None,
        matcher: Any = None,
    ) -> None:
        query.require_returns()
        self.query = query
        self.clock = Clock(micros(lateness) or 0, micros(idle), micros(future), query.linked.streams)
        self.counters: dict[str, int] = dict.fromkeys(COUNTED, 0)
        self.on_dead_letter = on_dead_letter
        self._letters: list[DeadLetter] = []
        self._now = now or (lambda: time.time_ns() // 1000)
        self._steady = steady or now or (lambda: time.monotonic_ns() // 1000)
        self._lock = RLock()
        self._matcher = matcher if matcher is not None else _matcher(query, max_explanations)
        self._changes = KnowledgeChanges(self._matcher, query.linked.models)
        self._models = self._changes.streams
        self._noted = noted(self._matcher)
        self._max_keys = _cap(max_keys)
        self._latest = Latest(remember)
        self._observer = together(observer, None if remember == 0 else self._latest)
        self._runtime = self._new_runtime()
        self._held = HeldStates(query.plan.states, query.linked.states)
        self._evicted = 0
        self._buffer: Buffer[Item] = Buffer()
        self._style: Style | None = None
        self._closed = False

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
        at = _written(at)
        instant = _instant(at)
        if self._style != "iso":  # one date-time makes all instants date-times
            self._style = style_of_text(at)
        name = self._stream(stream)
        return self.push_items((Item(name, instant, triples_of(graph, name, instant, format)),))

    def push_items(self, items: Iterable[Item | DeadLetter]) -> list[Occurrence]:
        """Take many items, as `obep.formats` reads them."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            now, wall = self._steady(), self._now()
            if self._observer is not None:
                items = self._observer.taken(items)
            waiting, goes_on, models = len(self._buffer), self.clock.goes_on, self._models
            for item in items:
                self.counters["items"] += 1
                if isinstance(item, DeadLetter):
                    self._bury(item)
                elif item.stream in models:
                    if self._admit_change(item, now, wall):
                        self._release(found)
                    waiting = len(self._buffer)
                elif not waiting and goes_on(item.stream, item.at, now):
                    self._process(item, found)
                elif self._admit(item, now, wall):
                    self._release(found)
                    waiting = len(self._buffer)
        return self._out(found)

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
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            item = self._update(insert, delete, at, format)
            if item is None:
                return []
            self.counters["items"] += 1
            wall = self._now()
            if self.clock.too_far(item.at, wall):
                self._bury(too_far(item))
            elif self._is_late_change(item):
                self._bury(late_change(item, self.clock.watermark))
            else:
                self._buffer.add(item.at, item, ahead=True)
                self._release(found)
        return self._out(found)

    def _update(self, insert: Any, delete: Any, at: Instant | None, format: str | None) -> Item | None:
        """The change as an item; nothing is left of one that no time has come before."""
        if at is None:
            watermark = self.clock.watermark
            instant = None if watermark is None else self._changes.first_instant(watermark)
        else:
            at = _written(at)
            instant = _instant(at)
            if self._style != "iso":
                self._style = style_of_text(at)
        when = instant or 0
        come, gone = (triples_of(graph, UPDATE, when, format) for graph in (insert, delete))
        refuse_blank_nodes(gone)
        item = Item(UPDATE, when, come, removed=gone)
        if instant is None:
            self.counters["items"] += 1
            self._make_change(item)
            return None
        return item

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
            self._buffer.add(item.at, item, ahead=True)
        return verdict == "on time"

    def _is_late_change(self, item: Item) -> bool:
        watermark = self.clock.watermark
        return (watermark is not None and item.at < watermark) or self._changes.is_late(item.at)

    def too_far(self, at: int) -> bool:
        """Whether an item of that instant, if it came now, would be refused since `future` is the limit."""
        return self.clock.too_far(at, self._now())

    def advance(self, to: Instant) -> list[Occurrence]:
        """Move time on without data: nothing before `to` will come any more."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            self.clock.advance(_instant(_written(to)))
            self._release(found)
        return self._out(found)

    def tick(self) -> list[Occurrence]:
        """Look at the clock of arrival: a stream that has been silent too long holds nobody back any more."""
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
            for _, item in self._buffer.take(len(self._buffer)):
                self._process(item, found)
            found.extend(self._runtime.close())
            if self._runtime.now is not None:
                self.clock.advance(self._runtime.now)  # what was decided is not decided again after `restore`
        return self._out(found)

    async def apush(self, graph: Any, at: Instant, stream: str | None = None) -> list[Occurrence]:
        """`push` for a program with an event loop; the reasoner, if it may be called, does not block it."""
        if getattr(self._matcher, "may_reason", False):
            return await asyncio.to_thread(self.push, graph, at, stream)
        return self.push(graph, at, stream)

    def snapshot(self) -> bytes:
        """All of its state, as bytes: msgpack with a version and a digest, text, bytes and numbers only."""
        with self._lock:
            waiting = [tuple(item) for _, item in self._buffer]
            changes = (self._changes.judged, *self._changes.dump())
            state = (self.clock.dump(), self.counters, waiting, self._runtime.dump(), changes)
            return sealed(msgspec.msgpack.encode((SNAPSHOT, self.query.hash, *state)))

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot of the same query, in this process or in another.

        What the engine held before is forgotten; a snapshot that is refused changes nothing. Settings may be
        others than those of the snapshot: they hold from its watermark on.
        """
        body = unsealed(data, "the snapshot", ANEW)
        try:
            version, of, *rest = msgspec.msgpack.decode(body)
            if (version, of) != (SNAPSHOT, self.query.hash):
                raise _other(version, of, self.query.hash)
            clock, counters, waiting, state, (judged, *changes) = kept_in(rest)
            with self._lock:
                _require_order(state[0], clock["watermark"], [item[1] for item in waiting])
                runtime = self._restored(state, *changes)
                self.clock.load(clock)
                self.clock.resume()
                self._runtime = runtime
                self._held.follow(runtime)
                self._evicted = runtime.evicted
                self.counters.clear()
                self.counters.update(counters)
                if self._observer is not None:
                    self._observer.restarted()
                self._buffer.clear()
                self._changes.judged = judged
                for stream, at, triples, name, sent, removed in waiting:
                    item = Item(stream, at, triples, name, sent, removed)
                    self._buffer.add(at, item, ahead=stream in self._models)
        except MISFITS as error:
            reason = f"It is whole, but something in it has another form ({type(error).__name__}: {error})."
            raise damaged("the snapshot", reason, ANEW) from None

    def _restored(self, state: Any, come: list[Triple], gone: list[Triple]) -> Runtime:
        """What runs as a snapshot says, over the K that it says; a K that is refused changes nothing."""
        before = self._changes.dump()
        self._changes.load(come, gone)
        try:
            runtime = self._new_runtime()
            runtime.load(state)
        except (ObepError, *MISFITS):
            self._changes.load(*before)
            raise
        return runtime

    def _new_runtime(self) -> Runtime:
        runtime = Runtime(self.query.plan, self._matcher, self._bury_derived, max_keys=self._max_keys)
        if self._observer is not None:
            runtime.observer = self._observer.occurred
            runtime.follow_states(self._observer.held, self._latest.most)
        return runtime

    def states(self, state: str) -> list[Held]:
        """What holds of a state now, that is after the last instant that is closed; the oldest first."""
        with self._lock:
            return self._held.holding(state, self._runtime)

    def firing(self) -> list[Alert]:
        """The alerts that have fired and are not resolved, as they would be reported now."""
        with self._lock:
            return self._runtime.firing()

    def on_state(self, state: str, callback: OnState) -> None:
        """Call back with each episode of a state when it begins, and, with its `until`, when it ends."""
        with self._lock:
            self._held.listen(state, callback, self._runtime)

    def why_not(self, event: str) -> WhyNot:
        """What came furthest of an event that was not reported, and what it waits for or what refused it.

        Of a logical event: which parts of its definition an item shows, and which are missing. Of a state:
        when it held lately, and what keeps it from holding. It looks at the latest occurrences, episodes and
        items only; print it to read it. `Low(:PenA)` asks about one individual, `Pair(:a, _)` about some of
        the parameters, with names as in the query or as `<iri>`.
        """
        from obep.engine.answers.why_not_answers import WhyNotAnswers

        with self._lock:
            answers = WhyNotAnswers(
                self.query.over(self._matcher.bundle) if self._changes.made else self.query,
                self._runtime,
                self._latest,
                self._matcher,
                style=self._style,
                ended=self._closed,
            )
            return answers.ask(event)

    @property
    def waiting(self) -> int:
        """How many items wait for the watermark."""
        with self._lock:
            return len(self._buffer)

    @property
    def pending(self) -> int:
        """How many deadlines lie ahead that would be met if nothing more came."""
        with self._lock:
            return self._runtime.pending()

    @property
    def remembered(self) -> int:
        """How many occurrences and partial matches it keeps, since they may have a part in an answer."""
        with self._lock:
            return self._runtime.size()

    def _stream(self, stream: str | None) -> str:
        streams = self.query.linked.streams
        items = [one for one in streams if one not in self._models]
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
            self._buffer.add(item.at, item)
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
        while (item := self._buffer.pop(watermark)) is not None:
            self._process(item, found)
        if self._runtime.now is None or watermark > self._runtime.now:
            found.extend(self._runtime.advance(watermark))

    def _process(self, whole: Item, found: list[Occurrence]) -> None:
        if whole.stream in self._models:
            self._runtime.settle(whole.at, found)
            if self._make_change(whole):
                self._runtime.see_knowledge(whole.at, found)
            else:
                found.extend(self._runtime.advance(whole.at))
            return
        self._changes.judged = whole.at
        if whole.removed is not None:
            self._bury(not_a_model(whole))
            found.extend(self._runtime.advance(whole.at))
            return
        item = Item(*whole[:4]) if whole.sent else whole  # items may be kept for long, the record is not
        if self._observer is not None:
            self._observer.processed(item)
        matched = self._matcher.match(whole)
        if isinstance(matched, DeadLetter):
            self._bury(matched)
            found.extend(self._runtime.advance(item.at))
            return
        self.counters["processed"] += 1
        for one in matched.occurrences:
            one.items = (item,)
        self._runtime.take(item.at, matched.occurrences, (item,), found)

    def _make_change(self, item: Item) -> bool:
        """Change K; whether something that runs must look at it again."""
        outcome, runtime = self._changes.apply(item, self._runtime, self._new_runtime)
        if isinstance(outcome, DeadLetter):
            self._bury(outcome)
            return False
        self.counters[CHANGES] = self.counters.get(CHANGES, 0) + 1
        if outcome.missing:
            self.counters[MISSING] = self.counters.get(MISSING, 0) + outcome.missing
        if runtime is self._runtime:
            return False
        self._runtime = runtime
        self._held.follow(runtime)
        return True

    def _bury_derived(self, letter: DeadLetter) -> None:
        """An occurrence that contradicts T as an item of the next stratum; it is no item of the input."""
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
            if found and self._observer is not None:
                self._observer.reported(found)
            self._note()
            letters, self._letters = self._letters, []
            calls = self._held.take()
        if self.on_dead_letter is not None:
            for letter in letters:
                self.on_dead_letter(letter)
        for callback, held in calls:
            callback(held)
        return found

    def _note(self) -> None:
        """Count what the matcher has counted since it was last asked; what never happens is not there."""
        now = noted(self._matcher)
        if now != self._noted:
            for name, count, before in zip(NOTED, now, self._noted, strict=True):
                if count > before:
                    self.counters[name] = self.counters.get(name, 0) + count - before
            self._noted = now
        if (evicted := self._runtime.evicted) > self._evicted:
            self.counters[EVICTED] = self.counters.get(EVICTED, 0) + evicted - self._evicted
            self._evicted = evicted

    def _check_open(self) -> None:
        if self._closed:
            raise fail("OBEP571", "the engine is closed", remedy="query.engine() for a new one")


def _cap(max_keys: int | None) -> int | None:
    if max_keys is not None and (isinstance(max_keys, bool) or max_keys < 1):
        raise fail("OBEP588", f"max_keys is {max_keys!r}", remedy="a whole number of at least 1, or None")
    return max_keys


def _written(at: Instant) -> str | int | float:
    """An instant as items have it; a date-time without a zone is UTC."""
    return at.isoformat() if isinstance(at, datetime) else at


def _instant(at: Any) -> int:
    remedy = '"2026-01-01T10:00:00Z", a datetime, or a number of seconds'
    if not isinstance(at, str | int | float):
        raise fail("OBEP570", f"{type(at).__name__} is no instant", remedy=remedy)
    try:
        return parse_instant(at)
    except ValueError as error:
        reason = "" if isinstance(at, str) else likely_unit(at, "s").split(": ")[0]
        raise fail("OBEP570", str(error), reason=reason, remedy=remedy) from None


def _require_order(now: int | None, watermark: int | None, waiting: list[int]) -> None:
    """Refuse a state whose present lies beyond its watermark, or that holds items from before it."""
    if now is not None and (watermark is None or now > watermark):
        raise ValueError(f"it has come to {now}, and its watermark to {watermark}")
    if watermark is not None and waiting and min(waiting) < watermark:
        raise ValueError(f"an item of {min(waiting)} waits for a watermark of {watermark}")


def _other(version: object, of: object, here: str) -> ObepError:
    """The refusal of a snapshot of something else."""
    return fail(
        "OBEP573",
        "the snapshot is of another query, or of another version of obep",
        reason=f"It has version {version} and query {of}, not {SNAPSHOT} and {here}.",
        remedy="restore it with the query (and ontology) that it was made with, or begin anew",
    )


def _matcher(query: Query, max_explanations: int | None) -> Any:
    from obep.abstraction.matcher import Matcher

    return Matcher(query.bundle, query.asks.all, max_explanations=max_explanations)
