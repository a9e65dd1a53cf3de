"""Alerts to an Alertmanager: what is sent, that it is repeated while it fires, faults, and a resumed run."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any

import pytest
from brokers import self_signed

import obep
from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.model import Alert
from obep.output.json_writer import to_line
from obep.run.embedded import open_run
from obep.run.load_query import load
from obep.run.run_spec import Order, aim, bind
from obep.streams.sinks.alertmanager import AlertmanagerSink
from obep.streams.sinks.open_sinks import open_sink
from obep.streams.stream_uri import parse_address

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT On AS (says value "on")
EVENT Off AS (says value "off")
EVENT Any AS (says some string)
STATE Running(?fan) FROM On(?fan) AS on TO Off(?fan) LIMIT 1 d IF { EVENT on { ?fan :in ?größe } }
RETURN Running FOR 2 s AS ALERTS
"""
FAN = "<http://e/f1>"


def alerts(*said: tuple[int, str], query: str = QUERY) -> list[Alert]:
    """The alerts of a fan that says these words at these instants."""
    engine = obep.load(text=query).engine()
    found = []
    for at, word in said:
        found += engine.push(f'@prefix : <http://e/> . :f1 :says "{word}" ; :in :r1 .', at=at)
    return [one for one in (*found, *engine.close()) if isinstance(one, Alert)]


class Received:
    """What a stand-in for an Alertmanager was sent, a list of alerts for each request."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.posts: Queue[list[dict[str, Any]]] = Queue()
        self.headers: list[dict[str, str]] = []
        self.answers: list[int] = []
        self.go = Event()
        """Cleared while nothing is answered."""
        self.go.set()

    def next(self) -> list[dict[str, Any]]:
        return self.posts.get(timeout=30)

    def all(self) -> list[dict[str, Any]]:
        """The alerts of all requests that have come."""
        return [alert for _ in range(self.posts.qsize()) for alert in self.next()]


@contextmanager
def server(*answers: int, certificate: Path | None = None, key: Path | None = None) -> Iterator[Received]:
    """Gives these answers in turn (then 200)."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.headers.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
            status = received.answers.pop(0) if received.answers else 200
            received.posts.put(json.loads(body))
            received.go.wait()
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    running = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    received = Received(running.server_port)
    received.answers += answers
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        running.socket = context.wrap_socket(running.socket, server_side=True)
    Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield received
    finally:
        running.shutdown()
        running.server_close()


def opened(received: Received, settings: dict[str, Any] | None = None, options: str = "") -> AlertmanagerSink:
    """A sink whose clock goes on by a second whenever it is looked at: it waits for nothing."""
    ticking = count()
    address = parse_address(f"alertmanager://127.0.0.1:{received.port}{options}")
    return AlertmanagerSink(
        address, {"resend": 10**12} | (settings or {}), Config(Path.cwd()), lambda: float(next(ticking))
    )


def give(sink: AlertmanagerSink, *some: Alert) -> None:
    for alert in some:
        sink.send(alert.record_id, to_line(alert).encode())


def test_an_alert_is_sent_with_its_labels_when_it_fires_and_with_its_end_when_it_is_resolved() -> None:
    fired, resolved = alerts((0, "on"), (5, "off"))
    with server() as received:
        sink = opened(received, {"labels": {"severity": "page"}}, "/am/")
        give(sink, fired)
        sink.flush()
        give(sink, resolved)
        sink.close()
        [first], [last] = received.next(), received.next()
    assert first == {
        "labels": {"alertname": "Running", "fan": FAN, "severity": "page"},
        "annotations": {
            "gr_f6__df_e": "<http://e/r1>",
            "id": fired.id,
            "state": "http://e/Running",
            "since": "1970-01-01T00:00:00Z",
        },
        "startsAt": "1970-01-01T00:00:02Z",
    }
    assert last["endsAt"] == "1970-01-01T00:00:05Z"
    assert last["annotations"]["ended"] == "changed"
    assert (last["labels"], last["startsAt"]) == (first["labels"], first["startsAt"])
    assert {headers["path"] for headers in received.headers} == {"/am/api/v2/alerts"}
    assert sink.failed == []


@pytest.mark.slow
def test_an_alert_is_sent_again_while_it_fires_and_not_after_it_is_resolved() -> None:
    fired, resolved = alerts((0, "on"), (5, "off"))
    with server() as received:
        sink = opened(received, {"resend": 1})
        give(sink, fired)
        first = received.next()
        assert [received.next() for _ in range(3)] == [first] * 3
        give(sink, resolved)
        sink.flush()
        sink.close()
        posts = [received.next() for _ in range(received.posts.qsize())]
    assert "endsAt" in posts[-1][0]
    assert [post for post in posts[:-1] if post != first] == []


@pytest.mark.slow
@pytest.mark.parametrize("status", [503, 429])
def test_records_wait_for_an_alertmanager_that_is_away(status: int) -> None:
    fired, resolved = alerts((0, "on"), (5, "off"))
    with server(status, status, status) as received:
        sink = opened(received)
        away = []
        sink.waits = lambda: away.append(sink.lost)
        give(sink, fired)
        for _ in range(3):
            received.next()
        give(sink, resolved)
        sink.flush()
        posts = received.all()
        sink.close()
    assert ["endsAt" in one for one in posts] == [False, True]
    assert (sink.lost, sink.failed) == ("", [])
    assert set(away) <= {"", f"status {status}"}


def test_only_the_alert_that_is_refused_has_failed() -> None:
    waits, good, bad, last = [one for at in (0, 10) for one in alerts((at, "on"), (at + 5, "off"))]
    with server(200, 400, 200, 400) as received:
        sink = opened(received)
        received.go.clear()
        give(sink, waits)
        received.next()  # it is not answered yet: the next three go together
        give(sink, good, bad, last)
        received.go.set()
        sink.close()
        assert [len(received.next()) for _ in range(4)] == [3, 1, 1, 1]
    assert [id for id, _ in sink.failed] == [bad.record_id]
    assert "status 400" in sink.failed[0][1]


def test_the_end_does_not_wait_for_an_alertmanager_that_is_away() -> None:
    (fired,) = alerts((0, "on"), (3, "on"))
    address = parse_address("alertmanager://me:hush@127.0.0.1:1")
    sink = AlertmanagerSink(address, {}, Config(Path.cwd()))
    give(sink, fired)
    sink.hurry()
    sink.flush()
    sink.close()
    assert [id for id, _ in sink.failed] == [fired.record_id]
    assert "hush" not in sink.failed[0][1]


def test_two_alerts_with_the_same_labels_are_one_until_the_last_is_resolved() -> None:
    query = QUERY + "RETURN Running AS ALERTS\n"
    at_once, lasting, *resolved = alerts((0, "on"), (5, "off"), query=query)
    assert at_once.id != lasting.id
    assert len(resolved) == 2
    with server() as received:
        sink = opened(received)
        give(sink, at_once, lasting, resolved[0])
        sink.flush()
        posts = received.all()
        assert ["endsAt" in one for one in posts] == [False, False]
        give(sink, resolved[1])
        sink.close()
        assert "endsAt" in received.next()[0]


def test_an_alert_of_the_future_fires_now() -> None:
    """Alertmanager refuses an alert that ends before it begins, and one of tomorrow does not fire."""
    ahead = 4_000_000_000
    fired, resolved = alerts((ahead, "on"), (ahead + 5, "off"))
    with server() as received:
        sink = opened(received)
        give(sink, fired, resolved)
        sink.close()
        posts = received.all()
    assert all(one["startsAt"] < "2090" for one in posts)
    assert posts[1]["startsAt"] <= posts[1]["endsAt"] < "2090"


def test_name_password_and_headers_go_along() -> None:
    (fired,) = alerts((0, "on"), (3, "on"))
    with server() as received:
        sink = opened(received, {"username": "me", "password": "word", "headers": {"X-Scope-OrgID": "7"}})
        give(sink, fired)
        sink.close()
    assert received.headers[0]["authorization"] == "Basic bWU6d29yZA=="
    assert received.headers[0]["x-scope-orgid"] == "7"


@pytest.mark.parametrize("resend", ["0", "0 s"])
def test_an_interval_of_nothing_is_refused(resend: str, tmp_path: Path) -> None:
    with pytest.raises(ObepError) as caught:
        open_sink(f"alertmanager://h?resend={resend}", {}, Config(tmp_path))
    assert caught.value.code == "OBEP503"
    with pytest.raises(ObepError) as caught:
        open_sink("alertmanager://", {}, Config(tmp_path))
    assert caught.value.code == "OBEP512"


@pytest.mark.slow
def test_tls_checks_the_certificate(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    (fired,) = alerts((0, "on"), (3, "on"))
    with server(certificate=certificate, key=key) as received:
        address = parse_address(f"alertmanagers://127.0.0.1:{received.port}")
        for settings, failures in (({"ca": certificate.name}, 0), ({}, 1)):
            sink = AlertmanagerSink(address, settings, Config(tmp_path))
            give(sink, fired)
            if failures:
                sink.hurry()
            sink.close()
            assert len(sink.failed) == failures
    assert received.posts.qsize() == 1


# ── Runs ──────────────────────────────────────────────────────────────────────────────────────────


def order(folder: Path, received: Received, settings: str = "", returned: str = "") -> Order:
    (folder / "q.obep").write_text(QUERY + returned)
    (folder / "obep.toml").write_text(
        f'[sinks.am]\nuri = "alertmanager://127.0.0.1:{received.port}?resend=0.001"\n{settings}'
    )
    config = load_config(None, folder)
    return Order(
        folder / "q.obep",
        config,
        bind((f"s={folder}/s.jsonl",), ("s",), config),
        aim((), "", config),
        checkpoint=folder / "kept",
    )


def line(at: int, word: str, who: str = "f1") -> str:
    graph = f'<http://e/{who}> <http://e/says> "{word}" ; <http://e/in> <http://e/r1> .'
    return json.dumps({"stream": "s", "time": at, "graph": graph}) + "\n"


@pytest.mark.slow
def test_an_alert_that_fired_before_a_kill_is_sent_again_by_the_run_that_goes_on(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(
        line(0, "on", "f1") + line(0, "on", "f2") + line(9, "off", "f2") + line(10, "on", "f3")
    )
    with server() as received:
        asked = order(tmp_path, received)
        query = load(asked.query)
        killed, _ = open_run(asked, query)
        killed.go()
        for outlet in killed.outlets.values():
            outlet.sink.close()  # its thread would end with the process
        sent = received.all()
        resumed, engine = open_run(asked, query)
        fired = [one.labels["fan"] for one in engine.firing()]
        again = [one for _ in range(3) for one in received.next()]
        resumed.close()
    assert fired == [FAN]
    first = next(one for one in sent if one["labels"]["fan"] == FAN)
    assert [one for one in again if one["labels"]["fan"] == FAN][-1] == first
    assert {one["labels"]["fan"] for one in again} == {FAN}


@pytest.mark.parametrize(
    ("settings", "returned", "said"),
    [
        ("", "RETURN On\n", None),
        ('events = ["Running"]\n', "RETURN On\n", None),
        ('events = ["On"]\n', "RETURN On\n", "On is an event"),
        ('events = ["Runing"]\n', "", "Running"),
    ],
)
def test_an_alertmanager_gets_alerts_alone(
    tmp_path: Path, settings: str, returned: str, said: str | None
) -> None:
    (tmp_path / "s.jsonl").write_text(line(0, "on") + line(9, "off"))
    with server() as received:
        asked = order(tmp_path, received, settings, returned)
        if said is not None:
            with pytest.raises(ObepError) as caught:
                open_run(asked, load(asked.query))
            assert caught.value.code == "OBEP517"
            assert said in str(caught.value)
            return
        run, _ = open_run(asked, load(asked.query))
        run.go()
        run.close()
        posts = received.all()
    assert {one["labels"]["alertname"] for one in posts} == {"Running"}
    assert len([one for one in posts if "endsAt" in one]) == 1


def test_a_query_without_alerts_has_nothing_for_an_alertmanager(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("")
    with server() as received:
        asked = order(tmp_path, received)
        asked.query.write_text(QUERY.replace("RETURN Running FOR 2 s AS ALERTS", "RETURN On"))
        with pytest.raises(ObepError) as caught:
            open_run(asked, load(asked.query))
    assert caught.value.code == "OBEP517"
    assert "the query returns none" in str(caught.value)
