"""A service that is killed at any moment has lost nothing that it acknowledged, and reports nothing twice.

`make test` kills twice; OBEP_KILLS=50 kills fifty times.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from serve.conftest import Local, Open, Running, Start, items, line, until

from obep.errors import ObepError

KILLS = int(os.environ.get("OBEP_KILLS", "2"))
POSTERS = 4


class Load:
    """Threads that post items, and the names of those that were acknowledged."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self._numbers = count()

    @contextmanager
    def on(self, service: Running, second: int) -> Iterator[None]:
        """All items of one round have the same time: none is late, whoever comes first."""
        threads = [threading.Thread(target=self._post, args=(service.url, second)) for _ in range(POSTERS)]
        for thread in threads:
            thread.start()
        yield
        for thread in threads:
            thread.join()

    def _post(self, url: str, second: int) -> None:
        with httpx.Client(base_url=url, timeout=30) as client:
            while True:
                names = [f"n{next(self._numbers)}" for _ in range(5)]
                try:
                    answer = items(client, [line(second, thing=name) for name in names])
                except httpx.HTTPError:  # it was killed
                    return
                if answer.status_code == 200:
                    assert answer.json()["accepted"] == 5
                    self.acknowledged += names


def everything(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    since = 0
    while lot := (said := client.get(f"/events?since={since}&limit=10000").json())["events"]:
        found += lot
        since = said["next"]
    return found


@pytest.mark.slow
@pytest.mark.faults
def test_what_was_acknowledged_is_found_once_after_kills(project: Path, start: Start) -> None:
    random, load = Random(0), Load()
    (project / "obep.toml").write_text(
        '[serve]\nsnapshot = "200 ms"\nkeep = 1000000\n[sinks.out]\nuri = "out.jsonl"\nevents = ["Hot"]\n'
    )
    seen: list[dict[str, Any]] = []
    service = start()
    for second in range(1, KILLS + 1):
        with load.on(service, second):
            enough = len(load.acknowledged) + random.randint(20, 400)
            until(lambda enough=enough: len(load.acknowledged) >= enough)
            before = everything(service.client)
            service.kill()
        service = start()
        seen, earlier = everything(service.client), seen
        assert seen[: len(earlier)] == earlier  # numbers are kept, by which readers go on
        assert seen[: len(before)] == before
    ids = [(one["id"], one.get("status")) for one in seen]
    assert len(set(ids)) == len(ids)
    found = {one["because"][0]["individual"] for one in seen if one.get("event") == "http://e/Hot"}
    assert {f"http://e/{name}" for name in load.acknowledged} <= found
    assert len(load.acknowledged) > 10
    written = [json.loads(text)["id"] for text in (project / "out.jsonl").read_text().splitlines()]
    assert written == [one["id"] for one in seen if one.get("event") == "http://e/Hot"]


def killed(service: Local, project: Path) -> Path:
    """A copy of a project as a kill would leave it now: without a last snapshot."""
    other = project.parent / "killed"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(project, other)
    return other


def test_a_replay_gives_the_same_records_alerts_and_letters(local: Open, project: Path) -> None:
    service = local()
    service.post(line(1), line(2), "{no json\n", line(3, False, "p1"), line(4))
    service.post(line(2))  # late
    alert = service.client.get("/alerts").json()["alerts"][0]["id"]
    service.client.post(f"/alerts/{alert}/ack", json={"by": "ann", "comment": "seen"})
    service.client.post(f"/alerts/{alert}/snooze", json={"by": "bob", "until": "2030-01-01T00:00:00Z"})
    paths = ("/events", "/alerts?status=all", "/dead-letters", "/streams", "/plan", "/states/Warm")
    again = Local(killed(service, project))
    try:
        for path in paths:
            assert again.client.get(path).text == service.client.get(path).text, path
        assert again.service.queries.first.clock.watermark == service.service.queries.first.clock.watermark
    finally:
        again.stop()
    third = Local(project.parent / "killed")  # from the snapshot alone
    try:
        for path in paths[:4]:  # also what was counted since the beginning
            assert third.client.get(path).text == service.client.get(path).text, path
    finally:
        third.stop()


def test_a_replay_counts_silence_as_it_was(
    local: Open, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = '[engine]\nidle = "10 s"\n[serve]\nsnapshot = "1 h"\n'
    service = local(toml)
    now = [service.service.clocks.steady]
    monkeypatch.setattr(
        type(service.service.clocks),
        "look",
        lambda self: setattr(self, "steady", now[0]) or setattr(self, "wall", now[0]),
    )
    for second in range(1, 6):
        service.post(line(second))
        now[0] += 6_000_000
        if second % 2:
            service.service._tick()
            assert service.service.waiting == 0
    watermark = service.service.queries.first.clock.watermark
    assert watermark is not None and watermark > 1_000_000  # `acks` is silent, and nobody waits for it
    found = service.client.get("/events").text
    again = Local(killed(service, project))
    try:
        assert again.client.get("/events").text == found
        assert again.service.queries.first.clock.watermark == watermark
    finally:
        again.stop()


def test_sources_go_on_where_the_log_stands(local: Open, project: Path) -> None:
    (project / "points.jsonl").write_text(line(1) + line(2))
    toml = '[sources.points]\nuri = "points.jsonl"\n[serve]\nsnapshot = "1 h"\n'
    service = local(toml)
    until(lambda: service.client.get("/events").json()["next"] == 3)
    other = killed(service, project)
    with (other / "points.jsonl").open("a") as file:
        file.write(line(3))
    again = Local(other)
    try:
        until(lambda: len(again.client.get("/events/Hot").json()["events"]) == 3)
        assert [one["end"] for one in again.client.get("/events/Hot").json()["events"]] == [1, 2, 3]
    finally:
        again.stop()


@pytest.mark.parametrize("name", ["embedded.checkpoint", "journal.db", "log"])
def test_what_is_damaged_is_refused(local: Open, project: Path, name: str) -> None:
    service = local()
    service.post(line(1), line(2))
    service.service.journal.secure()
    state = killed(service, project) / ".obep-serve"
    path = next((state / "log").iterdir()) if name == "log" else state / name
    for beside in state.glob("journal.db-*"):
        if name == "journal.db":
            beside.unlink()
    data = bytearray(path.read_bytes())
    data[10:60] = b"x" * 50
    path.write_bytes(data)
    with pytest.raises(ObepError, match="OBEP573"):
        Local(state.parent)


def test_two_services_on_one_folder_are_refused(local: Open, project: Path) -> None:
    local()
    with pytest.raises(ObepError, match="OBEP591"):
        Local(project)
