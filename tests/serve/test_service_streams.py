"""Items in every format over HTTP and WebSocket, and the sources and sinks of obep.toml, in a service."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from brokers import MqttBroker, NoMosquitto, mosquitto_broker, mqtt_broker
from kafka_broker import NoKafka, consume, kafka_broker, produce
from serve.conftest import Local, Open, line, until
from starlette.websockets import WebSocketDisconnect

XSD = "http://www.w3.org/2001/XMLSchema#"
AT = "http://www.w3.org/ns/prov#generatedAtTime"
TIMES = ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z")


def quads(thing: str, at: str, name: str = "g") -> str:
    graph = f"<http://e/{name}-{thing}>"
    return (
        f'<http://e/{thing}> <http://e/hot> "true"^^<{XSD}boolean> {graph} .\n'
        f'{graph} <{AT}> "{at}"^^<{XSD}dateTime> .\n'
    )


def trig(thing: str, at: str) -> str:
    return (
        f"@prefix : <http://e/> . @prefix xsd: <{XSD}> .\n"
        f':g-{thing} {{ :{thing} :hot true }}\n:g-{thing} <{AT}> "{at}"^^xsd:dateTime .\n'
    )


def jsonld(thing: str, at: str) -> dict[str, Any]:
    time = {"@value": at, "@type": f"{XSD}dateTime"}
    return {"@id": f"http://e/{thing}", "http://e/hot": True, AT: time}


def jsonl(thing: str, at: str) -> dict[str, str]:
    return {"time": at, "graph": f"<http://e/{thing}> <http://e/hot> true ."}


PAIRS = tuple(zip(("p1", "p2"), TIMES, strict=True))
BODIES = {
    "application/x-ndjson": ["\n".join(json.dumps(jsonl(*one)) for one in PAIRS)],
    "application/jsonl": ["\n".join(json.dumps(jsonl(*one)) for one in PAIRS)],
    "application/json": [json.dumps([jsonl(*one) for one in PAIRS])],
    "application/n-quads": ["".join(quads(*one) for one in PAIRS)],
    "application/trig": ["".join(trig(*one) for one in PAIRS)],
    "application/ld+json": [json.dumps(jsonld(*one)) for one in PAIRS],  # a document is one item
}
"""The same two items in each format."""


def hot(service: Local) -> list[tuple[str, str]]:
    found = service.client.get("/events/Hot").json()["events"]
    return [(one["because"][0]["individual"].removeprefix("http://e/"), one["end"]) for one in found]


@pytest.mark.parametrize("kind", BODIES)
def test_every_format_over_http_and_websocket_gives_the_same_items(local: Open, kind: str) -> None:
    for socket in (False, True):
        service = local(f'[serve]\nstate = "state-{socket}"\n')
        if socket:
            with service.socket(f"/streams/points?type={kind.replace('+', '%2B')}") as opened:
                for body in BODIES[kind]:
                    opened.send_text(body)
                said = [opened.receive_json() for _ in BODIES[kind]]
        else:
            headers = {"Content-Type": f"{kind}; charset=utf-8"}
            said = [
                service.client.post("/streams/points", content=body, headers=headers).json()
                for body in BODIES[kind]
            ]
        assert sum(one["accepted"] for one in said) == 2 and not sum(one["refused"] for one in said), said
        assert hot(service) == list(PAIRS)


@pytest.mark.parametrize("kind", ["application/n-quads", "application/trig", "application/ld+json"])
def test_what_is_no_item_of_a_format_is_a_dead_letter(local: Open, kind: str) -> None:
    service = local()
    said = service.client.post("/streams/points", content="<no", headers={"Content-Type": kind})
    assert said.status_code == 422 and said.json()["letters"][0]["code"].startswith("OBEP6")
    assert service.client.get("/dead-letters").json()["next"] == said.json()["refused"] > 0


def test_a_socket_of_another_type_is_refused(local: Open) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        local().socket("/streams/points?type=text/csv"),
    ):
        pass
    assert refused.value.code == 1008 and "text/csv" in refused.value.reason


@contextmanager
def broker_of(kind: str, folder: Path) -> Iterator[MqttBroker]:
    with mqtt_broker() if kind == "amqtt" else mosquitto_broker(folder) as broker:
        yield broker


@contextmanager
def hook(taken: list[dict[str, Any]]) -> Iterator[str]:
    """A web server that takes what is posted to it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.extend(json.loads(one) for one in body.splitlines() if one)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["amqtt", "mosquitto"])
def test_mqtt_in_and_file_and_webhook_out_go_on_after_a_restart(
    project: Path, tmp_path: Path, kind: str
) -> None:
    taken: list[dict[str, Any]] = []
    try:
        with broker_of(kind, tmp_path) as broker, hook(taken) as url:
            (project / "obep.toml").write_text(
                f'[sources.points]\nuri = "{broker.uri("points")}"\nclient_id = "serve"\n'
                '[sinks.out]\nuri = "out.jsonl"\nevents = ["Hot"]\n'
                f'[sinks.hook]\nuri = "{url}"\nevents = ["Hot"]\n'
            )
            for first in (1, 3):  # the broker keeps for `client_id` what comes while no service runs
                service = Local(project)
                try:
                    broker.publish("points", *(line(n).encode() for n in (first, first + 1)))
                    until(lambda first=first, service=service: len(hot(service)) == first + 1)
                finally:
                    service.stop()
                broker.wait_until_gone("serve")
    except NoMosquitto as error:
        pytest.skip(str(error))
    written = [json.loads(text)["id"] for text in (project / "out.jsonl").read_text().splitlines()]
    assert len(written) == 4 and len(set(written)) == 4
    assert list(dict.fromkeys(one["id"] for one in taken)) == written


@pytest.mark.java
@pytest.mark.slow
def test_kafka_in_and_out_go_on_after_a_restart(project: Path) -> None:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(kafka_broker())
        except NoKafka as reason:
            pytest.skip(str(reason))
        where = f"kafka://{server.address}"
        produce(server.address, "points", [line(n).encode() for n in (1, 2)])
        (project / "obep.toml").write_text(
            f'[sources.points]\nuri = "{where}/points"\n'
            f'[sinks.out]\nuri = "{where}/found"\nevents = ["Hot"]\n'
        )
        for last in (2, 4):
            service = Local(project)
            try:
                until(lambda last=last, service=service: len(hot(service)) == last)
            finally:
                service.stop()
            if last == 2:
                produce(server.address, "points", [line(n).encode() for n in (3, 4)])
        found = [json.loads(text)["end"] for _, text in consume(server.address, "found")]
        assert list(dict.fromkeys(found)) == [1, 2, 3, 4]
