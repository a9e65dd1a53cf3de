"""A live run: plain JSON over MQTT in, occurrences over MQTT out, metrics beside it, Ctrl-C at the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from brokers import free_port, mqtt_broker
from shell import hot

from obep.config.toml_file import Config
from obep.model import DeadLetter
from obep.streams.sources.open_sources import open_source

pytest.importorskip("paho")
pytest.importorskip("amqtt")

QUERY = """PREFIX : <http://e/>
FROM STREAM <readings>
EVENT Reading AS (Sensor and celsius some Thing)
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Silent(?s) MATCH Reading(?s) NOT FOLLOWED BY Reading(?s) WITHIN 1 s
RETURN Hot, Silent
"""


@pytest.mark.slow
def test_a_sensor_over_mqtt_is_watched_until_it_is_silent(tmp_path: Path) -> None:
    port = free_port()
    with mqtt_broker() as broker:
        query = hot(tmp_path, QUERY.replace("celsius some Thing", "celsius some rdfs:Literal"))
        (tmp_path / "obep.toml").write_text(f"""
            [sources.readings]
            uri = "{broker.uri("site/+/temperature")}"
            [sources.readings.mapping]
            prefixes = {{ "" = "http://e/" }}
            template = ":{{_levels.1}} a :Sensor ; :celsius {{t:double}} ."
            time = "ts"
            [sinks.alarms]
            uri = "{broker.uri("alarms")}"
            [engine]
            name = "embedded"
            idle = "300 ms"
        """)
        alarms = open_source("", broker.uri("alarms?format=ntriples"), Config(tmp_path))
        run = subprocess.Popen(
            [sys.executable, "-m", "obep", "run", query, "--metrics", f":{port}", "--log-format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            while True:  # until it serves its metrics, it has not connected
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60).close()
                    break
                except OSError:
                    with suppress(subprocess.TimeoutExpired):
                        pytest.fail(
                            f"it ended with {run.wait(0.1)}: {run.stderr.read() if run.stderr else ''}"
                        )
            broker.publish("site/kitchen/temperature", b'{"t": 35, "ts": 100}', b'{"t": "x", "ts": 100}')
            # An alarm is JSON, so as N-Triples it is a dead letter that shows what was sent.
            sent = []
            for batch in alarms.batches({}):
                sent += [record.raw for record in batch.records if isinstance(record, DeadLetter)]
                if len(sent) == 2:
                    break
            assert '"event":"http://e/Hot"' in sent[0]
            assert '"event":"http://e/Silent"' in sent[1]
            assert '"end":101' in sent[1]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                metrics = answer.read().decode()
            assert 'obep_occurrences_total{event="http://e/Silent"} 1' in metrics
            assert 'obep_refused_total{code="OBEP610"} 1' in metrics
            assert "obep_items_total 1" in metrics
        finally:
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert json.loads(err.splitlines()[0])["message"] == "stopped"
