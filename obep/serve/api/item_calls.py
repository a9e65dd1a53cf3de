"""Items in: `POST /streams/{name}`, and a WebSocket whose frames are bodies of such requests."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.websockets import WebSocketDisconnect

from obep.errors import fail
from obep.formats import read_file
from obep.formats.input_limits import Refused, check_nesting
from obep.model import DeadLetter, Item
from obep.query.nearest_name import nearest
from obep.serve.api.calls import Call, other_type
from obep.serve.api.http_answers import Plain, answer, refusal
from obep.serve.busy import Busy
from obep.serve.entries import Came
from obep.serve.web.access import PROTOCOL

FORMATS = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/json": "json",
    "application/n-quads": "nquads",
    "application/trig": "trig",
    "application/ld+json": "jsonld",
}
"""The formats of items, by Content-Type."""
AT_ONCE = 64 << 10
"""A longer body is read in a thread of its own, so that others need not wait."""
SHOWN = 20
"""Refused records that an answer names."""
WINDOW = 64
"""Frames of a WebSocket that may be on their way; then nothing more is read from it."""


async def post(call: Call) -> Response:
    """200 when all items are safe. Records that are none are dead letters; 422 if nothing could be read."""
    stream = stream_of(call)
    kind = call.content_type
    if kind not in FORMATS:
        raise other_type(kind, *FORMATS)
    body = await call.body(call.service.settings.body_bytes)
    change = await _read(call, stream, body, FORMATS[kind])
    said = await _taken(call, change)
    status = 422 if change.letters and not change.accepted else 200
    return answer(said, status)


def stream_of(call: Call) -> str:
    """The stream of the path; raises OBEP855 for one that no query reads."""
    name, known = call.path("name"), call.service.queries.streams
    if name not in known:
        near = nearest(name, known)
        raise fail(
            "OBEP855",
            f"no query reads a stream {name}",
            reason="Items of it would have no effect.",
            remedy=near or ", ".join(known),
        )
    return name


async def _read(call: Call, stream: str, body: bytes, format: str) -> Came:
    """What a body holds; it is read as the source of that stream is."""

    def read() -> Came:
        return call.service.came(_records(call, stream, body, format))

    return read() if len(body) <= AT_ONCE else await asyncio.to_thread(read)


def _records(call: Call, stream: str, body: bytes, format: str) -> list[Item | DeadLetter]:
    reading = call.service.reading(stream)
    if format == "json":  # one record, or an array of them, as in a file that ends with .json
        try:
            check_nesting(body, reading.limits.nesting + 1)
        except Refused as refused:
            return [DeadLetter(stream, None, refused.code, refused.reason)]
    return list(read_file(BytesIO(body), format, reading))


async def _taken(call: Call, change: Came) -> dict[str, Any]:
    """What is answered once a change is safe."""
    said = await asyncio.wrap_future(call.service.submit(change))
    refused = [refused_record(one, call.context.plain) for one in change.letters[:SHOWN]]
    return {**said, "refused": len(change.letters), "letters": refused}


def refused_record(letter: DeadLetter, plain: Plain) -> dict[str, object]:
    """A dead letter as an answer shows it."""
    record: dict[str, object] = {"code": letter.code, "reason": plain.text(letter.reason)}
    return record | ({"line": letter.line} if letter.line else {})


async def socket(call: Call) -> None:
    """Each frame is a body of JSON lines, or of `type`. Each is answered in its turn, by its number.

    An answer is `{"frame": 0, "status": 200, "accepted": 3, "refused": 0, "letters": [], "next": 17}`, or has
    `errors`. No more than `WINDOW` frames are on their way: then the service stops reading, and TCP waits.
    """
    websocket = call.websocket
    stream, kind = stream_of(call), websocket.query_params.get("type", "application/x-ndjson")
    if kind not in FORMATS:
        raise other_type(kind, *FORMATS)
    await websocket.accept(PROTOCOL if PROTOCOL in websocket.scope.get("subprotocols", ()) else None)
    answers: asyncio.Queue[asyncio.Future[dict[str, Any]] | None] = asyncio.Queue(WINDOW)
    sender = asyncio.ensure_future(_send(call, answers))
    try:
        while not sender.done():
            frame = await websocket.receive()
            if frame["type"] == "websocket.disconnect":
                break
            body = frame.get("bytes") or (frame.get("text") or "").encode()
            await answers.put(await _begin(call, stream, body, FORMATS[kind]))
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        await answers.put(None)
        await sender


async def _begin(call: Call, stream: str, body: bytes, format: str) -> asyncio.Future[dict[str, Any]]:
    """Submit a frame, in the order in which it came; wait for room if the queue is full."""
    change = await _read(call, stream, body, format)
    while True:
        try:
            safe = asyncio.wrap_future(call.service.submit(change))
            break
        except Busy:
            await asyncio.sleep(0.05)
    return asyncio.ensure_future(_answered(call, change, safe))


async def _answered(call: Call, change: Came, safe: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
    try:
        said = await safe
    except Exception as error:
        response = refusal(error, call.context.plain)
        return {"status": response.status_code, **msgspec.json.decode(bytes(response.body))}
    status = 422 if change.letters and not change.accepted else 200
    letters = [refused_record(one, call.context.plain) for one in change.letters[:SHOWN]]
    return {"status": status, **said, "refused": len(change.letters), "letters": letters}


async def _send(call: Call, answers: asyncio.Queue[asyncio.Future[dict[str, Any]] | None]) -> None:
    number = 0
    gone = False
    while (one := await answers.get()) is not None:
        said = {"frame": number, **await one}
        number += 1
        try:
            if not gone:
                await call.websocket.send_text(msgspec.json.encode(said).decode())
        except (WebSocketDisconnect, RuntimeError):
            gone = True
