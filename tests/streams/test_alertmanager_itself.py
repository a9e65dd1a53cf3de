"""Alerts against the real Alertmanager, with the command line: kill -9 of obep, and a new Alertmanager."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from brokers import free_port, wait_until_open

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT On AS (says value "on")
EVENT Off AS (says value "off")
STATE Running(?fan) FROM On(?fan) TO Off(?fan) LIMIT 1 d
RETURN Running AS ALERTS
"""
RUN = """
import obep.run.pipeline as pipeline

pipeline.INTERVAL_S = 0.0        # a checkpoint after each turn
from obep.cli.main import main
main()
"""
TEMPLATES = b"/usr/share/prometheus/alertmanager"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Alertmanager, what is installed or Debian's package unpacked, and where to start it."""
    for name in ("prometheus-alertmanager", "alertmanager"):
        if found := shutil.which(name):
            return found, Path.cwd()
    folder = tmp_path_factory.mktemp("package")
    try:
        subprocess.run(
            ["apt-get", "download", "prometheus-alertmanager"],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=60,
        )
        (package,) = folder.glob("*.deb")
        subprocess.run(["dpkg", "-x", package, folder], check=True, capture_output=True, timeout=60)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        pytest.skip(f"there is no Alertmanager, and no Debian package of it: {error}")
    unpacked = folder / "usr/bin/prometheus-alertmanager"
    # Debian's has the folder of its templates in it; a name of the same length says: where it is started
    here = b"/proc/self/cwd/".ljust(len(TEMPLATES), b"/")
    unpacked.write_bytes(unpacked.read_bytes().replace(TEMPLATES, here))
    return str(unpacked), folder / TEMPLATES.decode().lstrip("/")


@contextmanager
def alertmanager(program: tuple[str, Path], folder: Path, port: int) -> Iterator[None]:
    name, started = program
    folder.mkdir()
    (folder / "am.yml").write_text("route:\n  receiver: none\nreceivers:\n  - name: none\n")
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [
                name,
                f"--config.file={folder / 'am.yml'}",
                f"--storage.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
            ],
            stdout=log,
            stderr=log,
            cwd=started,
        )
    try:
        wait_until_open(port, running)
        yield
    finally:
        running.terminate()
        running.wait(20)


@contextmanager
def obep_run(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    run = subprocess.Popen(
        [
            *(sys.executable, "-c", RUN, "run", folder / "q.obep", "--engine", "embedded", "-q"),
            *("--source", f"s=dir:{folder / 'in'}", "--checkpoint", folder / "kept"),
            *("--sink", f"alertmanager://127.0.0.1:{port}?resend=200ms"),
        ]
    )
    try:
        yield run
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait(20)


def say(folder: Path, at: float, word: str) -> None:
    graph = f'<http://e/f1> <http://e/says> "{word}" .'
    (folder / "new").write_text(json.dumps({"stream": "s", "time": at, "graph": graph}) + "\n")
    os.replace(folder / "new", folder / "in" / f"{at}.jsonl")


def known(port: int, active: bool) -> list[dict[str, Any]]:
    """The alerts that the Alertmanager has, those that fire or all others."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/alerts?active={str(active).lower()}") as got:
        found: list[dict[str, Any]] = json.load(got)
    return found


def until(done: Callable[[], bool]) -> None:
    """Looks until it is so; a minute is too long."""
    deadline = time.monotonic() + 60
    pause = Event()
    while not done():
        assert time.monotonic() < deadline
        pause.wait(0.05)


@pytest.mark.slow
def test_an_alert_fires_until_it_is_resolved_through_a_kill_and_a_new_alertmanager(
    program: tuple[str, Path], tmp_path: Path
) -> None:
    port, now = free_port(), round(time.time())
    (tmp_path / "q.obep").write_text(QUERY)
    (tmp_path / "in").mkdir()
    say(tmp_path, now - 60, "on")
    say(tmp_path, now - 30, "on")
    with alertmanager(program, tmp_path / "first", port):
        with obep_run(tmp_path, port):
            until(lambda: len(known(port, active=True)) == 1)
            until((tmp_path / "kept" / "embedded.checkpoint").is_file)
        (alert,) = known(port, active=True)
    assert alert["labels"] == {"alertname": "Running", "fan": "<http://e/f1>"}
    assert alert["annotations"]["state"] == "http://e/Running"
    assert alert["startsAt"].startswith(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now - 60)))
    # what follows was sent by the resumed run alone: this one knows nothing yet
    with alertmanager(program, tmp_path / "second", port), obep_run(tmp_path, port):
        until(lambda: len(known(port, active=True)) == 1)
        (again,) = known(port, active=True)
        first = again["updatedAt"]
        until(lambda: known(port, active=True)[0]["updatedAt"] > first)
        say(tmp_path, now - 20, "off")
        say(tmp_path, now - 10, "off")
        until(lambda: known(port, active=True) == [])
    for key in ("fingerprint", "labels", "annotations", "startsAt"):
        assert again[key] == alert[key]
