"""A slow sink behind a queue: the engine goes on while it is sending, and waits when too much is waiting."""

from __future__ import annotations

from queue import Queue
from threading import Thread
from typing import Protocol

from obep.errors import ObepError

HELD = 1000


class Slow(Protocol):
    """What a queue can stand before."""

    def send(self, id: str, payload: bytes) -> None: ...

    def hurry(self) -> None:
        """Try nothing again: somebody waits for the end. May be called from a signal."""

    def close(self) -> None: ...


class Posted:
    """Sends in a thread of its own, in order; what was not taken is kept, with the reason, for the caller."""

    def __init__(self, sink: Slow) -> None:
        self._sink = sink
        self._waiting: Queue[tuple[str, bytes] | None] = Queue(HELD)
        self.failed: list[tuple[str, str]] = []
        self._thread = Thread(target=self._run, name="obep sink", daemon=True)
        self._thread.start()

    def send(self, id: str, payload: bytes) -> None:
        self._waiting.put((id, payload))

    def flush(self) -> None:
        self._waiting.join()

    def position(self) -> int:
        return 0

    def hurry(self) -> None:
        """Somebody waits for the end; may be called from a signal."""
        self._sink.hurry()

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()
        self._sink.close()

    def _run(self) -> None:
        while (posted := self._waiting.get()) is not None:
            try:
                self._sink.send(*posted)
            except ObepError as error:
                self.failed.append((posted[0], error.diagnostics[0].message))
            finally:
                self._waiting.task_done()
        self._waiting.task_done()
