"""Raw rows to items: what the sources of a run deliver, read by `obep.formats` in the workers.

Comes in: rows of `RAW`, whatever their source. Goes out: items and dead letters. The settings travel as plain
values; mappings are compiled once in each worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from obep.errors import ObepError
from obep.formats import read_file, read_items_of
from obep.formats.input_limits import inflate
from obep.formats.stream_reader import Notes, Reading
from obep.model import DeadLetter, Item
from obep.streams.sources.files import format_of

if TYPE_CHECKING:
    import pyarrow as pa

RAW = {"source": "int", "name": "string", "key": "string", "arrived": "long", "data": "binary"}
"""The source's number, the path or topic, a message's key, its arrival in microseconds, its bytes."""


@dataclass(frozen=True)
class Inflow:
    """How the rows of one source are read. `kind`: `lines` of one format, whole `files`, or `messages`."""

    kind: str
    format: str
    reading: Reading
    mapping: tuple[Mapping[str, Any], str] | None = None


class RawRead:
    """Reads raw rows; `notes` are those of the last batch, `style` is how its instants were written."""

    def __init__(self, inflows: tuple[Inflow, ...]) -> None:
        self._inflows = inflows
        self._readings: dict[int, Reading] = {}
        self.notes = Notes()

    def __getstate__(self) -> dict[str, Any]:
        return {"_inflows": self._inflows, "_readings": {}, "notes": Notes()}

    @property
    def style(self) -> str | None:
        return self.notes.style

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Item | DeadLetter]:
        self.notes = Notes()
        columns = [batch.column(name).to_pylist() for name in ("source", "name", "key", "arrived", "data")]
        by_source: dict[int, list[tuple[Any, ...]]] = {}
        for source, *row in zip(*columns, strict=True):
            by_source.setdefault(source, []).append(tuple(row))
        for source, rows in by_source.items():
            yield from self._records(self._inflows[source], self._reading(source), rows)

    def _records(
        self, inflow: Inflow, reading: Reading, rows: list[tuple[Any, ...]]
    ) -> Iterator[Item | DeadLetter]:
        if inflow.kind == "lines":
            whole = b"\n".join(data for *_, data in rows if data is not None)
            return read_items_of(whole, inflow.format, reading)
        one = _of_file if inflow.kind == "files" else _of_message
        return (record for row in rows for record in one(inflow, reading, row))

    def _reading(self, source: int) -> Reading:
        if source not in self._readings:
            inflow = self._inflows[source]
            mapping = None
            if inflow.mapping is not None:
                from obep.formats.record_mapping import make_mapping

                mapping = make_mapping(dict(inflow.mapping[0]), inflow.mapping[1])
            self._readings[source] = replace(inflow.reading, mapping=mapping)
        return replace(self._readings[source], notes=self.notes)


def _of_file(inflow: Inflow, reading: Reading, row: tuple[Any, ...]) -> Iterable[Item | DeadLetter]:
    path, _, _, data = row
    name = str(path).rsplit("/", 1)[-1]
    if name.startswith((".", "_")) or name.endswith(".tmp"):
        return ()
    try:
        format, packed = format_of(name, inflow.format)
    except ObepError as error:
        diagnostic = error.diagnostics[0]
        return (DeadLetter(reading.stream, None, diagnostic.code, diagnostic.message, name),)
    file: Any = BytesIO(data or b"")
    return read_file(cast(Any, inflate(file, reading.limits)) if packed else file, format, reading)


def _of_message(inflow: Inflow, reading: Reading, row: tuple[Any, ...]) -> Iterable[Item | DeadLetter]:
    topic, key, arrived, data = row
    extra = {"_topic": topic, "_key": key, "_levels": (topic or "").split("/")}
    arrival = reading.arrival
    if arrival is not None and arrived is not None:
        arrival = lambda: cast(int, arrived)  # noqa: E731  (a message has one arrival, also when it is read again)
    return read_items_of(data or b"", inflow.format, replace(reading, extra=extra, arrival=arrival))
