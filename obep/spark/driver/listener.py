"""Progress for programs that embed a stream: a `StreamingQueryListener` over what the buckets report.

`detect(…, observe="rooms")` adds the sums up inside Spark; a `Listener("rooms")` receives them with every
micro-batch, wherever the stream was started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql.streaming.listener import StreamingQueryListener

from obep.spark.driver.tally import behind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SUMS = ("items", "processed", "occurrences", "late", "refused", "pending", "segments")


def observed(records: DataFrame, name: str) -> DataFrame:
    """The records, with sums that Spark reports to its listeners."""
    from pyspark.sql import functions as f

    def figure(field: str) -> Any:
        return f.get_json_object("progress", f"$.{field}").cast("long")

    counted = {**{field: figure(field) for field in SUMS}, "refused": figure("refused") + figure("derived")}
    sums = [f.coalesce(f.sum(counted[field]), f.lit(0)).alias(field) for field in SUMS]
    # where nothing was found there is no average, and Spark would lose all of the figures
    skew = f.try_divide(f.max(figure("occurrences")), f.avg(figure("occurrences"))).alias("skew")
    holding = f.max(f.get_json_object("progress", "$.holding")).alias("holding")  # all buckets say the same
    return records.observe(name, *sums, f.max(figure("watermark")).alias("watermark"), skew, holding)


class Listener(StreamingQueryListener):
    """Receives the progress of micro-batches, and returns figures on request (for Prometheus, say)."""

    def __init__(self, name: str, tell: Callable[[dict[str, Any]], object] | None = None) -> None:
        """`tell` is called with the figures of each micro-batch."""
        self._name = name
        self._tell = tell
        self.last: dict[str, Any] = {}
        self.totals = dict.fromkeys(("items", "processed", "occurrences", "late", "refused"), 0)

    def onQueryStarted(self, event: Any) -> None:
        """Nothing is known yet."""

    def onQueryProgress(self, event: Any) -> None:
        progress = event.progress
        row = progress.observedMetrics.get(self._name)
        if row is None:
            return
        figures = row.asDict()
        figures["holding"] = [stream for stream in msgspec.json.decode(figures["holding"] or "[]") if stream]
        figures["lag"] = behind(figures["watermark"])
        figures["batch"] = progress.batchId
        figures["items_per_second"] = progress.processedRowsPerSecond
        figures["state_bytes"] = sum(one.memoryUsedBytes for one in progress.stateOperators)
        for name in self.totals:
            self.totals[name] += figures[name]
        self.last = figures
        if self._tell is not None:
            self._tell(figures)

    def onQueryIdle(self, event: Any) -> None:
        """Nothing came."""

    def onQueryTerminated(self, event: Any) -> None:
        """The figures stay."""

    def metrics(self) -> dict[str, Any]:
        """By the names of `obep run --metrics`; `obep.run.metrics_endpoint.prometheus` writes them."""
        watermark, lag = self.last.get("watermark"), self.last.get("lag")
        holding = self.last.get("holding", ())
        return {
            "items_total": self.totals["items"],
            "occurrences_total": self.totals["occurrences"],
            "late_total": self.totals["late"],
            "refused_total": self.totals["refused"],
            "pending": self.last.get("pending", 0),
            "state_bytes": self.last.get("state_bytes", 0),
            "bucket_skew": self.last.get("skew") or 1.0,
            **({} if watermark is None else {"watermark_seconds": watermark / 1_000_000}),
            **({} if lag is None else {"lag_seconds": lag}),
            **({"holding": dict.fromkeys(holding, 1)} if holding else {}),
        }
