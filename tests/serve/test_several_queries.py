"""Several queries in one service: each finds what it would find alone, and all of them outlive a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from serve.conftest import QUERY, Local, Open, line, until
from serve.test_service_kills import killed

from obep import load
from obep.errors import ObepError
from obep.model import RDF_TYPE, DeadLetter, Item
from obep.serve.query_set import QuerySet

SECOND = """PREFIX : <http://e/>
FROM STREAM <points>
EVENT Hot AS (hot value true)
EVENT Twice MATCH Hot SEQ Hot AS Then WITHIN 10 min
EVENT Cool AS (hot value false)
STATE Busy(?x) FROM Hot(?x) TO Cool(?x)
RETURN Twice
RETURN Busy AS ALERTS
"""
THIRD = """PREFIX : <http://e/>
FROM STREAM <more>
FROM STREAM <acks>
EVENT Cold AS (hot value false)
EVENT Seen AS <https://w3id.org/obep#Acknowledgement>
RETURN Cold
"""
PATHS = ("/events", "/alerts?status=all", "/dead-letters", "/queries", "/states/Warm", "/streams", "/plan")


def put(service: Local, name: str, text: str, **options: str) -> dict[str, Any]:
    answer = service.client.put(f"/queries/{name}", params=options, json={"query": text})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["replacement"]
    return found


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]


def names(service: Local) -> list[str]:
    return [one["name"] for one in service.client.get("/queries").json()["queries"]]


def ends(service: Local, event: str) -> list[Any]:
    return [one["end"] for one in service.client.get(f"/events/{event}").json()["events"]]


def same(one: Local, other: Local, paths: tuple[str, ...] = PATHS) -> None:
    for path in paths:
        assert one.client.get(path).text == other.client.get(path).text, path


def test_a_query_beside_others_finds_what_it_finds_alone(local: Open, project: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "second.obep").write_text(SECOND)
    service, other = local(), Local(alone)
    try:
        service.post(line(1), line(2))
        dry = service.client.put("/queries/second?dry_run=true", json={"query": SECOND}).json()
        assert dry["replacement"]["begun"] and names(service) == ["query"]
        done = put(service, "second", SECOND)
        assert done["begun"] == dry["replacement"]["begun"] and done["before"] == ""
        assert names(service) == ["query", "second"]
        for lot in ([line(3), line(4, False, "p3")], [line(5)], [line(4)], [line(9)]):  # 4 comes late
            service.post(*lot)
            other.post(*lot)
        assert ends(service, "Twice") == ends(other, "Twice") == [5, 9, 9]
        assert ends(service, "Pair") == [4, 4, 4]
        assert service.client.get("/states/Busy").text == other.client.get("/states/Busy").text
        letters = service.client.get("/dead-letters").json()["letters"]
        assert [one["code"] for one in letters] == ["OBEP640"]  # late for both, and said once
    finally:
        other.stop()


def test_what_two_queries_return_and_odd_names_are_refused(local: Open) -> None:
    service = local()
    clash = SECOND.replace("RETURN Twice", "RETURN Hot")
    answers = {
        "/queries/second": (clash, (422, "OBEP867")),
        "/queries/..%2fquery": (SECOND, (404, "OBEP855")),
        "/queries/.hidden": (SECOND, (400, "OBEP859")),
        "/queries/a%20b": (SECOND, (400, "OBEP859")),
    }
    for path, (text, expected) in answers.items():
        assert refused(service.client.put(path, json={"query": text})) == expected, path
    assert refused(service.client.delete("/queries/other")) == (404, "OBEP855")
    assert refused(service.client.get("/queries/other")) == (404, "OBEP855")
    assert refused(service.client.get("/plan?query=other")) == (404, "OBEP855")
    assert refused(service.client.delete("/queries/query")) == (422, "OBEP868")
    assert names(service) == ["query"]


def test_a_query_that_is_deleted_resolves_its_alerts_and_lets_go_of_its_names(local: Open) -> None:
    service = local()
    put(service, "second", SECOND)
    service.post(line(1), line(2))
    firing = [one["id"] for one in service.client.get("/alerts").json()["alerts"] if "Busy" in one["alert"]]
    dry = service.client.delete("/queries/second?dry_run=true").json()["replacement"]
    assert [one["id"] for one in dry["resolved"]] == firing and len(firing) == 1
    done = service.client.delete("/queries/second").json()["replacement"]
    assert "http://e/Twice" in done["gone"] and done["resolved"] == dry["resolved"]
    resolved = service.client.get("/alerts?status=resolved").json()["alerts"]
    assert [one["id"] for one in resolved] == firing and resolved[0]["ended"] == "replaced"
    assert refused(service.client.get("/states/Busy"))[0] == 404
    put(service, "third", SECOND)
    service.post(line(3))
    assert ends(service, "Hot") == [1, 2, 3]


def test_what_a_deleted_query_has_reported_is_still_found_by_name(local: Open) -> None:
    service = local()
    put(service, "second", SECOND)
    service.post(line(1), line(2))
    reported = service.client.get("/events/Twice").json()["events"]
    assert len(reported) == 1
    service.client.delete("/queries/second")
    assert service.client.get("/events/Twice").json()["events"] == reported
    assert ends(service, "Hot") == [1, 2]
    assert refused(service.client.get("/events/Thrice"))[1] == "OBEP517"


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_kill_keeps_all_queries_with_their_states(local: Open, project: Path, snapshot: bool) -> None:
    service = local()
    service.post(line(1), line(2))
    put(service, "second", SECOND, warm="10 min")
    service.post(line(3), line(4, False, "p1"))
    put(service, "gone", THIRD)
    service.post(line(5, False), stream="more")
    if snapshot:
        service.service._save()
    service.client.delete("/queries/gone")
    put(service, "second", SECOND.replace("10 min", "9 min"))
    alert = service.client.get("/alerts").json()["alerts"][0]["id"]
    service.client.post(f"/alerts/{alert}/ack", json={"by": "ann"})
    put(service, "third", THIRD)
    service.post(line(6), line(7))
    service.post(line(6, False), stream="more")
    again = Local(killed(service, project))
    try:
        assert names(again) == ["query", "second", "third"]
        same(service, again)
        for one in (service, again):
            one.post(line(8), line(9))
            one.post(line(9, False), stream="more")
        same(service, again)
        assert ends(again, "Cold") == [5, 6, 9]
    finally:
        again.stop()
    third = Local(project.parent / "killed")  # from a snapshot alone: also what was counted
    try:
        same(service, third)
    finally:
        third.stop()


def test_a_new_query_begins_with_history_if_asked(local: Open) -> None:
    service = local()
    service.post(line(1), line(2), line(3))
    done = put(service, "second", SECOND, warm="1 s")
    assert {one["labels"]["x"] for one in done["firing"]} == {"<http://e/p2>"}  # 3 is not decided yet
    service.post(line(4))
    assert sorted(one["start"] for one in service.client.get("/events/Twice").json()["events"]) == [2, 3]


@pytest.mark.parametrize("name", ["second", "another"])
@pytest.mark.parametrize("options", [{}, {"warm": "10 min"}])
def test_a_dry_run_answers_what_the_put_then_answers(local: Open, name: str, options: dict[str, str]) -> None:
    service = local()
    put(service, "second", SECOND)
    service.post(line(1), line(2), line(3))
    other = SECOND.replace("10 min", "9 min")
    if name == "another":
        service.client.delete("/queries/second")
    dry = put(service, name, other, dry_run="true", **options)
    assert service.client.get("/queries").json()["queries"][-1]["text"] != other
    assert dry == put(service, name, other, **options)
    assert bool(dry["warmed"]) is bool(options)


def test_an_action_comes_to_each_query_at_its_own_watermark(local: Open) -> None:
    service = local()
    put(service, "third", THIRD.replace("RETURN Cold", "RETURN Cold, Seen"))
    service.post(line(100), line(200))
    service.post(line(5, False), line(7, False), stream="more")
    alert = service.client.get("/alerts").json()["alerts"][0]["id"]
    service.client.post(f"/alerts/{alert}/ack", json={"by": "ann"})
    service.post(line(6, False), line(8, False), stream="more")  # nothing is late by what the other has read
    assert ends(service, "Seen") == [7] and ends(service, "Cold") == [5, 7, 8]


def test_a_source_is_opened_for_the_query_that_reads_it_and_closed_after_it(
    local: Open, project: Path
) -> None:
    (project / "more.jsonl").write_text(line(1, False) + line(2, False))
    service = local('[sources.more]\nuri = "more.jsonl"\n[serve]\nsnapshot = "1 h"\n')
    put(service, "third", THIRD)
    until(lambda: ends(service, "Cold") == [1, 2])
    assert {one["name"]: one["source"] for one in service.client.get("/streams").json()["streams"]}["more"]
    again = Local(killed(service, project))
    try:
        assert ends(again, "Cold") == [1, 2]
        assert again.client.delete("/queries/third").status_code == 200
        assert not again.service.run.sources
        with (project.parent / "killed" / "more.jsonl").open("a") as file:
            file.write(line(3, False))
        put(again, "third", THIRD)  # it goes on where it was
        until(lambda: ends(again, "Cold") == [1, 2, 3])
    finally:
        again.stop()


def test_a_source_that_cannot_be_opened_refuses_the_query(local: Open) -> None:
    service = local('[sources.more]\nuri = "missing.jsonl"\n')
    answer = service.client.put("/queries/third", json={"query": THIRD})
    assert answer.status_code == 422 and "missing.jsonl" in answer.text
    assert names(service) == ["query"] and not service.service.run.sources


def test_a_query_changed_while_down_may_read_a_new_source(project: Path) -> None:
    (project / "more.jsonl").write_text(line(1, False))
    (project / "obep.toml").write_text('[sources.more]\nuri = "more.jsonl"\n')
    first = Local(project)
    first.post(line(1), line(2))
    first.stop()
    (project / "query.obep").write_text(QUERY.replace("FROM STREAM <acks>", "FROM STREAM <more>"))
    second = Local(project)
    try:
        until(lambda: second.client.get("/streams").json()["streams"][1]["items"] == 1)
        assert [one["parameters"]["x"] for one in second.client.get("/states/Warm").json()["states"]]
    finally:
        second.stop()


def test_the_queries_of_a_list_run_and_follow_their_files(project: Path) -> None:
    (project / "second.obep").write_text(SECOND)
    (project / "obep.toml").write_text('[serve]\nquery = ["query.obep", "second.obep"]\n')
    first = Local(project)
    first.post(line(1), line(2))
    assert names(first) == ["query", "second"] and ends(first, "Twice") == [2]
    put(first, "third", THIRD)
    assert first.client.delete("/queries/second").status_code == 200
    first.stop()
    second = Local(project)  # what was deleted stays so, as long as its file is the same
    assert names(second) == ["query", "third"]
    second.stop()
    (project / "second.obep").write_text(SECOND + "# again\n")
    third = Local(project)
    assert sorted(names(third)) == ["query", "second", "third"]
    third.stop()
    (project / "obep.toml").write_text('[serve]\nquery = ["query.obep"]\n')
    fourth = Local(project)  # a file that is no longer named goes; what was put stays
    assert names(fourth) == ["query", "third"]
    fourth.stop()


def test_a_renamed_file_is_the_same_query(project: Path) -> None:
    first = Local(project)
    first.post(line(1), line(2))
    first.stop()
    (project / "query.obep").rename(project / "rooms.obep")
    second = Local(project)
    try:
        assert names(second) == ["rooms"]
        assert [one["parameters"]["x"] for one in second.client.get("/states/Warm").json()["states"]] == [
            "<http://e/p1>"
        ]
    finally:
        second.stop()


def test_two_files_of_one_name_and_an_unfit_pair_are_refused(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "query.obep").write_text(SECOND)
    (project / "second.obep").write_text(QUERY)
    toml = project / "obep.toml"
    toml.write_text('[serve]\nquery = ["query.obep", "sub/query.obep"]\n')
    with pytest.raises(ObepError, match="OBEP854"):
        Local(project)
    toml.write_text('[serve]\nquery = ["query.obep", "second.obep"]\n')
    with pytest.raises(ObepError, match="OBEP867"):
        Local(project)


def test_a_sink_takes_what_all_queries_return(local: Open, project: Path) -> None:
    service = local(
        '[sinks.all]\nuri = "all.jsonl"\n[sinks.two]\nuri = "two.jsonl"\nevents = ["Pair"]\n'
        '[serve]\nsnapshot = "1 h"\n'
    )
    put(service, "second", SECOND)
    service.post(line(1), line(2), line(3, False, "p1"), line(4))
    found = service.client.get("/events").json()["events"]
    written = [json.loads(one)["id"] for one in (project / "all.jsonl").read_text().splitlines()]
    assert written == [one["id"] for one in found] and any("Twice" in one for one in written)
    assert refused(service.client.delete("/queries/query")) == (422, "OBEP517")  # two.jsonl wants Pair
    assert service.client.delete("/queries/second").status_code == 200


def test_questions_go_to_the_query_that_knows(local: Open) -> None:
    service = local()
    put(service, "second", SECOND)
    service.post(line(1), line(2))
    assert service.client.post("/why-not", json={"event": "Twice"}).json()["reported"] == 1
    assert service.client.post("/why-not", json={"event": "Pair"}).status_code == 200
    plans = [service.client.get(f"/plan?query={name}").json() for name in ("query", "second")]
    assert {one["event"] for one in plans[1]["events"]} >= {"http://e/Twice"}
    assert "http://e/Twice" not in {one["event"] for one in plans[0]["events"]}
    assert "Twice" in service.client.post("/explain", json={"name": "second"}).json()["text"]
    states = service.client.get("/states").json()["states"]
    assert {(one["name"], one["query"]) for one in states} == {("Warm", "query"), ("Busy", "second")}
    assert service.client.get("/queries/second").json()["text"] == SECOND


@pytest.mark.parametrize("order", ["AB", "BA"])
@pytest.mark.parametrize("posted", [True, False])
def test_each_query_looks_subjects_up_in_its_own_static_graph(
    tmp_path: Path, order: str, posted: bool
) -> None:
    for name in "AB":
        text = f"FROM GRAPH <{name}.ttl> FROM STREAM <points> EVENT {name} AS (v some integer) RETURN {name}"
        (tmp_path / f"{name}.obep").write_text(f"PREFIX : <http://e/> {text}")
    (tmp_path / "A.ttl").write_text('<http://e/a7> <http://e/id> "7" .')
    (tmp_path / "B.ttl").write_text('<http://e/b7> <http://e/id> "7" . <http://e/b8> <http://e/id> "8" .')
    records = '{"id": "7", "v": 1, "time": 1}\n', '{"id": "8", "v": 2, "time": 2}\n'
    (tmp_path / "points.jsonl").write_text("".join(records))
    source = "" if posted else '[sources.points]\nuri = "points.jsonl"\n'
    (tmp_path / "obep.toml").write_text(
        f"{source}[serve]\nquery = {json.dumps([f'{name}.obep' for name in order])}\n"
        '[sources.points.mapping]\ntemplate = "?p :v {v:integer} ."\nprefixes = { "" = "http://e/" }\n'
        'subject = { lookup = "?p :id {id}" }\ntime = "time"\n'
    )
    service = Local(tmp_path)
    try:
        if posted:
            assert service.post(*records).json()["accepted"] == 2
        until(lambda: bool(ends(service, "A") and ends(service, "B")))
        found = {name: service.client.get(f"/events/{name}").json()["events"] for name in "AB"}
        assert {name: [one["because"][0]["individual"] for one in found[name]] for name in "AB"} == {
            "A": ["http://e/a7"],
            "B": ["http://e/b7", "http://e/b8"],
        }
        assert [one["code"] for one in letters(service)] == ["OBEP830"]
    finally:
        service.stop()


def letters(service: Local) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.client.get("/dead-letters").json()["letters"]
    return found


@pytest.mark.parametrize("queries", [1, 2])
def test_equal_late_items_are_a_letter_each_however_many_queries_refuse_them(queries: int) -> None:
    texts = [f"PREFIX : <http://e/> FROM STREAM <s> EVENT {name} AS Room RETURN {name}" for name in "AB"]
    got: list[DeadLetter] = []
    found = QuerySet(lambda query, take: query.engine(on_dead_letter=take), got.append)
    for text in texts[:queries]:
        found.add(text, load(text=text))
    graph = (("<http://e/a>", RDF_TYPE, "<http://e/Room>"),)
    found.push_items([Item("s", 5_000_000, graph)])
    found.push_items([Item("s", 1_000_000, graph), Item("s", 1_000_000, graph)])
    assert len(got) == 2
