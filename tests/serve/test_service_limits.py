"""What is too much for a service is refused by its own status, and nothing of it is taken."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
import uvicorn
from serve.conftest import Local, Open, line, until
from serve.test_service_kills import killed
from websockets.sync.client import connect

from obep.errors import ObepError, Stopped
from obep.formats import read_items
from obep.serve.api.calls import Call
from obep.serve.api.http_answers import STATUS
from obep.serve.watchers import TooSlow
from obep.serve.web import web_server
from obep.serve.write_log import WriteLog


def test_a_body_that_is_too_long_is_not_read(local: Open) -> None:
    service = local("[serve]\nbody_bytes = 200\n")
    said = service.post(line(1) * 10)
    assert said.status_code == 413 and said.json()["errors"][0]["code"] == "OBEP857"

    def parts() -> object:
        yield from (line(n).encode() for n in range(1, 20))  # no Content-Length

    headers = {"Content-Type": "application/x-ndjson"}
    assert service.client.post("/streams/points", content=parts(), headers=headers).status_code == 413
    assert service.client.get("/events").json()["next"] == 0


@pytest.mark.slow
def test_a_body_that_does_not_come_is_not_waited_for(local: Open) -> None:
    service = local("[serve]\nbody_seconds = 1\n").service

    class Slow:
        headers: ClassVar[dict[str, str]] = {}

        async def stream(self) -> object:
            yield b"{"
            await asyncio.Event().wait()

    call = Call(type("Context", (), {"service": service})(), Slow())  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Call, "request", property(lambda self: self.connection))
        with pytest.raises(ObepError, match="OBEP858"):
            asyncio.run(call.body(100))
    assert STATUS["OBEP858"] == 408


def test_a_full_queue_is_answered_by_429_and_what_was_taken_is_found(local: Open) -> None:
    service = local("[serve]\nqueue = 2\n")
    hold, held = threading.Event(), threading.Event()
    append = service.service.log.append

    def slowly(body: bytes) -> None:
        held.set()
        hold.wait(30)
        append(body)

    service.service.log.append = slowly  # type: ignore[method-assign]
    first = threading.Thread(target=service.post, args=(line(1), line(2)))
    first.start()
    held.wait(30)
    refused = service.post(line(3))
    assert refused.status_code == 429 and refused.json()["errors"][0]["code"] == "OBEP864"
    assert int(refused.headers["Retry-After"]) >= 1
    hold.set()
    first.join()
    assert service.post(line(3)).status_code == 200
    assert [one["end"] for one in service.client.get("/events/Hot").json()["events"]] == [1, 2, 3]


def test_no_more_watch_than_are_allowed(local: Open) -> None:
    service = local("[serve]\nwatchers = 1\n")
    with service.socket("/watch?since=0") as socket:
        service.post(line(1))
        assert socket.receive_json()["seq"] == 1
        said = service.client.get("/watch")
        assert said.status_code == 503 and said.json()["errors"][0]["code"] == "OBEP865"


def test_a_full_disk_is_answered_by_507_and_acknowledges_nothing(
    local: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = local()
    service.post(line(1))

    def full(number: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    log = service.service.log
    monkeypatch.setattr(WriteLog, "_write", lambda self, data: full(0, data))
    said = service.post(line(2))
    assert said.status_code == 507 and said.json()["errors"][0]["code"] == "OBEP856"
    assert service.client.get("/health").status_code == 503
    monkeypatch.undo()
    assert service.post(line(3)).status_code == 200 and service.client.get("/health").status_code == 200
    assert log.next == 2
    assert [one["end"] for one in service.client.get("/events/Hot").json()["events"]] == [1, 3]


def test_after_a_disk_that_failed_nothing_more_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = WriteLog(tmp_path)
    log.append(b"one")

    def failed(number: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", failed)
    with pytest.raises(Stopped, match="OBEP856"):
        log.append(b"two")
    monkeypatch.undo()
    with pytest.raises(Stopped, match="OBEP856"):
        log.append(b"three")


def test_a_slow_watcher_is_dropped_and_nobody_waits_for_it(local: Open) -> None:
    service = local()
    app = service.client.app
    watchers = app.state.watchers  # type: ignore[attr-defined]
    watchers._recent = type(watchers._recent)(maxlen=10)

    later = "".join(line(n) for n in range(2, 40)).encode()

    async def watch() -> str:
        lots = watchers.follow(0, frozenset())
        await anext(lots)
        service.service.submit(service.service.came(read_items(later, "jsonl", "points"))).result()
        await asyncio.sleep(0)  # while it does something else
        try:
            while True:
                await anext(lots)
        except TooSlow:
            return "dropped"

    service.post(line(1))
    until(lambda: watchers.last >= 1)
    assert service.client.portal is not None
    assert service.client.portal.call(watch) == "dropped"
    assert watchers.number == 0


@contextmanager
def answering_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A connection to a server that answers each head without reading the body."""
    monkeypatch.setattr(web_server, "HEAD_S", 0.1)

    async def app(scope: object, receive: object, send: Callable[..., Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(
        app, port=0, http=web_server.ImpatientProtocol, log_config=None, lifespan="off", timeout_keep_alive=60
    )
    server = web_server.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    with socket.create_connection(server.servers[0].sockets[0].getsockname(), timeout=30) as connection:
        yield connection
    server.stop()
    thread.join()


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_a_head_that_does_not_come_to_its_end_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    """On a new connection, and after a request on one that is kept."""
    with answering_at_once(monkeypatch) as connection:
        connection.sendall(before)
        assert not before or connection.recv(1000).startswith(b"HTTP/1.1 204")
        connection.sendall(b"GET / HT")
        while connection.recv(1000):
            pass  # it ends: the other side has closed


@pytest.mark.parametrize(
    ("head", "part"),
    [(b"Content-Length: 1000000000", b"x"), (b"Transfer-Encoding: chunked", b"1\r\nx\r\n")],
)
def test_a_body_that_goes_on_after_its_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, head: bytes, part: bytes
) -> None:
    """Byte after byte, so that the connection is never silent."""
    with answering_at_once(monkeypatch) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 204")
        connection.settimeout(0.01)

        def closed() -> bool:
            try:
                connection.sendall(part)
                return not connection.recv(1000)
            except TimeoutError:
                return False
            except OSError:
                return True

        until(closed)


def test_a_socket_on_which_nothing_is_sent_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "HEAD_S", 0.05)
    looks: list[bool] = []
    look = web_server.ImpatientProtocol._look

    def counted(self: web_server.ImpatientProtocol) -> None:
        look(self)
        looks.append(self.transport.is_closing())

    monkeypatch.setattr(web_server.ImpatientProtocol, "_look", counted)

    async def app(
        scope: object, receive: Callable[..., Awaitable[object]], send: Callable[..., object]
    ) -> None:
        await receive()
        await send({"type": "websocket.accept"})  # type: ignore[misc]
        await receive()
        await send({"type": "websocket.send", "text": "still here"})  # type: ignore[misc]

    config = uvicorn.Config(
        app,
        port=0,
        http=web_server.ImpatientProtocol,
        ws="websockets-sansio",
        log_config=None,
        lifespan="off",
    )
    server = web_server.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    host, port = server.servers[0].sockets[0].getsockname()
    with connect(f"ws://{host}:{port}/") as client:
        until(lambda: bool(looks))
        client.send("hello")
        assert client.recv(timeout=30) == "still here" and looks == [False]
    server.stop()
    thread.join()


def test_who_goes_before_the_answer_harms_nobody(local: Open) -> None:
    service = local()
    future = service.service.submit(service.service.came(read_items(line(1).encode(), "jsonl", "points")))
    assert not future.cancel()
    assert service.post(line(2)).status_code == 200
    assert len(service.client.get("/events/Hot").json()["events"]) == 2


def test_an_engine_that_fails_is_said_and_what_was_acknowledged_is_kept(
    local: Open, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = local()
    service.post(line(1))

    def broken(turn: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(type(service.service.run), "take", lambda self, turn: broken(turn))
    for number in (2, 3):
        said = service.post(line(number))
        assert said.status_code == 503 and said.json()["errors"][0]["code"] == "OBEP865"
        assert "mistake" not in said.text
    assert service.client.get("/health").status_code == 503
    assert "a mistake" in capsys.readouterr().err
    monkeypatch.undo()
    again = Local(killed(service, project))
    try:
        assert {one["end"] for one in again.client.get("/events/Hot").json()["events"]} >= {1}
        assert again.post(line(4)).status_code == 200
    finally:
        again.stop()
