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
from datetime import timedelta
from traceback import format_exc
from typing import Any

import msgspec

from obep.engine.clock import Clock
from obep.engine.engine import RECENT
from obep.engine.query import Query
from obep.engine.sealed import damaged
from obep.errors import Diagnostic, ObepError, fail
from obep.formats.stream_reader import Notes, Reading
from obep.model import Alert, Answer, DeadLetter, Item, Occurrence
from obep.output.json_writer import iri, to_line
from obep.run.checkpoint import Checkpoint
from obep.run.dead_letters import as_json
from obep.run.embedded import Figures, open_run
from obep.run.outlets import refit
from obep.run.pipeline import PATIENCE_S, Outlet
from obep.run.run_locks import Locks
from obep.run.run_notes import require_outputs_apart
from obep.serve.alert_notes import AlertNotes, ack_item
from obep.serve.entries import Acted, Came, Change, Replaced, Ticked, packed, unpacked
from obep.serve.journal import Found, Journal
from obep.serve.kept_queries import KeptQueries
from obep.serve.project import Project
from obep.serve.settings import Settings
from obep.serve.write_log import WriteLog
from obep.streams.sources.merge import Turn, merged
from obep.streams.sources.open_sources import make_reading

TICK_S = 0.5
"""Between two looks at the clock while nothing comes."""
AT_ONCE = 256
"""The most changes that share one frame of the log."""
LOG_BYTES = 64 << 20
"""A longer log is cut by a snapshot, however short the time since the last one."""


class Busy(Exception):
    """The queue is full; the same may be sent again later."""


class Standing(msgspec.Struct):
    """What a snapshot of a service holds beside the state of its engine."""

    frame: int = 0
    """The first frame of the log that came after it."""
    numbers: tuple[int, int, int] = (0, 0, 0)
    """The last numbers in the journal."""
    steady: int = 0
    text: str = ""
    """The query that runs."""
    of_file: str = ""
    """What its file held when it began to run; a file that holds something else was changed since."""


class Job:
    """A change on its way, and the answer that somebody waits for."""

    __slots__ = ("change", "future", "query", "weight")

    def __init__(self, change: Change, weight: int, query: Query | None = None) -> None:
        self.change = change
        self.weight = weight
        self.query = query
        """What a replacement puts in place."""
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
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._notes = Notes()
        self._readings: dict[str, Reading] = {}
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
        if self.run.sources:
            threading.Thread(target=self._pump, name="obep sources", daemon=True).start()

    def _open(self) -> None:
        self._locks.take_checkpoint(self.project.state)
        hash, standing = self._last_standing()
        self._standing = standing
        query = self._query = self._recorded(standing.text, hash)
        order = self.project.order(query)
        self._locks.take(replace(order, checkpoint=None))
        require_outputs_apart(order, query)
        self.run, self.engine = open_run(
            order,
            query,
            _warn,
            resume=False,
            remember=RECENT,
            now=lambda: self._wall,
            steady=lambda: self._steady,
        )
        self.figures = Figures(self.run, self.engine)
        self.log = WriteLog(self.project.state / "log")
        self.journal = Journal(self.project.state / "journal.db", standing.numbers, self.settings.keep)
        self.alerts = AlertNotes(self.journal.actions())
        self.run.on_found = self._note_found
        self.run.letters.on_letter = self._note_letter
        self.run.beside = self._beside
        self._replay(standing)
        self.engine.clock.resume()
        self._base = self._steady, time.monotonic_ns() // 1000
        self._save()
        self._take_files()

    def _take_files(self) -> None:
        """What was changed while no service ran, the query or a file that it reads, is a replacement, too."""
        of_file = self._file_text()
        changed = of_file not in (self._standing.of_file, self._standing.text)
        if not changed and self._query.hash in self._current:
            return
        text = of_file if changed else self._standing.text
        query, _ = self.prepare(text)
        job = Job(Replaced(name=self.project.name, text=text, of_file=of_file, hash=query.hash), 0, query)
        self._handle([job])
        job.future.result()

    def _last_standing(self) -> tuple[str, Standing]:
        """The hash of the query of the last snapshot, and what lies beside it."""
        kept = Checkpoint(self.project.state).read()
        if kept is None:
            text = self._file_text()
            return "", Standing(text=text, of_file=text)
        try:
            return kept.query, msgspec.msgpack.decode(kept.beside, type=Standing)
        except (msgspec.MsgspecError, ValueError) as error:
            reason = f"No service wrote it, or another version of obep did ({error})."
            raise damaged(str(self.project.state), reason, "obep serve --state ANOTHER-FOLDER") from None

    def _recorded(self, text: str, hash: str) -> Query:
        """The query that a snapshot or an entry of the log is of, whatever its files say now."""
        problem = None
        try:
            query = self.project.load(text)
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
            reason="A service goes on from the query as it was; there is no copy of it that this obep reads.",
            remedy="put the old files back, or obep serve --state ANOTHER-FOLDER to begin anew",
        )

    def stop(self) -> None:
        """Finish what was taken, take a snapshot, and let go of everything."""
        self.ready = False
        self._stopping.set()
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
            for change in changes:
                self._wall, self._steady = change.wall, change.steady
                query = None
                if isinstance(change, Replaced):
                    query = self._recorded(change.text, change.hash)
                try:
                    self._apply(change, query)
                except ObepError:  # it was refused then, too, and changed nothing
                    continue
        self.journal.flush()
        self._found.clear()

    # What comes in

    def submit(self, change: Change, query: Query | None = None) -> Future[dict[str, Any]]:
        """Take a change: its future is done once it is safe and applied. Raises Busy if too much waits.

        `query` is the one of a replacement.
        """
        weight = max(1, len(change.items) + len(change.letters)) if isinstance(change, Came) else 1
        with self._room:
            if not self.ready or self._stopping.is_set():
                raise fail("OBEP865", "the service starts, stops, or has failed", remedy="see /health")
            if self._waiting and self._waiting + weight > self.settings.queue:
                raise Busy
            self._waiting += weight
        job = Job(change, weight, query)
        self._queue.put(job)
        return job.future

    @property
    def text(self) -> str:
        """The text of the query that runs."""
        return self._standing.text

    @property
    def replaced(self) -> bool:
        """Whether that is another one than in the file."""
        return self._standing.text != self._standing.of_file

    @property
    def of_file(self) -> str:
        """What the file of the query held when the service last looked."""
        return self._standing.of_file

    def _file_text(self) -> str:
        try:
            return self.project.path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            self.project.load()  # says why
            raise

    @property
    def waiting(self) -> int:
        """How many items wait for the engine."""
        return self._waiting

    def reading(self, stream: str) -> Reading:
        """How what is posted to a stream is read."""
        if stream not in self._readings:
            query = self.engine.query
            config = self.project.config.with_lookups(query.bundle.k.once, waits=bool(query.linked.models))
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
        answers = [self._answer(job) for job in jobs]
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

    def _answer(self, job: Job) -> dict[str, Any] | Exception:
        try:
            said = self._apply(job.change, job.query)
        except ObepError as error:
            return error
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
        clock = self.engine.clock
        if clock.idle is None:
            return
        self._look()
        ahead = Clock(clock.lateness, clock.idle, clock.future, self.engine.query.linked.streams)
        ahead.load(clock.dump())
        if ahead.tick({}, self._steady) != clock.watermark:
            self._handle([Job(Ticked(), 0)])

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
            if "acks" in self.engine.query.linked.streams:
                self.run.take(Turn([ack_item(change, self.engine.clock.watermark)], {}))
            return {"alert": change.alert, **self.alerts.of(change.alert)}
        assert query is not None
        return self._replace(change, query)

    # Another query

    def prepare(self, text: str) -> tuple[Query, tuple[Diagnostic, ...]]:
        """Compile a text in the place of the query that runs; raises all that is wrong with it."""
        checked = self.project.check(text)
        if checked.query is None:
            raise ObepError(*checked.diagnostics)
        query = checked.query
        fed = {name for name, one in self.project.config.sources.items() if "uri" in one}
        open_ones = {source.name for source in self.run.sources.values()}
        if more := sorted(fed & set(query.linked.streams) - open_ones):
            raise fail(
                "OBEP866",
                f"the query reads {more[0]}, whose source is not open",
                reason="Sources are opened when the service starts.",
                remedy="write the query to its file and start the service again",
            )
        self._refitted(query)
        return query, checked.diagnostics

    def replace_by(self, query: Query, text: str, warm: int | None = None) -> Future[dict[str, Any]]:
        """Run a query that was prepared from its text."""
        name, of_file = self.project.name, self.of_file
        change = Replaced(name=name, text=text, of_file=of_file, warm=warm, hash=query.hash)
        return self.submit(change, query)

    def _refitted(self, query: Query) -> dict[str, Outlet]:
        """The sinks as they take another query; raises what does not fit."""
        order = self.project.order(query)
        targets = {target.key: target for target in order.targets}
        return {
            key: refit(outlet, targets[key], order, query, self.run.notes, self.run.row_ids)
            for key, outlet in self.run.outlets.items()
        }

    def _replace(self, change: Replaced, query: Query) -> dict[str, Any]:
        outlets = self._refitted(query)
        warm = None if change.warm is None else timedelta(microseconds=change.warm)
        done = self.engine.replace(query, warm=warm, history=None if warm is None else self.history())
        self._query, self.run.outlets, self.run.query_hash = query, outlets, query.hash
        self.run.streams = frozenset(query.linked.streams)
        self._standing.text, self._standing.of_file = change.text, change.of_file
        self._readings.clear()
        self.run.send(list(done.records))
        return {"replacement": done.to_json()}

    def history(self) -> list[Item]:
        """The items that the log still has, in the order of their time."""
        changes = (change for body in self.log.history() for change in unpacked(body))
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
            self.log.next, (first, second, third), self._steady, self._standing.text, self._standing.of_file
        )
        return msgspec.msgpack.encode(standing)

    def _save(self) -> None:
        self.journal.secure()
        self._kept.keep(self._query)
        if self.run.save():
            self._kept.drop_others(self._query.hash)
            self.log.cut(self.settings.history / 1_000_000)

    def _try_to_save(self) -> None:
        """A snapshot that finds no room is taken later: the log has everything."""
        try:
            self._save()
        except ObepError as error:
            self.failing = str(error.diagnostics[0].message)
            print(error, file=sys.stderr)

    # Sources

    def _pump(self) -> None:
        """Submit what the sources of obep.toml give, in turns after which their positions are known."""
        records: list[Item | DeadLetter] = []
        moved: dict[str, dict[str, int]] = {}
        run = self.run
        try:
            for turn in merged(run.sources, run.positions, PATIENCE_S, idle=run.idle, orders=run.orders):
                records += turn.records
                for key, position in turn.moved.items():
                    moved[key] = {**moved.get(key, {}), **position}
                if self._stopping.is_set():
                    return
                if turn.whole and (records or moved):
                    self._send_on(records, moved)
                    records, moved = [], {}
        except Exception as error:
            if not self._stopping.is_set():
                self.failing = f"a source has failed: {error}"
                print(error, file=sys.stderr)

    def _send_on(self, records: list[Item | DeadLetter], moved: Mapping[str, dict[str, int]]) -> None:
        """Submit until it is taken: a source waits."""
        while not self._stopping.is_set():
            change = self.came(records)
            change.moved, change.style = dict(moved), self.run.notes.style
            try:
                self.submit(change).result()
                return
            except (Busy, ObepError):
                self._stopping.wait(PATIENCE_S)


def _warn(code: str, said: str) -> None:
    print(f"{code}  warning: {said}", file=sys.stderr)
