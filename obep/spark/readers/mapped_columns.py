"""Plain columns to items, by a mapping as obep.toml has them: column by column.

Rows that have the same values in the columns that the triples depend on say the same, and are mapped once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from obep.config.toml_file import MAPPING
from obep.config.toml_values import table
from obep.engine.split.key_routes import Graph
from obep.formats.input_limits import Refused
from obep.formats.rdf_text import item_triples
from obep.formats.record_mapping import Mapping as Mapped
from obep.formats.record_mapping import make_mapping, with_index
from obep.formats.stream_reader import Notes, Reading
from obep.formats.table_rows import read_rows
from obep.formats.tables.plain_values import arrow_columns
from obep.formats.triple_template import Template
from obep.model import DeadLetter, Item, Triple
from obep.spark.readers.column_doubts import say
from obep.spark.stages.route import Arrived, Columns

if TYPE_CHECKING:
    import pyarrow as pa

REMEMBERED = 100_000
"""Values that are remembered, with their triples."""


class MappedRead:
    """Reads the rows of a DataFrame as items of one stream.

    `settings` are those of a mapping in obep.toml (`template`, `prefixes`, `time`, …); timestamps
    are instants as they are, numbers are in `unit` (seconds by default). Lookups are made in `k`.
    """

    def __init__(self, stream: str, settings: Mapping[str, Any], k: Iterable[Triple] = ()) -> None:
        self._stream = stream
        table(settings, MAPPING, "mapping")  # what is wrong with it is said now
        known = tuple(k) if isinstance(settings.get("subject"), Mapping) else ()
        self._settings = dict(with_index(settings, "mapping", lambda one: one.over(known).index))
        self.mapping = make_mapping(self._settings, "mapping")
        self._compiled: Mapped | None = None
        self._reading: Reading
        self._made: dict[tuple[Any, ...], Graph]
        self.notes = Notes()
        """Those of the last batch."""

    def __getstate__(self) -> dict[str, Any]:
        return {"_stream": self._stream, "_settings": self._settings, "_compiled": None, "notes": Notes()}

    @property
    def style(self) -> str | None:
        return "iso"

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Arrived]:
        if self._compiled is None:
            self._compiled = make_mapping(self._settings, "mapping")
            self._reading = Reading(
                stream=self._stream,
                rename=True,
                source=self._stream,
                mapping=self._compiled,
                in_program=True,
            )
            kinds = batch.schema.to_string(
                show_schema_metadata=False
            )  # 1 and true are equal, and other values
            self._made = _made(self._stream, repr(self._settings), kinds)
        mapping = self._compiled
        self.notes = self._reading.notes = Notes()
        fields = _fields(mapping, batch)
        zone = mapping.zone or self._reading.zone
        times = _instants(batch, mapping.time, zone) if fields is not None else None
        if fields is None or times is None:
            yield from self._one_by_one(batch)
        else:
            yield from self._by_columns(batch, fields, times)
        say(self.notes)

    def _by_columns(
        self, batch: pa.RecordBatch, fields: list[str], times: tuple[NDArray[np.int64], NDArray[np.bool_]]
    ) -> Iterator[Arrived]:
        """The usual case: an instant, and triples that depend on a few columns."""
        import pyarrow as pa

        instants, there = times
        says, first = distinct([batch.column(name) for name in fields], batch.num_rows)
        records = arrow_columns(batch.select(fields).take(pa.array(first)))
        graphs = [self._graph(record) for record in records]
        good = np.array([graph is not None for graph in graphs], np.bool_)[says] & there
        yield Columns(self._stream, instants[good], says[good], [graph or () for graph in graphs])
        yield from self._one_by_one(batch.filter(~good))

    def _graph(self, record: dict[str, Any]) -> Graph | None:
        """What values say; `None` where they are refused, or have blank nodes, which are an item's own."""
        key = tuple([one.hex() if isinstance(one, float) else one for one in record.values()])
        graph = self._made.get(key)
        if graph is not None:
            return graph
        assert self._compiled is not None
        try:
            graph = item_triples(self._compiled.triples.fill(record), self._stream, 0, b"")
        except Refused:
            return None
        if any(term.startswith("_:") for triple in graph for term in triple):
            return None
        if len(self._made) >= REMEMBERED:
            self._made.clear()
        self._made[key] = graph
        return graph

    def _one_by_one(self, batch: pa.RecordBatch) -> Iterator[Item | DeadLetter]:
        for record in arrow_columns(batch):
            yield from read_rows(record, repr(record).encode(), self._reading)


@lru_cache(maxsize=16)
def _made(stream: str, settings: str, columns: str) -> dict[tuple[Any, ...], Graph]:
    """What a mapping made of values so far in this process; the mapping itself comes anew with each task."""
    return {}


def _fields(mapping: Mapped, batch: pa.RecordBatch) -> list[str] | None:
    """The columns that the triples depend on; `None` where it is not known, or the time is one of them."""
    import pyarrow as pa

    if not isinstance(mapping.triples, Template) or mapping.units or mapping.time_format or mapping.records:
        return None
    paths = list(mapping.triples.paths)
    if not paths or mapping.time in paths or not all(path in batch.schema.names for path in paths):
        return None
    if any(pa.types.is_nested(batch.schema.field(path).type) for path in paths):
        return None
    return paths


def _instants(
    batch: pa.RecordBatch, name: str, zone: tzinfo
) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """The column of instants and where there is one, if it has timestamps with a zone, or in UTC."""
    import pyarrow as pa

    if name not in batch.schema.names or not pa.types.is_timestamp(batch.schema.field(name).type):
        return None
    column = batch.column(name)
    if column.type.tz is None and zone is not UTC:
        return None
    micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    there = micros.is_valid().to_numpy(zero_copy_only=False)
    return micros.fill_null(0).to_numpy(), there


def distinct(columns: Sequence[pa.Array], rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of the distinct combinations of values each row has, and the first row with each of them."""
    import pyarrow as pa

    says = np.zeros(rows, np.int64)
    for column in columns:
        coded = column.dictionary_encode("encode")
        says = says * len(coded.dictionary) + coded.indices.to_numpy()
        says = pa.array(says).dictionary_encode().indices.to_numpy()
    count = int(says.max(initial=-1)) + 1
    first = np.zeros(count, np.intp)
    first[says[::-1]] = np.arange(rows - 1, -1, -1)
    return says.astype(np.intp), first
