"""Who may ask a service what: tokens and roles on every route; other sites are refused."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import httpx
import pyoxigraph
import pytest
from serve.conftest import QUERY, Open, Start, line
from starlette.websockets import WebSocketDisconnect

from obep.config.toml_file import load_config
from obep.errors import ObepError
from obep.serve.alert_notes import ack_item
from obep.serve.api.routes import ROUTES, Route
from obep.serve.entries import Acted
from obep.serve.project import find_project
from obep.serve.settings import ROLES, settings_of
from obep.serve.web.web_server import _listen

TOKENS = "".join(
    f'[serve.tokens.{role}]\nrole = "{role}"\ntoken = "${{{role.upper()}_TOKEN}}"\n' for role in ROLES
)


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found = {role: f"{role}-0123456789abcdef" for role in ROLES}
    for role, token in found.items():
        monkeypatch.setenv(f"{role.upper()}_TOKEN", token)
    return found


def code_of(toml: str, folder: Path, **options: object) -> str:
    (folder / "obep.toml").write_text(toml)
    with pytest.raises(ObepError) as caught:
        settings_of(load_config(None, folder), **options)  # type: ignore[arg-type]
    return caught.value.code


def test_settings_that_leave_a_door_open_are_refused(tmp_path: Path, tokens: dict[str, str]) -> None:
    assert code_of("", tmp_path, host="0.0.0.0") == "OBEP850"
    assert code_of('[serve]\nhost = "192.168.0.1"', tmp_path) == "OBEP850"
    assert code_of("", tmp_path, certificate=tmp_path / "c.pem") == "OBEP851"
    assert code_of('[serve.tokens.me]\nrole = "read"', tmp_path) == "OBEP852"
    assert code_of('[serve.tokens.me]\nrole = "read"\ntoken = "short"', tmp_path) == "OBEP852"
    twice = TOKENS.replace("WRITE_TOKEN", "READ_TOKEN")
    assert code_of(twice, tmp_path) == "OBEP852"
    (tmp_path / "obep.toml").write_text(TOKENS)
    assert settings_of(load_config(None, tmp_path), host="0.0.0.0").host == "0.0.0.0"


def test_a_folder_without_one_query_is_refused(project: Path) -> None:
    (project / "other.obep").write_text("")
    with pytest.raises(ObepError, match="OBEP854"):
        find_project(project)
    (project / "obep.toml").write_text('[serve]\nquery = "query.obep"\n')
    assert find_project(project).name == "query"


@pytest.mark.parametrize("what", ['[sources.points]\nuri = "-"', '[sinks.out]\nuri = "-"'])
def test_standard_streams_are_no_source_or_sink_of_a_service(project: Path, local: Open, what: str) -> None:
    with pytest.raises(ObepError, match="OBEP853"):
        local(what)


def call(service: object, route: Route, headers: dict[str, str]) -> int:
    """The status of a route, with something in the places of its parameters."""
    client = service.client  # type: ignore[attr-defined]
    path = route.path.replace("{name}", "points").replace("{id}", "urn:x")
    if route.is_socket:
        try:
            with client.websocket_connect(path, headers=headers):
                return 101
        except WebSocketDisconnect as closed:
            return closed.code
    if route.path == "/watch" and headers.get("Authorization", "").startswith("Bearer admin"):
        return 200  # it has no end; test_watching reads it
    return int(client.request(route.method, path, headers=headers).status_code)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_but_health_asks_for_a_token_of_its_role(
    route: Route, tokens: dict[str, str], shared: object
) -> None:
    refused, forbidden = (1008, 1008) if route.is_socket else (401, 403)
    if not route.role:
        assert route.path == "/health" and call(shared, route, {}) == 200
        return
    assert call(shared, route, {}) == refused
    assert call(shared, route, {"Authorization": "Bearer nobody-0123456789abcdef"}) == refused
    assert call(shared, route, {"Authorization": f"Basic {tokens['admin']}"}) == refused
    for role in ROLES[: ROLES.index(route.role)]:
        assert call(shared, route, {"Authorization": f"Bearer {tokens[role]}"}) == forbidden
    assert call(shared, route, {"Authorization": f"Bearer {tokens['admin']}"}) not in (refused, forbidden)


@pytest.fixture
def shared(local: Open, tokens: dict[str, str]) -> object:
    return local(TOKENS)


def test_refusals_have_their_codes(shared: object, tokens: dict[str, str]) -> None:
    client = shared.client  # type: ignore[attr-defined]
    assert client.get("/events").json()["errors"][0]["code"] == "OBEP860"
    headers = {"Authorization": f"Bearer {tokens['read']}"}
    said = client.post("/streams/points", headers=headers).json()
    assert said["errors"][0]["code"] == "OBEP861"
    assert client.get("/events", headers=headers).status_code == 200


def test_a_websocket_may_bring_its_token_as_a_subprotocol(local: Open, tokens: dict[str, str]) -> None:
    service = local(TOKENS)
    offered = ["obep", f"obep.bearer.{tokens['write']}"]
    with service.client.websocket_connect("/streams/points", subprotocols=offered) as socket:
        assert socket.accepted_subprotocol == "obep"
        socket.send_text(line(1))
        assert socket.receive_json()["accepted"] == 1


def test_without_tokens_other_sites_and_other_names_are_refused(local: Open) -> None:
    client = local().client
    for headers in (
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        for method, path in (("GET", "/events"), ("POST", "/alerts/urn:x/ack"), ("POST", "/streams/points")):
            said = client.request(method, path, headers=headers)
            assert said.status_code == 403 and said.json()["errors"][0]["code"] == "OBEP862", headers
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/watch", headers=headers):
            pass
    assert client.get("/events", headers={"Origin": "http://127.0.0.1"}).status_code == 200
    assert (
        "access-control-allow-origin"
        not in client.get("/events", headers={"Origin": "http://127.0.0.1"}).headers
    )


def test_no_answer_has_a_path_of_the_machine(local: Open, project: Path) -> None:
    client = local().client
    for query in (
        "VOCAB <missing.ttl>\nRETURN ALL",
        "INCLUDE <../x.obep>",
        "VOCAB </etc/passwd>\nRETURN ALL",
        "\0",
    ):
        for path in ("/check", "/explain"):
            said = client.post(path, json={"query": query}).text
            assert str(project) not in said and str(project.parent) not in said, said
    for path in ("/queries", "/plan", "/metrics", "/openapi.json", "/..%2f..%2fetc/passwd", "/streams/..%2f"):
        assert str(project) not in client.get(path).text


def test_text_of_people_stays_text(local: Open) -> None:
    """Quotes, newlines and angle brackets in an acknowledgement do not become triples."""
    service = local()
    service.post(line(1), line(2))
    alert = service.client.get("/alerts").json()["alerts"][0]["id"]
    odd = 'a "quote" \\ <b>\n<urn:x> <urn:y> "z" .\x07\u2028'
    said = service.client.post(f"/alerts/{alert}/comment", json={"by": odd, "comment": odd})
    assert said.status_code == 200 and said.json()["actions"][0]["comment"] == odd
    assert service.client.get("/dead-letters").json()["letters"] == []
    item = ack_item(Acted(alert=alert, action="comment", by=odd, comment=odd, wall=5), None)
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in item.triples)
    read = [
        (str(s), str(p), str(o))
        for s, p, o, *_ in map(tuple, pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_TRIPLES))
    ]
    assert len(read) == len(item.triples) == 5
    assert service.client.post(f"/alerts/{alert}/ack", json={}).status_code == 400  # who?
    assert service.client.post("/alerts/urn:none/ack", json={"by": "ann"}).status_code == 404
    assert service.client.post(f"/alerts/{alert}/snooze", json={"by": "ann"}).status_code == 400
    assert (
        service.client.post(f"/alerts/{alert}/snooze", json={"by": "ann", "until": "soon"}).status_code == 400
    )


def test_an_acknowledgement_is_an_item_that_queries_read(local: Open, project: Path) -> None:
    (project / "query.obep").write_text(
        QUERY.replace(
            "RETURN Hot", 'EVENT Seen AS (<https://w3id.org/obep#by> value "ann")\nRETURN Seen, Hot'
        )
    )
    service = local()
    service.post(line(1), line(2))
    alert = service.client.get("/alerts").json()["alerts"][0]["id"]
    assert service.client.post(f"/alerts/{alert}/ack", json={"by": "ann"}).status_code == 200
    [seen] = service.client.get("/events/Seen").json()["events"]
    assert seen["end"] == 2
    tried = service.client.post("/try", json={"query": (project / "query.obep").read_text()}).json()
    assert seen in tried["events"] and tried["items"] == 3
    notes = service.client.get("/alerts").json()["alerts"][0]["notes"]
    assert notes["acknowledged"]["by"] == "ann" and notes["snoozed"] is None
    service.client.post(f"/alerts/{alert}/snooze", json={"by": "bob", "until": "2030-01-01T00:00:00Z"})
    assert (
        service.client.get("/alerts").json()["alerts"][0]["notes"]["snoozed"]["until"]
        == "2030-01-01T00:00:00Z"
    )
    service.client.post(f"/alerts/{alert}/unsnooze", json={"by": "bob"})
    assert service.client.get("/alerts").json()["alerts"][0]["notes"]["snoozed"] is None


@pytest.mark.slow
def test_over_tls_with_tokens_and_nothing_secret_is_said(
    start: Start, project: Path, tokens: dict[str, str], tmp_path: Path
) -> None:
    """A half head is not waited for; the process says its address and no token."""
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", *made, *files], check=True, capture_output=True)
    (project / "obep.toml").write_text(TOKENS)
    service = start("--certificate", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem"))
    assert service.url.startswith("https://")
    with httpx.Client(base_url=service.url, verify=False) as client:
        assert client.get("/health").json()["status"] == "ok"
        assert client.get("/events", headers={"Authorization": f"Bearer {tokens['read']}"}).status_code == 200
        wrong = client.get("/events?since=x", headers={"Authorization": f"Bearer {tokens['read']}"})
        assert wrong.status_code == 400
        assert (
            client.get("/events", headers={"Authorization": "Bearer wrong-0123456789abcdef"}).status_code
            == 401
        )
    service.stop()
    said = "".join(service.said)
    assert not any(token in said for token in (*tokens.values(), "wrong-0123456789abcdef"))


def test_an_address_that_another_program_has_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(ObepError, match="OBEP514"):
        _listen("127.0.0.1", other.getsockname()[1])
    with pytest.raises(ObepError, match="OBEP514"):
        _listen("no such host", 0)
