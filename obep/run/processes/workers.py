"""A run in several processes of one machine: each reads all items and keeps the occurrences of its keys.

The first process runs as one alone would: it reads, counts, refuses, and writes. The others send it what they
find, batch by batch, and it puts all answers into the order that one process would have found them in.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from obep.engine.bulk import rarely_collected
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.engine.split.shared_matcher import SPLIT, Order, SharedMatcher
from obep.errors import ObepError, fail
from obep.model import Occurrence
from obep.run.dead_letters import Letters
from obep.run.pipeline import Outlet, Run
from obep.run.run_spec import Order as RunOrder
from obep.streams.sinks.open_sinks import FileSink, OutputSink
from obep.streams.sources.files import FileSource

_LENGTH = 8


class Answers(msgspec.Struct, array_like=True, gc=False):
    """What a process has found in one batch."""

    orders: list[Order]
    outputs: list[list[bytes]]
    """For each sink the bytes of each answer."""
    events: dict[str, int]
    error: str = ""
    """Why the process cannot go on."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Answers).decode


@dataclass
class Worker:
    """A process, and the pipe that its answers come through."""

    process: int
    answers: BinaryIO

    def next(self) -> Answers:
        """What it has found in its next batch."""
        size = self.answers.read(_LENGTH)
        length = int.from_bytes(size) if len(size) == _LENGTH else -1
        data = self.answers.read(max(length, 0))
        if len(data) != length:  # it was killed while it wrote
            raise fail(SPLIT, "a worker process has ended before the run", remedy="leave --workers out")
        answers = _decode(data)
        if answers.error:
            raise fail(
                SPLIT, "a worker process has failed", reason=answers.error, remedy="leave --workers out"
            )
        return answers


class Shares:
    """The first process: gives the sinks what all have found, in order."""

    def __init__(self, matcher: SharedMatcher, workers: Sequence[Worker]) -> None:
        self._matcher, self._workers = matcher, workers

    def send(self, run: Run, found: Sequence[Occurrence]) -> None:
        """Takes what this process has found in a batch, and what the others have."""
        parts = [answers_of(run.outlets, self._matcher, found), *(one.next() for one in self._workers)]
        for part in parts:
            run.occurrences.update(part.events)
        orders = [order for part in parts for order in part.orders]
        places = sorted(range(len(orders)), key=orders.__getitem__)  # stable: each part is in order itself
        for number, outlet in enumerate(run.outlets.values()):
            output = [text for part in parts for text in part.outputs[number]]
            if places:
                outlet.sink.send("", b"".join([output[place] for place in places]))
                outlet.sink.flush()

    def end(self) -> None:
        """Ends the other processes, and waits until they are gone."""
        for one in self._workers:
            one.answers.close()
            os.kill(one.process, signal.SIGKILL)  # it writes nothing but the pipe
            os.waitpid(one.process, 0)


class _Sending:
    """Another process: sends what it finds to the first one."""

    def __init__(self, matcher: SharedMatcher, pipe: BinaryIO) -> None:
        self._matcher, self._pipe = matcher, pipe

    def send(self, run: Run, found: Sequence[Occurrence]) -> None:
        self._write(answers_of(run.outlets, self._matcher, found))

    def fail(self, error: BaseException) -> None:
        """Tells the first process why this one cannot go on."""
        self._write(Answers([], [], {}, str(error) or type(error).__name__))

    def _write(self, answers: Answers) -> None:
        data = _encode(answers)
        self._pipe.write(len(data).to_bytes(_LENGTH) + data)
        self._pipe.flush()

    def end(self) -> None:
        self._pipe.close()


def answers_of(outlets: Mapping[str, Outlet], matcher: SharedMatcher, found: Sequence[Occurrence]) -> Answers:
    """What a process has found in a batch, written for each sink."""
    outputs = [outlet.texts(found) for outlet in outlets.values()]
    orders = [matcher.order_of(one) for one in found]
    matcher.forget()
    return Answers(orders, outputs, Counter([one.event for one in found]))


def require_splitting(order: RunOrder, query: Query) -> SharedMatcher:
    """The matcher of a run in several processes; refuses what such a run cannot do, by name."""
    unsuited = {
        "--checkpoint": order.checkpoint is not None,
        "--watch": order.watch,
        "--why": order.why,
        "--idle": order.idle is not None,
        "--metrics": bool(order.metrics),
        "future in obep.toml": order.future is not None,
        "max_keys in obep.toml": order.config.engine.get("max_keys") is not None,
    }
    for name, given in unsuited.items():
        if given:
            raise _refused(f"{name} is for a run in one process", f"leave {name} or --workers out")
    if not hasattr(os, "fork"):
        raise _refused("this system has no fork", "leave --workers out")
    if query.linked.models or query.bundle.definitions.windowed:
        raise _refused("the query reads a window or a stream of knowledge as a whole", "leave --workers out")
    return SharedMatcher(query, order.workers)


def require_files(run: Run) -> None:
    """Refuse sources that only one process can read, and sinks that are not files."""
    for name, source in run.sources.items():
        if not isinstance(source, FileSource):
            raise _refused(f"{name} is no file, and only one process can read it", "leave --workers out")
        if not source.is_regular:
            raise _refused(f"{name} is a pipe, and only one process can read it", "leave --workers out")
    for name, outlet in run.outlets.items():
        if not isinstance(outlet.sink, FileSink | OutputSink):
            raise _refused(f"{name} is no file", "a file or standard output as sink, or leave --workers out")


def start_workers(run: Run, engine: Engine, matcher: SharedMatcher, count: int) -> bool:
    """Starts the other processes. Returns whether this is the first one; the others only run."""
    if engine.may_reason:
        raise _refused("the query asks the reasoner, which runs in one process", "leave --workers out")
    workers: list[Worker] = []
    for outlet in run.outlets.values():
        outlet.sink.flush()  # the header of a CSV file: no other process may write it again
    for share in range(1, count):
        reading, writing = os.pipe()
        process = os.fork()
        if process:
            os.close(writing)
            workers.append(Worker(process, os.fdopen(reading, "rb", 1 << 20)))
            continue
        os.close(reading)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the first process ends the others
        matcher.share = share
        run.letters = Letters()
        engine.on_dead_letter = run.letters.take
        run.shares = _Sending(matcher, os.fdopen(writing, "wb", 1 << 20))
        return False
    run.shares = Shares(matcher, workers)
    return True


def run_share(run: Run) -> None:
    """The whole of another process: it runs, and ends without a word."""
    status = 1
    try:
        with rarely_collected():
            run.go()
        status = 0
    except BaseException as error:
        if isinstance(run.shares, _Sending):
            run.shares.fail(error)
    finally:
        os._exit(status)  # nothing of the first process is closed or flushed a second time


def _refused(words: str, remedy: str) -> ObepError:
    return fail(SPLIT, f"--workers: {words}", remedy=remedy)
