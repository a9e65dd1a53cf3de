"""A queue before a slow sink: the engine continues while it sends, and waits when the queue is full."""

from __future__ import annotations

from queue import Queue
from threading import Thread
from typing import Protocol

from obep.errors import ObepError, stopped

HELD = 1000


class Slow(Protocol):
    """A sink that can be behind a queue."""

    def send(self, id: str, payload: bytes) -> None: ...

    def hurry(self) -> None:
        """Stop retrying: the run is ending. May be called from a signal."""

    def close(self) -> None: ...


class Posted:
    """Sends in a thread of its own, in order; what was not taken is kept, with the reason, for the caller.

    What a sink raises that is no refusal of its own ends the run: the next call raises it. Nothing is sent
    after that, so that a run that goes on from a checkpoint sends all of it.
    """

    def __init__(self, sink: Slow) -> None:
        self._sink = sink
        self._waiting: Queue[tuple[str, bytes] | None] = Queue(HELD)
        self.failed: list[tuple[str, str]] = []
        self._broken: ObepError | None = None
        self._thread = Thread(target=self._run, name="obep sink", daemon=True)
        self._thread.start()

    def send(self, id: str, payload: bytes) -> None:
        self._require_whole()
        self._waiting.put((id, payload))

    def flush(self) -> None:
        self._waiting.join()
        self._require_whole()

    def position(self) -> int:
        return 0

    def hurry(self) -> None:
        """Stop retrying and finish; may be called from a signal."""
        self._sink.hurry()

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()
        self._sink.close()
        self._require_whole()

    def _require_whole(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _run(self) -> None:
        while (posted := self._waiting.get()) is not None:
            try:
                if self._broken is None:
                    self._sink.send(*posted)
            except ObepError as error:
                self.failed.append((posted[0], error.diagnostics[0].message))
            except Exception as error:  # whatever it is, it must not end this thread alone
                self._broken = unexpected(posted[0], error)
                self.failed.append((posted[0], self._broken.diagnostics[0].message))
            finally:
                self._waiting.task_done()
        self._waiting.task_done()


def unexpected(id: str, error: Exception) -> ObepError:
    """The error that ends a run whose sink has failed."""
    found = stopped(
        "OBEP555",
        f"{id} could not be sent, and nothing after it",
        reason=f"{type(error).__name__}: {error}",
    )
    found.__cause__ = error
    return found
