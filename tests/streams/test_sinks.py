"""Sinks that need no broker: files, output, webhooks, commands."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest

from obep.config.toml_file import Config
from obep.config.toml_values import Secret
from obep.errors import ObepError, Stopped
from obep.streams.sinks.open_sinks import CallSink, MemorySink, OutputSink, form_of, open_sink
from obep.streams.sinks.queued_sink import Posted
from obep.streams.sinks.webhook import WebhookSink
from obep.streams.stream_uri import parse_address


def test_a_file_is_written_from_its_beginning_or_from_a_checkpoint_on(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old and long\n")
    sink = open_sink(str(path), {}, Config(tmp_path))
    sink.send("1", b"one\n")
    sink.flush()
    position = sink.position()
    sink.send("2", b"two\n")
    sink.close()
    assert path.read_text() == "one\ntwo\n"
    again = open_sink(str(path), {}, Config(tmp_path), start=position)
    again.send("3", b"three\n")
    again.close()
    assert path.read_text() == "one\nthree\n"
    with pytest.raises(ObepError) as caught:
        open_sink(str(path), {}, Config(tmp_path), start=1000)
    assert caught.value.code == "OBEP558"


@pytest.mark.parametrize(
    ("uri", "trusted", "code"),
    [
        ("missing/out.jsonl", True, "OBEP554"),
        ("/tmp/elsewhere.jsonl", False, "OBEP505"),
        ("tcp://host:1", True, "OBEP512"),
        ("/tmp/out.parquet", True, "OBEP512"),
        ("dir:x", True, "OBEP512"),
        ("exec:", True, "OBEP512"),
        ("exec:'", True, "OBEP512"),
    ],
)
def test_what_cannot_be_a_sink_is_an_error(tmp_path: Path, uri: str, trusted: bool, code: str) -> None:
    target = str(tmp_path / uri) if uri.startswith("missing") else uri
    with pytest.raises(ObepError) as caught:
        open_sink(target, {}, Config(tmp_path), trusted=trusted)
    assert caught.value.code == code


def test_the_form_of_output_follows_the_ending() -> None:
    assert [form_of(u) for u in ("-", "a.jsonl", "a.nq", "a.trig", "mqtt://h/t")] == [
        "event", "event", "rdf", "rdf", "event",
    ]  # fmt: skip
    assert form_of("-", "rdf") == "rdf"
    for uri, wanted, code in (("a.nq", "event", "OBEP513"), ("a.txt", "", "OBEP510")):
        with pytest.raises(ObepError) as caught:
            form_of(uri, wanted)
        assert caught.value.code == code


def test_output_a_list_and_a_function_are_sinks() -> None:
    out, memory, called = BytesIO(), MemorySink(), []
    for sink in (OutputSink(out), memory, CallSink(lambda id, payload: called.append((id, payload)))):
        sink.send("1", b"one\n")
        sink.flush()
        sink.close()
    assert out.getvalue() == b"one\n"
    assert memory.sent == called == [("1", b"one\n")]


# ── Webhooks ──────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def server(*answers: int) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A server that gives these answers in turn (then 200), and what it was sent."""
    seen: list[tuple[dict[str, str], bytes]] = []
    waiting = list(answers)

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((dict(self.headers), body))
            status = waiting.pop(0) if waiting else 200
            self.send_response(status)
            if status in (301, 302, 303, 307):
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def do_GET(self) -> None:
            seen.append((dict(self.headers), b"GET"))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    running = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/hook", seen
    finally:
        running.shutdown()
        running.server_close()


def test_a_webhook_is_tried_again_with_the_same_id_until_it_is_taken() -> None:
    waits: list[float] = []
    with server(503, 429) as (uri, seen):
        sink = WebhookSink(
            parse_address(uri), {"headers": {"Authorization": Secret("Bearer hush")}}, wait=waits.append
        )
        sink.send("urn:obep:1", b'{"event": "Fire"}')
    assert [body for _, body in seen] == [b'{"event": "Fire"}'] * 3
    assert {headers["Idempotency-Key"] for headers, _ in seen} == {"urn:obep:1"}
    assert seen[0][0]["Authorization"] == "Bearer hush"
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("status", [301, 302, 303, 307])
def test_a_webhook_that_sends_us_elsewhere_has_not_taken_anything(status: int) -> None:
    with server(status) as (uri, seen), pytest.raises(ObepError) as caught:
        WebhookSink(parse_address(uri), {}).send("urn:obep:1", b"{}")
    assert f"status {status}" in str(caught.value)
    assert [body for _, body in seen] == [b"{}"]


def test_name_and_password_of_a_webhook_are_a_header() -> None:
    with server() as (uri, seen):
        address = parse_address(uri.replace("//", "//me:h%C3%BCsh@") + "?x=a@b/c")
        WebhookSink(address, {}).send("urn:obep:1", b"{}")
        token = b64encode("me:hüsh".encode()).decode()
        assert seen[0][0]["Authorization"] == f"Basic {token}"
        assert seen[0][0]["Host"] == uri.split("/")[2]
        WebhookSink(address, {"headers": {"Authorization": Secret("Bearer x")}}).send("urn:obep:1", b"{}")
        assert seen[1][0]["Authorization"] == "Bearer x"


@pytest.mark.parametrize("who", ["me:hush", ":hush"])
def test_an_at_sign_after_the_host_of_a_webhook_is_no_end_of_a_password(who: str) -> None:
    """It was taken for one, and name and password went to the host that seemed to follow."""
    with server(200) as (uri, seen):
        host = uri.removeprefix("http://").removesuffix("/hook")
        address = parse_address(f"http://{who}@{host}?to=a@127.0.0.2:1")
        WebhookSink(address, {"retries": 0}).send("urn:obep:1", b"{}")
        assert seen[0][0]["Authorization"] == f"Basic {b64encode(who.encode()).decode()}"


def test_a_webhook_that_refuses_is_not_tried_again() -> None:
    waits: list[float] = []
    with server(404) as (uri, seen), pytest.raises(ObepError) as caught:
        WebhookSink(parse_address(uri), {}, wait=waits.append).send("urn:obep:1", b"{}")
    assert caught.value.code == "OBEP555"
    assert "urn:obep:1" in str(caught.value)
    assert "status 404" in str(caught.value)
    assert (len(seen), waits) == (1, [])


def test_a_webhook_that_is_not_there_is_given_up_in_the_end() -> None:
    waits: list[float] = []
    sink = WebhookSink(parse_address("http://me:hush@127.0.0.1:1/"), {"retries": 2}, wait=waits.append)
    with pytest.raises(ObepError) as caught:
        sink.send("urn:obep:1", b"{}")
    assert len(waits) == 2
    assert "hush" not in str(caught.value)


def test_a_webhook_is_not_tried_again_once_somebody_waits_for_the_end() -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        sink.hurry()

    sink = WebhookSink(parse_address("http://127.0.0.1:1/o"), {"retries": 5}, wait)
    for id in ("urn:1", "urn:2"):
        with pytest.raises(ObepError, match=f"did not take {id}: "):
            sink.send(id, b"{}")
    assert waits == [0.5, 0.5], "one more try was waited for, and none was made"


def test_a_slow_sink_is_waited_for_and_its_failures_are_kept(tmp_path: Path) -> None:
    with server(400) as (uri, seen):
        sink = open_sink(uri, {}, Config(tmp_path))
        assert isinstance(sink, Posted)
        for n in range(3):
            sink.send(f"urn:{n}", b"{}")
        sink.flush()
        assert len(seen) == 3
        sink.close()
    assert [id for id, _ in sink.failed] == ["urn:0"]


class Bewildered:
    """A sink that meets what nobody thought of."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, id: str, payload: bytes) -> None:
        if id == "urn:1":
            raise ValueError("nobody thought of it")
        self.sent.append(id)

    def hurry(self) -> None: ...

    def close(self) -> None: ...


def test_whatever_a_slow_sink_raises_ends_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    """Its thread ended with a traceback, and the run went on without it, with status 0."""
    slow = Bewildered()
    sink = Posted(slow)
    for n in range(3):
        sink.send(f"urn:{n}", b"{}")
    with pytest.raises(Stopped) as caught:
        sink.flush()
    assert caught.value.code == "OBEP555"
    assert "ValueError: nobody thought of it" in str(caught.value)
    for _ in range(2000):  # nor does it fill the queue, and wait for ever
        with pytest.raises(Stopped):
            sink.send("urn:3", b"{}")
    with pytest.raises(Stopped):
        sink.close()
    assert slow.sent == ["urn:0"], "what comes after it is left to the next run"
    assert [id for id, _ in sink.failed] == ["urn:1"]
    assert capfd.readouterr().err == ""


# ── Commands ──────────────────────────────────────────────────────────────────────────────────────


def test_a_command_gets_each_occurrence_on_its_standard_input(tmp_path: Path) -> None:
    script = tmp_path / "notify.py"
    out = tmp_path / "out.txt"
    script.write_text(
        "import os, sys\n"
        "with open(sys.argv[1], 'a') as f: f.write(os.environ['OBEP_ID'] + ' ' + sys.stdin.read() + '\\n')\n"
    )
    sink = open_sink(f"exec:{sys.executable} {script} {out}", {}, Config(tmp_path))
    payload = json.dumps({"label": "$(touch /tmp/x); `id`"}).encode()
    sink.send("urn:1", payload)
    sink.close()
    assert isinstance(sink, Posted)
    assert sink.failed == []
    assert out.read_text() == f"urn:1 {payload.decode()}\n"


def test_a_command_that_fails_is_noted(tmp_path: Path) -> None:
    for command in ("false", f"{sys.executable} -c 'import time; time.sleep(60)'"):
        sink = open_sink(f"exec:{command}", {"timeout": 300_000}, Config(tmp_path))
        sink.send("urn:1", b"{}")
        sink.close()
        assert isinstance(sink, Posted)
        assert [id for id, _ in sink.failed] == ["urn:1"]


@pytest.mark.parametrize(
    ("program", "remedy"), [("/no/such/program", "chmod +x"), ("no-such", "exec:./no-such")]
)
def test_a_program_that_is_not_there_is_said_before_anything_runs(
    tmp_path: Path, program: str, remedy: str
) -> None:
    with pytest.raises(ObepError) as caught:
        open_sink(f"exec:{program} --loud", {}, Config(tmp_path))
    assert caught.value.code == "OBEP554"
    assert remedy in str(caught.value)


def test_what_a_program_prints_goes_to_standard_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sink = open_sink("exec:echo loud", {}, Config(tmp_path))
    sink.send("urn:1", b"{}")
    sink.close()
    assert capfd.readouterr() == ("", "loud\n")
