"""Queries replaced while items come: what is found is what the log gives to engines of another program.

`make test` replaces a few times; OBEP_REPLACEMENTS=100 a hundred times.
"""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from itertools import count
from pathlib import Path

import httpx
import pytest
from serve.conftest import QUERY, Start, items, line, until
from serve.test_replacing import MORE, WIDER
from serve.test_service_kills import everything

import obep
from obep.engine.engine import Engine
from obep.model import Item, Occurrence
from obep.serve.entries import Came, Replaced, unpacked
from obep.serve.write_log import WriteLog

REPLACEMENTS = int(os.environ.get("OBEP_REPLACEMENTS", "4"))
BESIDE = """PREFIX : <http://e/>
FROM STREAM <points>
EVENT Hot AS (hot value true)
EVENT Cool AS (hot value false)
EVENT Again MATCH Hot SEQ Hot AS Then WITHIN 9 s
STATE Busy(?x) FROM Hot(?x) TO Cool(?x)
RETURN Again
RETURN Busy AS ALERTS
"""
TEXTS = (WIDER, MORE, QUERY.replace("5 s", "7 s"), QUERY)


class Posters:
    """Threads that post items of growing instants; of two that race, one comes late."""

    def __init__(self, url: str) -> None:
        self._seconds, self._url, self.ended, self.taken = count(1), url, threading.Event(), 0
        self._threads = [threading.Thread(target=self._post) for _ in range(3)]
        for thread in self._threads:
            thread.start()

    def _post(self) -> None:
        with httpx.Client(base_url=self._url, timeout=300) as client:
            while not self.ended.is_set():
                second = next(self._seconds)
                lines = [line(second), line(second, False, f"p{second - 2}")]
                self.taken += items(client, lines).json()["accepted"]

    def join(self) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.slow
@pytest.mark.faults
def test_replacing_under_load_equals_the_log_with_the_same_changes(start: Start, project: Path) -> None:
    service = start()
    posters = Posters(service.url)
    try:
        for n in range(REPLACEMENTS):
            enough = posters.taken + 6
            until(lambda enough=enough: posters.taken >= enough)
            warm = {"warm": "10 s"} if n % 3 == 0 else {}
            beside = BESIDE.replace("9 s", f"{n % 3 + 2} s")
            for name, text in (("query", TEXTS[n % 4]), ("beside", beside)):
                said = service.client.put(f"/queries/{name}", params=warm, json={"query": text})
                assert said.status_code == 200, said.text
    finally:
        posters.join()
    seen = [(one["id"], one.get("status")) for one in everything(service.client)]
    service.kill()
    replayed = by_hand(project)
    assert seen == replayed and len(seen) > REPLACEMENTS
    again = start()
    assert [(one["id"], one.get("status")) for one in everything(again.client)] == seen


def by_hand(project: Path) -> list[tuple[str, str | None]]:
    """What engines find that get the items of the log, and another query where the log has one."""
    engines: dict[str, Engine] = {"query": obep.load(text=QUERY).engine()}
    before: list[Item] = []
    found: list[Occurrence] = []
    for _, body in WriteLog(project / ".obep-serve" / "log").frames(0):
        for change in unpacked(body):
            if isinstance(change, Came):
                items = change.as_items()
                before += items
                for engine in engines.values():
                    found += engine.push_items(items)
            elif isinstance(change, Replaced):
                found += put(engines, change, sorted(before, key=lambda one: one.at))
    return [(one.id, getattr(one, "status", None)) for one in found]


def put(engines: dict[str, Engine], change: Replaced, before: list[Item]) -> list[Occurrence]:
    query = obep.load(text=change.text)
    if change.name in engines:
        warm = None if change.warm is None else timedelta(microseconds=change.warm)
        done = engines[change.name].replace(query, warm=warm, history=None if warm is None else before)
        return [*done.records]
    engine = engines[change.name] = query.engine()
    if change.warm is not None and before:
        engine.push_items([one for one in before if one.at >= before[-1].at - change.warm])
    return [*engine.firing()]
