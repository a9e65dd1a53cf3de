"""A broker that goes away and comes back is said to, on Spark as embedded; and who may be spoken to, when."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from brokers import free_port, mqtt_broker
from cli.shell import obep
from live_ends import interrupting, line_to

from obep.run.progress import Progress

pytestmark = pytest.mark.spark
QUERY = "PREFIX : <http://e/>\nFROM STREAM <doors>\nEVENT A AS Alpha\nRETURN A\n"


def health(port: int) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
            return answer.status, json.load(answer)["status"]
    except urllib.error.HTTPError as answer:
        return answer.code, json.load(answer)["status"]


def message(name: str) -> bytes:
    return json.dumps({"graph": f"<http://e/{name}> a <http://e/Alpha> ."}).encode()


def test_a_line_that_is_cut_is_said_to_be_and_health_waits_for_the_sources(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent once health says so is taken; so is what comes when the line is whole again."""
    query, out, port = tmp_path / "query.obep", tmp_path / "out.jsonl", free_port()
    query.write_text(QUERY)
    told: list[str] = []
    at_first: list[tuple[int, str]] = []
    monkeypatch.setattr(Progress, "warn", lambda self, code, message, *rest: told.append(f"{code} {message}"))
    # it is called when the sources are named, and nothing listens yet
    monkeypatch.setattr(
        "obep.spark.driver.console_run.say_skipped", lambda *rest: at_first.append(health(port))
    )
    with mqtt_broker() as broker, line_to(broker.port) as line:
        steps = iter(
            [
                (lambda: bool(at_first) and health(port) == (200, "ok"), lambda: send("x1")),
                (lambda: found() == 1, line.cut),
                (lambda: len(told) == 1, line.mend),
                (lambda: len(told) == 2, lambda: send("x2")),
                (lambda: found() == 2, lambda: None),
            ]
        )
        step = next(steps)

        def send(name: str) -> None:
            broker.publish("doors", message(name))

        def found() -> int:
            return out.read_text().count("\n") if out.exists() else 0

        def all_done() -> bool:
            nonlocal step
            holds, then = step
            if not holds():
                return False
            then()
            return (step := next(steps, None)) is None  # type: ignore[assignment]  # the last one is left

        with interrupting(all_done):
            source = f"doors=mqtt://127.0.0.1:{line.port}/doors"
            more = ("--idle", "1s", "--metrics", f":{port}", "--engine", "spark", "--master", "local[2]")
            said = obep("run", query, "--source", source, "--sink", out, *more)
    assert said.status == 130, said.err
    assert at_first == [(503, "starting")]
    away, back, *_ = told
    assert away == "OBEP552 doors: connection lost (the connection broke off); reconnecting"
    assert back == "OBEP552 doors: connected again"
    individuals = [json.loads(text)["because"][0]["individual"] for text in out.read_text().splitlines()]
    assert individuals == ["http://e/x1", "http://e/x2"]
