"""The embedded engine: push items, get occurrences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from types import TracebackType
from typing import Any, Self

from obep.algebra.over.over_expressions import MAX_BECAUSE
from obep.engine.admission import Admission, OnDeadLetter
from obep.engine.clock import Clock, micros
from obep.engine.knowledge.knowledge_changes import UPDATE
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.observer import Observer
from obep.engine.pushed_values import Instant, instant_of, refuse_blank_nodes, triples_of, written
from obep.engine.query import Duration, Query
from obep.engine.replacing.replacement import Replacement
from obep.engine.replacing.running import Running
from obep.engine.runtime import Runtime
from obep.engine.snapshots.engine_snapshot import restore_snapshot, write_snapshot
from obep.engine.states.held_states import Held, OnState
from obep.engine.time_letters import kept_streams
from obep.errors import fail
from obep.formats.tables.mapped_records import Mapped, whole
from obep.formats.tables.record_blocks import RecordBlock
from obep.formats.timestamps import Style, style_of_text
from obep.model import Alert, DeadLetter, Item, Occurrence, Triple
from obep.query.nearest_name import nearest
from obep.why_not.report import WhyNot

__all__ = ["Engine", "Runtime"]

RECENT = 100
"""Items, and occurrences of each event, that `why_not` looks at."""


class Engine:
    """Runs a query over items that come in (nearly) the order of time.

    `lateness`, `idle` and `future` are those of `Clock`, as seconds, `timedelta` or text (`5 s`).
    `on_dead_letter` is called with the dead letter of every refused item; `now` is the clock of arrival,
    in microseconds, and `steady` the one that silence is measured by (by default `now` if that is given, else
    a monotonic one); `max_explanations` is how many of one event and individual are looked for in an item
    (by default as many as with `load`; `counters["capped"]` says how often there were more);
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
        lateness: Duration = 0,
        idle: Duration = None,
        future: Duration = None,
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
        self.on_dead_letter = on_dead_letter
        self._now = now or (lambda: time.time_ns() // 1000)
        self._steady = steady or now or (lambda: time.monotonic_ns() // 1000)
        self._lock = RLock()
        self._admission = Admission(
            Clock(micros(lateness) or 0, micros(idle), micros(future), query.linked.streams),
            lambda bury: Running(
                query,
                bury,
                matcher=matcher,
                max_explanations=max_explanations,
                max_keys=cap("max_keys", max_keys),
                max_because=cap("max_because", max_because) or MAX_BECAUSE,
                observer=observer,
                remember=cap("remember", remember, 0),
                prepares=prepares(),
                gives_empty=gives_empty,
            ),
        )
        self.clock = self._admission.clock
        self.running = self._admission.running
        self.held = self._admission.held
        self.buffer = self._admission.buffer
        self.counters = self._admission.counters
        self.letters = self._admission.letters
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
                self._admission.take_records(items, now, wall, found)
            else:
                self._admission.take(items, now, wall, found)
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
        instant = None if at is None else instant_of(written(at))
        if at is not None and self._style != "iso":
            self._style = style_of_text(written(at))
        with self._lock:
            self._check_open()
            when = self._admission.first_instant() if instant is None else instant
            come, gone = (triples_of(graph, UPDATE, when or 0, format) for graph in (insert, delete))
            refuse_blank_nodes(gone)
            found = self._admission.take_update(come, gone, when, self._now())
        return self._out(found)

    def update_triples(self, insert: Iterable[Triple], delete: Iterable[Triple]) -> list[Occurrence]:
        """`update` with triples as the files of the static graph have them, blank nodes included."""
        with self._lock:
            self._check_open()
            found = self._admission.take_update(
                tuple(insert), tuple(delete), self._admission.first_instant(), self._now()
            )
        return self._out(found)

    def changes_of_graph(self) -> list[Item]:
        """The changes that lead from the static graph at the start to that of the first open instant."""
        with self._lock:
            return self._admission.changes_of_graph()

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
            self._admission.release(found)
        return self._out(found)

    def tick(self) -> list[Occurrence]:
        """Check the clock of arrival: streams that have been silent too long no longer delay the
        watermark."""
        found: list[Occurrence] = []
        with self._lock:
            self._check_open()
            self.clock.tick({}, self._steady())
            self._admission.release(found)
        return self._out(found)

    def close(self) -> list[Occurrence]:
        """End the input: all that has come is decided. Deadlines beyond its last instant stay `pending`."""
        found: list[Occurrence] = []
        with self._lock:
            if self._closed:
                return []
            self._closed = True
            self._admission.end(found)
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
            letters = self.letters.copy()
            self.letters.clear()
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


def cap(name: str, most: int | None, least: int = 1) -> int | None:
    """Refuse what is no cap."""
    if most is not None and (type(most) is not int or most < least):
        raise fail("OBEP588", f"{name} is {most!r}", remedy=f"a whole number of at least {least}, or None")
    return most
