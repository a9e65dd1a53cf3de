"""Plain columns to items, by a mapping as obep.toml has them; rows that say the same are mapped once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from obep.formats.limits import Refused
from obep.formats.mapping import Mapping as Mapped
from obep.formats.mapping import make_mapping
from obep.formats.rdf import item_triples
from obep.formats.reading import Reading
from obep.formats.rows import read_row
from obep.formats.template import Slot, Template
from obep.model import DeadLetter, Item, Triple

if TYPE_CHECKING:
    import pyarrow as pa

REMEMBERED = 100_000
"""Rows that are remembered, with their triples."""


class MappedRead:
    """Reads the rows of a DataFrame as items of one stream.

    `settings` are those of a mapping in obep.toml (`template`, `prefixes`, `time`, …); timestamps
    are instants as they are, numbers are in `unit` (seconds by default).
    """

    def __init__(self, stream: str, settings: Mapping[str, Any]) -> None:
        self._stream = stream
        self._settings = dict(settings)
        self._compiled: Mapped | None = None
        self._reading: Reading
        self._made: dict[tuple[Any, ...], tuple[Triple, ...]] = {}
        make_mapping(self._settings, "mapping")  # what is wrong with it is said now

    def __getstate__(self) -> dict[str, Any]:
        return {"_stream": self._stream, "_settings": self._settings, "_compiled": None, "_made": {}}

    @property
    def style(self) -> str | None:
        return "iso"

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Item | DeadLetter]:
        if self._compiled is None:
            self._compiled = make_mapping(self._settings, "mapping")
            self._reading = Reading(stream=self._stream, rename=True, mapping=self._compiled)
        mapping = self._compiled
        fields = _fields(mapping, batch.schema.names)
        times = _instants(batch, mapping.time) if fields is not None else None
        if fields is None or times is None:
            yield from self._one_by_one(batch)
            return
        yield from self._by_columns(batch, fields, times)

    def _by_columns(
        self, batch: pa.RecordBatch, fields: list[str], times: list[int]
    ) -> Iterator[Item | DeadLetter]:
        """The usual case: an instant, and triples that depend on a few columns."""
        made, stream = self._made, self._stream
        columns = [batch.column(name).to_pylist() for name in fields]
        for row, at in enumerate(times):
            values = tuple([column[row] for column in columns])
            triples = made.get(values)
            if triples is not None and at is not None:
                yield Item(stream, at, triples)
                continue
            new = self._triples(dict(zip(fields, values, strict=True)))
            if new is None or at is None:
                record = _plain(batch.slice(row, 1))
                yield read_row(record, repr(record).encode(), self._reading)
                continue
            if len(made) >= REMEMBERED:
                made.clear()
            made[values] = new
            yield Item(stream, at, new)

    def _triples(self, record: dict[str, Any]) -> tuple[Triple, ...] | None:
        """Those of a record; `None` where it is refused, or has blank nodes, which are an item's own."""
        assert self._compiled is not None
        try:
            found = item_triples(self._compiled.triples.fill(record), self._stream, 0, b"")
        except Refused:
            return None
        return None if any(term.startswith("_:") for triple in found for term in triple) else found

    def _one_by_one(self, batch: pa.RecordBatch) -> Iterator[Item | DeadLetter]:
        for row in range(batch.num_rows):
            record = _plain(batch.slice(row, 1))
            yield read_row(record, repr(record).encode(), self._reading)


def _fields(mapping: Mapped, columns: list[str]) -> list[str] | None:
    """The columns that the triples depend on; `None` where it is not known, or the time is one of them."""
    if not isinstance(mapping.triples, Template) or mapping.units or mapping.time_format:
        return None
    slots = [term for pattern in mapping.triples.patterns for term in pattern if isinstance(term, Slot)]
    paths = list(dict.fromkeys(place.path for slot in slots for place in slot.places))
    if mapping.time in paths or not all(path in columns for path in paths):
        return None
    return paths


def _instants(batch: pa.RecordBatch, name: str) -> list[int] | None:
    """The column of instants, if it is one of timestamps."""
    import pyarrow as pa

    if name not in batch.schema.names or not pa.types.is_timestamp(batch.schema.field(name).type):
        return None
    column = batch.column(name)
    micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    found: list[int] = micros.to_pylist()
    return found


def _plain(row: pa.RecordBatch) -> dict[str, Any]:
    from obep.formats.rows import _plain_times

    record: dict[str, Any] = _plain_times(row).to_pylist()[0]
    return record
