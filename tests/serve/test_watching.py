"""What is found comes to all who watch, each record once and in order, over both ways."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from serve.conftest import Open, Running, Start, line, until
from websockets.asyncio.client import connect

from obep.serve.watchers import AT_ONCE


def test_a_socket_of_items_answers_each_frame_in_its_turn(local: Open) -> None:
    service = local()
    with service.socket("/streams/points") as socket:
        for frame in (line(1) + line(2), "{no json\n", line(3)):
            socket.send_text(frame)
        answers = [socket.receive_json() for _ in range(3)]
    assert [one["frame"] for one in answers] == [0, 1, 2]
    assert [(one["status"], one["accepted"], one["refused"]) for one in answers] == [
        (200, 2, 0),
        (422, 0, 1),
        (200, 1, 0),
    ]
    assert [one["end"] for one in service.client.get("/events/Hot").json()["events"]] == [1, 2, 3]


def test_a_watcher_gets_what_was_and_what_comes(local: Open) -> None:
    service = local()
    service.post(line(1), line(2))
    with service.socket("/watch?since=0&event=Hot") as socket:
        first = [socket.receive_json() for _ in range(2)]
        service.post(line(3))
        then = socket.receive_json()
    whole = service.client.get("/events/Hot").json()["events"]
    assert [one["record"] for one in (*first, then)] == whole
    assert [one["kind"] for one in (*first, then)] == ["event"] * 3


def test_who_is_behind_gets_lot_after_lot_without_a_gap(local: Open) -> None:
    service = local()
    watchers = service.client.app.state.watchers  # type: ignore[attr-defined]
    service.post(*(line(n) for n in range(1, 2 * AT_ONCE)))
    last = service.client.get("/events?limit=10000").json()["next"]

    async def read() -> list[list[int]]:
        lots = watchers.follow(AT_ONCE // 2, frozenset())
        found = [[row.seq for row in await anext(lots)]]
        while found[-1][-1] < last:
            found.append([row.seq for row in await anext(lots)])
        await lots.aclose()
        return found

    assert service.client.portal is not None
    until(lambda: watchers.last == last)
    found = service.client.portal.call(read)
    assert [number for lot in found for number in lot] == list(range(AT_ONCE // 2 + 1, last + 1))
    assert len(found) > 1 and max(map(len, found)) == AT_ONCE


def server_sent(text: str) -> list[tuple[int, str, object]]:
    """Number, kind and record of each event."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(one.split(": ", 1) for one in block.splitlines() if ": " in one and one[0] != ":")
        if "id" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def read_until(service: Running, number: int, headers: dict[str, str], query: str = "") -> str:
    text = ""
    with service.client.stream("GET", f"/watch{query}", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for part in response.iter_text():
            text += part
            if f"id: {number}\n" in text and text.endswith("\n\n"):
                break
    return text


@pytest.mark.slow
def test_watchers_in_many_ways_get_everything_once(start: Start, project: Path) -> None:
    """Server-sent events go on by Last-Event-ID; a hundred sockets get the same."""
    service = start()
    service.post(line(1), line(2), line(3))
    whole = service.client.get("/events").json()
    sent = server_sent(read_until(service, whole["next"], {}, "?since=0"))
    assert [record for _, _, record in sent] == whole["events"]
    later = server_sent(read_until(service, whole["next"], {"Last-Event-ID": "2"}))
    assert [number for number, _, _ in later] == list(range(3, whole["next"] + 1))

    async def watch() -> list[list[int]]:
        url = service.url.replace("http", "ws")
        sockets = [await connect(f"{url}/watch?since=0") for _ in range(100)]
        async with httpx.AsyncClient(base_url=service.url, timeout=30) as client:
            headers = {"Content-Type": "application/x-ndjson"}
            await client.post("/streams/points", content=line(4) + line(5), headers=headers)
        last = service.client.get("/events").json()["next"]

        async def read(socket: object) -> list[int]:
            numbers: list[int] = []
            while not numbers or numbers[-1] < last:
                numbers.append(json.loads(await socket.recv())["seq"])  # type: ignore[attr-defined]
            await socket.close()  # type: ignore[attr-defined]
            return numbers

        return list(await asyncio.gather(*map(read, sockets)))

    found = asyncio.run(watch())
    last = service.client.get("/events").json()["next"]
    assert found == [list(range(1, last + 1))] * 100
    assert service.stop() == 143
