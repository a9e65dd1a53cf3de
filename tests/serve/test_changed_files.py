"""Files that a query reads, changed beside its service: the state is of the query as it was, and is kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from serve.conftest import Local, line
from serve.test_replacing import put
from serve.test_service_kills import killed

from obep.errors import ObepError

READS = """PREFIX : <http://e/>
VOCAB <terms.ttl>
INCLUDE <more.obep>
FROM GRAPH <site.ttl>
FROM NAMED GRAPH <rooms.ttl>
FROM STREAM <points>
FROM STREAM <acks>
FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]
EVENT Hot AS (hot value true)
EVENT Cool AS (hot value false)
EVENT Known AS (Point and hot value true)
EVENT Pair MATCH Hot SEQ Cool WITHIN 5 s
STATE Warm(?x) FROM Hot(?x) TO Cool(?x)
STATE Placed(?x) ON <now> AS { ?x :hot true . GRAPH <rooms.ttl> { ?x :room ?r } }
RETURN Hot, Pair, Known, More
RETURN Warm AS ALERTS
"""
WIDER = READS.replace("WITHIN 5 s", "WITHIN 50 s")
PATHS = ("/events", "/alerts?status=all", "/dead-letters", "/states/Warm", "/states/Placed")
EDITS = {
    "site.ttl": "<http://e/p9> a <http://e/Point> .\n",
    "rooms.ttl": "<http://e/p9> <http://e/room> <http://e/r2> .\n",
    "terms.ttl": "<http://e/Tank> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/Point> .\n",
    "more.obep": "EVENT Less AS (hot value false)\n",
}


@pytest.fixture
def reading(project: Path) -> Path:
    owl = "http://www.w3.org/2002/07/owl#"
    (project / "query.obep").write_text(READS)
    (project / "obep.toml").write_text('[serve]\nsnapshot = "1 h"\nquery = "query.obep"\n')
    (project / "site.ttl").write_text("<http://e/p1> a <http://e/Point> .\n")
    (project / "rooms.ttl").write_text("<http://e/p1> <http://e/room> <http://e/r1> .\n")
    (project / "terms.ttl").write_text(
        f"<http://e/Point> a <{owl}Class> . <http://e/Tank> a <{owl}Class> .\n"
        f"<http://e/hot> a <{owl}DatatypeProperty> .\n"
        f"<http://e/room> a <{owl}ObjectProperty> .\n"
    )
    (project / "more.obep").write_text("PREFIX : <http://e/>\nEVENT More AS (hot value true)\n")
    return project


def edit(folder: Path, name: str) -> None:
    with (folder / name).open("a") as file:
        file.write(EDITS[name])


def seen(service: Local) -> list[str]:
    return [service.client.get(path).text for path in PATHS]


def known(service: Local) -> list[str]:
    found = service.client.get("/events/Known").json()["events"]
    return [one["because"][0]["individual"] for one in found]


@pytest.mark.parametrize("name", EDITS)
def test_a_service_killed_after_a_put_with_an_edited_file_goes_on(reading: Path, name: str) -> None:
    service = Local(reading)
    try:
        service.post(line(1), line(2))
        assert put(service, WIDER)[0] == 200
        service.service._save()  # of two versions
        service.post(line(3))
        edit(reading, name)
        status, done = put(service, WIDER)
        assert status == 200 and bool(done["replacement"]["changed"]) == (name != "more.obep")
        service.post(line(9))
        assert known(service) == ["http://e/p1", *(["http://e/p9"] if name == "site.ttl" else [])]
        again = Local(killed(service, reading))
        try:
            assert seen(again) == seen(service)
            assert again.service.queries.first.query.hash == service.service.queries.first.query.hash
            for one in (service, again):
                one.post(line(10, False, "p9"), line(11))
            assert seen(again) == seen(service)
        finally:
            again.stop()
    finally:
        service.stop()


@pytest.mark.parametrize("was_killed", [False, True])
@pytest.mark.parametrize("name", EDITS)
def test_a_file_that_is_read_and_was_edited_while_down_is_a_replacement(
    reading: Path, name: str, was_killed: bool
) -> None:
    first = Local(reading)
    first.post(line(1), line(2))
    folder = killed(first, reading) if was_killed else reading
    found = first.client.get("/events").json()["events"]
    firing = {one["id"] for one in first.client.get("/alerts").json()["alerts"]}
    before = first.service.queries.first.query.hash
    first.stop()
    edit(folder, name)
    second = Local(folder)
    try:
        assert second.client.get("/events").json()["events"][: len(found)] == found
        resolved = second.client.get("/alerts?status=resolved").json()["alerts"]
        # with another T or K all means something else; one event more changes no other
        assert firing and {one["id"] for one in resolved} == (set() if name == "more.obep" else firing)
        assert second.service.queries.first.query.hash != before
        second.post(line(9))
        assert ("http://e/p9" in known(second)) == (name == "site.ttl")
        now = seen(second)
    finally:
        second.stop()
    third = Local(folder)  # nothing was changed: nothing is replaced
    try:
        assert seen(third) == now
        assert len(list((folder / ".obep-serve" / "queries").iterdir())) == 1
    finally:
        third.stop()


def test_what_was_edited_into_nonsense_is_refused_and_the_state_kept(reading: Path) -> None:
    first = Local(reading)
    first.post(line(1), line(2))
    before = seen(first)
    first.stop()
    for spoil in (lambda path: path.write_text("no turtle"), Path.unlink):
        _refused_until_back(reading, spoil)
    second = Local(reading)
    try:
        assert seen(second) == before
    finally:
        second.stop()


def _refused_until_back(folder: Path, spoil: Callable[[Path], object]) -> None:
    good = (folder / "site.ttl").read_text()
    spoil(folder / "site.ttl")
    with pytest.raises(ObepError, match=r"site\.ttl"):
        Local(folder)
    (folder / "site.ttl").write_text(good)


def test_a_state_without_its_query_is_refused_by_a_remedy_that_destroys_nothing(reading: Path) -> None:
    first = Local(reading)
    first.post(line(1))
    first.stop()
    shutil.rmtree(reading / ".obep-serve" / "queries")  # as an older obep left it
    edit(reading, "site.ttl")
    with pytest.raises(ObepError, match="OBEP558") as refused:
        Local(reading)
    remedy = refused.value.diagnostics[0].remedy
    assert "--state" in remedy and "rm " not in remedy and "--checkpoint" not in remedy


def test_a_kept_query_that_is_damaged_is_refused(reading: Path) -> None:
    first = Local(reading)
    first.post(line(1))
    first.stop()
    edit(reading, "site.ttl")
    (path,) = (reading / ".obep-serve" / "queries").iterdir()
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(ObepError, match="OBEP573"):
        Local(reading)
