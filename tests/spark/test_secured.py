"""`obep run --engine spark` with brokers that want TLS, a name and a password: let in, or told why not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from brokers import MqttBroker, mqtt_broker, passwords_for, self_signed
from cli.shell import obep
from kafka_broker import USER, WORD, KafkaBroker, consume, produce
from live_ends import interrupting, subscribed

from obep.config.toml_file import Config
from obep.run.run_spec import Inlet, Order
from obep.spark.driver.console_run import explained

pytestmark = pytest.mark.spark

QUERY = """PREFIX : <http://e/>
FROM STREAM <doors>
FROM STREAM <rooms>
EVENT A ON <doors> AS Alpha
EVENT B ON <rooms> AS Beta
EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s
RETURN AB
"""


class Place(NamedTuple):
    """A folder with the query, and the brokers."""

    folder: Path
    mqtt: MqttBroker
    kafka: KafkaBroker | None


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, kafka_server: KafkaBroker | None) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("secured")
    certificate, key = self_signed(folder)
    passwords = passwords_for(folder, USER, WORD)
    with mqtt_broker(passwords=passwords, certificate=certificate, key=key) as mqtt:
        if kafka_server is not None:
            (folder / "kafka.pem").write_bytes(kafka_server.ca.read_bytes())
        yield Place(folder, mqtt, kafka_server)


def message(n: int, kind: str) -> bytes:
    return json.dumps({"time": n, "graph": f"<http://e/x{n % 4}> a <http://e/{kind}> ."}).encode()


def settings(place: Place, word: str = WORD, trust: bool = True) -> str:
    """obep.toml: both brokers as sources and as sinks."""
    assert place.kafka is not None
    common = f"username = '{USER}'\npassword = '{word}'\n"
    text = ""
    for table, topics in (("sources", ("doors", "rooms/+")), ("sinks", ("secured", "found"))):
        kafka, mqtt = topics
        text += f"[{table}.doors]\nuri = 'kafka://{place.kafka.secured}/{kafka}'\ntls = true\n{common}"
        text += "options = {'sasl.mechanism' = 'SCRAM-SHA-512'}\n" if table == "sources" else ""
        text += "ca = 'kafka.pem'\n" if trust else ""
        text += f"[{table}.rooms]\nuri = '{place.mqtt.uri(mqtt)}'\n{common}"
        text += "ca = 'cert.pem'\n" if trust else ""
    return text + "[sinks.lines]\nuri = 'out.jsonl'\n"


def test_tls_and_passwords_let_sources_and_sinks_in(spark: Any, place: Place) -> None:
    if place.kafka is None:
        pytest.skip("without a broker of Kafka: a warning of this run says why")
    (place.folder / "obep.toml").write_text(settings(place))
    (place.folder / "query.obep").write_text(QUERY)
    produce(place.kafka.address, "doors", [message(n, "Alpha") for n in (1, 2, 3, 100)])
    for n in (5, 6, 90):  # what is retained comes to those who subscribe later
        place.mqtt.publish(f"rooms/{n}", message(n, "Beta"), username=USER, password=WORD, retain=True)
    out, state = place.folder / "out.jsonl", place.folder / "state"
    command = ("--lateness", "1s", "--idle", "10 min", "--checkpoint", state, "--engine", "spark")
    with subscribed(place.mqtt, "found", username=USER, password=WORD) as heard:
        with interrupting(lambda: out.exists() and out.read_text().count("\n") >= 2):
            said = obep("run", place.folder / "query.obep", *command, "--master", "local[2]")
        assert said.status == 130, said.err
        published = heard(2)
    found = {json.loads(line)["id"]: line for line in out.read_text().splitlines()}
    # x1 at 1 and 5, x2 at 2 and 6
    assert sorted(json.loads(line)["bindings"][0]["r"] for line in found.values()) == [
        "<http://e/x1>",
        "<http://e/x2>",
    ]
    assert Counter(key for key, _ in consume(place.kafka.address, "secured")) == Counter(found.keys())
    assert Counter(json.loads(payload)["id"] for payload in published) == Counter(found.keys())
    assert WORD not in said.out + said.err
    assert not [path for path in state.rglob("*") if path.is_file() and WORD.encode() in path.read_bytes()]


SAID = {
    "UnknownTopicOrPartitionException: This server does not host this topic-partition.": (
        "OBEP552  doors=kafka://***@h:9092/t: there is no such topic"
    ),
    "TimeoutException: Timed out waiting for a node assignment. Call: describeTopics": (
        "OBEP552  doors=kafka://***@h:9092/t does not answer: Timed out waiting for a node assignment. "
        "Call: describeTopics"
    ),
    "CorruptRecordException: This message has failed its CRC checksum.": (
        "OBEP655  Spark stopped: doors=kafka://***@h:9092/t: This message has failed its CRC checksum."
    ),
}


@pytest.mark.parametrize("text", SAID)
def test_what_kafka_says_is_said_without_java(text: str, tmp_path: Path) -> None:
    """As Spark hands it on: one line among many."""
    inlet = Inlet("doors", "kafka://me:hush@h:9092/t", trusted=True)
    failed = (
        f"terminated with exception: org.apache.kafka.common.errors.{text} SQLSTATE: XXKST\n=== Streaming"
    )
    order = Order(Path("-"), Config(tmp_path), (inlet,), ())
    assert explained(RuntimeError(failed), order) == SAID[text]


def test_our_own_words_are_said_without_those_of_spark(tmp_path: Path) -> None:
    ours = "OBEP552  tcp://h:1 does not answer: Connection refused\n  Try:  start it"
    failed = f"boom: {ours}\n SQLSTATE: 38000 SQLSTATE: XXKST\n=== Streaming Query ===\nIdentifier: [id = 1]"
    assert explained(RuntimeError(failed), Order(Path("-"), Config(tmp_path), (), ())) == ours


@pytest.mark.parametrize(
    "said",
    ["boom {}\nValueError: {}", "OBEP554  {}\n  Try: {}", "org.apache.kafka.common.errors.AnyException: {}"],
)
def test_what_spark_says_does_not_steer_a_terminal(said: str, tmp_path: Path) -> None:
    order = Order(Path("-"), Config(tmp_path), (), ())
    text = explained(RuntimeError(said.format("\x1b[2J", "\x1b[2J")), order)
    assert "\x1b" not in text and "\\x1b[2J" in text
    assert text.count("\n") == said.count("\n")


WRONG = {
    "a password for Kafka": ("doors", "wrong-word", True, "invalid credentials", "password ="),
    "a certificate of Kafka": ("doors", WORD, False, "SSL handshake failed", "ca ="),
    "a password for MQTT": ("rooms", "wrong-word", True, "refuses", "password ="),
    "a certificate of MQTT": ("rooms", WORD, False, "self-signed certificate", "ca ="),
}


@pytest.mark.parametrize("name", WRONG)
def test_who_is_not_let_in_hears_why_and_what_to_do(spark: Any, place: Place, name: str) -> None:
    stream, word, trust, why, remedy = WRONG[name]
    if place.kafka is None:
        pytest.skip("without a broker of Kafka: a warning of this run says why")
    (place.folder / "obep.toml").write_text(settings(place, word, trust))
    kind = "Alpha" if stream == "doors" else "Beta"
    query = place.folder / "wrong.obep"
    query.write_text(f"PREFIX : <http://e/>\nFROM STREAM <{stream}>\nEVENT X AS {kind}\nRETURN X\n")
    said = obep("run", query, "--sink", "-", "--engine", "spark", "--master", "local[2]")
    assert said.status == 2, said.err
    assert "OBEP552" in said.err and why in said.err and remedy in said.err
    assert place.mqtt.uri("")[:-1] in said.err or f"kafka://{place.kafka.secured}" in said.err
    assert word not in said.out + said.err
    assert "Traceback" not in said.err and "\tat " not in said.err
