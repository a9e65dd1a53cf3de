"""`detect`: from a DataFrame of items to a DataFrame of occurrences, streaming or bounded.

It composes with ordinary Spark on both sides. Stage 1 reads and matches on all cores; stage 2 runs the engine
of each bucket; stage 3 makes columns. Spark itself drops nothing.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import msgspec

from obep.engine.clock import micros
from obep.engine.engine import cap
from obep.engine.query import Query
from obep.engine.split.key_routes import Layout
from obep.errors import fail
from obep.model import DeadLetter
from obep.spark.connectors.heartbeat import beating
from obep.spark.driver.arguments import chosen_queries, reader
from obep.spark.driver.session import require_settings
from obep.spark.stages.buckets import component_numbers
from obep.spark.stages.stage1 import BLOCKS, STAMP, Read, abstracting
from obep.spark.stages.worker import Job, components_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from obep.lints.item_validation import Preparation


@dataclass(frozen=True)
class Detection:
    """What `detect` gives. `records` has everything, by `kind`; the others are parts of it.

    Each DataFrame that is started as a stream of its own runs the whole pipeline: to have occurrences and
    dead letters of one run, start `to_parquet`, or `records` and split it in `foreachBatch`.
    """

    payloads: DataFrame
    """What stage 2 gives."""
    observe: str = ""
    alerting: bool = False
    """Whether a query returns alerts."""
    as_rows: bool = False
    """Whether a query returns rows."""

    @cached_property
    def records(self) -> DataFrame:
        """Occurrences, alerts, dead letters and progress."""
        from obep.spark.stages.record_batches import RECORD, columns

        return self._observed(self.payloads.mapInArrow(columns, RECORD))

    @cached_property
    def occurrences(self) -> DataFrame:
        """`event, id, start, end, detected, bindings, because, bounded, rdf`."""
        from obep.spark.stages.record_batches import OCCURRENCE, OCCURRENCE_NAMES, occurrence_columns

        if self.observe:  # its figures are those of all records
            return self.records.where("kind = 'occurrence'").select(*OCCURRENCE_NAMES)
        return self.payloads.mapInArrow(occurrence_columns, OCCURRENCE)

    @cached_property
    def alerts(self) -> DataFrame:
        """`alert, id, status, since, at, until, ended, labels, bindings, because`: when a state has come to
        hold (`firing`), and when it holds no more (`resolved`)."""
        columns = ("event AS alert", "id", "status", "start AS since", "at", "until", "ended", "labels")
        return self.records.where("kind = 'alert'").selectExpr(*columns, "bindings", "because")

    @cached_property
    def rows(self) -> DataFrame:
        """`query, at, start, end, op, row`: a row for each solution of a SELECT or ASK, and of an event that
        is returned AS ROWS. `start` and `end` are NULL where a solution has no interval of its own."""
        columns = ("event AS query", "at", "start", "end", "op", "row")
        return self.records.where("kind = 'row'").selectExpr(*columns)

    @cached_property
    def dead_letters(self) -> DataFrame:
        """`stream, at, code, reason, raw, line`: the items that took part in nothing, and why.

        `line` is NULL where it is not known: a row has none.
        """
        *others, line = DeadLetter._fields
        return self.records.where("kind = 'letter'").selectExpr(*others, f"nullif({line}, 0) AS {line}")

    @cached_property
    def progress(self) -> DataFrame:
        """One JSON object a bucket and micro-batch."""
        return self.records.where("kind = 'progress'").select("progress")

    def to_parquet(self, folder: Path | str, dead_letters: Path | str | None = None) -> DataStreamWriter:
        """A writer of the stream into a folder of Parquet with the columns of `occurrences`, and into another
        with those of `dead_letters`; give it a checkpoint, and start it. If alerts are returned, they are
        rows of the first one, which then has the columns `at, status, until, ended, labels`, too; so are
        those of `rows`, with `at, op, row`.

        The executors write the files themselves, so rows need not cross to Java. A micro-batch that runs
        again replaces its files: everything is there once.
        """
        from obep.spark.driver.parquet import DELIVERED, Putting, written_names

        putting = Putting(folder, dead_letters, written_names(self.alerting, self.as_rows))
        delivered = self._observed(self.payloads.mapInArrow(putting.writing(), DELIVERED))
        return delivered.writeStream.foreachBatch(putting)

    def _observed(self, records: DataFrame) -> DataFrame:
        from obep.spark.driver.listener import observed

        return observed(records, self.observe) if self.observe else records


class GoesOn(NamedTuple):
    """What a run passes on when its query is replaced."""

    watched: bool = False
    """Whether it may be replaced."""
    clock: bytes = b""
    """The clock that new buckets begin with."""
    graphs: tuple[str, ...] = ()
    """Digests of the static graphs before: their state goes on under the one of now."""


def detect(
    queries: Query | Sequence[Query],
    items: DataFrame,
    *,
    lateness: object = 0,
    idle: object = None,
    future: object = None,
    buckets: int | None = None,
    read: Read | None = None,
    mapping: Mapping[str, Any] | None = None,
    stream: str = "",
    rdf: bool = False,
    forms: Sequence[str] = (),
    drop_state: bool = False,
    observe: str = "",
    lints: bool = False,
    max_keys: int | None = None,
    prepares: Preparation | None = None,
    goes_on: GoesOn | None = None,
) -> Detection:
    """Find the events of one query, or of several, in a DataFrame of items.

    `items` has the columns `stream, time, graph`: the time as timestamp or as microseconds, the graph as
    N-Triples, Turtle or JSON-LD text, or as an array of triples; `stream` may stand in place of that column.
    `mapping` makes items of `stream` (by default the query's only one) of plain columns, as a mapping in
    obep.toml; `read` of any rows. A bounded
    DataFrame is closed at its end; a stream is not, since it may be resumed. With `idle` a stream gets a
    heartbeat, so that deadlines fall due while nothing comes. Several queries share one clock.
    `forms` asks for texts (`event`, `nquads`, `trig`, `why`) in the column `texts` of `records` in place of
    the columns. `drop_state` begins anew where a checkpoint has the state of another query. `observe`
    is a name under which a `Listener` receives the progress. With `lints` the rules about streams observe
    items, for a run that shows what they find. `max_keys` is that of `Engine`; `prepares` is what K decides
    of items before they are matched, as obep.toml asks for it (`validate`, `units`, lookups). `goes_on` is
    for a run whose query is replaced.
    """
    from pyspark.sql import functions as f

    from obep.spark.stages.stage2 import FOUND, Detecting

    spark = items.sparkSession
    require_settings(spark)
    chosen = chosen_queries(queries)
    require_returns(chosen)
    read = read or reader(items, chosen, mapping, stream)
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions") or 2)
    count = buckets or partitions
    layouts = [Layout(components_of(query, cap("max_keys", max_keys) is not None), count) for query in chosen]
    job = Job(
        tuple(_ship(spark, query) for query in chosen),
        count,
        component_numbers([part for layout in layouts for part in layout.parts()], partitions),
        partitions,
        tuple(layout.width for layout in layouts),
        micros(lateness) or 0,
        micros(idle),
        micros(future),
        tuple(dict.fromkeys(stream for query in chosen for stream in query.linked.streams)),
        bounded=not items.isStreaming,
        rdf=rdf,
        forms=tuple(forms),
        drop_state=drop_state,
        lints=lints,
        contents=tuple(query.to_bundle() for query in chosen) if _is_connect(spark) else (),
        begun=uuid4().hex,
        max_keys=max_keys,
        prepares=b"" if prepares is None else msgspec.msgpack.encode(prepares),
        **(goes_on or GoesOn())._asdict(),
    )
    rows = beating(items) if items.isStreaming and job.idle is not None else items
    stamped = rows.withColumn(STAMP, f.current_timestamp())
    blocks = stamped.mapInArrow(abstracting(job, read), BLOCKS)
    found = blocks.groupBy("bucket").transformWithState(Detecting(job), FOUND, "append", "none")
    as_rows = any("rows" in query.plan.returned.values() for query in chosen)
    return Detection(found, observe, any(query.plan.alerting for query in chosen), as_rows)


def _is_connect(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def require_returns(queries: Sequence[Query]) -> None:
    """Refuse a query that returns nothing, and the same query twice."""
    for query in queries:
        query.require_returns()
    if len({query.hash for query in queries}) < len(queries):
        raise fail("OBEP663", "the same query is there twice", remedy="give each query once")


def _ship(spark: SparkSession, query: Query) -> str:
    """Send the bundle to all workers; its name is a hash of its bytes, so no two are taken for one."""
    data = query.to_bundle()
    name = f"obep-{blake2b(data, digest_size=16).hexdigest()}.bundle"
    path = _bundles() / name
    path.write_bytes(data)
    spark.addArtifacts(str(path), file=True)
    return name


@cache
def _bundles() -> Path:
    """A folder of this process; Spark's workers fetch from it as long as the process lives."""
    folder = Path(tempfile.mkdtemp(prefix="obep-bundles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
