"""A running service: one thread logs what comes, gives it to the engine, and writes down what it finds.

Everything that changes the engine passes `submit`, whoever sends it: a request, a source, the clock. What is
taken is on disk before it is applied, and applied before it is answered. After a restart the last snapshot
and the log give the same engine, the same journal and the same numbers.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from traceback import format_exc
from typing import Any

import msgspec

from obep.engine.clock import Clock
from obep.engine.engine import RECENT, Engine, OnDeadLetter
from obep.engine.query import Query
from obep.engine.replacing.replacement import Replacement
from obep.engine.snapshots.sealed import damaged
from obep.errors import Diagnostic, ObepError, fail
from obep.formats.stream_reader import Notes, Reading
from obep.model import Alert, Answer, DeadLetter, Item, Occurrence
from obep.output.json_writer import iri, to_line
from obep.output.row_writer import RowIds
from obep.run.checkpoint import Checkpoint, require_same_sources
from obep.run.dead_letters import as_json
from obep.run.embedded import Figures, engine_settings, open_letters, open_outlets
from obep.run.outlets import refit
from obep.run.pipeline import Outlet, Run
from obep.run.run_locks import Locks
from obep.run.run_notes import require_outputs_apart
from obep.serve.alert_notes import STREAM, AlertNotes, ack_item
from obep.serve.busy import Busy
from obep.serve.entries import Acted, Came, Change, Removed, Replaced, Ticked, packed, unpacked
from obep.serve.journal import Found, Journal
from obep.serve.kept_queries import KeptQueries
from obep.serve.project import Project
from obep.serve.query_set import QuerySet, merged_plan
from obep.serve.settings import Settings
from obep.serve.source_pump import SourcePump
from obep.serve.standing import RunningText, Standing, last_standing
from obep.serve.write_log import WriteLog
from obep.streams.sources.batches import Source
from obep.streams.sources.merge import Turn
from obep.streams.sources.open_sources import make_reading

TICK_S = 0.5
"""Between two looks at the clock while nothing comes."""
AT_ONCE = 256
"""The most changes that share one frame of the log."""
OF_SERVICE = "service"
"""Instead of the hash of one query, in the checkpoint of a service."""
LOG_BYTES = 64 << 20
"""A longer log is cut by a snapshot, however short the time since the last one."""


class Job:
    """A change on its way, and the answer that somebody waits for."""

    __slots__ = ("change", "future", "query", "sources", "weight")

    def __init__(
        self,
        change: Change,
        weight: int,
        query: Query | None = None,
        sources: Mapping[str, Source] | None = None,
    ) -> None:
        self.change = change
        self.weight = weight
        self.query = query
        """What a replacement puts in place."""
        self.sources = sources or {}
        """The sources that were opened for it."""
        self.future: Future[dict[str, Any]] = Future()
        self.future.set_running_or_notify_cancel()  # who waits may go; it is done all the same


class Service:
    """Opens with `start`, ends with `stop`."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self.project = project
        self.settings = settings
        self.failing = ""
        """Why it does not work as it should, for /health."""
        self.ready = False
        self.on_found: Callable[[list[Found]], None] = lambda found: None
        """Called with what readers can see now, from the engine's thread."""
        self.begun = time.monotonic()
        self._locks = Locks()
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._waiting = 0
        self._room = threading.Lock()
        self._found: list[Found] = []
        self._wall = self._steady = 0
        self._applied = (0, 0)
        """The change of the log that is applied: its frame, and its place in that."""
        self._thread: threading.Thread | None = None
        self.stopping = threading.Event()
        self._notes = Notes()
        self._readings: dict[str, Reading] = {}
        self.texts: dict[str, RunningText] = {}
        """The queries that run, or were deleted, by name."""
        self._sources = SourcePump(self)
        self._kept = KeptQueries(project.state / "queries")
        self._current: set[str] = set()
        """The hashes of queries that are as their files say now."""

    # Beginning and end

    def start(self) -> None:
        """Go on where the last service of this folder stood; raises what the user can mend."""
        try:
            self._open()
        except BaseException:
            self._locks.release()
            raise
        self._thread = threading.Thread(target=self._go, name="obep engine", daemon=True)
        self._thread.start()
        self.ready = True
        self._sources.begin(self.run.sources)

    def _open(self) -> None:
        self._locks.take_checkpoint(self.project.state)
        kept, standing = last_standing(
            self.project.state, {name: self._file_text(name) for name in self.project.paths}
        )
        self.texts = standing.queries
        queries = {
            name: self._recorded(name, one.text, one.hash) for name, one in self.texts.items() if not one.gone
        }
        order = self.project.order(())
        self._locks.take(replace(order, checkpoint=None))
        letters = open_letters(order, kept, _warn)
        self.queries = QuerySet(self._make_engine, letters.take)
        for name, query in queries.items():
            require_outputs_apart(order, query)
            self.queries.require_apart(name, query)
            self.queries.add(name, query)
            self.texts[name].hash = query.hash
        notes, ids = Notes(), RowIds()
        self.run = Run(
            self.queries,
            {},
            open_outlets(order, merged_plan(queries.values()), notes, ids, kept, _warn),
            letters,
            OF_SERVICE,
            Checkpoint(self.project.state),
            frozenset(self.queries.streams),
            notes=notes,
            idle=order.idle is not None,
            origins={} if kept is None else kept.origins,
            row_ids=ids,
        )
        if kept is not None:
            self.run.restore(kept, resume=False)
        standing.restore_counts(self.run)
        self.figures = Figures(self.run, self.queries)
        self.log = WriteLog(self.project.state / "log")
        self.journal = Journal(self.project.state / "journal.db", standing.numbers, self.settings.keep)
        self.alerts = AlertNotes(self.journal.actions())
        self.run.on_found = self._note_found
        self.run.letters.on_letter = self._note_letter
        self.run.beside = self._beside
        self._replay(standing)
        for _, engine in self.queries:
            engine.clock.resume()
        self._base = self._steady, time.monotonic_ns() // 1000
        self._save()
        self._take_files()
        if kept is not None:
            inlets = self.project.order(self.queries.streams).inlets
            known = {one.key: kept.sources[one.key] for one in inlets if one.key in kept.sources}
            require_same_sources(msgspec.structs.replace(kept, sources=known), inlets)
        self._sources.adopt(self._sources.open_for(self.queries.queries))

    def _make_engine(self, query: Query, on_dead_letter: OnDeadLetter) -> Engine:
        usual = engine_settings(self.project.order(()), query, on_dead_letter, live=True)
        clocks = {"now": lambda: self._wall, "steady": lambda: self._steady}
        return query.engine(**usual | {"remember": RECENT} | clocks)

    def _take_files(self) -> None:
        """What was changed while no service ran, a query or a file that it reads, is a replacement, too."""
        paths = self.project.paths
        of_files = {name for name, one in self.texts.items() if one.of_file and not one.gone}
        gone = sorted(of_files - set(paths))
        new = [name for name in paths if name not in self.texts]
        renamed = dict(zip(new, gone, strict=False))  # a file with another name is the same query
        for name in gone[len(new) :]:
            if len(self.queries) > 1:
                self._do(Removed(name=name))
        without_file = [name for name in self.queries.queries if name not in (*paths, *renamed.values())]
        for name in (*paths, *without_file):
            of_file = self._file_text(name) if name in paths else ""
            known = self.texts.get(renamed.get(name, name), RunningText(""))
            changed = name in paths and of_file not in (known.of_file, known.text)
            if not changed and name not in renamed and (known.gone or known.hash in self._current):
                continue
            text = of_file if changed else known.text
            query, _ = self.prepare(name, text, was=renamed.get(name, ""))
            change = Replaced(
                name=name, text=text, of_file=of_file, hash=query.hash, was=renamed.get(name, "")
            )
            self._do(change, query)

    def _do(self, change: Change, query: Query | None = None) -> None:
        job = Job(change, 0, query)
        self._handle([job])
        job.future.result()

    def _recorded(self, name: str, text: str, hash: str) -> Query:
        """The query that a snapshot or an entry of the log is of, whatever its files say now."""
        problem = None
        try:
            query = self.project.load(text, name)
            self._current.add(query.hash)
            if hash in ("", query.hash):
                return query
        except ObepError as error:
            problem = error
        kept = self._kept.find(hash) if hash else None
        if kept is not None:
            return kept
        raise problem or fail(
            "OBEP558",
            f"{self.project.state} is of another ontology, static graph or included file than there is now",
            reason="A service continues with the old query, and this obep cannot read its copy.",
            remedy="put the old files back, or obep serve --state ANOTHER-FOLDER to begin anew",
        )

    def stop(self) -> None:
        """Finish what was taken, take a snapshot, and let go of everything."""
        self.ready = False
        self.stopping.set()
        self.run.stop()
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
        self.run.close()
        self.log.close()
        self.journal.close()
        self._locks.release()

    def _replay(self, standing: Standing) -> None:
        """Apply what the log has after the snapshot."""
        self._steady = standing.steady
        for number, body in self.log.frames(standing.frame):
            try:
                changes = unpacked(body)
            except (msgspec.MsgspecError, ValueError) as error:
                reason = f"Frame {number} has another form ({error})."
                raise damaged("the log", reason, "put a copy back, or begin anew") from None
            for place, change in enumerate(changes):
                self._applied = number, place
                self._wall, self._steady = change.wall, change.steady
                query = None
                if isinstance(change, Replaced):
                    query = self._recorded(change.name, change.text, change.hash)
                try:
                    self._apply(change, query)
                except ObepError:  # it was refused then, too, and changed nothing
                    continue
        self.journal.flush()
        self._found.clear()

    # What comes in

    def submit(
        self, change: Change, query: Query | None = None, sources: Mapping[str, Source] | None = None
    ) -> Future[dict[str, Any]]:
        """Take a change: its future is done once it is safe and applied. Raises Busy if too much waits.

        `query` is the one of a replacement, and `sources` what it reads and was not open.
        """
        weight = max(1, len(change.items) + len(change.letters)) if isinstance(change, Came) else 1
        with self._room:
            if not self.ready or self.stopping.is_set():
                raise fail("OBEP865", "the service starts, stops, or has failed", remedy="see /health")
            if self._waiting and self._waiting + weight > self.settings.queue:
                raise Busy
            self._waiting += weight
        job = Job(change, weight, query, sources)
        self._queue.put(job)
        return job.future

    def _file_text(self, name: str) -> str:
        try:
            return self.project.paths[name].read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            self.project.load(name=name)  # says why
            raise

    @property
    def waiting(self) -> int:
        """How many items wait for the engine."""
        return self._waiting

    def reading(self, stream: str) -> Reading:
        """How what is posted to a stream is read."""
        if stream not in self._readings:
            readers = self.queries.reading(stream) or [self.queries.first.query]
            waits = len(readers) > 1 or bool(
                readers[0].linked.models
            )  # then each engine looks up in its own K
            config = self.project.config.with_lookups(readers[0].bundle.k.once, waits=waits)
            settings = config.sources.get(stream, {})
            reading = make_reading(stream, settings, config, live=True, notes=self._notes)
            reading.source = stream
            self._readings[stream] = reading
        return self._readings[stream]

    def came(self, records: Iterable[Item | DeadLetter]) -> Came:
        """The records of a request as a change."""
        items: list[Item] = []
        letters: list[DeadLetter] = []
        for record in records:
            if isinstance(record, DeadLetter):
                letters.append(record)
            else:
                items.append(record)
        return Came(items=items, letters=letters, style=self._notes.style)

    # The engine's thread

    def _go(self) -> None:
        try:
            self._work()
        except Exception as error:  # what was acknowledged is in the log: a restart goes on from there
            self.ready, self.failing = False, "the engine has failed; start the service again"
            print(format_exc(), file=sys.stderr)
            failed = fail("OBEP865", self.failing)
            failed.__cause__ = error
            while (job := self._queue.get()) is not None:
                self._settle([job], failed)

    def _work(self) -> None:
        saved = time.monotonic()
        while True:
            jobs = self._next_jobs()
            if jobs is None:
                break
            if jobs:
                self._handle(jobs)
            else:
                self._tick()
            aged = (time.monotonic() - saved) * 1e6 >= self.settings.snapshot
            if self.log.bytes and (aged or self.log.bytes >= LOG_BYTES):
                self._try_to_save()
                saved = time.monotonic()
        self._try_to_save()

    def _next_jobs(self) -> list[Job] | None:
        """Those that are there, or that come within a tick; none at the end."""
        jobs: list[Job] = []
        try:
            job = self._queue.get(timeout=TICK_S)
            while job is not None:
                jobs.append(job)
                if len(jobs) == AT_ONCE:
                    return jobs
                job = self._queue.get_nowait()
        except queue.Empty:
            return jobs
        if not jobs:
            return None
        self._queue.put(None)  # nothing comes after it
        return jobs

    def _handle(self, jobs: list[Job]) -> None:
        """Log, apply and answer some changes."""
        try:
            self._log_and_apply(jobs)
        except Exception:
            self._settle(jobs, fail("OBEP865", "the engine has failed"))
            raise

    def _log_and_apply(self, jobs: list[Job]) -> None:
        self._look()
        for job in jobs:
            job.change.wall, job.change.steady = self._wall, self._steady
        try:
            self.journal.flush()  # what found no room before
            for job in jobs:
                if job.query is not None:
                    self._kept.keep(job.query)
            self.log.append(packed([job.change for job in jobs]))
        except ObepError as error:
            self.failing = str(error.diagnostics[0].message)
            self._settle(jobs, error)
            return
        answers = [self._answer(job, number) for number, job in enumerate(jobs)]
        try:
            self.journal.flush()
            self.failing = ""
        except ObepError as error:  # the log has it: it is written as soon as there is room
            self.failing = str(error.diagnostics[0].message)
        found, self._found = self._found, []
        if found:
            self.on_found(found)
        for job, answer in zip(jobs, answers, strict=True):
            self._release(job)
            if isinstance(answer, Exception):
                job.future.set_exception(answer)
            else:
                job.future.set_result(answer)

    def _answer(self, job: Job, number: int) -> dict[str, Any] | Exception:
        self._applied = self.log.next - 1, number
        try:
            said = self._apply(job.change, job.query)
        except ObepError as error:
            for source in job.sources.values():
                source.stop()
            return error
        if isinstance(job.change, Replaced | Removed) and self.ready:
            self._sources.begin(self._sources.adopt(job.sources))
        return {**said, "next": self.journal.numbers[0]}

    def _settle(self, jobs: Iterable[Job], error: Exception) -> None:
        for job in jobs:
            if not job.future.done():
                self._release(job)
                job.future.set_exception(error)

    def _release(self, job: Job) -> None:
        with self._room:
            self._waiting -= job.weight

    def _look(self) -> None:
        """Read the clocks; the steady one goes on from the last entry of the log."""
        steady, monotonic = self._base
        self._wall = time.time_ns() // 1000
        self._steady = steady + time.monotonic_ns() // 1000 - monotonic

    def _tick(self) -> None:
        """Log and apply that time has passed, if that moves the watermark."""
        self._look()
        if any(self._moves(engine.clock, engine.query.linked.streams) for _, engine in self.queries):
            self._handle([Job(Ticked(), 0)])

    def _moves(self, clock: Clock, streams: Iterable[str]) -> bool:
        if clock.idle is None:
            return False
        ahead = Clock(clock.lateness, clock.idle, clock.future, streams)
        ahead.load(clock.dump())
        return ahead.tick({}, self._steady) != clock.watermark

    # What a change does, now and in a replay

    def _apply(self, change: Change, query: Query | None = None) -> dict[str, Any]:
        if isinstance(change, Came):
            if change.style is not None:
                self.run.notes.styles["log"] = change.style
            self.run.take(Turn([*change.letters, *change.items], change.moved))
            return {"accepted": len(change.items), "refused": len(change.letters)}
        if isinstance(change, Ticked):
            self.run.take(Turn([], {}))
            return {}
        if isinstance(change, Acted):
            self.journal.add_action(change.alert, self.alerts.take(change))
            if STREAM in self.run.streams:
                self.run.items_by_stream[STREAM] += 1
                self.run.items += 1
                self.run.send(
                    self.queries.push_to_readers(STREAM, lambda one: ack_item(change, one.clock.watermark))
                )
            return {"alert": change.alert, **self.alerts.of(change.alert)}
        if isinstance(change, Removed):
            return self._remove(change)
        assert query is not None
        return self._replace(change, query)

    # Other queries

    def prepare(self, name: str, text: str, was: str = "") -> tuple[Query, tuple[Diagnostic, ...]]:
        """Compile a text as the query of a name; raises all that is wrong with it."""
        checked = self.project.check(text, name)
        if checked.query is None:
            raise ObepError(*checked.diagnostics)
        self.queries.require_apart(was or name, checked.query)
        self._refitted({**self.queries.queries, was or name: checked.query})
        return checked.query, checked.diagnostics

    def replace_by(
        self, name: str, query: Query, text: str, warm: int | None = None
    ) -> Future[dict[str, Any]]:
        """Run a query that was prepared from its text; the sources that it needs are opened first."""
        of_file = self.texts[name].of_file if name in self.texts else ""
        change = Replaced(name=name, text=text, of_file=of_file, warm=warm, hash=query.hash)
        sources = self._sources.open_for({**self.queries.queries, name: query})
        try:
            return self.submit(change, query, sources)
        except (Busy, ObepError):
            for source in sources.values():
                source.stop()
            raise

    def compare(self, name: str, query: Query, warm: int | None = None) -> Replacement:
        """What `replace_by` would do."""
        return self.queries.compare(name, query, warm, None if warm is None else self.history())

    def _refitted(self, queries: Mapping[str, Query]) -> dict[str, Outlet]:
        """The sinks as they take what other queries return; raises what does not fit."""
        order, plan = self.project.order(()), merged_plan(queries.values())
        targets = {target.key: target for target in order.targets}
        return {
            key: refit(outlet, targets[key], order, plan, self.run.notes, self.run.row_ids)
            for key, outlet in self.run.outlets.items()
        }

    def _replace(self, change: Replaced, query: Query) -> dict[str, Any]:
        name, before = change.name, change.was or change.name
        outlets = self._refitted({**self.queries.queries, before: query})
        history = None if change.warm is None else self.history(self._applied)
        done = self.queries.put(before, query, change.warm, history)
        if change.was:
            self.queries.rename(before, name)
            self.texts.pop(before, None)
        self.texts = {**self.texts, name: RunningText(change.text, change.of_file, query.hash)}
        return self._changed(outlets, done)

    def _remove(self, change: Removed) -> dict[str, Any]:
        left = {name: query for name, query in self.queries.queries.items() if name != change.name}
        outlets = self._refitted(left or self.queries.queries)
        done = self.queries.remove(change.name)
        texts = {name: one for name, one in self.texts.items() if name != change.name}
        if change.name in self.project.paths:
            texts[change.name] = RunningText("", self.texts[change.name].of_file, gone=True)
        self.texts = texts
        return self._changed(outlets, done)

    def _changed(self, outlets: Mapping[str, Outlet], done: Replacement) -> dict[str, Any]:
        self.run.outlets, self.run.streams = outlets, frozenset(self.queries.streams)
        self._readings.clear()
        self.run.send(list(done.records))
        return {"replacement": done.to_json()}

    def history(self, before: tuple[int, int] | None = None) -> list[Item]:
        """The items that the log still has, in the order of their time; those before one of its changes."""
        changes = (
            change
            for frame, body in self.log.history()
            if before is None or frame <= before[0]
            for number, change in enumerate(unpacked(body))
            if before is None or (frame, number) < before
        )
        found = [item for change in changes if isinstance(change, Came) for item in change.items]
        return sorted(found, key=lambda item: item.at)

    def _note_found(self, found: list[Occurrence]) -> None:
        style = self.run.notes.style
        for one in found:
            kind = "alert" if isinstance(one, Alert) else "answer" if isinstance(one, Answer) else "event"
            row = self.journal.add_found(iri(one.event), one.id, kind, one.detected, to_line(one, style))
            self._found.append(row)

    def _note_letter(self, letter: DeadLetter) -> None:
        self.journal.add_letter(letter.code, as_json(letter).decode().rstrip("\n"))

    # Snapshots

    def _beside(self) -> bytes:
        first, second, third = self.journal.numbers
        standing = Standing(
            frame=self.log.next,
            numbers=(first, second, third),
            steady=self._steady,
            queries=self.texts,
            items=self.run.items,
            items_by_stream=dict(self.run.items_by_stream),
            reported=dict(self.run.occurrences),
            refused=dict(self.run.letters.counts),
        )
        return msgspec.msgpack.encode(standing)

    def _save(self) -> None:
        self.journal.secure()
        queries = self.queries.queries.values()
        for query in queries:
            self._kept.keep(query)
        if self.run.save():
            self._kept.drop_others(query.hash for query in queries)
            self.log.cut(self.settings.history / 1_000_000)

    def _try_to_save(self) -> None:
        """A snapshot that finds no room is taken later: the log has everything."""
        try:
            self._save()
        except ObepError as error:
            self.failing = str(error.diagnostics[0].message)
            print(error, file=sys.stderr)


def _warn(code: str, said: str) -> None:
    print(f"{code}  warning: {said}", file=sys.stderr)
