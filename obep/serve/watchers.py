"""Watchers of new records: each reads one short memory at its own pace, and is dropped if it falls behind."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from itertools import islice

from obep.errors import fail
from obep.serve.journal import Found, Journal

HELD = 10_000
"""The latest records, in memory, for all who watch."""
AT_ONCE = 500


class TooSlow(Exception):
    """A watcher is further behind than the memory goes back."""


class Watchers:
    """Lives in the event loop; `publish` may be called from any thread."""

    def __init__(self, journal: Journal, most: int, held: int = HELD) -> None:
        self._journal = journal
        self._most = most
        self._recent: deque[Found] = deque(maxlen=held)
        self._last = journal.numbers[0]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._more: asyncio.Event = asyncio.Event()
        self.number = 0
        self.dropped = 0

    def begin(self) -> None:
        """Called in the event loop, before the first watcher comes."""
        self._loop = asyncio.get_running_loop()

    def publish(self, found: list[Found]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take, found)

    def wake(self) -> None:
        """Let all watchers look for new records, as at the end of the service."""
        more, self._more = self._more, asyncio.Event()
        more.set()

    @property
    def last(self) -> int:
        """The number of the latest record."""
        return self._last

    def require_room(self) -> None:
        """Refuse one more if there are too many; raises OBEP865."""
        if self.number >= self._most:
            raise fail(
                "OBEP865",
                f"{self._most} watch already",
                reason="Each takes memory of the service.",
                remedy="watchers in [serve] of obep.toml",
            )

    async def follow(self, since: int | None, events: frozenset[str]) -> AsyncGenerator[list[Found], None]:
        """What was found after a number and what comes, in lots; an empty lot while nothing comes.

        Raises TooSlow when what has not been read yet is no longer in memory. What lay further back at the
        beginning comes from the journal.
        """
        self.number += 1
        at = self._last if since is None else min(since, self._last)
        behind = True
        try:
            while True:
                if self._recent and at >= self._recent[0].seq - 1:
                    lot, behind = self._after(at), False
                elif at >= self._last:
                    lot, behind = [], False
                elif not behind:
                    raise TooSlow
                else:
                    lot = await asyncio.to_thread(self._journal.found, at, AT_ONCE)
                    if not lot:
                        at = self._last
                if lot:
                    at = lot[-1].seq
                    wanted = [row for row in lot if not events or row.event in events]
                    if wanted:
                        yield wanted
                    continue
                more = self._more
                if at >= self._last:
                    await _within(more, 15)
                    if not more.is_set():
                        yield []
        finally:
            self.number -= 1

    def _after(self, at: int) -> list[Found]:
        """The first of those in memory after a number; numbers have no gaps."""
        new = islice(reversed(self._recent), self._last - at)
        return list(new)[: -AT_ONCE - 1 : -1]

    def _take(self, found: list[Found]) -> None:
        self._recent.extend(found)
        self._last = found[-1].seq
        self.wake()


async def _within(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
