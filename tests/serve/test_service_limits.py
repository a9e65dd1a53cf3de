"""What is too much for a service is refused by its own status, and nothing of it is taken."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from serve.conftest import Open, line, until

from obep.errors import ObepError, Stopped
from obep.formats import read_items
from obep.serve.calls import Call
from obep.serve.http_answers import STATUS
from obep.serve.watchers import TooSlow
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
