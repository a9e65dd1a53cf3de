"""The service as a target: a request as text, given to the application of a service in this process."""

from __future__ import annotations

import asyncio
import json
import os
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import fuzz_corpus as corpus
from starlette.applications import Starlette

from obep.serve.project import find_project
from obep.serve.service import Service
from obep.serve.settings import settings_of
from obep.serve.web.web_app import make_app

QUERY = (corpus.DATA / "state.obep").read_text("utf-8") + "STATE Warm FROM X TO Y\nRETURN Warm AS ALERTS\n"
REFUSED_FOR_NOW = (503, 507)
"""Statuses from 500 on that are answers: there is no reasoner, no room, or the service stops."""


class Served:
    """A service, and the loop in which its application answers."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "query.obep").write_text(QUERY, "utf-8")
        (folder / "obep.toml").write_text('[serve]\nsnapshot = "1 h"\n', "utf-8")
        project = find_project(folder)
        self.service = Service(project, settings_of(project.config))
        self.service.start()
        self.loop = asyncio.new_event_loop()
        self.app: Starlette = make_app(self.service)

    def status(self, method: str, target: str, headers: list[tuple[bytes, bytes]], body: bytes) -> int:
        """The status of a request. A client that asks for a stream goes away at once."""
        path, _, asked = target.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path.encode(),
            "query_string": asked.encode(),
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1"), *headers],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        sent = [{"type": "http.request", "body": body, "more_body": False}]
        answers: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return sent.pop() if sent else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            answers.append(message)

        self.loop.run_until_complete(self.app(scope, receive, send))
        status = int(answers[0]["status"])
        said = b"".join(one.get("body", b"") for one in answers)
        if dict(answers[0]["headers"]).get(b"content-type", b"").startswith(b"application/json"):
            json.loads(said)
        assert status < 500 or status in REFUSED_FOR_NOW, said
        return status


@cache
def _served(folder: Path, process: int) -> Served:
    """The service of this process: threads are not there after a fork."""
    return Served(folder / f"served-{process}")


def take_request(folder: Path, data: bytes) -> None:
    """Send a request; the next one finds the same queries again."""
    served = _served(folder, os.getpid())
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.decode("latin-1").split("\n")
    method, _, target = first.partition(" ")
    headers = [
        (name.strip().lower().encode("latin-1"), value.strip().encode("latin-1"))
        for name, _, value in (line.partition(":") for line in lines)
    ]
    status = served.status(method, target, headers, body)
    if method in ("PUT", "DELETE") and status < 300:
        kind = [(b"content-type", b"application/json")]
        whole = json.dumps({"query": QUERY}).encode()
        assert served.status("PUT", "/queries/query", kind, whole) < 300
        for name in list(served.service.texts):
            if name != "query":
                served.status("DELETE", f"/queries/{name}", [], b"")


def _request(line: str, kind: str = "", body: bytes = b"") -> bytes:
    return f"{line}\n{f'Content-Type: {kind}' if kind else 'Accept: */*'}\n\n".encode() + body


@cache
def requests() -> tuple[bytes, ...]:
    """A request for each route, and bodies of each type."""
    linked = [corpus.items(format)[0] for format in ("jsonl", "csv", "nquads", "trig", "turtle", "jsonld")]
    kinds = ("application/x-ndjson", "text/csv", "application/n-quads", "application/trig")
    kinds = (*kinds, "text/turtle", "application/ld+json")
    posts = [_request("POST /streams/s", kind, body) for kind, body in zip(kinds, linked, strict=True)]
    node = b'"graph": "<http://e/x> a <http://e/A> ; <http://e/k> 1 ."'
    posts += [_request("POST /streams/s", kinds[0], b'{"time": %d, %b}\n' % (at, node)) for at in (1, 5, 9)]
    said = {
        "POST /check": {"query": QUERY, "name": "query"},
        "POST /explain": {"query": QUERY},
        "POST /try": {
            "query": QUERY,
            "items": {"s": '{"time": 1, "graph": "<http://e/x> a <http://e/A> ."}\n'},
        },
        "POST /why": {"id": "0123456789abcdef"},
        "POST /why-not?query=query": {"event": "Pair(_)"},
        "PUT /queries/query?dry_run=true&warm=10%20min": {"query": QUERY},
        "PUT /queries/other?warm=5%20s": {"query": QUERY, "name": "other"},
        "POST /alerts/0123/ack": {"by": "me", "comment": "x"},
        "POST /alerts/0123/snooze": {"by": "me", "until": "2026-11-19T03:00:00Z"},
        "POST /alerts/a%2Fb/comment": {"comment": "…"},
    }
    bodies = [_request(line, "application/json", json.dumps(body).encode()) for line, body in said.items()]
    plain = (
        *(
            "/streams",
            "/events?since=0&limit=5",
            "/events/Pair?from=2026-01-01T00:00:00Z&to=5",
            "/states/Warm",
        ),
        *("/states", "/alerts?status=all&limit=3", "/queries", "/queries/query", "/plan?query=query"),
        *("/dead-letters?since=1", "/metrics", "/health", "/openapi.json", "/watch?since=0&event=Pair,Alone"),
    )
    gets = [_request(f"GET {line}") for line in plain]
    return (*posts, *bodies, *bodies, *gets, _request("DELETE /queries/query?dry_run=true"))
