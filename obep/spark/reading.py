"""Rows to items: the columns `stream, time, graph`, or plain columns through a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from obep.errors import fail
from obep.formats.limits import Limits, Refused
from obep.formats.rdf import item_triples, parse_graph, read_lines
from obep.model import DeadLetter, Item, Triple
from obep.spark.abstracting import Read
from obep.spark.mapped import distinct
from obep.spark.route import Arrived, Columns, Graph

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_JSON = re.compile(r"\s*(\{|\[\s*(\{|\]\s*$))")
"""An object, or an array of them; Turtle may also begin with `[`, for a blank node."""


def columns_read(items: DataFrame) -> Read:
    """The reader for a DataFrame with the columns `stream, time, graph`; refuses another."""
    missing = [name for name in ("stream", "time", "graph") if name not in items.columns]
    if missing:
        raise fail(
            "OBEP652",
            f"the items have no column {', '.join(missing)}",
            reason=f"They have {', '.join(items.columns)}.",
            remedy="select stream, time and graph, or map your columns: detect(query, rows, mapping={…})",
        )
    return read_graphs


def read_graphs(batch: pa.RecordBatch) -> Iterator[Arrived]:
    """The items of rows that hold graphs; texts that come again are read once."""
    import pyarrow as pa

    streams = batch.column("stream").fill_null("")
    times = batch.column("time")
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us")).cast(pa.int64())
    graphs = batch.column("graph")
    alone = np.ones(batch.num_rows, np.bool_)
    if pa.types.is_string(graphs.type) and batch.num_rows:
        says, first = distinct([streams, graphs], batch.num_rows)
        texts = graphs.take(pa.array(first)).to_pylist()
        read = [_graph(triples) for triples in read_lines([text or "" for text in texts], Limits())]
        alone = np.array([graph is None for graph in read], np.bool_)[says]
        alone |= times.is_null().to_numpy(zero_copy_only=False)
        instants = times.fill_null(0).to_numpy()
        whose = streams.dictionary_encode()
        for number, stream in enumerate(whose.dictionary.to_pylist()):
            mine = (whose.indices.to_numpy() == number) & ~alone
            yield Columns(stream, instants[mine], says[mine], [graph or () for graph in read])
    rows = (column.filter(pa.array(alone)).to_pylist() for column in (streams, times, graphs))
    for stream, at, graph in zip(*rows, strict=True):
        yield _item(stream, at, graph)


def _graph(triples: list[Triple] | None) -> Graph | None:
    return None if triples is None else tuple(dict.fromkeys(triples))


def _item(stream: str, at: int | None, graph: Any) -> Item | DeadLetter:
    if at is None:
        return DeadLetter(stream, None, "OBEP602", "the row has no time", str(graph)[:200])
    try:
        if isinstance(graph, str):
            format = "jsonld" if _JSON.match(graph) else "turtle"
            found = list(parse_graph(graph, format, Limits()))
            return Item(stream, at, item_triples(found, stream, at, graph.encode()))
        given: list[Any] = [
            tuple(one.values()) if isinstance(one, dict) else tuple(one) for one in graph or ()
        ]
        return Item(stream, at, item_triples(given, stream, at, repr(given).encode()))
    except Refused as refused:
        return DeadLetter(stream, at, refused.code, refused.reason, str(graph)[:200])
