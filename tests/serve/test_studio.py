"""`obep studio` opens the page of the service that runs, or of one that it starts; trials change nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from serve.conftest import QUERY, Start, line, until

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_second_studio_opens_the_page_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "query.obep").write_text(QUERY)
    command = [sys.executable, "-m", "obep", "studio", str(tmp_path), "--no-browser"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert first.stdout is not None
        said = first.stdout.readline()
        assert said.startswith("The page is http://127.0.0.1:")
        page = httpx.get(said.split()[-1])
        assert page.status_code == 200 and "page.js" in page.text
        second = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (second.returncode, second.stdout) == (0, said)
    finally:
        first.send_signal(signal.SIGTERM)
        first.wait(30)


@pytest.mark.slow
def test_a_trial_finds_what_obep_run_would_and_changes_nothing(start: Start) -> None:
    service = start()
    service.post(line(1, thing="a"))
    before = service.client.get("/events").json()
    recorded = line(1, thing="b") + line(2, False, "b")
    found = service.client.post("/try", json={"query": QUERY, "items": {"points": recorded}}).json()
    assert (found["items"], found["refused"]) == (2, 0)
    assert [one.get("event", one.get("status")) for one in found["events"]] == [
        "http://e/Hot", "firing", "http://e/Pair", "resolved",
    ]  # fmt: skip
    ours = service.client.post("/try", json={"query": QUERY}).json()
    assert ours["items"] == 1 and ours["events"][0] == before["events"][0]
    assert service.client.post("/try", json={"query": "EVENT"}).status_code == 422
    assert service.client.post("/try", json={"query": QUERY, "items": {"x": ""}}).status_code == 404
    assert service.client.get("/events").json() == before


@pytest.mark.slow
def test_the_example_runs_with_its_broker_and_points(tmp_path: Path) -> None:
    folder = tmp_path / "example"
    ignored = shutil.ignore_patterns(".obep*")
    shutil.copytree(ROOT / "examples" / "12-service", folder, ignore=ignored)
    program = subprocess.Popen(
        [sys.executable, str(folder / "run.py"), "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ),
    )  # fmt: skip
    try:
        assert program.stdout is not None
        url = program.stdout.readline().split()[-1]
        until(lambda: _items(url) > 300)
    finally:
        program.send_signal(signal.SIGTERM)
        program.wait(30)


def _items(url: str) -> int:
    streams = json.loads(httpx.get(f"{url}streams").text)["streams"]
    return sum(one["items"] for one in streams if one["name"] == "points")
