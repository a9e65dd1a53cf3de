"""The calls of a service answer what `obep run` writes, and say what is wrong with a request."""

from __future__ import annotations

from pathlib import Path

from cli.shell import embedded
from serve.conftest import Local, Open, line


def test_events_are_those_that_obep_run_writes(project: Path, local: Open, tmp_path: Path) -> None:
    lines = [line(1), line(2, False, "p1"), line(3), line(4)]
    service = local()
    assert service.post(*lines).json() == {"accepted": 4, "refused": 0, "letters": [], "next": 7}
    (tmp_path / "points.jsonl").write_text("".join(lines))
    (tmp_path / "acks.jsonl").write_text("")
    sources = [f"--source={name}={tmp_path / name}.jsonl" for name in ("points", "acks")]
    expected = embedded(project / "query.obep", "-q", *sources).records
    found = service.client.get("/events").json()["events"]
    assert found == expected[: len(found)] and len(expected) == len(found) + 1  # the end closes an instant


def test_a_reader_that_goes_on_by_next_gets_everything_once(local: Open) -> None:
    service = local()
    service.post(*(line(n) for n in range(1, 8)))
    whole = service.client.get("/events").json()
    parts, since = [], 0
    while lot := (said := service.client.get(f"/events?since={since}&limit=3").json())["events"]:
        parts += lot
        since = said["next"]
    assert parts == whole["events"] and since == whole["next"] == len(parts)
    hot = service.client.get("/events/Hot").json()["events"]
    assert hot == [one for one in parts if one.get("event") == "http://e/Hot"] and len(hot) == 7
    assert [one["end"] for one in service.client.get("/events/Hot?from=3&to=5").json()["events"]] == [3, 4, 5]


def test_next_never_goes_beyond_what_can_be_read(local: Open) -> None:
    """A reader that asks while something is written down goes on with it, not after it."""
    service = local()
    service.post(line(1))
    journal = service.service.journal
    journal.add_found("http://e/Hot", "urn:x", "event", 2, "{}")  # not flushed yet
    for path in ("/events", "/events/Hot", "/alerts"):
        assert service.client.get(path).json()["next"] == 1, path
    journal.flush()
    assert service.client.get("/events?since=1").json() == {"events": [{}], "next": 2}


def test_what_is_no_item_is_a_dead_letter_and_the_rest_is_taken(local: Open) -> None:
    service = local()
    answer = service.post(line(1), "{no json\n", line(2))
    assert answer.status_code == 200 and (answer.json()["accepted"], answer.json()["refused"]) == (2, 1)
    assert [one["code"] for one in answer.json()["letters"]] == ["OBEP600"]
    assert service.post("{no json\n").status_code == 422
    letters = service.client.get("/dead-letters").json()["letters"]
    assert [one["code"] for one in letters] == ["OBEP600", "OBEP600"]


def test_questions_are_answered_over_http(local: Open, project: Path) -> None:
    service = local()
    service.post(line(1), line(2, False, "p1"), line(3))
    pair = service.client.get("/events/Pair").json()["events"][0]
    why = service.client.post("/why", json={"id": pair["id"]}).json()
    assert why["record"] == pair and "Hot" in why["text"] and "Cool" in why["text"]
    assert service.client.post("/why", json={"id": "urn:obep:none"}).status_code == 404
    assert "Pair" in service.client.post("/why-not", json={"event": "Pair"}).json()["text"]
    wrong = service.client.post("/check", json={"query": "EVENT X MATCH Y\nRETURN X"}).json()
    assert not wrong["ok"] and [one["code"] for one in wrong["diagnostics"]] == ["OBEP100"]
    text = (project / "query.obep").read_text()
    assert service.client.post("/check", json={"query": text}).json()["ok"]
    assert "SEQ" in service.client.post("/explain", json={}).json()["text"]
    assert service.client.post("/explain", json={"query": "EVENT"}).status_code == 422
    assert service.client.get("/queries").json()["queries"][0]["text"] == text


def test_states_plan_and_figures_show_what_the_engine_holds(local: Open) -> None:
    service = local()
    service.post(line(1), line(2), line(3, False, "p1"), line(4))
    held = service.client.get("/states/Warm").json()["states"]
    assert [one["parameters"]["x"] for one in held] == ["<http://e/p2>"]
    plan = service.client.get("/plan").json()
    pair = next(one for one in plan["events"] if one["name"] == "Pair")
    assert sum(one["held"] for one in pair["operators"]) > 0 and pair["pattern"]["label"]
    assert plan["watermark"] == 4 and {"Pair", "Warm"} <= {one["name"] for one in plan["events"]}
    metrics = service.client.get("/metrics").text
    assert "obep_items_total 4" in metrics and "obep_up 1" in metrics
    assert service.client.get("/health").json()["status"] == "ok"
    assert {one["name"]: one["items"] for one in service.client.get("/streams").json()["streams"]} == {
        "points": 4,
        "acks": 0,
    }


def test_a_request_that_cannot_be_answered_says_why(local: Open) -> None:
    service = local()
    client = service.client
    assert client.post(
        "/streams/nowhere", content="", headers={"Content-Type": "application/x-ndjson"}
    ).json()["errors"][0]["code"] == ("OBEP855")
    said = client.post("/streams/points", content="x", headers={"Content-Type": "text/csv"})
    assert said.status_code == 415 and all(
        name in said.text for name in ("text/csv", "application/x-ndjson", "application/ld+json")
    )
    assert "has no Content-Type" in client.post("/streams/points", content=b"x").text
    assert client.get("/events?since=-1").json()["errors"][0]["code"] == "OBEP859"
    assert client.get("/events/Nope").status_code == 404
    assert client.get("/states/Nope").status_code == 404
    assert client.get("/nowhere").json()["errors"][0]["code"] == "OBEP855"
    said = client.post("/check", content="{}", headers={"Content-Type": "text/plain"})
    assert said.status_code == 415 and said.json()["errors"][0]["code"] == "OBEP863"
    assert "text/plain" in said.text and "application/json" in said.text
    assert client.post("/check", json={"query": 3}).status_code == 400
    assert (
        client.post("/check", content="[" * 5000, headers={"Content-Type": "application/json"}).status_code
        == 400
    )


def test_a_query_is_explained_as_data_with_its_windows_and_definitions(local: Open, project: Path) -> None:
    text = (project / "query.obep").read_text()
    window = "FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]\nEVENT Hot"
    more = text.replace("EVENT Hot", window, 1) + "STATE On(?x) ON <now> AS { ?x :hot true }\n"
    said = local().client.post("/explain", json={"query": more}).json()
    kinds = {one["text"]: (one["kind"], one["id"]) for one in said["graph"]["nodes"]}
    assert kinds["points"][0] == "stream" and kinds["now [LATEST 5 min]"][0] == "window"
    assert kinds["SEQ"][0] == "operator" and kinds["Pair"][0] == "composite" and kinds["On"][0] == "state"
    edges = {(one["source"], one["target"]) for one in said["graph"]["edges"]}
    ids = {name: id for name, (_, id) in kinds.items()}
    assert {(ids["points"], ids["now [LATEST 5 min]"]), (ids["now [LATEST 5 min]"], ids["On"])} <= edges
    assert (ids["points"], ids["On"]) not in edges
    defined = {one["name"]: one for one in said["definitions"]}
    assert defined["Hot"]["text"] == "hot value true" and defined["Warm"]["parameters"] == ["x"]


def test_why_names_the_axioms_between_its_facts_and_its_definitions(project: Path) -> None:
    owl, rdfs = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
    (project / "t.ttl").write_text(
        f"@prefix : <http://e/> . @prefix owl: <{owl}> . @prefix rdfs: <{rdfs}> .\n"
        ":Tank a owl:Class ; rdfs:subClassOf :Vessel . :Vessel a owl:Class ; rdfs:subClassOf :Thing .\n"
        ":Cup a owl:Class ; rdfs:subClassOf :Vessel . :Thing a owl:Class .\n"
    )
    (project / "query.obep").write_text(
        "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <points>\nEVENT Seen AS Vessel\n"
        "EVENT Plain AS Tank\nRETURN Seen, Plain\n"
    )
    service = Local(project)
    try:
        service.post('{"time": 1, "graph": "<http://e/t1> a <http://e/Tank> ."}\n')
        ids = {one["event"]: one["id"] for one in service.client.get("/events").json()["events"]}
        why = {event: service.client.post("/why", json={"id": id}).json() for event, id in ids.items()}
        assert why["http://e/Seen"]["axioms"] == {"http://e/Seen": ["SubClassOf(Tank Vessel)"]}
        assert why["http://e/Plain"]["axioms"] == {}
    finally:
        service.stop()


PLACED = """PREFIX : <http://e/>
FROM GRAPH <k.ttl>
FROM STREAM <points>
EVENT Hot ON <points> AS (hot value true)
EVENT Placed(?x) MATCH Hot(?x) IF { EVENT Hot { ?x :hot ?hot ; :in ?room . ?room a :Hall . } }
EVENT Plain MATCH Hot
EVENT Warm ON <points> AS (hot value true) IF { ?this :in ?room . }
RETURN Placed, Warm, Plain
"""


def test_why_names_the_known_facts_that_a_guard_has_found(project: Path) -> None:
    (project / "k.ttl").write_text("@prefix : <http://e/> . :p1 :in :r . :r a :Hall . :p2 :in :r , :q .")
    (project / "query.obep").write_text(PLACED)
    service = Local(project)
    try:
        service.post(line(1), line(2, False))
        found = service.client.get("/events").json()["events"]
        known = {
            one["event"]: service.client.post("/why", json={"id": one["id"]}).json()["known"] for one in found
        }
    finally:
        service.stop()
    in_room = "<http://e/p1> <http://e/in> <http://e/r> ."
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert known == {
        "http://e/Placed": [in_room, f"<http://e/r> {kind} <http://e/Hall> ."],
        "http://e/Warm": [in_room],
        "http://e/Plain": [],
    }


WRONG = [
    ("GET", "/evnts", None, "OBEP855"),
    ("GET", "/no/such/route", None, "OBEP855"),
    ("DELETE", "/events", None, "OBEP859"),
    ("POST", "/alerts/urn:none/ack", {"by": "ann"}, "OBEP855"),
    ("POST", "/alerts/urn:none/ack", {}, "OBEP859"),
    ("POST", "/alerts/urn:none/comment", {"by": "ann"}, "OBEP859"),
    ("POST", "/alerts/urn:none/snooze", {"by": "ann"}, "OBEP859"),
    ("POST", "/alerts/urn:none/snooze", {"by": "ann", "until": "soon"}, "OBEP859"),
    ("GET", "/alerts?status=odd", None, "OBEP859"),
    ("PUT", "/queries/query", {"text": "RETURN ALL"}, "OBEP859"),
    ("PUT", "/queries/-x", {"query": "RETURN ALL"}, "OBEP859"),
    ("PUT", "/queries/query?dry_run=perhaps", {"query": ""}, "OBEP859"),
    ("PUT", "/queries/query?warm=long", {"query": ""}, "OBEP859"),
    ("GET", "/queries/none", None, "OBEP855"),
    ("POST", "/check", [], "OBEP859"),
    ("POST", "/why", {"id": "urn:none"}, "OBEP530"),
    ("POST", "/why-not", {}, "OBEP859"),
    ("POST", "/explain", {"what": 1}, "OBEP859"),
    ("POST", "/streams/none", {}, "OBEP855"),
    ("GET", "/events?since=-1", None, "OBEP859"),
    ("GET", "/events?from=soon", None, "OBEP859"),
]


def test_a_refusal_says_code_reason_and_remedy(local: Open) -> None:
    service = local()
    for method, path, body, code in WRONG:
        answer = service.client.request(method, path, **({} if body is None else {"json": body}))
        [said] = answer.json()["errors"]
        assert said["code"] == code, (path, said)
        assert answer.status_code in (400, 404, 405) and all(
            said[part] for part in ("message", "reason", "remedy")
        ), (path, said)
    [misspelt] = service.client.get("/evnts").json()["errors"]
    assert misspelt["remedy"] == "/events"
    [body] = service.client.put("/queries/query", json={"text": ""}).json()["errors"]
    assert "text" in body["reason"] and body["remedy"] == '{"query": "…"}'


def test_a_refused_record_of_a_body_has_its_line(local: Open) -> None:
    service = local()
    said = service.post(line(1), "{\n", line(2), '{"time": "soon"}\n').json()
    assert (said["accepted"], [one["line"] for one in said["letters"]]) == (2, [2, 4])
    assert [one["line"] for one in service.client.get("/dead-letters").json()["letters"]] == [2, 4]
    body = {"query": service.client.get("/queries/query").json()["text"], "items": {"points": f"{line(1)}{{"}}
    tried = service.client.post("/try", json=body).json()
    assert (tried["items"], [one["line"] for one in tried["letters"]]) == (1, [2])
