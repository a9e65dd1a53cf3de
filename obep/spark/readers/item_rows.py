"""Rows to items: the columns `stream, time, graph`, or plain columns through a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from obep.engine.pushed_values import is_term
from obep.engine.split.key_routes import Graph
from obep.formats.input_limits import Limits, Refused
from obep.formats.rdf_text import item_triples, parse_graph, read_lines
from obep.formats.stream_reader import Notes
from obep.formats.timestamps import GREATEST, LEAST, parse_instant
from obep.model import DeadLetter, Item, Triple
from obep.spark.readers.column_doubts import as_timestamp, note_micros, say
from obep.spark.readers.mapped_columns import distinct
from obep.spark.readers.schemas import require_items
from obep.spark.stages.route import Arrived, Columns
from obep.spark.stages.stage1 import Read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_JSON = re.compile(r"\s*(\{|\[\s*(\{|\]\s*$))")
"""An object, or an array of them; Turtle may also begin with `[`, for a blank node."""
SHOWN = 200
"""Characters of a refused graph that its dead letter shows."""


def columns_read(items: DataFrame, stream: str = "") -> Read:
    """The reader for a DataFrame with the columns `stream, time, graph`; refuses another.

    With `stream` all rows are of that one, and there is no such column.
    """
    require_items(items.schema, stream)
    return GraphsRead(stream)


class GraphsRead:
    """Reads rows that hold graphs; `notes` are those of the last batch."""

    def __init__(self, stream: str = "") -> None:
        self._stream = stream
        self.notes = Notes()

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Arrived]:
        self.notes = Notes()
        yield from read_graphs(batch, self._stream, self.notes)
        say(self.notes)


def read_graphs(batch: pa.RecordBatch, stream: str = "", notes: Notes | None = None) -> Iterator[Arrived]:
    """The items of rows that hold graphs; texts that come again are read once."""
    import pyarrow as pa

    rows = batch.num_rows
    streams = pa.repeat(stream, rows) if stream else batch.column("stream").fill_null("")
    times = _micros(batch.column("time"))
    graphs = batch.column("graph")
    alone = np.ones(rows, np.bool_)
    if rows:
        there = times.is_valid().to_numpy(zero_copy_only=False)
        instants = times.fill_null(0).to_numpy()
        there &= (instants >= LEAST) & (instants <= GREATEST)
        texts = _texts(graphs)
        says, first = distinct([streams, texts], rows)
        some = texts.take(pa.array(first)).to_pylist()
        read = [_graph(triples) for triples in read_lines([text or "" for text in some], Limits())]
        alone = np.array([graph is None for graph in read], np.bool_)[says] | ~there
        whose = streams.dictionary_encode()
        for number, name in enumerate(whose.dictionary.to_pylist()):
            mine = whose.indices.to_numpy() == number
            if notes is not None and not pa.types.is_timestamp(batch.column("time").type):
                _note(name, instants[mine & there], notes)
            mine &= ~alone
            yield Columns(name, instants[mine], says[mine], [graph or () for graph in read])
    left = (column.filter(pa.array(alone)).to_pylist() for column in (streams, times, graphs))
    for name, at, graph in zip(*left, strict=True):
        yield _item(name, at, graph)


def _micros(times: pa.Array) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us"), safe=False)
    return times.cast(pa.int64())


def _note(stream: str, instants: NDArray[np.int64], notes: Notes) -> None:
    if len(instants):
        other = instants[np.argmax(instants != instants[0])]  # the first, if all are the same
        note_micros(stream, int(instants[0]), int(other), notes)


def _texts(graphs: pa.Array) -> pa.Array:
    """Graphs as texts; nothing where there is none, or an array that is to be refused."""
    import pyarrow as pa

    if pa.types.is_string(graphs.type) or pa.types.is_large_string(graphs.type):
        return graphs
    found: list[str | None] = []
    for graph in graphs.to_pylist():
        try:
            found.append(None if graph is None else _lines(graph))
        except Refused:
            found.append(None)
    return pa.array(found, pa.string())


def _lines(graph: list[Any]) -> str:
    """An array of triples as N-Triples."""
    lines = []
    for number, triple in enumerate(graph, 1):
        terms = list(triple.values()) if isinstance(triple, dict) else triple
        if terms is None:
            raise Refused("OBEP601", f"graph: triple {number} of the array is NULL")
        if len(terms) != 3:
            raise Refused("OBEP601", f"graph: triple {number} of the array has {len(terms)} terms, not three")
        for term in terms:
            if term is None:
                raise Refused("OBEP601", f"graph: a term of triple {number} of the array is NULL")
            if not is_term(term):  # what follows a term would be statements of its own
                raise Refused(
                    "OBEP604",
                    f"graph: {term[:60]!r} in triple {number} of the array is no term as N-Triples writes "
                    'it: <http://e/x>, "text", "5"^^<http://www.w3.org/2001/XMLSchema#integer>, _:b',
                )
        lines.append(f"{' '.join(terms)} .")
    return "\n".join(lines)


def _graph(triples: list[Triple] | None) -> Graph | None:
    return None if triples is None else tuple(dict.fromkeys(triples))


def _item(stream: str, at: int | None, graph: Any) -> Item | DeadLetter:
    shown = "" if graph is None else str(graph)[:SHOWN]
    if at is None:
        return DeadLetter(stream, None, "OBEP602", "the row has no time", shown)
    try:
        at = parse_instant(at, "us")
    except ValueError as error:
        hint = as_timestamp(at)
        reason = f"time: {error}{f'; {hint} may be meant' if hint else ''}"
        return DeadLetter(stream, None, "OBEP603", reason, shown)
    try:
        found, text = _triples(graph)
        return Item(stream, at, item_triples(found, stream, at, text.encode()))
    except Refused as refused:
        return DeadLetter(stream, at, refused.code, refused.reason, shown)


def _triples(graph: Any) -> tuple[list[Triple], str]:
    """The triples of a graph, and its text."""
    if graph is None:
        raise Refused("OBEP601", "graph: it is NULL")
    if isinstance(graph, str):
        return parse_graph(graph, "jsonld" if _JSON.match(graph) else "turtle", Limits()), graph
    text = _lines(graph)
    return parse_graph(text, "turtle", Limits()), text
