"""A running service: one thread logs what comes, passes it to the engine, and records what it finds.

Everything that changes the engine passes `submit`: requests, sources, the clock. What is accepted is on disk
before it is applied, and applied before it is answered. After a restart the last snapshot
and the log give the same engine, the same journal and the same numbers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from traceback import format_exc
from typing import Any

import msgspec

from obep.engine.admission import OnDeadLetter
from obep.engine.engine import RECENT, Engine
from obep.engine.query import Query
from obep.engine.replacing.replacement import Replacement
from obep.engine.snapshots.sealed import damaged
from obep.errors import Diagnostic, ObepError, fail
from obep.formats.stream_reader import Notes, Reading
from obep.formats.tables.mapped_records import Mapped
from obep.model import DeadLetter, Item
from obep.output.row_writer import RowIds
from obep.run.checkpoint import Checkpoint, require_same_sources
from obep.run.embedded import Figures, engine_settings, open_letters, open_outlets
from obep.run.pipeline import Run
from obep.run.run_locks import Locks
from obep.run.run_notes import require_outputs_apart
from obep.serve.busy import Busy
from obep.serve.change_effects import ChangeEffects
from obep.serve.entries import Came, Change, Replaced, Ticked, packed, unpacked
from obep.serve.job_queue import Job, JobQueue, unavailable
from obep.serve.journal import Found, Journal
from obep.serve.logged_items import logged_items
from obep.serve.posted_records import PostedRecords
from obep.serve.project import Project
from obep.serve.query_changes import QueryChanges
from obep.serve.query_set import QuerySet, merged_plan
from obep.serve.service_clocks import ServiceClocks
from obep.serve.settings import Settings
from obep.serve.source_pump import SourcePump
from obep.serve.standing import RunningText, Standing, last_standing
from obep.serve.write_log import WriteLog
from obep.streams.sources.batches import Source

OF_SERVICE = "service"
"""Instead of the hash of one query, in the checkpoint of a service."""
LOG_BYTES = 64 << 20
"""A longer log is cut by a snapshot, however short the time since the last one."""


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
        self._jobs = JobQueue(settings.queue)
        self.clocks = ServiceClocks()
        self._thread: threading.Thread | None = None
        self.stopping = threading.Event()
        self._sources = SourcePump(self)

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
            self.project.state, {name: self.project.file_text(name) for name in self.project.paths}
        )
        self._changes = QueryChanges(self.project, standing.queries)
        queries = {
            name: self._changes.recorded(name, one.text, one.hash)
            for name, one in self.texts.items()
            if not one.gone
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
        self._changes.run_in(self.queries, self.run)
        self._posted = PostedRecords(self.project, self.queries)
        if kept is not None:
            self.run.restore(kept, resume=False)
        standing.restore_counts(self.run)
        self.figures = Figures(self.run, self.queries)
        self.log = WriteLog(self.project.state / "log")
        self.journal = Journal(self.project.state / "journal.db", standing.numbers, self.settings.keep)
        self._effects = ChangeEffects(
            self.run,
            self.queries,
            self.journal,
            self.log,
            self._changes,
            self._posted,
            self._other_sources,
        )
        self.alerts = self._effects.alerts
        self.run.beside = self._beside
        self._replay(standing)
        for _, engine in self.queries:
            engine.clock.resume()
        self.clocks.begin()
        self._save()
        for change, of_file in self._changes.of_files():
            job = Job(change, of_file)
            self._handle([job])
            job.future.result()
        if kept is not None:
            inlets = self.project.order(self.queries.streams).inlets
            known = {one.key: kept.sources[one.key] for one in inlets if one.key in kept.sources}
            require_same_sources(msgspec.structs.replace(kept, sources=known), inlets)
        self._sources.adopt(self._sources.open_for(self.queries.queries))

    def _make_engine(self, query: Query, on_dead_letter: OnDeadLetter) -> Engine:
        usual = engine_settings(self.project.order(()), query, on_dead_letter, live=True)
        clocks = {"now": lambda: self.clocks.wall, "steady": lambda: self.clocks.steady}
        return query.engine(**usual | {"remember": RECENT} | clocks)

    def stop(self) -> None:
        """Finish what was taken, take a snapshot, and let go of everything."""
        self.ready = False
        self.stopping.set()
        self.run.stop()
        if self._thread is not None:
            self._jobs.end()
            self._thread.join()
        self.run.close()
        self.log.close()
        self.journal.close()
        self._locks.release()

    def _replay(self, standing: Standing) -> None:
        """Apply what the log has after the snapshot."""
        self.clocks.steady = standing.steady
        for number, body in self.log.frames(standing.frame):
            try:
                changes = unpacked(body)
            except (msgspec.MsgspecError, ValueError) as error:
                reason = f"Frame {number} has another form ({error})."
                raise damaged("the log", reason, "put a copy back, or begin anew") from None
            jobs = [Job(change, self._query_of(change)) for change in changes]
            self.clocks.wall, self.clocks.steady = changes[-1].wall, changes[-1].steady
            self._effects.apply(jobs, number)  # what was refused then is refused again
        self.journal.flush()
        self._effects.found.clear()

    def _query_of(self, change: Change) -> Query | None:
        """The query that an entry of the log puts in place."""
        if not isinstance(change, Replaced):
            return None
        return self._changes.recorded(change.name, change.text, change.hash)

    # What comes in

    def submit(
        self, change: Change, query: Query | None = None, sources: Mapping[str, Source] | None = None
    ) -> Future[dict[str, Any]]:
        """Take a change: its future is done once it is safe and applied. Raises Busy if too much waits.

        `query` is the one of a replacement, and `sources` what it reads and was not open.
        """
        if not self.ready or self.stopping.is_set():
            raise unavailable()
        job = Job(change, query, sources)
        self._jobs.put(job)
        return job.future

    @property
    def waiting(self) -> int:
        """How many items wait for the engine."""
        return self._jobs.waiting

    @property
    def texts(self) -> dict[str, RunningText]:
        """The queries that run, or were deleted, by name."""
        return self._changes.texts

    def reading(self, stream: str) -> Reading:
        """How what is posted to a stream is read."""
        return self._posted.reading(stream)

    def came(self, records: Iterable[Item | DeadLetter | Mapped]) -> Came:
        """The records of a request as a change."""
        return self._posted.came(records)

    # The engine's thread

    def _go(self) -> None:
        try:
            self._work()
        except Exception as error:  # what was acknowledged is in the log: a restart goes on from there
            self.ready, self.failing = False, "the engine has failed; start the service again"
            print(format_exc(), file=sys.stderr)
            failed = fail("OBEP865", self.failing)
            failed.__cause__ = error
            self._jobs.refuse_all(failed)

    def _work(self) -> None:
        saved = time.monotonic()
        while True:
            jobs = self._jobs.take()
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

    def _handle(self, jobs: list[Job]) -> None:
        """Log, apply and answer some changes."""
        try:
            self._log_and_apply(jobs)
        except Exception:
            self._jobs.refuse(jobs, fail("OBEP865", "the engine has failed"))
            raise

    def _log_and_apply(self, jobs: list[Job]) -> None:
        self.clocks.look()
        for job in jobs:
            job.change.wall, job.change.steady = self.clocks.wall, self.clocks.steady
        try:
            self.journal.flush()  # what found no room before
            for job in jobs:
                if job.query is not None:
                    self._changes.kept.keep(job.query)
            self.log.append(packed([job.change for job in jobs]))
        except ObepError as error:
            self.failing = str(error.diagnostics[0].message)
            self._jobs.refuse(jobs, error)
            return
        answers = self._effects.apply(jobs, self.log.next - 1)
        try:
            self.journal.flush()
            self.failing = ""
        except ObepError as error:  # the log has it: it is written as soon as there is room
            self.failing = str(error.diagnostics[0].message)
        found, self._effects.found = self._effects.found, []
        if found:
            self.on_found(found)
        for job, answer in zip(jobs, answers, strict=True):
            self._jobs.answer(job, answer)

    def _tick(self) -> None:
        """Log and apply that time has passed, if that moves the watermark."""
        self.clocks.look()
        if self.clocks.move(self.queries):
            self._handle([Job(Ticked())])

    # Other queries

    def prepare(self, name: str, text: str) -> tuple[Query, tuple[Diagnostic, ...]]:
        """Compile a text as the query of a name; raises all that is wrong with it."""
        return self._changes.prepare(name, text)

    def replace_by(
        self, name: str, query: Query, text: str, warm: int | None = None
    ) -> Future[dict[str, Any]]:
        """Run a query that was prepared from its text; the sources that it needs are opened first."""
        change = self._changes.replacement(name, query, text, warm)
        sources = self._sources.open_for({**self.queries.queries, name: query})
        try:
            return self.submit(change, query, sources)
        except (Busy, ObepError):
            for source in sources.values():
                source.stop()
            raise

    def _other_sources(self, opened: Mapping[str, Source]) -> None:
        """Other queries run: go on with the sources that they read."""
        if self.ready:
            self._sources.begin(self._sources.adopt(opened))

    def compare(self, name: str, query: Query, warm: int | None = None) -> Replacement:
        """What `replace_by` would do."""
        return self.queries.compare(name, query, warm, None if warm is None else self.history())

    def history(self) -> list[Item]:
        """The items that the log still has, in the order of their time."""
        return logged_items(self.log, self.queries.first.clock.lateness)

    # Snapshots

    def _beside(self) -> bytes:
        first, second, third = self.journal.numbers
        standing = Standing(
            frame=self.log.next,
            numbers=(first, second, third),
            steady=self.clocks.steady,
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
            self._changes.kept.keep(query)
        if self.run.save():
            self._changes.kept.drop_others(query.hash for query in queries)
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
