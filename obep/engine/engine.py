"""The embedded engine: push items, get occurrences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from threading import RLock
from types import TracebackType
from typing import Any, Self

import msgspec

from obep.abstraction.item_blocks import ItemBlock
from obep.engine.blocks import EVICTED, NOTED, noted
from obep.engine.buffer import Buffer
from obep.engine.clock import Clock, micros
from obep.engine.knowledge.knowledge_changes import CHANGES, MISSING, UPDATE, KnowledgeChanges
from obep.engine.observer import Observer, together
from obep.engine.pushed_graphs import refuse_blank_nodes, triples_of
from obep.engine.query import Query
from obep.engine.replacing.generations import Generation, Generations, change_knowledge
from obep.engine.replacing.replacement import Replacement
from obep.engine.replacing.stored_generations import dump_generation, load_generation
from obep.engine.runtime import Runtime
from obep.engine.sealed import damaged, sealed, unsealed
from obep.engine.snapshot_form import COUNTED, Stored, kept_in
from obep.engine.states.held_states import Held, HeldStates, OnState
from obep.engine.time_letters import kept_streams, late, late_change, not_a_model, too_far
from obep.errors import ObepError, fail
from obep.formats.item_checks import Checks, checked
from obep.formats.mapped_records import Mapped, whole
from obep.formats.stream_reader import as_sent
from obep.formats.time_hints import likely_unit
from obep.formats.timestamps import Style, parse_instant, style_of_text
from obep.model import Alert, DeadLetter, Item, Occurrence, Term, Triple, local_name
from obep.plan.plan import Plan
from obep.query.nearest_name import nearest
from obep.why_not.latest import Latest
from obep.why_not.report import WhyNot
from obep.why_not.state_history import Spell
from obep.why_not.target import split

__all__ = ["Engine", "Runtime"]

SNAPSHOT = 9
"""The version of the format of snapshots."""
ANEW = "restore an older snapshot, or begin anew"
MISFITS = (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""What reading a state raises whose parts are not what they should be."""
RECENT = 100
"""Items, and occurrences of each event, that `why_not` looks at."""
Instant = str | int | float | datetime
OnDeadLetter = Callable[[DeadLetter], None]
Found = list[Occurrence]


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
        checks: Checks | None = None,
    ) -> None:
        query.require_returns()
        self._checks = checks or {}
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
        self._max_explanations = max_explanations
        self._custom = matcher is not None
        self._runtime = self._new_runtime(query.plan, self._matcher)
        self._versions: Generations | None = None
        """The versions that run side by side after a replacement; `None`: there is one only."""
        self._held = HeldStates(query.plan.states, query.linked.states, self._runtime_of)
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

    def push_items(self, items: Iterable[Item | DeadLetter | Mapped]) -> list[Occurrence]:
        """Take many items, as `obep.formats` reads them."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            now, wall = self._steady(), self._now()
            if self._checks:
                items = checked(map(whole, items), self._checks)
            if self._observer is not None and not self._observer.sated:
                items = self._observer.taken(map(whole, items))
            self._take(items, now, wall, found)
        return self._out(found)

    def _take(self, items: Iterable[Item | DeadLetter | Mapped], now: int, wall: int, found: Found) -> None:
        waiting, goes_on, models = len(self._buffer), self.clock.goes_on, self._models
        block = self._block()
        for one in items:
            self.counters["items"] += 1
            if block is not None and not waiting and block.suits(one) and goes_on(one.stream, one.at, now):
                letter = block.add(one)
                if letter is not None:
                    self._settle(block, found)
                    self._bury(letter)
                    found.extend(self._runtime.advance(one.at))
                continue
            if block is not None:
                self._settle(block, found)
            item = one.item(one.sent) if isinstance(one, Mapped) else one
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
        if block is not None:
            self._settle(block, found)

    def _block(self) -> ItemBlock | None:
        """What takes items in blocks, if that makes no difference but to the time that it takes."""
        heard = self._observer is not None and self._observer.follows
        if heard or self._versions is not None or not self._runtime.takes_blocks or self._custom:
            return None
        return ItemBlock(self._matcher, self._models)

    def _settle(self, block: ItemBlock, found: Found) -> None:
        """Let the runtime have what a block has gathered."""
        entries = block.take()
        if entries:
            self._changes.judged = entries[-1][0]
            self.counters["processed"] += len(entries)
            self._runtime.take_block(entries, found)

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
        instant = None if at is None else _instant(_written(at))
        if at is not None and self._style != "iso":
            self._style = style_of_text(_written(at))
        with self._lock:
            self._check_open()
            when = self._first_instant() if instant is None else instant
            come, gone = (triples_of(graph, UPDATE, when or 0, format) for graph in (insert, delete))
            refuse_blank_nodes(gone)
            found = self._take_update(come, gone, when)
        return self._out(found)

    def update_triples(self, insert: Iterable[Triple], delete: Iterable[Triple]) -> list[Occurrence]:
        """The same with triples as the files of the static graph have them, blank nodes included."""
        with self._lock:
            self._check_open()
            found = self._take_update(tuple(insert), tuple(delete), self._first_instant())
        return self._out(found)

    def _first_instant(self) -> int | None:
        """The first instant of which nothing is decided; `None` as long as no time has come."""
        watermark = self.clock.watermark
        return None if watermark is None else self._changes.first_instant(watermark)

    def _take_update(
        self, come: tuple[Triple, ...], gone: tuple[Triple, ...], at: int | None
    ) -> list[Occurrence]:
        found: list[Occurrence] = []
        item = Item(UPDATE, at or 0, come, removed=gone)
        self.counters["items"] += 1
        if at is None:
            self._make_change(item, self._generations())
        elif self.clock.too_far(at, self._now()):
            self._bury(too_far(item))
        elif self._is_late_change(item):
            self._bury(late_change(item, self.clock.watermark))
        else:
            self._buffer.add(at, item, ahead=True)
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
            self._buffer.add(item.at, item, ahead=True)
        return verdict == "on time"

    def _is_late_change(self, item: Item) -> bool:
        watermark = self.clock.watermark
        return (watermark is not None and item.at < watermark) or self._changes.is_late(item.at)

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
        found = self.push_items(kept_streams(read.items, self.query.linked.streams))
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
            found.extend((self._versions or self._runtime).close())
            if self._runtime.now is not None:
                self.clock.advance(self._runtime.now)  # what was decided is not decided again after `restore`
        return self._out(found)

    @property
    def may_reason(self) -> bool:
        """Whether a push may ask the reasoner, which takes long."""
        return any(getattr(one.matcher, "may_reason", False) for one in self._generations())

    async def apush(self, graph: Any, at: Instant, stream: str | None = None) -> list[Occurrence]:
        """`push` for a program with an event loop; the reasoner, if it may be called, does not block it."""
        if self.may_reason:
            return await asyncio.to_thread(self.push, graph, at, stream)
        return self.push(graph, at, stream)

    def snapshot(self) -> bytes:
        """All of its state, as bytes: msgpack with a version and a digest, text, bytes and numbers only."""
        with self._lock:
            waiting = [tuple(item) for _, item in self._buffer]
            versions = [dump_generation(one, self.query) for one in self._generations()]
            changes = (self._changes.judged, *self._changes.dump())
            state = (self.clock.dump(), self.counters, waiting, versions, changes)
            return sealed(msgspec.msgpack.encode((SNAPSHOT, self.query.hash, *state)))

    def restore(self, data: bytes, *, resume: bool = True) -> None:
        """Go on from a snapshot of the same query, in this process or in another.

        What the engine held before is forgotten; a snapshot that is refused changes nothing. Settings may be
        others than those of the snapshot: they hold from its watermark on. `resume=False`: what came since is
        pushed again as it came, so silence is counted on.
        """
        body = unsealed(data, "the snapshot", ANEW)
        try:
            version, of, *rest = msgspec.msgpack.decode(body)
            if (version, of) != (SNAPSHOT, self.query.hash):
                raise _other(version, of, self.query.hash)
            clock, counters, waiting, versions, (judged, *changes) = kept_in(rest)
            with self._lock:
                for *_, state in versions:
                    _require_order(state[0], clock["watermark"], [item[1] for item in waiting])
                loaded = self._restored(versions, *changes)
                self.clock.load(clock)
                if resume:
                    self.clock.resume()
                self._run_on(loaded, self.query)
                self._held.follow()
                self.counters.clear()
                self.counters.update(counters)
                if self._observer is not None:
                    self._observer.restarted()
                self._latest.restored = self.clock.watermark
                self._buffer.clear()
                self._changes.judged = judged
                for stream, at, triples, name, sent, removed in waiting:
                    item = Item(stream, at, triples, name, sent, removed)
                    self._buffer.add(at, item, ahead=stream in self._models)
        except MISFITS as error:
            reason = f"It is whole, but something in it has another form ({type(error).__name__}: {error})."
            raise damaged("the snapshot", reason, ANEW) from None

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

    def compare(self, query: Query) -> Replacement:
        """What `replace` would do, without doing it; `warmed` and `firing` are empty."""
        from obep.engine.replacing.replace_query import compared

        with self._lock:
            self._check_open()
            return compared(self, query)

    def _generations(self) -> list[Generation]:
        if self._versions is not None:
            return self._versions.all
        return [Generation(self.query, self._changes, self._runtime)]

    def _run_on(self, generations: list[Generation], query: Query) -> None:
        """Run these versions of the query from now on."""
        newest = generations[-1]
        self.query = query
        self._matcher, self._changes, self._runtime = newest.matcher, newest.changes, newest.runtime
        self._models = self._changes.streams
        alone = len(generations) == 1 and newest.names is None and newest.query.hash == query.hash
        alone = alone and not newest.told  # what was reported at the open instant is not reported again
        self._versions = None if alone else Generations(generations, query)
        self._noted = noted(self._matcher)
        self._evicted = sum(one.runtime.evicted for one in generations)
        self._observe(generations)

    def _observe(self, generations: list[Generation]) -> None:
        """Let the observer see what these versions decide."""
        if (observer := self._observer) is not None:
            for one in generations:
                alone = self._versions is None
                one.runtime.observer = observer.occurred if alone else self._watching(one.runtime)

    def _watching(self, runtime: Runtime) -> Callable[[Occurrence], None]:
        """Show the observer what this runtime decides, and not what runs in it unseen."""

        def occurred(occurrence: Occurrence) -> None:
            if self._observer is not None and self._runtime_of(occurrence.event) is runtime:
                self._observer.occurred(occurrence)

        return occurred

    def _runtime_of(self, name: Term) -> Runtime:
        """What decides an event or a state."""
        return self._runtime if self._versions is None else self._versions.of(name).runtime

    def _restored(self, versions: list[Stored], *changes: list[Triple]) -> list[Generation]:
        """What runs as a snapshot says, over the K that it says; a K that is refused changes nothing."""
        if self._versions is not None or len(versions) > 1 or versions[0][0]:
            return [
                load_generation(one, self.query, self._knowledge_of, self._new_runtime, changes)
                for one in versions
            ]
        before = self._changes.dump()
        try:
            return [
                load_generation(
                    versions[0], self.query, lambda query: self._changes, self._new_runtime, changes
                )
            ]
        except (ObepError, *MISFITS):
            self._changes.load(*before)
            raise

    def _knowledge_of(self, query: Query) -> KnowledgeChanges:
        """A matcher for a version of the query, and its K."""
        return KnowledgeChanges(_matcher(query, self._max_explanations), query.linked.models)

    def _new_runtime(self, plan: Plan, matcher: Any) -> Runtime:
        runtime = Runtime(plan, matcher, self._bury_derived, max_keys=self._max_keys)
        if (observer := self._observer) is not None:
            runtime.observer = observer.occurred

            def held(state: Term, spell: Spell) -> None:
                if self._runtime_of(state) is runtime:
                    observer.held(state, spell)

            runtime.follow_states(held, self._latest.most)
        return runtime

    def states(self, state: str) -> list[Held]:
        """What holds of a state now, that is after the last instant that is closed; the oldest first."""
        with self._lock:
            return self._held.holding(state)

    def firing(self) -> list[Alert]:
        """The alerts that have fired and are not resolved, as they would be reported now."""
        with self._lock:
            return (self._versions or self._runtime).firing()

    def on_state(self, state: str, callback: OnState) -> None:
        """Call back with each episode of a state when it begins, and, with its `until`, when it ends."""
        with self._lock:
            self._held.listen(state, callback)

    def why_not(self, event: str) -> WhyNot:
        """What came furthest of an event that was not reported, and what it waits for or what refused it.

        Of a logical event: which parts of its definition an item shows, and which are missing. Of a state:
        when it held lately, and what keeps it from holding. It looks at the latest occurrences, episodes and
        items only; print it to read it. `Low(:PenA)` asks about one individual, `Pair(:a, _)` about some of
        the parameters, with names as in the query or as `<iri>`.
        """
        from obep.engine.answers.why_not_answers import WhyNotAnswers

        with self._lock:
            one = self._asked_about(event)
            answers = WhyNotAnswers(
                one.query.over(one.matcher.bundle) if self._changes.made else one.query,
                one.runtime,
                self._latest,
                one.matcher,
                style=self._style,
                ended=self._closed,
            )
            return answers.ask(event)

    def _asked_about(self, event: str) -> Generation:
        """The version of the query that decides what a question names."""
        if self._versions is None:
            return self._generations()[0]
        name, _ = split(event)
        linked = self.query.linked
        for iri, definition in (*linked.events.items(), *linked.states.items()):
            if name in (iri, iri[1:-1], definition.name.text, local_name(iri)):
                return self._versions.of(iri)
        return self._versions.all[-1]

    def held_by_operators(self) -> list[dict[str, Any]]:
        """For each event and state, what is remembered of it, by operator where there is one of each."""
        with self._lock:
            return [held for one in self._generations() for held in one.runtime.held_by_operators()]

    @property
    def waiting(self) -> int:
        """How many items wait for the watermark."""
        with self._lock:
            return len(self._buffer)

    @property
    def pending(self) -> int:
        """How many deadlines lie ahead that would be met if nothing more came."""
        with self._lock:
            return sum(one.runtime.pending() for one in self._generations())

    @property
    def remembered(self) -> int:
        """How many occurrences and partial matches it keeps, since they may have a part in an answer."""
        with self._lock:
            return sum(one.runtime.size() for one in self._generations())

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
        if self._versions is not None:
            found.extend(self._versions.advance(watermark))
        elif self._runtime.now is None or watermark > self._runtime.now:
            found.extend(self._runtime.advance(watermark))

    def _process(self, whole: Item, found: list[Occurrence]) -> None:
        if whole.stream in self._models:
            versions = self._generations()
            for one in versions:
                found.extend(one.settle(whole.at))
            anew = self._make_change(whole, versions)
            for one in versions:
                found.extend(one.see_knowledge(whole.at) if one in anew else one.advance(whole.at))
            return
        self._changes.judged = whole.at
        if whole.removed is not None:
            self._bury(not_a_model(whole))
            found.extend(hit for one in self._generations() for hit in one.advance(whole.at))
            return
        item = Item(*whole[:4]) if whole.sent else whole  # items may be kept for long, the record is not
        if self._observer is not None:
            self._observer.processed(item)
        if self._versions is not None:
            hits, letter = self._versions.process(whole, item)
            found.extend(hits)
            if letter is not None:
                self._bury(letter)
            else:
                self.counters["processed"] += 1
            return
        matched = self._matcher.match(whole)
        if isinstance(matched, DeadLetter):
            self._bury(matched)
            found.extend(self._runtime.advance(item.at))
            return
        self.counters["processed"] += 1
        for one in matched.occurrences:
            one.items = (item,)
        self._runtime.take(item.at, matched.occurrences, (item,), found)

    def _make_change(self, item: Item, versions: list[Generation]) -> list[Generation]:
        """Change K in all versions of the query, or in none; those that must look at it again."""
        outcome, anew = change_knowledge(versions, item, self._new_runtime)
        if isinstance(outcome, DeadLetter):
            self._bury(outcome)
        else:
            self.counters[CHANGES] = self.counters.get(CHANGES, 0) + 1
            if outcome.missing:
                self.counters[MISSING] = self.counters.get(MISSING, 0) + outcome.missing
        self._runtime = versions[-1].runtime
        if anew:
            self._observe(versions)
            runtimes = {id(one.runtime) for one in anew}
            self._held.follow(lambda runtime: id(runtime) in runtimes)
        return anew

    def _bury_derived(self, letter: DeadLetter) -> None:
        """An occurrence that contradicts T as an item of the next stratum; it is no item of the input."""
        if self._versions is not None and letter in self._letters:
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
        evicted = self._runtime.evicted
        if self._versions is not None:
            evicted = sum(one.runtime.evicted for one in self._versions)
        if evicted > self._evicted:
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
