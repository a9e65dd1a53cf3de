"""Another query while the service runs: what means the same keeps its state; a wrong one changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from serve.conftest import QUERY, Local, Open, line
from serve.test_service_kills import killed

from obep.errors import ObepError

WIDER = QUERY.replace("WITHIN 5 s", "WITHIN 50 s")
MORE = QUERY.replace(
    "RETURN Hot, Pair", "EVENT Twice MATCH Hot SEQ Hot AS Then WITHIN 10 min\nRETURN Hot, Pair, Twice"
)
ANSWERED = QUERY.replace(
    "RETURN Hot, Pair",
    'EVENT Seen AS (<https://w3id.org/obep#by> value "ann")\n'
    "EVENT Answered MATCH Seen SEQ Hot WITHIN 10 min\nRETURN Hot, Pair, Answered",
)


def put(service: Local, text: str, **options: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    answer = service.client.put("/queries/query", params=options, json={"query": text})
    return answer.status_code, answer.json()


def test_a_dry_run_says_what_the_replacement_then_does(local: Open) -> None:
    service = local()
    service.post(line(1), line(2))
    status, dry = put(service, WIDER, dry_run="true")
    assert status == 200 and dry["dry_run"]
    assert service.client.get("/queries").json()["queries"][0]["text"] == QUERY
    status, done = put(service, WIDER)
    assert status == 200 and not done["dry_run"]
    assert [one["name"] for one in done["replacement"]["changed"]] == ["http://e/Pair"]
    assert {key: dry["replacement"][key] for key in ("kept", "begun", "gone", "changed", "watermark")} == {
        key: done["replacement"][key] for key in ("kept", "begun", "gone", "changed", "watermark")
    }
    assert "http://e/Warm" in done["replacement"]["kept"]
    now = service.client.get("/queries").json()["queries"][0]
    assert now["text"] == WIDER and now["replaced"]
    service.post(line(30, False, "p1"), line(31))
    assert service.client.get("/alerts?status=resolved").json()["alerts"]  # Warm has kept what it knew


def test_a_wrong_query_changes_nothing(local: Open) -> None:
    service = local()
    service.post(line(1))
    before = service.client.get("/plan").text
    for text, code in (("EVENT X MATCH Y\nRETURN X", "OBEP100"), ("EVENT", "OBEP0"), ("", "OBEP572")):
        status, said = put(service, text)
        assert status == 422 and said["errors"][0]["code"].startswith(code), said
    assert put(service, QUERY, dry_run="perhaps")[0] == 400 and put(service, QUERY, warm="long")[0] == 400
    other = service.client.put("/queries/other", json={"query": QUERY})  # it returns what the first returns
    assert other.status_code == 422 and other.json()["errors"][0]["code"] == "OBEP867"
    assert service.client.get("/plan").text == before
    assert service.client.get("/queries").json()["queries"][0]["text"] == QUERY


def test_what_begins_warm_knows_the_history(local: Open) -> None:
    service = local()
    service.post(line(1), line(2))
    status, done = put(service, MORE, warm="10 min")
    assert status == 200 and "http://e/Twice" in done["replacement"]["warmed"]
    service.post(line(3))
    found = service.client.get("/events/Twice").json()["events"]
    assert {one["start"] for one in found} == {1, 2}


def test_what_begins_warm_knows_what_was_acknowledged_before(local: Open, project: Path) -> None:
    service = local()
    service.post(line(1), line(2))
    alert = service.client.get("/alerts").json()["alerts"][0]["id"]
    assert service.client.post(f"/alerts/{alert}/ack", json={"by": "ann"}).status_code == 200
    assert put(service, ANSWERED, warm="10 min")[0] == 200
    service.post(line(3))
    [found] = service.client.get("/events/Answered").json()["events"]
    assert (found["start"], found["end"]) == (2, 3)
    again = Local(killed(service, project))
    try:
        assert again.client.get("/events/Answered").json()["events"] == [found]
    finally:
        again.stop()


def test_a_replay_warms_with_what_had_come_by_then(local: Open, project: Path) -> None:
    service = local()
    service.post(line(1), line(5))
    assert put(service, MORE, warm="10 min")[0] == 200
    service.post(line(2))  # late, so that it is in the log and was never found
    service.post(line(6))
    again = Local(killed(service, project))
    try:
        assert again.client.get("/events/Twice").text == service.client.get("/events/Twice").text
        assert {one["start"] for one in again.client.get("/events/Twice").json()["events"]} == {1, 5}
    finally:
        again.stop()


def test_a_sink_that_the_new_query_does_not_serve_is_refused(local: Open) -> None:
    service = local('[sinks.out]\nuri = "out.jsonl"\nevents = ["Pair"]\n')
    gone = QUERY.replace("RETURN Hot, Pair", "RETURN Hot")
    status, said = put(service, gone)
    assert status == 422 and said["errors"][0]["code"] == "OBEP517"
    assert service.client.get("/queries").json()["queries"][0]["text"] == QUERY


@pytest.mark.slow
@pytest.mark.parametrize("snapshot", [False, True])
def test_replacing_many_times_equals_the_replay_of_the_log(
    local: Open, project: Path, snapshot: bool
) -> None:
    service = local()
    texts = [QUERY, WIDER, MORE, QUERY.replace("5 s", "7 s")]
    for n in range(1, 13):
        service.post(line(4 * n), line(4 * n + 1, False, f"p{4 * n}"), line(4 * n + 2))
        assert put(service, texts[n % 4], **({"warm": "10 s"} if n % 3 == 0 else {}))[0] == 200
        if snapshot and n == 6:
            service.service._save()
    paths = ("/events", "/alerts?status=all", "/queries", "/states/Warm")
    again = Local(killed(service, project))
    try:
        for path in paths:
            assert again.client.get(path).text == service.client.get(path).text, path
        service.post(line(200, False, "p48"), line(201))
        again.post(line(200, False, "p48"), line(201))
        assert again.client.get("/events").text == service.client.get("/events").text
    finally:
        again.stop()


def test_a_file_that_was_changed_while_no_service_ran_is_a_replacement(project: Path) -> None:
    first = Local(project)
    first.post(line(1), line(2))
    first.stop()
    (project / "query.obep").write_text(WIDER)
    second = Local(project)
    try:
        assert second.client.get("/queries").json()["queries"][0]["text"] == WIDER
        assert [one["parameters"]["x"] for one in second.client.get("/states/Warm").json()["states"]] == [
            "<http://e/p1>"
        ]
    finally:
        second.stop()
    (project / "query.obep").write_text("EVENT X MATCH Y\nRETURN X")
    with pytest.raises(ObepError, match="OBEP100"):
        Local(project)
