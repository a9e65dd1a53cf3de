"""A Spark session with the settings that the pipeline needs, started with a word on the terminal.

Comes in: a master and settings. Goes out: a `SparkSession`. It never changes a session that the caller made:
`require_settings` says what is missing there.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.errors import Diagnostic, fail
from obep.secrets import hide
from obep.spark.connectors.heartbeat import AVAILABLE_NOW
from obep.spark.driver.spark_java import provide_java
from obep.spark.driver.start_errors import not_started, require_master

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PARTITIONS = "spark.sql.shuffle.partitions"
MANY = 8
"""Tasks for a core: more than that, and most of a micro-batch is their start."""
STATE_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SETTINGS: Mapping[str, str] = {
    STATE_PROVIDER: ROCKSDB,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # whole blocks are rows here, so a batch of Arrow is few rows; stage 1 wants many items in a block
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    # else they are INT96: deprecated, and the dearest column that is written
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    AVAILABLE_NOW: "true",
}


def session(
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    *,
    app: str = "obep",
    quiet: bool = False,
    log: Path | None = None,
) -> SparkSession:
    """Start (or get) a session. On a local master everything stays on loopback, in a partition for each core.

    With `log` all that Java and the Python workers say goes to that file, not to standard error.
    """
    require_pyspark()
    from pyspark.sql import SparkSession

    require_master((settings or {}).get("spark.master", master))
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    provide_java()
    if not quiet and sys.stderr.isatty():
        print(f"starting Spark on {hide(master)} (about ten seconds) …", file=sys.stderr)
    builder: Any = SparkSession.builder.master(master).appName(app)
    usual = {**SETTINGS, PARTITIONS: str(_cores(master))} if master.startswith("local") else SETTINGS
    for key, value in {**usual, **(settings or {})}.items():
        builder = builder.config(key, value)
    with _said_to(log):
        try:
            started: SparkSession = builder.getOrCreate()
        except Exception as error:  # Java's, or that it is gone
            raise not_started(error, log, master, settings or ()) from error
    started.sparkContext.setLogLevel((settings or {}).get("spark.log.level", "ERROR"))
    return started


def _cores(master: str) -> int:
    """How many cores a local master has.

    >>> _cores("local"), _cores("local[3]"), _cores("local-cluster[2,3,1024]")
    (1, 3, 6)
    """
    if cluster := re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,.*\]", master):
        return int(cluster[1]) * int(cluster[2])
    if named := re.fullmatch(r"local\[(\d+).*\]", master):
        return int(named[1])
    return 1 if master == "local" else os.cpu_count() or 2


@contextmanager
def _said_to(log: Path | None) -> Iterator[None]:
    """Java is started with a file as its standard error; it keeps it, and so do its workers."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    own = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def require_pyspark() -> None:
    """Refuse with the command to run where PySpark is not installed."""
    try:
        import pyspark  # noqa: F401  (only looked for)
    except ImportError:
        raise fail(
            "OBEP551",
            "Spark is not installed",
            reason="The engine `spark` needs PySpark, which is an extra of obep.",
            remedy="pip install 'obep[spark]'\nor run it here:  obep run … --engine embedded",
        ) from None


def require_settings(spark: SparkSession) -> None:
    """Refuse a session that cannot keep our state, with the setting that is missing."""
    if spark.conf.get(STATE_PROVIDER, "") != ROCKSDB:
        raise fail(
            "OBEP651",
            "this Spark session keeps its state in a store that cannot hold ours",
            reason="The pipeline uses transformWithState, which needs Spark's RocksDB state store.",
            remedy=f'spark.conf.set("{STATE_PROVIDER}",\n    "{ROCKSDB}")\n'
            f'spark.conf.set("{PARTITIONS}", "{os.cpu_count() or 2}")   (on one machine; Spark has 200)',
        )
    _say_partitions(spark)


def _say_partitions(spark: SparkSession) -> None:
    """Warns of a session on one machine that makes far more tasks of each micro-batch than it has cores."""
    master, partitions = spark.conf.get("spark.master", "") or "", int(spark.conf.get(PARTITIONS, "0") or 0)
    if not master.startswith("local") or partitions <= MANY * (cores := _cores(master)):
        return
    said = Diagnostic(
        "OBEP665",
        f"each micro-batch has {partitions} tasks, one a shuffle partition, on {cores} cores",
        reason="A checkpoint keeps its partitions, so it is to be set before the first start.",
        remedy=f'spark.conf.set("{PARTITIONS}", "{cores}")',
        severity="warning",
    )
    warnings.warn(str(said), stacklevel=4)
