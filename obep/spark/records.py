"""What a bucket found, as columns of Arrow: made in stage 2, unwrapped in stage 3.

Rows would cross from Python to Spark one by one; so stage 2 ships whole record batches as bytes, and stage 3
(`mapInArrow`) hands them on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from obep.engine.output import iri, to_line
from obep.engine.rdf import to_rdf
from obep.engine.report import Detected
from obep.engine.why import why
from obep.model import DeadLetter, Occurrence
from obep.operators.candidates import Candidate
from obep.spark.causes import Cause, Causes, Shape

if TYPE_CHECKING:
    import pyarrow as pa

BECAUSE = (
    "array<struct<event: string, alias: string, individual: string, start: timestamp, end: timestamp, "
    "assertions: array<string>, context: boolean, bounded: boolean>>"
)
OCCURRENCE = (
    "event string, id string, start timestamp, end timestamp, detected timestamp, "
    f"bindings array<map<string, string>>, because {BECAUSE}, bounded boolean, rdf string"
)
LETTER = "stream string, at timestamp, code string, reason string, raw string"
COLUMNS = "columns"
"""The form of those who want columns beside texts."""
RECORD = f"kind string, {OCCURRENCE}, {LETTER}, progress string, texts array<string>"


def occurrences_payload(
    found: Sequence[Occurrence],
    rdf: bool = False,
    forms: Sequence[str] = (),
    style: str | None = None,
    causes: Causes | None = None,
) -> bytes:
    """Occurrences as bytes; with `forms` as texts, and as columns only if that is one of them.

    `causes` are those of other payloads of the same occurrences, so that nothing is worked out twice.
    """
    table = Table(causes or Causes())
    table.add_all(found)
    values = table.values()
    if forms:
        writers = [_WRITERS[form] for form in forms if form != COLUMNS]
        values["texts"] = [[write(one, style) for write in writers] for one in found]
    if not forms or COLUMNS in forms:
        values["bindings"] = table.bindings()
        values["because"] = table.because()
        if rdf:
            values["rdf"] = [to_rdf(one, "iso") for one in found]
    return _batch("occurrence", values, len(found))


class Table:
    """Occurrences on their way into columns."""

    def __init__(self, causes: Causes) -> None:
        self._causes = causes
        self._shapes: list[Shape | Occurrence] = []
        self._ids: list[str] = []
        self._times: list[tuple[int, int, int]] = []
        """Start, end, detected."""
        self._names: list[str] = []
        self._terms: list[str] = []
        self._rows, self._bound = [0], [0]
        self._because: list[tuple[int, int, int]] = []
        """The number of a cause, its start and its end."""
        self._caused = [0]

    def add_all(self, found: Iterable[Occurrence]) -> None:
        for one in found:
            if type(one) is Detected and type(candidate := one.found) is tuple:
                self._add(one, candidate)
            else:
                self._add_any(one)

    def _add(self, one: Detected, candidate: Candidate) -> None:
        """An occurrence that was found once, as nearly all are: what is known of its like is used."""
        start, end, done, _, parts, rows = candidate
        by = one.by
        shape = self._causes.shape(by, parts)
        self._shapes.append(shape)
        self._ids.append(shape.id(one, start, end, parts))
        self._times.append((start, end, done))
        because = self._because
        for place, number in shape.causes:
            part = parts[place]
            because.append((number, part.start, part.end))  # type: ignore[union-attr]  # it is there
        self._caused.append(len(because))
        if len(rows) == 1:
            names, row = self._names, rows[0]
            for name, at in by.plan.visible:
                if (value := row[at]) is not None:
                    names.append(name)
                    self._terms.append(value)
            if len(names) > self._rows[-1]:
                self._rows.append(len(names))
        else:
            self._bind(one.bindings)
        self._bound.append(len(self._rows) - 1)

    def _add_any(self, one: Occurrence) -> None:
        self._shapes.append(one)
        self._ids.append(one.id)
        self._times.append((one.start, one.end, one.detected))
        self._because.extend(self._causes.of(one))
        self._caused.append(len(self._because))
        self._bind(one.bindings)
        self._bound.append(len(self._rows) - 1)

    def _bind(self, bindings: Iterable[Mapping[str, str]]) -> None:
        for row in bindings:
            self._names.extend(row)
            self._terms.extend(row.values())
            self._rows.append(len(self._names))

    def values(self) -> dict[str, Any]:
        """The columns that every occurrence has."""
        starts, ends, detections = _columns(self._times)
        return {
            "event": [iri(shape.event) for shape in self._shapes],
            "id": self._ids,
            "start": _instants(starts),
            "end": _instants(ends),
            "detected": _instants(detections),
            "bounded": [shape.bounded for shape in self._shapes],
        }

    def bindings(self) -> pa.Array:
        import pyarrow as pa

        names, terms = pa.array(self._names, pa.string()), pa.array(self._terms, pa.string())
        maps = pa.MapArray.from_arrays(_offsets(self._rows), names, terms)
        return pa.ListArray.from_arrays(_offsets(self._bound), maps)

    def because(self) -> pa.Array:
        """Each cause is written once, and taken as often as it is one."""
        import pyarrow as pa

        kind = _schema().field("because").type.value_type
        numbers, starts, ends = _columns(self._because)
        which = pa.array(numbers)
        own = {"start": _instants(starts), "end": _instants(ends)}
        causes = _cause_columns(self._causes)
        columns = [own[f.name] if f.name in own else causes[f.name].take(which) for f in kind]
        structs = pa.StructArray.from_arrays(columns, fields=list(kind))
        return pa.ListArray.from_arrays(_offsets(self._caused), structs)


def _cause_columns(causes: Causes) -> dict[str, pa.Array]:
    """What the causes are, apart from their instants, as columns."""
    import pyarrow as pa

    if len(causes.columns.get("event", ())) < len(causes.causes):
        kind = _schema().field("because").type.value_type
        for name, values in zip(Cause._fields, zip(*causes.causes, strict=True), strict=True):
            causes.columns[name] = pa.array(values, kind.field(name).type)
    return causes.columns


def _columns(rows: list[tuple[int, int, int]]) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, 3).T


def _instants(values: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values).cast(_schema().field("start").type)


def _offsets(values: Sequence[int] | NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.array(values, np.int32))


_WRITERS: Mapping[str, Callable[[Occurrence, str | None], str]] = {
    "event": lambda one, style: to_line(one, style) + "\n",
    "nquads": lambda one, style: to_rdf(one, style, "nquads"),
    "trig": lambda one, style: to_rdf(one, style, "trig"),
    "why": why,
}


def letters_payload(letters: Sequence[DeadLetter]) -> bytes:
    """Dead letters as bytes."""
    names = ("stream", "at", "code", "reason", "raw")
    return _batch("letter", dict(zip(names, zip(*letters, strict=True), strict=True)), len(letters))


def progress_payload(progress: Mapping[str, Any]) -> bytes:
    """Counters as bytes."""
    return _batch("progress", {"progress": [msgspec.json.encode(progress).decode()]}, 1)


def columns(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function that `mapInArrow` runs last: one row an occurrence, a dead letter, a progress."""
    for batch in batches:
        yield from unwrapped(batch.column(0))


def unwrapped(payloads: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """The record batches in a column of bytes."""
    import pyarrow as pa

    for payload in payloads:
        data = payload.as_buffer() if hasattr(payload, "as_buffer") else pa.py_buffer(payload)
        yield pa.ipc.read_record_batch(data, _schema())


def _batch(kind: str, values: Mapping[str, Any], count: int) -> bytes:
    import pyarrow as pa

    schema = _schema()
    arrays = []
    for field in schema:
        value = values.get(field.name)
        if field.name == "kind":
            arrays.append(pa.array([kind] * count, field.type))
        elif value is None:
            arrays.append(pa.nulls(count, field.type))
        elif isinstance(value, pa.Array):
            arrays.append(value.cast(field.type) if value.type != field.type else value)
        else:
            arrays.append(pa.array(value, field.type))
    data: bytes = pa.RecordBatch.from_arrays(arrays, schema=schema).serialize().to_pybytes()
    return data


@cache
def _schema() -> pa.Schema:
    import pyarrow as pa

    instant = pa.timestamp("us", tz="UTC")
    text = pa.string()
    part = pa.struct(
        [
            ("event", text),
            ("alias", text),
            ("individual", text),
            ("start", instant),
            ("end", instant),
            ("assertions", pa.list_(text)),
            ("context", pa.bool_()),
            ("bounded", pa.bool_()),
        ]
    )
    return pa.schema(
        [
            ("kind", text),
            ("event", text),
            ("id", text),
            ("start", instant),
            ("end", instant),
            ("detected", instant),
            ("bindings", pa.list_(pa.map_(text, text))),
            ("because", pa.list_(part)),
            ("bounded", pa.bool_()),
            ("rdf", text),
            ("stream", text),
            ("at", instant),
            ("code", text),
            ("reason", text),
            ("raw", text),
            ("progress", text),
            ("texts", pa.list_(text)),
        ]
    )
