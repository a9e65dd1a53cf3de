"""What is found, as it comes: server-sent events and WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse
from starlette.websockets import WebSocketDisconnect

from obep.errors import fail
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import HEADERS
from obep.serve.event_names import events_named
from obep.serve.journal import Found
from obep.serve.watchers import TooSlow
from obep.serve.web.access import PROTOCOL

SEND_S = 10.0
"""Who has not taken what was sent within so many seconds is dropped."""
SLOW = 1013
"""The code with which a WebSocket that is too slow is closed."""


def _since(call: Call) -> int | None:
    last = call.connection.headers.get("last-event-id", "")
    if last and "since" not in call.connection.query_params:
        if not (last.isascii() and last.isdigit() and len(last) < 17):
            raise fail(
                "OBEP859",
                "Last-Event-ID is no number",
                reason="It is the number of a record, as the service has sent it.",
                remedy="Last-Event-ID: 17",
            )
        return int(last)
    return call.number("since")


def _events(call: Call) -> frozenset[str]:
    names = [name for name in call.connection.query_params.get("event", "").split(",") if name]
    return events_named(names, call.service)


async def stream(call: Call) -> Response:
    """Server-sent events: the id is the number of the record, by which a browser goes on."""
    since, events = _since(call), _events(call)
    call.context.watchers.require_room()

    async def lines() -> AsyncIterator[bytes]:
        yield b"retry: 1000\n\n"
        try:
            async with aclosing(call.context.watchers.follow(since, events)) as lots:
                async for lot in lots:
                    yield b"".join(map(_sent, lot)) or b": nothing\n\n"
        except TooSlow:
            call.context.watchers.dropped += 1
            yield b"event: dropped\ndata: too slow\n\n"

    return StreamingResponse(lines(), headers=HEADERS, media_type="text/event-stream")


def _sent(row: Found) -> bytes:
    return f"id: {row.seq}\nevent: {row.kind}\ndata: {row.record}\n\n".encode()


async def socket(call: Call) -> None:
    """Text frames, a JSON object each: `{"seq": 3, "kind": "event", "record": {...}}`."""
    websocket = call.websocket
    since, events = _since(call), _events(call)
    call.context.watchers.require_room()
    await websocket.accept(PROTOCOL if PROTOCOL in websocket.scope.get("subprotocols", ()) else None)
    ends = [asyncio.ensure_future(one) for one in (_send(call, since, events), _gone(call))]
    try:
        done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if ends[0] in done:
            call.context.watchers.dropped += 1
            await websocket.close(SLOW, "too slow")
    finally:
        for end in ends:
            end.cancel()
        await asyncio.wait(ends)


async def _send(call: Call, since: int | None, events: frozenset[str]) -> None:
    """Sends what is found; comes to its end when the other end is too slow."""
    now = asyncio.get_running_loop().time
    try:
        async with aclosing(call.context.watchers.follow(since, events)) as lots:
            async for lot in lots:
                async with asyncio.timeout(None) as limit:
                    for row in lot:
                        limit.reschedule(now() + SEND_S)
                        text = f'{{"seq":{row.seq},"kind":"{row.kind}","record":{row.record}}}'
                        await call.websocket.send_text(text)
    except (TooSlow, TimeoutError):
        return
    except (WebSocketDisconnect, RuntimeError):  # it went while something was sent
        await asyncio.Event().wait()


async def _gone(call: Call) -> None:
    """Waits until the other end goes; what it sends is not looked at."""
    while (await call.websocket.receive())["type"] != "websocket.disconnect":
        pass
