"""A real Kafka broker on loopback, from its own jars, for the tests that talk to Kafka.

It has two doors: a plain one, and one with TLS and SASL (PLAIN and SCRAM-SHA-512) for one user. The jars come
from Maven into `~/.cache/obep-tests/kafka` (once). Where they cannot be had, `jars()` says why and the tests
that need them are skipped with that reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brokers import free_port, self_signed, wait_until_open

HERE = Path(__file__).parent
LIB = Path(os.environ.get("OBEP_TEST_KAFKA", Path.home() / ".cache" / "obep-tests" / "kafka-3.9.1"))
USER, WORD = "me", 'hush"hush'
"""Who may come in by the secured door; the quote is one that a sloppy configuration trips over."""
CONNECTOR = ("spark-sql-kafka", "spark-token-provider", "kafka-clients", "commons-pool2")


class NoKafka(Exception):
    """The jars cannot be had here."""


def jars() -> Path:
    """The folder of the jars, fetched on first use; `NoKafka` with the reason where that fails."""
    if not (LIB / ".complete").exists():
        if shutil.which("mvn") is None or shutil.which("java") is None:
            raise NoKafka("mvn and java are needed to fetch and start a Kafka broker")
        fetch = subprocess.run(
            ["mvn", "-q", "-B", "-f", str(HERE / "kafka_jars" / "pom.xml"), "dependency:copy-dependencies",
             f"-DoutputDirectory={LIB}"],
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        if fetch.returncode != 0:
            raise NoKafka(f"Maven could not fetch the broker's jars: {fetch.stdout[:300]}")
        (LIB / ".complete").touch()
    return LIB


def connector_jars() -> str:
    """Spark's Kafka connector, as the value of `spark.jars`."""
    return ",".join(str(p) for p in sorted(jars().glob("*.jar")) if p.name.startswith(CONNECTOR))


@dataclass(frozen=True)
class KafkaBroker:
    """`host:port` of both doors, and the certificate by which to know the secured one."""

    address: str
    secured: str
    ca: Path
    kill: Callable[[], None]
    start: Callable[[], None]
    """Once more, after it was killed."""


@contextmanager
def kafka_broker() -> Iterator[KafkaBroker]:
    """A broker (KRaft, one node) that lives as long as the block."""
    lib = jars()
    folder = Path(tempfile.mkdtemp(prefix="obep-kafka-"))
    port, secured, controller = free_port(), free_port(), free_port()
    certificate, key = self_signed(folder)
    (folder / "both.pem").write_text(key.read_text() + certificate.read_text())
    word = WORD.replace('"', '\\\\"')  # once for the file of properties, once for JAAS
    module = "org.apache.kafka.common.security"
    (folder / "server.properties").write_text(
        f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{secured},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{secured}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location={folder}/both.pem
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config={module}.plain.PlainLoginModule required user_{USER}="{word}";
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config={module}.scram.ScramLoginModule required;
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.partitions=2
"""
    )
    java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{lib}/*"]
    config = str(folder / "server.properties")
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", config,
         "--add-scram", f"SCRAM-SHA-512=[name={USER},password={WORD}]"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        with (folder / "broker.log").open("ab") as log:
            running.append(subprocess.Popen([*java, "kafka.Kafka", config], stdout=log, stderr=log))
        for door in (port, secured):
            wait_until_open(door, running[-1])

    def kill() -> None:
        running[-1].kill()
        running[-1].wait(timeout=30)

    try:
        try:
            start()
        except RuntimeError as error:
            raise NoKafka(str(error)) from None
        yield KafkaBroker(f"127.0.0.1:{port}", f"127.0.0.1:{secured}", certificate, kill, start)
    finally:
        kill()
        shutil.rmtree(folder, ignore_errors=True)


def produce(broker: str, topic: str, payloads: Iterable[bytes]) -> None:
    """Send messages to one partition, and return when the broker has them all.

    They have one key: messages of several partitions come in any order, so without a lateness some are late.
    """
    from confluent_kafka import Producer

    failed: list[object] = []
    producer = Producer({"bootstrap.servers": broker})
    for payload in payloads:
        producer.produce(topic, payload, b"test", on_delivery=lambda error, _: error and failed.append(error))
    assert (producer.flush(30), failed) == (0, [])


def consume(broker: str, topic: str) -> list[tuple[str, str]]:
    """All messages that are in a topic, as keys and values; the line ends of values are left out."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker, "group.id": "test", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, 20).topics[topic].partitions
    left = 0
    for number in partitions:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), 20)
        left += high - low
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    found: list[tuple[str, str]] = []
    while len(found) < left:
        messages = consumer.consume(left, 20)
        assert messages
        found += [(m.key().decode(), m.value().decode().rstrip("\n")) for m in messages]
    consumer.close()
    return found
