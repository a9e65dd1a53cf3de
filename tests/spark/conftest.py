"""One Spark session for all tests of this folder: its start is most of what a small test costs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from class_archive import ARCHIVE

JAVA = "-Djdk.lang.Process.launchMechanism=VFORK -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
if ARCHIVE.exists():
    JAVA += f" -XX:SharedArchiveFile={ARCHIVE}"
FAST = {
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "2",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.driver.memory": "1g",
    "spark.sql.streaming.numRecentProgressUpdates": "200",
}


CONNECT_PORT = "spark.connect.grpc.binding.port"


def _connect() -> dict[str, str]:
    """The same session serves those who come by Spark Connect: a Java of their own would only start."""
    from brokers import free_port

    return {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        CONNECT_PORT: str(free_port()),
    }


def _kafka() -> dict[str, str]:
    """Spark's Kafka connector, where its jars can be had."""
    from kafka_broker import NoKafka, connector_jars

    try:
        return {"spark.jars": connector_jars()}
    except NoKafka:
        return {}


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from obep.spark.driver.session import session

    started = session("local[2]", {**FAST, **_kafka(), **_connect()}, quiet=True)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def connect(spark: Any) -> str:
    """Where it serves."""
    return f"sc://127.0.0.1:{spark.conf.get(CONNECT_PORT)}"


@pytest.fixture(scope="session")
def kafka_server() -> Iterator[Any]:
    """A broker for all tests; `None`, with a warning that says why, where there is none."""
    from kafka_broker import NoKafka, kafka_broker

    with ExitStack() as stack:
        started = None
        try:
            started = stack.enter_context(kafka_broker())
        except NoKafka as reason:
            warnings.warn(f"without Kafka: {reason}", stacklevel=1)
        yield started


@pytest.fixture(scope="session")
def kafka(kafka_server: Any) -> str:
    """`host:port` of its plain door; empty where there is no broker."""
    return kafka_server.address if kafka_server is not None else ""
