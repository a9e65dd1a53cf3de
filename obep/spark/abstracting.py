"""Stage 1, in `mapInArrow`: rows to items, items to logical occurrences, packed into a block for each bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from obep.model import DeadLetter, Item
from obep.spark.route import Routes
from obep.spark.worker import Job, layout_of, matcher_of

if TYPE_CHECKING:
    import pyarrow as pa

Read = Callable[["pa.RecordBatch"], Iterable[Item | DeadLetter]]
BLOCKS = "bucket int, block binary"


def abstracting(job: Job, read: Read) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that `mapInArrow` runs; `read` makes items of a batch of rows."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            items = list(read(batch))
            blocks: list[bytes] = []
            for bundle in job.bundles:
                routes = Routes(layout_of(bundle, job.buckets))
                blocks.extend(routes.blocks(items, matcher_of(bundle)))
            yield pa.RecordBatch.from_arrays(
                [pa.array(job.numbers, pa.int32()), pa.array(blocks, pa.binary())], ["bucket", "block"]
            )

    return run
