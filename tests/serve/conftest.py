"""A service in this process, or in one of its own on a free port, and a client for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from obep.serve.project import find_project
from obep.serve.service import Service
from obep.serve.settings import settings_of
from obep.serve.web.web_app import make_app

QUERY = """PREFIX : <http://e/>
FROM STREAM <points>
FROM STREAM <acks>
EVENT Hot AS (hot value true)
EVENT Cool AS (hot value false)
EVENT Pair MATCH Hot SEQ Cool WITHIN 5 s
STATE Warm(?x) FROM Hot(?x) TO Cool(?x)
RETURN Hot, Pair
RETURN Warm AS ALERTS
"""


def line(n: int, hot: bool = True, thing: str = "") -> str:
    """An item of `points` at the second n."""
    truth = "true" if hot else "false"
    return f'{{"time": {n}, "graph": "<http://e/{thing or f"p{n}"}> <http://e/hot> {truth} ."}}\n'


def items(client: httpx.Client, lines: Iterable[str], stream: str = "points") -> httpx.Response:
    """Post JSON lines."""
    kind = {"Content-Type": "application/x-ndjson"}
    return client.post(f"/streams/{stream}", content="".join(lines), headers=kind)


class Local:
    """A service in this process."""

    def __init__(self, folder: Path, **options: Any) -> None:
        found = find_project(folder)
        self.service = Service(found, settings_of(found.config, **options))
        self.service.start()
        host = self.service.settings.host if self.service.settings.on_loopback else "obep.example"
        self.client = TestClient(make_app(self.service), base_url=f"http://{host}").__enter__()

    def post(self, *lines: str, stream: str = "points") -> httpx.Response:
        return items(self.client, lines, stream)

    def socket(self, path: str, **options: Any) -> WebSocketTestSession:
        return self.client.websocket_connect(f"ws://127.0.0.1{path}", **options)

    def stop(self) -> None:
        self.client.__exit__(None, None, None)
        self.service.stop()


class Running:
    """A service; `client` talks to it."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "obep", "serve", str(folder), "--port", "0", *options]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.said: list[str] = []
        assert self.process.stderr is not None
        for text in self.process.stderr:
            self.said.append(text)
            if text.startswith("Serving "):
                break
        else:
            raise AssertionError("".join(self.said))
        self.url = self.said[-1].split(" on ")[1].strip()
        # a connection that is kept may be closed for its silence at the moment at which it is used again
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=self.url, timeout=30, limits=limits)

    def post(self, *lines: str, stream: str = "points") -> httpx.Response:
        return items(self.client, lines, stream)

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self.process.stderr is not None
        self.said.append(self.process.stderr.read())
        self.client.close()
        return self.process.wait(30)


Start = Callable[..., Running]
Open = Callable[..., Local]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "query.obep").write_text(QUERY)
    (folder / "obep.toml").write_text('[serve]\nsnapshot = "1 h"\n')
    return folder


@pytest.fixture
def start(project: Path) -> Iterator[Start]:
    running: list[Running] = []

    def run(*options: str, folder: Path | None = None, **environment: str) -> Running:
        running.append(Running(folder or project, *options, **environment))
        return running[-1]

    yield run
    for one in running:
        if one.process.poll() is None:
            one.kill()


@pytest.fixture
def local(project: Path) -> Iterator[Open]:
    opened: list[Local] = []

    def open_one(toml: str = "", **options: Any) -> Local:
        if toml:
            (project / "obep.toml").write_text(toml)
        opened.append(Local(project, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.stop()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
