"""What others try against a service: paths out of its folder, requests in its name, forged forms."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from serve.conftest import QUERY, Open, Start, line


@contextmanager
def trap() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server that notes who comes; nobody should."""
    came: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    continue
                came.append(b"somebody")
                connection.close()

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/x", came
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "head",
    [
        "VOCAB <{url}.ttl>",
        "INCLUDE <{url}.obep>",
        "FROM GRAPH <{url}.ttl>",
        "FROM NAMED GRAPH <{url}.ttl>",
        "VOCAB <imports.ttl>",
    ],
)
def test_no_query_makes_the_service_send_a_request(local: Open, project: Path, head: str) -> None:
    """SSRF by what a query reads, and by what its ontology imports."""
    with trap() as (url, came):
        owl = "http://www.w3.org/2002/07/owl#"
        (project / "imports.ttl").write_text(f"<http://e/o> a <{owl}Ontology> ; <{owl}imports> <{url}> .\n")
        text = f"PREFIX : <http://e/>\n{head.format(url=url)}\nFROM STREAM <points>\nEVENT A AS B\nRETURN A\n"
        client = local().client
        for path in ("/check", "/explain", "/try"):
            assert client.post(path, json={"query": text}).status_code in (200, 422)
        said = client.put("/queries/other", json={"query": text})
        assert said.status_code == 422, said.text
        assert [one["name"] for one in client.get("/queries").json()["queries"]] == ["query"]
    assert came == []


def test_no_item_or_acknowledgement_makes_the_service_send_a_request(local: Open) -> None:
    with trap() as (url, came):
        service = local()
        linked = {"@context": url, "@id": "http://e/x", "hot": True}
        kind = {"Content-Type": "application/ld+json"}
        said = service.client.post("/streams/points", content=json.dumps(linked), headers=kind)
        assert said.status_code == 422 and said.json()["letters"][0]["code"] == "OBEP607"
        service.post(line(1), line(2))
        alert = service.client.get("/alerts").json()["alerts"][0]["id"]
        body = {"by": url, "comment": f"<{url}>"}
        assert service.client.post(f"/alerts/{alert}/comment", json=body).status_code == 200
        body = {"query": "RETURN ALL", "sink": url}  # sinks come from obep.toml alone
        assert service.client.put("/queries/query", json=body).status_code == 400
    assert came == []


def test_no_path_leads_out_of_the_page_or_the_project(start: Start, project: Path) -> None:
    secret = project.parent / "secret.obep"
    secret.write_text("# top secret\nRETURN ALL\n")
    service = start()
    ways = (
        "/../secret.obep",
        "/..%2fsecret.obep",
        "/%2e%2e/secret.obep",
        "/....//secret.obep",
        "//etc/passwd",
    )
    host, port = service.url.removeprefix("http://").split(":")
    for way in (*ways, "/queries/..%2f..%2fsecret", "/queries/%2e%2e", "/events/..%2f..%2fsecret"):
        with socket.create_connection((host, int(port)), timeout=30) as raw:  # as it is, not normalised
            raw.sendall(f"GET {way} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            said = b""
            while part := raw.recv(65536):
                said += part
        assert b"top secret" not in said and b"root:" not in said, way
        assert said.split()[1] in (b"404", b"400"), (way, said[:80])
    for text in ("INCLUDE <../secret.obep>", f"INCLUDE <{secret}>", "VOCAB <../secret.obep>\nRETURN ALL"):
        answer = service.client.post("/check", json={"query": text}).text
        answer = answer.replace(str(secret), "…")  # what it was asked is no secret
        assert "OBEP505" in answer
        assert "top secret" not in answer and str(project.parent) not in answer


@pytest.mark.parametrize("clause", ["INCLUDE", "VOCAB", "FROM GRAPH", "FROM NAMED GRAPH"])
@pytest.mark.parametrize("name", ["token.txt", "token", ".env"])
def test_no_message_quotes_a_file_that_is_no_query_or_graph(
    local: Open, project: Path, clause: str, name: str
) -> None:
    (project / name).write_text("hunter2\n")
    service = local()
    wanted = {"query": f"{clause} <{name}>\n{QUERY}"}
    for method, path in (("POST", "check"), ("POST", "try"), ("POST", "explain"), ("PUT", "queries/query")):
        answer = service.client.request(method, f"/{path}", json=wanted).text
        assert "hunter2" not in answer and name in answer, answer


@pytest.mark.parametrize("action", ["ack", "snooze", "unsnooze", "comment"])
def test_a_form_of_another_site_acknowledges_nothing(local: Open, action: str) -> None:
    """CSRF: what a browser sends without asking first has another type, and says where it comes from."""
    service = local()
    service.post(line(1), line(2))
    path = f"/alerts/{service.client.get('/alerts').json()['alerts'][0]['id']}/{action}"
    body = json.dumps({"by": "eve", "comment": "x", "until": "2030-01-01T00:00:00Z"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert service.client.post(path, content=body, headers={"Content-Type": kind}).status_code == 415
    json_type = {"Content-Type": "application/json"}
    for origin in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "same-site"}):
        assert service.client.post(path, content=body, headers={**json_type, **origin}).status_code == 403
    assert service.client.get(path).status_code == 405
    notes = service.client.get("/alerts").json()["alerts"][0]["notes"]
    assert notes["actions"] == []


@pytest.mark.slow
def test_no_token_is_in_a_log_a_file_or_an_answer(start: Start, project: Path) -> None:
    token = "a-very-secret-token-0123456789"
    (project / "obep.toml").write_text('[serve.tokens.me]\nrole = "admin"\ntoken = "${TOKEN}"\n')
    service = start(TOKEN=token)
    headers = {"Authorization": f"Bearer {token}"}
    said = [
        service.client.get(path, headers=headers).text
        for path in ("/queries", "/metrics", "/health", "/openapi.json", f"/events?since={token}")
    ]
    said.append(service.client.put("/queries/x", headers=headers, json={"query": f"<{token}"}).text)
    said.append(httpx.get(f"{service.url}/events", headers={"Authorization": f"Bearer {token}x"}).text)
    service.stop()
    kept = [path.read_bytes() for path in (project / ".obep-serve").rglob("*") if path.is_file()]
    assert kept and not any(token.encode() in one for one in kept)
    assert not any(token in one for one in (*said, *service.said))
