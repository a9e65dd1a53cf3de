"""A whole run on Spark: sources → detect → sinks, from an order.

Files without a checkpoint are read at once and closed, as the embedded engine does. With a checkpoint they
are a stream of all there is, which may go on later, so that its last instant stays open. Other sources run
until they are stopped.
"""

from __future__ import annotations

import logging
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any

import msgspec

from obep.engine.query import Query
from obep.errors import ObepError, fail
from obep.lints.item_validation import preparation
from obep.lints.rules.stream.duplicate_explanations import observe_lines
from obep.lints.stream_stats import StreamStats
from obep.model import Alert, DeadLetter
from obep.output.form_texts import LINE, Found
from obep.output.row_writer import row_variables
from obep.run.outlets import require_fitting, require_refitting
from obep.run.run_spec import Order
from obep.spark.connectors.connection_status import OtherEnd
from obep.spark.connectors.spark_sources import (
    Opened,
    address_of,
    input_files,
    input_folders,
    is_live,
    open_sources,
)
from obep.spark.driver.delivery import Delivery
from obep.spark.driver.detection import GoesOn, detect
from obep.spark.driver.joined_answers import joined_answers
from obep.spark.driver.manifest import (
    Manifest,
    manifest,
    read_manifest,
    require_same,
    require_same_files,
    write_manifest,
)
from obep.spark.driver.parquet import DELIVERED, WRITTEN, Written
from obep.spark.driver.replaced_query import SparkWatch, parquet_columns, replacement, resolved_record
from obep.spark.driver.seen_files import require_as_read
from obep.spark.driver.session import PARTITIONS, session
from obep.spark.driver.tally import Tally
from obep.spark.readers.raw_rows import RawRead
from obep.spark.stages.record_batches import COLUMNS, FOUND_KINDS, PART
from obep.spark.stages.stream_notes import add_notes
from obep.streams.sinks.open_sinks import Sink

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

MAVEN = "https://repo1.maven.org/maven2"
KAFKA_JARS = (
    "org/apache/spark/spark-sql-kafka-0-10_2.13/4.2.0/spark-sql-kafka-0-10_2.13-4.2.0.jar",
    "org/apache/spark/spark-token-provider-kafka-0-10_2.13/4.0.0/spark-token-provider-kafka-0-10_2.13-4.0.0.jar",
    "org/apache/kafka/kafka-clients/3.9.1/kafka-clients-3.9.1.jar",
    "org/apache/commons/commons-pool2/2.12.0/commons-pool2-2.12.0.jar",
)
"""Spark's Kafka connector for PySpark 4.3. Maven has no connector of 4.3 yet, and 4.2.0, the newest, names a
token provider that is not there either, so that `spark.jars.packages` finds no solution. Named one by one the
newest of each work together; the tests read with these."""
SLOW_START = "Python worker failed to connect back"
"""Spark gives the first worker of a stream ten seconds, which a busy machine may not."""
LOST_OUTPUT = "A shuffle map stage with indeterminate output was failed and retried"
"""An executor was lost with what it had made, and Spark cannot make it again in the same job."""
LISTENING = ("Waiting for data to arrive", "Processing new data")
"""What Spark says of a stream when it has asked all sources how far they are."""
HALTED = "obep: another query goes on from here"
"""Why a micro-batch is not begun."""
STARTS = 3
RECORD = ("kind", "event", "id", "start", "end", "detected", "status", "texts")


class SparkRun:
    """One run of a query on Spark. `go` returns at the end of the input, or after `stop`."""

    def __init__(
        self,
        order: Order,
        query: Query,
        *,
        for_terminal: Callable[[str], str] = str,
        sinks: Mapping[str, Sink] | None = None,
    ) -> None:
        """`sinks` are further ones, by name: a `MemorySink`, a `CallSink`, one of your own."""
        self.order = order
        self._prepares = preparation(order.config)
        if self._prepares is not None:
            self._prepares.made(query.bundle)  # what cannot be used is refused before Spark starts
        self.query = query
        self.tally = Tally()
        self.stats = StreamStats()
        self.compares = 0
        """How many occurrences are compared as to their explanations."""
        self.on_opened: Callable[[], None] = lambda: None
        self.on_turn: Callable[[], None] = lambda: None
        self.skipped = 0
        """Records of standard input that the checkpoint has."""
        self.ends: Mapping[str, OtherEnd] = {}
        """The servers that its sources read from, by the keys of the sources."""
        self.listens = False
        """Whether all sources are connected: what is sent from now on is read."""
        self.live = is_live(order)
        self.streaming = self.live or order.checkpoint is not None
        self._scratch = Path(tempfile.mkdtemp(prefix="obep-spark-"))
        self._log = self._scratch / "spark.log"
        self._checkpoint = order.checkpoint or self._scratch / "checkpoint"
        self._before = read_manifest(self._checkpoint) if self.streaming else None
        notes = self._checkpoint / "delivered.json" if self.streaming else None
        plan = query.plan
        for target in order.targets:
            require_fitting(target, plan)
        columns = partial(row_variables, plan)
        self.delivery = Delivery(order, plan.returned, notes, for_terminal, sinks, plan.alerting, columns)
        self.delivery.require_notes(begun=_is_begun(self._checkpoint))
        self.watch: SparkWatch | None = None
        """What looks at the files of the query, with --watch."""
        self._next: tuple[Query, bool] | None = None
        """The query to go on with from the next boundary on, and whether all state is kept."""
        self._delivering = Lock()
        self._last = -1
        """The last micro-batch that was delivered."""
        self._clock: bytes = b""
        """The clock of the buckets after it."""
        self._graphs: list[str] = [] if self._before is None else self._before.graphs
        self._replaced = self._before is not None and self._before.replaced
        self._stream: Any = None
        self._stopping = False
        self._cancel: Callable[[], None] | None = None
        """Breaks off what is read at once."""
        self.state_bytes = 0
        """What Spark's state stores hold in memory, after the last micro-batch."""

    def go(self) -> None:
        """Runs to the end. A session that was there before stays."""
        from pyspark.sql import SparkSession

        there = SparkSession.getActiveSession()
        with _own_interrupt():
            spark = session(
                self.order.master or "local[*]", self._settings(), quiet=self.order.quiet, log=self._log
            )
        try:
            if not self._stopping:
                self._go(spark)
        finally:
            if there is None:
                spark.stop()

    def _go(self, spark: SparkSession) -> None:
        partitions = int(spark.conf.get(PARTITIONS) or 2)
        buckets = int(self.order.config.spark.get("buckets", partitions))
        if self.streaming:
            self._resume(self._manifest(self.query, partitions, buckets))
        streams = self.query.linked.streams
        alone = streams[0] if len(streams) == 1 else ""
        opened = open_sources(spark, self._with_lookups(), self.streaming, self._checkpoint, alone)
        self.skipped, self.ends = opened.skipped, opened.ends
        self.on_opened()
        records = self._detect(opened, buckets)
        if self.streaming:
            while self._watch(records):
                self._replace(partitions, buckets)
                records = self._detect(opened, buckets)
            return
        self._cancel = spark.sparkContext.cancelAllJobs
        try:
            if not self._stopping:
                self.deliver(records, 0)
        except Exception as error:  # what Spark says of jobs that were cancelled has many classes
            if not self._stopping or isinstance(error, ObepError):
                raise
        finally:
            self._cancel = None

    def _with_lookups(self) -> Order:
        """The order with the indexes of what mappings look up in K, where it does not change."""
        waits = bool(self.query.linked.models)
        return replace(
            self.order, config=self.order.config.with_lookups(self.query.bundle.with_rules, waits=waits)
        )

    def _detect(self, opened: Opened, buckets: int) -> DataFrame:
        """What the query finds in the rows of the sources."""
        config = self._with_lookups().config
        inflows = [
            replace(inflow, mapping=config.mapping_of(inlet.name) if inlet.name else None)
            for inflow, inlet in zip(opened.inflows, self.order.inlets, strict=True)
        ]
        found = detect(
            self.query,
            opened.rows,
            lateness=self.order.lateness / 1_000_000,
            idle=_seconds(self.order.idle),
            future=_seconds(self.order.future if self.order.future is not None else self._day()),
            buckets=buckets,
            rdf="rdf" in self.query.plan.returned.values(),
            read=RawRead(tuple(inflows)),
            forms=self.delivery.forms(),
            drop_state=self.order.drop_state or self._replaced,
            lints=self.order.lints,
            max_keys=self.order.config.engine.get("max_keys"),
            prepares=self._prepares,
            goes_on=GoesOn(self.order.watch, self._clock, tuple(self._graphs)),
        )
        return found.payloads if COLUMNS in self.delivery.forms() else found.records

    def _manifest(self, query: Query, partitions: int, buckets: int) -> Manifest:
        keys = [inlet.key for inlet in self.order.inlets]
        beats, capped = self.order.idle is not None, "max_keys" in self.order.config.engine
        made = manifest(query, partitions, buckets, keys, beats, input_files(self.order), capped)
        made.graphs, made.replaced = self._graphs, self._replaced
        return made

    def require_fitting(self, query: Query) -> None:
        """Refuse a query whose occurrences the sinks of this run cannot take."""
        query.require_returns()
        for target in self.order.targets:
            require_refitting(target, query.plan)
        if COLUMNS in self.delivery.forms() and parquet_columns(query) != parquet_columns(self.query):
            raise fail(
                "OBEP872",
                "the new query returns alerts or rows, and the one before did not, or the other way round",
                reason="The columns of a folder of Parquet are those of the query that it began with.",
                remedy="start again with another folder",
            )

    def go_on_with(self, query: Query, *, keeps_state: bool) -> None:
        """Run this query after the micro-batch that is under way; with all state, or with what still fits."""
        self._next = query, keeps_state

    def _replace(self, partitions: int, buckets: int) -> None:
        """Another query takes the place of the one that ran; no micro-batch is under way."""
        assert self._next is not None
        before, (query, keeps_state), self._next = self.query, self._next, None
        old = self._manifest(before, partitions, buckets)
        if keeps_state:
            self._graphs = [*self._graphs, before.bundle.k.digest]
        else:
            self._graphs, self._replaced = [], True
        new = self._manifest(query, partitions, buckets)
        new.files = (read_manifest(self._checkpoint) or new).files | new.files
        firing = self.delivery.firing()
        alerts = [one.occurrence for one in firing if isinstance(one.occurrence, Alert)]
        done = replacement(before, query, old, new, self.tally.watermark, alerts if not keeps_state else ())
        style = next((one.style for one in firing), None)
        ended = [resolved_record(one, style) for one in done.resolved]
        write_manifest(self._checkpoint, new)
        if ended:
            self.delivery.take(self._last, ended, ())
        self.query = query
        self.delivery.return_others(query.plan.returned, query.plan.alerting)
        self.tally.pending.clear()
        if self.watch is not None:
            self.watch.went_on(before, query, done, self.tally.style, kept_state=keeps_state)

    def _day(self) -> int | None:
        return 86_400_000_000 if self.live else None

    def _resume(self, now: Manifest) -> None:
        before = self._before
        if before is not None and not self.order.drop_state:
            require_same(before, now)
        if before is not None and _is_begun(self._checkpoint):
            require_same_files(before, now)
            require_as_read(self._checkpoint, input_folders(self.order))
            now.files = before.files | now.files
        write_manifest(self._checkpoint, now)

    def _watch(self, records: DataFrame) -> bool:
        """Let the stream run to its end, or to where another query goes on: whether it was that."""
        writer = records.writeStream.foreachBatch(self.deliver)
        writer = writer.option("checkpointLocation", str(self._checkpoint / "spark"))
        if not self.live:
            writer = writer.trigger(availableNow=True)
        for left in range(STARTS, 0, -1):
            try:
                return self._await(writer)
            except Exception as error:  # Spark goes on from the checkpoint, as after any other death
                if self._stopping:
                    return False
                if self._next is not None and HALTED in str(error):
                    return True
                if left == 1 or not any(text in str(error) for text in (SLOW_START, LOST_OUTPUT)):
                    raise
                self.delivery.reopen()
        return False

    def _await(self, writer: DataStreamWriter) -> bool:
        self._stream = writer.start()
        while not self._stream.awaitTermination(1):
            self.listens = self.listens or self._stream.status["message"] in LISTENING
            progress = self._stream.lastProgress
            if progress is not None:
                self.state_bytes = sum(one["memoryUsedBytes"] for one in progress["stateOperators"])
            self.on_turn()
            if self.watch is not None and self._next is None:
                self.watch.look_at(self)
            if self._stopping or (self._next is not None and self._is_at_boundary()):
                with _without_logs():  # the open micro-batch is broken off, and runs again later
                    self._stream.stop()
                return not self._stopping
        return False

    def _is_at_boundary(self) -> bool:
        """Whether all that was delivered is committed: from now on nothing is delivered."""
        with self._delivering:
            return self._last < 0 or (self._checkpoint / "spark" / "commits" / str(self._last)).exists()

    def deliver(self, records: DataFrame, batch: int) -> None:
        """One micro-batch to the sinks: records, or payloads where columns are wanted."""
        with self._delivering:
            if self._next is not None:
                raise RuntimeError(HALTED)  # it runs again, under the next query
            self._deliver(records, batch)
            self._last = batch

    def _deliver(self, records: DataFrame, batch: int) -> None:
        self.listens = True
        self.delivery.open(batch)
        if writing := self.delivery.writing():
            records = records.mapInArrow(writing, DELIVERED)
        texts = [form for form in self.delivery.forms() if form != COLUMNS]
        found: list[Found] = []
        letters: list[DeadLetter] = []
        written: list[Written] = []
        parts: list[dict[str, Any]] = []
        for row in _table(records).to_pylist():
            if row["kind"] in FOUND_KINDS:
                by_form = dict(zip(texts, row["texts"], strict=True))
                times = (row["start"], row["end"], row["detected"])
                is_answer = row["kind"] == "answer"
                found.append(Found(row["event"], row["id"], *times, by_form, row["status"] or "", is_answer))
            elif row["kind"] == PART:
                parts.append(row)
            elif row["kind"] == "letter":
                letters.append(DeadLetter(*(row[name] for name in DeadLetter._fields)))
            elif row["kind"] == WRITTEN:
                written.append(msgspec.json.decode(row["progress"], type=Written))
            else:
                report = msgspec.json.decode(row["progress"])
                self.tally.add(report)
                if clock := report.get("clock"):
                    self._clock = msgspec.msgpack.encode(clock)
                for note in report["notes"]:
                    add_notes(self.stats, note)
        found += joined_answers(parts, self.query.plan, texts)
        if LINE in texts and self.stats.compared < self.compares:
            found.sort(key=self.delivery.order_of)
            queries = {one.iri[1:-1] for one in self.query.plan.queries}
            lines = [one.texts[LINE] for one in found if not one.status and one.event not in queries]
            observe_lines(lines, self.stats)
        self.delivery.take(batch, found, letters, written)
        self.on_turn()

    def stop(self) -> None:
        """Ends the run before its next micro-batch, or what is read at once; may be called from a signal."""
        self._stopping = True
        self.delivery.hurry()
        if self._cancel is not None:  # this thread may be in the midst of a word to Java
            Thread(target=self._cancel, daemon=True).start()

    def close(self) -> None:
        """Close sinks, and delete files that are no longer needed."""
        self.delivery.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _settings(self) -> dict[str, str]:
        settings = dict(self.order.conf)
        if self._before is not None:  # Spark keeps the partitions of a checkpoint, and so do our buckets
            settings[PARTITIONS] = str(self._before.partitions)
        wants_kafka = any(address_of(inlet).scheme == "kafka" for inlet in self.order.inlets)
        if wants_kafka and not {"spark.jars", "spark.jars.packages"} & settings.keys():
            settings["spark.jars"] = ",".join(f"{MAVEN}/{path}" for path in KAFKA_JARS)
        return settings


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """PySpark catches Ctrl-C in its own way, which speaks to Java in the midst of another word: not here."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _without_logs() -> Iterator[None]:
    """Log nothing: what Python's side of Spark logs meanwhile is about the stop itself."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _table(records: DataFrame) -> pa.Table:
    """The records of a micro-batch on the driver, instants as microseconds."""
    times = ("start", "end", "detected", "at")
    names = (*RECORD, *DeadLetter._fields, "progress")
    chosen = [f"unix_micros(`{n}`) as `{n}`" if n in times else f"`{n}`" for n in names]
    return records.selectExpr(*chosen).toArrow()


def _is_begun(checkpoint: Path) -> bool:
    """Whether a micro-batch was ever finished."""
    commits = checkpoint / "spark" / "commits"
    return commits.is_dir() and any(path.name.isdigit() for path in commits.iterdir())


def _seconds(micros: int | None) -> float | None:
    return None if micros is None else micros / 1_000_000
