"""A heartbeat: rows that only say that time goes on, so that deadlines fall due while a stream is silent.

Spark runs a micro-batch when a source has something new; without it the clock is not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from obep.errors import ObepError, fail

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BEAT = "__obep_beat"
"""The column that marks a beat; rows of the user do not have it."""
AVAILABLE_NOW = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"
"""Spark's source of a row a second does not know `trigger(availableNow=True)`. With this setting Spark asks
it once how far it is; without it the whole backlog of all sources becomes a single micro-batch."""

_OTHER_SOURCES = re.compile(
    r"There are \[(\d+)\] sources in the checkpoint offsets and now there are \[(\d+)\] sources"
)


def beating(items: DataFrame) -> DataFrame:
    """The rows of a stream, and a beat a second. It is the last source, also in a checkpoint."""
    from pyspark.sql import functions as f

    spark = items.sparkSession
    _require_setting(spark)
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1).load()
    beats = rate.select(f.lit(True).alias(BEAT))
    return items.withColumn(BEAT, f.lit(False)).unionByName(beats, allowMissingColumns=True)


def other_sources(said: str) -> ObepError | None:
    """Explain Spark's error about another number of sources: the heartbeat counts as one."""
    found = _OTHER_SOURCES.search(said)
    if found is None:
        return None
    return fail(
        "OBEP558",
        f"the checkpoint was made with {found[1]} sources, and now there are {found[2]}",
        reason="With idle a stream has one more source, its heartbeat. Spark needs the same sources.",
        remedy="give the same sources, and idle as it was, or begin with a new checkpoint",
    )


def _require_setting(spark: SparkSession) -> None:
    if spark.conf.get(AVAILABLE_NOW, "false") != "true":
        raise fail(
            "OBEP651",
            "this Spark session would read a backlog in a single micro-batch",
            reason="With idle a stream has a heartbeat. Without the setting Spark ignores the limits of all "
            "sources when it is started with trigger(availableNow=True).",
            remedy=f'spark.conf.set("{AVAILABLE_NOW}", "true")',
        )
