"""`obep.stream`: a query over records that an event loop receives."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Any, Unpack

from obep.engine.clock import micros
from obep.engine.engine import Engine
from obep.engine.query import EngineSettings, Query
from obep.engine.time_letters import kept_streams
from obep.errors import fail
from obep.formats.tables.frame_items import RecordReader, Settings, record_reader
from obep.formats.tables.frame_records import Entry, frame_records, record_of
from obep.frames.detect_frame import stream_of
from obep.model import SECOND, DeadLetter, Item, Occurrence
from obep.run.load_query import load

YIELD = 64
"""Records of a source that never waits after which the event loop may do other things."""


class Stream(AsyncIterator[Occurrence]):
    """What a query finds in a source, as it is found; `obep.stream` makes one.

    After a cancellation, or a `break`, its engine stands after `taken` records. The next `async for` over it
    goes on there; `snapshot()` goes on in another process.

    >>> import asyncio, obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> running = obep.stream(query, [{"t": 1, "room": "a", "celsius": 31.5}], time="t", subject="room")
    >>> asyncio.run(anext(running)).individual, running.taken, running.undelivered
    ('<http://e/a>', 1, ())
    """

    def __init__(
        self, engine: Engine, records: AsyncIterator[Entry], given: dict[str, Any], every: float | None
    ) -> None:
        self.engine = engine
        self.taken = 0
        """Records that the engine has taken, refused ones too."""
        self._records = records
        self._given = given
        self._every = every
        self._next: asyncio.Future[Entry | None] | None = None
        """The next record of the source. A cancellation leaves it: a source that is cancelled has ended."""
        self._reader: RecordReader | None = None
        self._found: deque[Occurrence] = deque()
        self._ended = False

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Occurrence:
        while not self._found:
            if self._ended:
                raise StopAsyncIteration
            await self._take()
        return self._found.popleft()

    @property
    def undelivered(self) -> tuple[Occurrence, ...]:
        """Results that are found and not yet delivered: the state of a snapshot is past them."""
        return tuple(self._found)

    def snapshot(self) -> bytes:
        """The state of the engine after `taken` records, for `obep.stream(…, snapshot=…)`."""
        return self.engine.snapshot()

    def __del__(self) -> None:
        """Cancel the source: its next record will not be taken."""
        if self._next is not None and not self._next.done() and not self._next.get_loop().is_closed():
            self._next.cancel()

    async def _take(self) -> None:
        """The next record, or the end; a source that is silent moves the clock of arrival."""
        if self._next is None or self._next.cancelled():  # as `asyncio.run` does with what is left
            self._next = asyncio.ensure_future(anext(self._records, None))
        while not self._next.done():
            if not (await asyncio.wait({self._next}, timeout=self._every))[0]:
                self._found.extend(self.engine.tick())
        record, self._next = self._next, None
        entry = record.result()
        if entry is None:
            self._ended = True
            await self._do(self.engine.close)
            return
        if self._reader is None:
            self._reader = record_reader([entry], **self._given)
        items = kept_streams([*self._reader.items(entry)], self.engine.query.linked.streams)
        self.taken += 1
        await self._do(lambda: self.engine.push_items(items))

    async def _do(self, push: Any) -> None:
        """Push in this thread, or in another one if the reasoner may be needed; a push is never
        interrupted."""
        if not self.engine.may_reason:
            self._keep(push())
            return
        work = asyncio.ensure_future(asyncio.to_thread(push))
        try:
            self._keep(await asyncio.shield(work))
        except asyncio.CancelledError:
            self._keep(await work)
            raise

    def _keep(self, found: list[Occurrence]) -> None:
        style = self._reader.reading.notes.style if self._reader is not None else None
        for hit in found:
            hit.style = style or ""
        self._found.extend(found)


def stream(
    query: Query | str | Path,
    source: Any,
    *,
    mapping: Settings | None = None,
    time: str = "",
    subject: str = "",
    stream: str | None = None,
    snapshot: bytes | None = None,
    **settings: Unpack[EngineSettings],
) -> Stream:
    """What a query finds in a source, as it is found: `async for hit in obep.stream(query, source)`.

    `source` is an async iterator of dicts or `Item`s, or whatever `obep.detect` takes; so are `mapping`,
    `time`, `subject` and `stream`. Without a mapping, one is made of the first record, and grows with the
    fields of others. `snapshot` goes on from that of another `Stream`, with the records after it. `settings`
    are those of `Engine`; with `idle`, streams that are silent so long hold back no others.

    >>> import asyncio, obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> async def readings():
    ...     for second, celsius in enumerate((20.5, 31.0, 35.5)):
    ...         yield {"t": second, "room": "a", "celsius": celsius}
    >>> async def main():
    ...     return [hit.start async for hit in obep.stream(query, readings(), time="t", subject="room")]
    >>> asyncio.run(main())
    [1000000, 2000000]
    """
    loaded = query if isinstance(query, Query) else load(query)
    engine = loaded.engine(**settings)
    if snapshot is not None:
        engine.restore(snapshot)
    given = {
        "mapping": mapping,
        "time": time,
        "subject": subject,
        "stream": stream_of(loaded, stream),
        "names": loaded.names,
    }
    idle = micros(settings.get("idle"))
    return Stream(engine, _records(source), given, None if idle is None else max(idle / SECOND / 2, 0.001))


def _records(source: Any) -> AsyncIterator[Entry]:
    if isinstance(source, AsyncIterable):
        return _awaited(source)
    if hasattr(source, "__anext__"):
        raise fail("OBEP880", f"{type(source).__name__} has no __aiter__", remedy="an async iterator")
    return _at_hand(source)


async def _awaited(source: AsyncIterable[Any]) -> AsyncIterator[Entry]:
    async for entry in source:
        yield entry if isinstance(entry, Item | DeadLetter) else record_of(entry)


async def _at_hand(source: Any) -> AsyncIterator[Entry]:
    for number, entry in enumerate(frame_records(source)):
        if number % YIELD == 0:
            await asyncio.sleep(0)
        yield entry
