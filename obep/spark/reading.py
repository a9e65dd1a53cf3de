"""Rows to items: the columns `stream, time, graph`, or plain columns through a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from obep.errors import fail
from obep.formats.limits import Limits, Refused
from obep.formats.rdf import item_triples, parse_graph
from obep.model import DeadLetter, Item
from obep.spark.abstracting import Read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def columns_read(items: DataFrame) -> Read:
    """The reader for a DataFrame with the columns `stream, time, graph`; refuses another."""
    missing = [name for name in ("stream", "time", "graph") if name not in items.columns]
    if missing:
        raise fail(
            "OBEP652",
            f"the items have no column {', '.join(missing)}",
            reason=f"They have {', '.join(items.columns)}.",
            remedy="select stream, time and graph, or pass read= with a mapping of your columns",
        )
    return read_graphs


def read_graphs(batch: pa.RecordBatch) -> Iterator[Item | DeadLetter]:
    """The items of rows that hold graphs."""
    import pyarrow as pa

    streams = batch.column("stream").to_pylist()
    times = batch.column("time")
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us")).cast(pa.int64())
    for stream, at, graph in zip(streams, times.to_pylist(), batch.column("graph").to_pylist(), strict=True):
        yield _item(stream or "", at, graph)


def _item(stream: str, at: int | None, graph: Any) -> Item | DeadLetter:
    if at is None:
        return DeadLetter(stream, None, "OBEP602", "the row has no time", str(graph)[:200])
    try:
        if isinstance(graph, str):
            format = "jsonld" if graph.lstrip()[:1] in ("{", "[") else "turtle"
            found = list(parse_graph(graph, format, Limits()))
            return Item(stream, at, item_triples(found, stream, at, graph.encode()))
        given: list[Any] = [
            tuple(one.values()) if isinstance(one, dict) else tuple(one) for one in graph or ()
        ]
        return Item(stream, at, item_triples(given, stream, at, repr(given).encode()))
    except Refused as refused:
        return DeadLetter(stream, at, refused.code, refused.reason, str(graph)[:200])
