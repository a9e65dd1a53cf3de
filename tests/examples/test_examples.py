"""Every example gives what its README worked out by hand; what they embed runs against the real thing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from brokers import mqtt_broker

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/query.obep"))


def test_there_are_the_examples_that_were_promised() -> None:
    names = [path.name for path in EXAMPLES]
    assert names == [
        "01-rooms", "02-stocks", "03-shapes", "04-tsunami", "05-cnc", "06-building", "07-ward",
        "08-building-states", "11-brick",
    ]  # fmt: skip
    for path in EXAMPLES:
        there = {file.name for file in path.iterdir()}
        assert there >= {"README.md", "ontology.ttl", "expected.jsonl"}
        assert any(name.startswith("stream.") for name in there) or (path / "obep.toml").exists()


@pytest.mark.java
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_an_example_gives_what_it_should_on_the_embedded_engine(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "obep", "test", str(folder)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 case, 0 differ, 0 broken" in done.stdout


def test_the_brick_building_has_the_rules_of_the_building_with_states_word_for_word() -> None:
    first, second = (
        [
            line
            for line in (ROOT / "examples" / name / "query.obep").read_text("utf-8").splitlines()[1:]
            if not line.startswith(("FROM GRAPH", "FROM STREAM <model> AS GRAPH"))
        ]
        for name in ("08-building-states", "11-brick")
    )
    assert first == second


@pytest.mark.slow
def test_what_the_brick_building_expects_is_what_its_script_works_out(tmp_path: Path) -> None:
    rules, brick = "08-building-states/expect.py", "11-brick"
    for name in (rules, *(f"{brick}/{one}" for one in ("make_building.py", "expect.py", "words.ttl"))):
        copy = tmp_path / name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes((ROOT / "examples" / name).read_bytes())
        assert "import obep" not in copy.read_text("utf-8")
    for program in ("make_building.py", "expect.py"):
        subprocess.run([sys.executable, str(tmp_path / brick / program)], check=True, timeout=120)
    for name in ("building.ttl", "model.jsonl", "telemetry.jsonl", "expected.jsonl"):
        assert (tmp_path / brick / name).read_bytes() == (ROOT / "examples" / brick / name).read_bytes()


@pytest.mark.parametrize("program", ["06-building/live.py", "05-cnc/on_spark.py"])
def test_the_programs_that_embed_obep_are_short(program: str) -> None:
    assert len((ROOT / "examples" / program).read_text("utf-8").splitlines()) <= 60


@pytest.mark.slow
def test_the_building_app_finds_the_fire_over_mqtt() -> None:
    folder = ROOT / "examples" / "06-building"
    with mqtt_broker() as broker:
        app = subprocess.Popen(
            [sys.executable, str(folder / "live.py"), broker.host, str(broker.port)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            found = _publish_until_found(broker, app, folder)
        finally:
            app.kill()
            app.wait(timeout=30)
    assert found.startswith("<http://example.org/building#Fire>")


def _publish_until_found(broker, app, folder):  # type: ignore[no-untyped-def]
    """Devices send again until somebody listens, as real ones do; returns the app's first line about a fire.

    A sensor that is heard once an hour counts as silent, too, so other lines come before it.
    """
    from threading import Event, Thread

    heard = Event()

    def send() -> None:
        at = 1772442000
        while not heard.is_set():
            at += 3600
            hot = {"device": "t1", "temp": 140.0, "unit": "degF", "ts": at * 1000}
            smoke = {"id": "s1", "obscuration": 0.4, "when": at + 10}
            later = {"device": "t1", "temp": 70.0, "unit": "degF", "ts": (at + 600) * 1000}
            broker.publish("building/temperature", json.dumps(hot).encode())
            broker.publish("building/smoke", json.dumps(smoke).encode())
            broker.publish(
                "building/occupancy", json.dumps({"sensor": "p1", "count": 0, "at": at + 600}).encode()
            )
            broker.publish(
                "building/smoke", json.dumps({**smoke, "obscuration": 0, "when": at + 600}).encode()
            )
            broker.publish("building/temperature", json.dumps(later).encode())

    sender = Thread(target=send)
    sender.start()
    lines = iter(app.stdout.readline, "")
    found = next((line.strip() for line in lines if line.startswith("<") and "Fire" in line), "")
    heard.set()
    sender.join()
    return found
