"""Stage 1, in `mapInArrow`: rows to items, items to occurrences, in a block for each bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from obep.engine.blocks import NOW, PLACE, STYLE, STYLES, TASK
from obep.engine.bulk import uncollected
from obep.engine.time_letters import too_far
from obep.model import Item
from obep.spark.connectors.heartbeat import BEAT
from obep.spark.stages.refused_items import query_names, settle
from obep.spark.stages.route import Arrived, Columns
from obep.spark.stages.stream_notes import notice
from obep.spark.stages.worker import (
    Job,
    agreed_layout,
    hold,
    matcher_of,
    query_of,
    rest,
    routes_of,
    shares,
)

if TYPE_CHECKING:
    import pyarrow as pa

BLOCKS = "bucket int, block binary"
STAMP = "__obep_now"
"""The column with the time of the micro-batch. It is Spark's, which gives the same one if it runs a part of
the micro-batch again: a block must not differ then, or Spark takes the whole job for lost."""


class Read(Protocol):
    """Makes items of a batch of rows."""

    def __call__(self, batch: pa.RecordBatch, /) -> Iterable[Arrived]: ...


def abstracting(job: Job, read: Read) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that `mapInArrow` runs over rows with a `STAMP`; `read` makes items of a batch of them."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark import TaskContext

        hold(job)
        for query in range(len(job.bundles)):
            agreed_layout(job, query)
        own = shares(job)
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        names = query_names([query_of(bundle) for bundle in job.bundles])
        for place, stamped in enumerate(batches):
            if not stamped.num_rows:
                continue
            now = stamped.column(STAMP)[0].value
            batch = _without_beats(stamped)
            blocks: list[bytes] = []
            with uncollected():
                reading = read if batch.num_rows else None  # of beats alone there is nothing to read
                items = list(_admitted(reading(batch), job.future, now)) if reading else []
                style = STYLES.index(getattr(reading, "style", None))
                counters = {NOW: now, STYLE: style, TASK: task, PLACE: place}
                notes = notice(job.bundles, items, getattr(reading, "notes", None), lints=job.lints)
                fillings = [
                    routes_of(job, number, share).fill(items, matcher_of(bundle))
                    for number, (bundle, share) in enumerate(zip(job.bundles, own, strict=True))
                ]
                if len(fillings) > 1:
                    settle(fillings, names)
                for filling in fillings:
                    blocks.extend(filling.encode(counters, notes))
            yield pa.RecordBatch.from_arrays(
                [pa.array(job.numbers, pa.int32()), pa.array(blocks, pa.binary())], ["bucket", "block"]
            )
        rest()

    return run


def _without_beats(stamped: pa.RecordBatch) -> pa.RecordBatch:
    """The rows and columns of the user's own."""
    import pyarrow.compute as pc

    rows = stamped.select([name for name in stamped.schema.names if name not in (STAMP, BEAT)])
    return rows.filter(pc.invert(stamped.column(BEAT))) if BEAT in stamped.schema.names else rows


def _admitted(items: Iterable[Arrived], future: int | None, now: int) -> Iterator[Arrived]:
    """The items, without those too far in the future: decided here, so that all buckets agree."""
    if future is None:
        yield from items
        return
    last = now + future
    for one in items:
        if isinstance(one, Columns):
            beyond = one.times > last
            yield from (too_far(item) for item in one.where(beyond).items())
            yield one.where(~beyond)
        elif isinstance(one, Item) and one.at > last:
            yield too_far(one)
        else:
            yield one
