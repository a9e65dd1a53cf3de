"""`obep.stream`: the same answers as `detect`, and a state that can go on after a cancellation."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

import obep

QUERY = obep.load(
    text="""
PREFIX : <http://example.org/>
EVENT Hot AS (celsius some number[> 30])
EVENT Cold AS (celsius some number[< 10])
EVENT Swing(?room) MATCH Hot(?room) SEQ Cold(?room) WITHIN 1 h
RETURN Hot, Swing
"""
)
GIVEN: dict[str, Any] = {"time": "t", "subject": "room"}
ROWS = [{"t": n, "room": "ab"[n % 2], "celsius": 40 if n % 3 else 5} for n in range(40)]


async def replayed(rows: list[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    for row in rows:
        await asyncio.sleep(0)
        yield row


def ids(hits: Any) -> list[str]:
    return [hit.id for hit in hits]


@pytest.mark.parametrize("source", [replayed, list, iter])
def test_a_stream_gives_what_detect_gives(source: Any) -> None:
    async def main() -> list[obep.Occurrence]:
        return [hit async for hit in obep.stream(QUERY, source(ROWS), **GIVEN)]

    hits = asyncio.run(main())
    expected = obep.detect(QUERY, ROWS, **GIVEN).found
    assert [hit.to_json() for hit in hits] == [hit.to_json() for hit in expected]
    assert len(hits) > 20


@pytest.mark.parametrize("cut", [0, 1, 7, 25, 39, 40])
def test_a_cancelled_stream_goes_on_from_its_snapshot(cut: int) -> None:
    """Whenever it is cancelled: what was given, what was not given yet, and the rest are all there is."""

    async def stalled() -> AsyncIterator[dict[str, Any]]:
        async for row in replayed(ROWS[:cut]):
            yield row
        await asyncio.Event().wait()

    async def main() -> tuple[list[str], obep.Stream]:
        running = obep.stream(QUERY, stalled(), **GIVEN)
        given: list[str] = []

        async def consume() -> None:
            async for hit in running:
                given.append(hit.id)

        task = asyncio.create_task(consume())
        while running.taken < cut:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        given += ids(running.undelivered)
        rest = obep.stream(QUERY, replayed(ROWS[running.taken :]), snapshot=running.snapshot(), **GIVEN)
        return given + [hit.id async for hit in rest], running

    found, running = asyncio.run(main())
    assert running.taken == cut
    assert found == ids(obep.detect(QUERY, ROWS, **GIVEN).found)


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_a_cancelled_stream_goes_on_by_itself(steps: int) -> None:
    """Also if its source waits for a record at the time, which a cancellation would end."""

    async def slow() -> AsyncIterator[dict[str, Any]]:
        for row in ROWS:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            yield row

    async def main() -> tuple[list[str], int]:
        running, given, cancelled = obep.stream(QUERY, slow(), **GIVEN), [], 0

        async def consume() -> None:
            async for hit in running:
                given.append(hit.id)  # noqa: PERF401  what came before a cancellation stays

        while True:
            task = asyncio.create_task(consume())
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                return given, cancelled
            task.cancel()
            await asyncio.wait({task})
            cancelled += 1

    found, cancelled = asyncio.run(main())
    assert found == ids(obep.detect(QUERY, ROWS, **GIVEN).found)
    assert cancelled > 10


def test_a_stream_that_is_dropped_ends_its_source() -> None:
    ended = []

    async def stalled() -> AsyncIterator[dict[str, Any]]:
        try:
            await asyncio.Event().wait()
            yield ROWS[0]
        finally:
            ended.append(True)

    async def main() -> None:
        running = obep.stream(QUERY, stalled(), **GIVEN)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(running), 0)
        task = asyncio.ensure_future(anext(running))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert not ended
        del running, task
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert ended

    asyncio.run(main())


def test_a_break_leaves_the_rest_for_the_next_loop() -> None:
    async def main() -> list[str]:
        running, given = obep.stream(QUERY, replayed(ROWS), **GIVEN), []
        for _ in range(5):
            async for hit in running:
                given.append(hit.id)
                break
        return given + [hit.id async for hit in running]

    assert asyncio.run(main()) == ids(obep.detect(QUERY, ROWS, **GIVEN).found)


def test_a_stream_that_is_silent_moves_the_clock() -> None:
    query = obep.load(
        text="PREFIX : <http://e/>\nFROM STREAM <a>\nFROM STREAM <b>\n"
        "EVENT A AS (p value 1)\nEVENT B AS (p value 2)\n"
        "EVENT C MATCH A NOT FOLLOWED BY B WITHIN 1 s\nRETURN C"
    )
    clock = iter(range(0, 10**12, 2_000_000))

    async def silent() -> AsyncIterator[obep.Item]:
        for at in (1, 100):
            one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
            yield obep.Item("a", at * 1_000_000, (("<http://e/x>", "<http://e/p>", one),))
        await asyncio.Event().wait()

    async def main() -> obep.Occurrence:
        found = obep.stream(query, silent(), idle=0.002, now=lambda: next(clock))
        return await anext(found)

    assert asyncio.run(main()).start == 1_000_000


@pytest.mark.parametrize("source", ["x.csv", 7, {"t": 1}])
def test_what_is_no_source_is_refused(source: Any) -> None:
    async def main() -> None:
        async for _ in obep.stream(QUERY, source):
            pass

    with pytest.raises(obep.ObepError) as caught:
        asyncio.run(main())
    assert caught.value.code == "OBEP880"


async def _first_and_no_more(running: obep.Stream) -> str:
    """The first result, and a wait for the next one that is given up."""
    found = (await anext(running)).individual
    waiting = asyncio.ensure_future(anext(running))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    return found


async def _one_and_silence() -> AsyncIterator[dict[str, Any]]:
    yield {"time": 1, "room": "a", "celsius": 31.5}
    await asyncio.Event().wait()


def test_a_source_whose_loop_has_ended_has_ended() -> None:
    running = obep.stream(QUERY, _one_and_silence(), time="time", subject="room")
    assert (
        asyncio.run(_first_and_no_more(running)) == "<http://example.org/a>"
    )  # cancels what is left, the source too

    async def rest() -> list[str]:
        return [hit.individual async for hit in running]

    assert asyncio.run(rest()) == []


def test_a_stream_is_forgotten_after_its_loop_was_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    loop = asyncio.new_event_loop()
    running = obep.stream(QUERY, _one_and_silence(), time="time", subject="room")
    loop.run_until_complete(_first_and_no_more(running))
    loop.close()
    del running
    gc.collect()
    assert ignored == []
