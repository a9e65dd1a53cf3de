"""The changes that wait for the engine's thread, each with the answer that its caller waits for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from obep.engine.query import Query
from obep.errors import ObepError, fail
from obep.serve.busy import Busy
from obep.serve.entries import Came, Change
from obep.streams.sources.batches import Source

TICK_S = 0.5
"""So long `take` waits for a change."""
AT_ONCE = 256
"""The most changes that are taken together."""


def unavailable() -> ObepError:
    """What is said to those who come when no engine runs."""
    return fail("OBEP865", "the service starts, stops, or has failed", remedy="see /health")


class Job:
    """A change on its way, and its answer."""

    __slots__ = ("change", "future", "query", "sources", "weight")

    def __init__(
        self, change: Change, query: Query | None = None, sources: Mapping[str, Source] | None = None
    ) -> None:
        self.change = change
        self.weight = 0
        """How many records it counts for while it waits; nothing if it does not."""
        self.query = query
        """What a replacement puts in place."""
        self.sources = sources or {}
        """The sources that were opened for it."""
        self.future: Future[dict[str, Any]] = Future()
        self.future.set_running_or_notify_cancel()  # who waits may go; it is done all the same


class JobQueue:
    """Any thread puts, one takes. No more than `most` records wait, but one change always may."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._room = threading.Lock()
        self._ended = False
        self.waiting = 0
        """How many records wait, or are being worked on."""

    def put(self, job: Job) -> None:
        """Raises Busy if too much waits, and OBEP865 after the end."""
        change = job.change
        weight = max(1, change.accepted + len(change.letters)) if isinstance(change, Came) else 1
        with self._room:
            if self._ended:
                raise unavailable()
            if self.waiting and self.waiting + weight > self._most:
                raise Busy
            job.weight = weight
            self.waiting += weight
            self._jobs.put(job)

    def end(self) -> None:
        """Nothing comes any more."""
        with self._room:
            self._ended = True
            self._jobs.put(None)

    def take(self) -> list[Job] | None:
        """Those that are there, or that come within a tick; none at the end."""
        jobs: list[Job] = []
        try:
            job = self._jobs.get(timeout=TICK_S)
            while job is not None:
                jobs.append(job)
                if len(jobs) == AT_ONCE:
                    return jobs
                job = self._jobs.get_nowait()
        except queue.Empty:
            return jobs
        if not jobs:
            return None
        self.end()  # for the next call
        return jobs

    def answer(self, job: Job, answer: dict[str, Any] | Exception) -> None:
        """A job is done."""
        with self._room:
            self.waiting -= job.weight
        if isinstance(answer, Exception):
            job.future.set_exception(answer)
        else:
            job.future.set_result(answer)

    def refuse(self, jobs: Iterable[Job], error: Exception) -> None:
        """Answer those that have no answer yet."""
        for job in jobs:
            if not job.future.done():
                self.answer(job, error)

    def refuse_all(self, error: Exception) -> None:
        """Answer all that come, until the end."""
        while (job := self._jobs.get()) is not None:
            self.answer(job, error)
