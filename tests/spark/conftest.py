"""One Spark session for all tests of this folder: its start is most of what a small test costs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

FAST = {
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "2",
    "spark.driver.extraJavaOptions": "-Djdk.lang.Process.launchMechanism=VFORK "
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
    "spark.sql.streaming.numRecentProgressUpdates": "200",
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
    from obep.spark.session import session

    started = session("local[2]", {**FAST, **_kafka()}, quiet=True)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """`host:port` of a broker for all tests; empty, with a warning that says why, where there is none."""
    from kafka_broker import NoKafka, kafka_broker

    with ExitStack() as stack:
        try:
            address = stack.enter_context(kafka_broker())
        except NoKafka as reason:
            warnings.warn(f"without Kafka: {reason}", stacklevel=1)
            address = ""
        yield address
