"""Settings of Spark that a project's obep.toml may have, each with what it means.

A setting of this list changes how much, how many, how long or how often. None of them loads a class, a jar or
Python, runs a program, opens a port to the network, or names a file. All others need --allow-exec, or
--conf on the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

STATE_STORES = (
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
)
CODECS = ("lz4", "lzf", "snappy", "zstd")

SETTINGS: Mapping[str, str] = {
    # ── the application ───────────────────────────────────────────────────────────────────────────
    "spark.app.name": "the name of the run",
    "spark.cores.max": "the most cores of the cluster",
    "spark.default.parallelism": "into how many parts data is split",
    "spark.driver.cores": "cores of the driver",
    "spark.driver.maxResultSize": "the most bytes of results that the driver takes",
    "spark.driver.memory": "the heap of the driver",
    "spark.driver.memoryOverhead": "memory of the driver beside its heap",
    "spark.driver.memoryOverheadFactor": "the same, as a share of the heap",
    "spark.executor.cores": "cores of an executor",
    "spark.executor.instances": "how many executors there are",
    "spark.executor.memory": "the heap of an executor",
    "spark.executor.memoryOverhead": "memory of an executor beside its heap",
    "spark.executor.memoryOverheadFactor": "the same, as a share of the heap",
    "spark.executor.pyspark.memory": "memory of the Python workers of an executor",
    "spark.log.level": "how much Java logs",
    "spark.logConf": "whether the settings are logged",
    # ── scheduling ────────────────────────────────────────────────────────────────────────────────
    "spark.dynamicAllocation.enabled": "whether executors come and go with the work",
    "spark.dynamicAllocation.executorIdleTimeout": "when an idle executor goes",
    "spark.dynamicAllocation.initialExecutors": "how many there are at first",
    "spark.dynamicAllocation.maxExecutors": "how many there are at most",
    "spark.dynamicAllocation.minExecutors": "how many there are at least",
    "spark.locality.wait": "how long a task waits for the machine with its data",
    "spark.scheduler.mode": "FIFO or FAIR",
    "spark.speculation": "whether slow tasks are started again elsewhere",
    "spark.speculation.interval": "how often slow tasks are looked for",
    "spark.speculation.multiplier": "how much slower than others is slow",
    "spark.speculation.quantile": "how many tasks must be done before",
    "spark.task.cpus": "cores of a task",
    "spark.task.maxFailures": "how often a task may fail",
    # ── memory, shuffling, compression ────────────────────────────────────────────────────────────
    "spark.cleaner.periodicGC.interval": "how often Java looks for garbage",
    "spark.kryoserializer.buffer": "the first buffer of the serializer",
    "spark.kryoserializer.buffer.max": "its longest buffer",
    "spark.memory.fraction": "the share of the heap for data",
    "spark.memory.offHeap.enabled": "whether memory beside the heap is used",
    "spark.memory.offHeap.size": "how much of it",
    "spark.memory.storageFraction": "the share of that for what is kept",
    "spark.python.worker.memory": "memory of a Python worker before it spills",
    "spark.python.worker.reuse": "whether a Python worker serves several tasks",
    "spark.rdd.compress": "whether what is kept is compressed",
    "spark.reducer.maxSizeInFlight": "how much a task fetches at once",
    "spark.shuffle.compress": "whether what is shuffled is compressed",
    "spark.shuffle.file.buffer": "the buffer of a file that is shuffled",
    "spark.shuffle.spill.compress": "whether what is spilt is compressed",
    # ── waiting ───────────────────────────────────────────────────────────────────────────────────
    "spark.executor.heartbeatInterval": "how often an executor says that it lives",
    "spark.network.timeout": "how long to wait for an answer",
    "spark.rpc.askTimeout": "how long a question may take",
    "spark.rpc.message.maxSize": "the longest message between driver and executors",
    # ── the page with figures ─────────────────────────────────────────────────────────────────────
    "spark.ui.retainedJobs": "how many jobs it remembers",
    "spark.ui.retainedStages": "how many stages it remembers",
    "spark.ui.retainedTasks": "how many tasks it remembers",
    "spark.ui.showConsoleProgress": "whether progress is shown on the terminal",
    "spark.sql.ui.retainedExecutions": "how many queries it remembers",
    # ── SQL ───────────────────────────────────────────────────────────────────────────────────────
    "spark.sql.adaptive.coalescePartitions.enabled": "whether small partitions are joined",
    "spark.sql.adaptive.enabled": "whether plans are changed while they run",
    "spark.sql.autoBroadcastJoinThreshold": "up to which size a table is sent to all",
    "spark.sql.broadcastTimeout": "how long that may take",
    "spark.sql.debug.maxToStringFields": "how many fields of a plan are printed",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "rows of a batch for Python",
    "spark.sql.execution.arrow.pyspark.enabled": "whether rows go to Python as Arrow",
    "spark.sql.files.maxPartitionBytes": "bytes of a part of a file",
    "spark.sql.files.maxRecordsPerFile": "rows of a file that is written",
    "spark.sql.files.openCostInBytes": "what opening a file costs, in bytes",
    "spark.sql.parquet.compression.codec": "how Parquet is compressed",
    "spark.sql.parquet.outputTimestampType": "how Parquet holds instants",
    "spark.sql.session.timeZone": "the zone of instants without one",
    "spark.sql.shuffle.partitions": "tasks of a micro-batch",
    # ── streaming ─────────────────────────────────────────────────────────────────────────────────
    "spark.sql.streaming.metricsEnabled": "whether queries report figures",
    "spark.sql.streaming.minBatchesToRetain": "how many micro-batches can be gone back to",
    "spark.sql.streaming.numRecentProgressUpdates": "how many reports are remembered",
    "spark.sql.streaming.pollingDelay": "how long to wait before looking for data again",
    "spark.sql.streaming.stopTimeout": "how long a query may take to stop",
    "spark.sql.streaming.triggerAvailableNowWrapper.enabled": "whether each source can end a run",
    "spark.sql.streaming.stateStore.maintenanceInterval": "how often the state is tidied up",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "how often all of it is written",
    "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB": "the cache of blocks",
    "spark.sql.streaming.stateStore.rocksdb.blockSizeKB": "the size of a block",
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "whether its memory is bounded",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "whether changes are written",
    "spark.sql.streaming.stateStore.rocksdb.compactOnCommit": "whether it is compacted at each commit",
    "spark.sql.streaming.stateStore.rocksdb.lockAcquireTimeoutMs": "how long to wait for a store",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "the bound of its memory",
    "spark.sql.streaming.stateStore.rocksdb.maxOpenFiles": "how many files it has open",
    "spark.sql.streaming.stateStore.rocksdb.maxWriteBufferNumber": "how many buffers it writes from",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "whether rows are counted",
    "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB": "the size of such a buffer",
}
"""Settings with a plain value: a number, a size, a duration, a word."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "spark.io.compression.codec": CODECS,
    "spark.serializer": (
        "org.apache.spark.serializer.JavaSerializer",
        "org.apache.spark.serializer.KryoSerializer",
    ),
    "spark.sql.streaming.stateStore.compression.codec": CODECS,
    "spark.sql.streaming.stateStore.providerClass": STATE_STORES,
    "spark.sql.streaming.stateStore.rocksdb.compression": CODECS,
    "spark.ui.enabled": ("false",),  # the page is a port, on a cluster's driver one for all the network
}
"""Settings that may name a class or open a port, with the values that do no harm."""

_PLAIN = re.compile(r"[\w.,+%/:-]{0,200}")


def is_harmless(name: str, value: str) -> bool:
    """Whether a setting with this value can do nothing but change how Spark computes.

    >>> is_harmless("spark.executor.memory", "2g"), is_harmless("spark.jars", "evil.jar")
    (True, False)
    >>> is_harmless("spark.io.compression.codec", "lz4"), is_harmless("spark.io.compression.codec", "a.Evil")
    (True, False)
    """
    if name in CHOICES:
        return value in CHOICES[name]
    return name == "spark.app.name" or (name in SETTINGS and _PLAIN.fullmatch(value) is not None)


def is_local(master: str) -> bool:
    """Whether a master runs everything on this machine."""
    return master.startswith("local")
