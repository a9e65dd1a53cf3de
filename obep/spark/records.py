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
from obep.spark.causes import Causes

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
        self._events: list[str] = []
        self._bounded: list[bool] = []
        self._ids: list[str] = []
        self._times: tuple[list[int], list[int], list[int]] = ([], [], [])
        self._names: list[str] = []
        self._terms: list[str] = []
        self._rows, self._bound = [0], [0]
        self._because: tuple[list[int], list[int], list[int]] = ([], [], [])
        self._caused = [0]

    def add_all(self, found: Iterable[Occurrence]) -> None:
        for one in found:
            if type(one) is Detected and len(candidates := one.candidates) == 1:
                self._add(one, candidates[0])
            else:
                self._add_any(one)

    def _add(self, one: Detected, candidate: Candidate) -> None:
        """An occurrence that was found once, as nearly all are: what others have found out of it is used."""
        start, end, done, _, parts, rows = candidate
        by = one.by
        shape = self._causes.shape(by, parts)
        self._say(shape.event, shape.id(one, start, end, parts), start, end, done, shape.bounded)
        numbers, starts, ends = self._because
        numbers.extend(shape.causes)
        for place in shape.shown:
            part = parts[place]
            starts.append(part.start)  # type: ignore[union-attr]  # only those that are there are shown
            ends.append(part.end)  # type: ignore[union-attr]
        self._caused.append(len(numbers))
        if len(rows) == 1:
            row = rows[0]
            for name, at in by.plan.visible:
                if (value := row[at]) is not None:
                    self._names.append(name)
                    self._terms.append(value)
            if len(self._names) > self._rows[-1]:
                self._rows.append(len(self._names))
        else:
            self._bind(one.bindings)
        self._bound.append(len(self._rows) - 1)

    def _add_any(self, one: Occurrence) -> None:
        self._say(iri(one.event), one.id, one.start, one.end, one.detected, one.bounded)
        for cause in self._causes.of(one):
            for column, value in zip(self._because, cause, strict=True):
                column.append(value)
        self._caused.append(len(self._because[0]))
        self._bind(one.bindings)
        self._bound.append(len(self._rows) - 1)

    def _say(self, event: str, id: str, start: int, end: int, detected: int, bounded: bool) -> None:
        self._events.append(event)
        self._bounded.append(bounded)
        self._ids.append(id)
        starts, ends, detections = self._times
        starts.append(start)
        ends.append(end)
        detections.append(detected)

    def _bind(self, bindings: Iterable[Mapping[str, str]]) -> None:
        for row in bindings:
            self._names.extend(row)
            self._terms.extend(row.values())
            self._rows.append(len(self._names))

    def values(self) -> dict[str, Any]:
        """The columns that every occurrence has."""
        starts, ends, detections = map(_instants, self._times)
        return {
            "event": self._events,
            "id": self._ids,
            "start": starts,
            "end": ends,
            "detected": detections,
            "bounded": self._bounded,
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
        numbers, starts, ends = self._because
        causes = self._causes.causes
        stops = np.cumsum([0, *(len(cause.assertions) for cause in causes)])
        statements = pa.array([one for cause in causes for one in cause.assertions], pa.string())
        assertions = pa.ListArray.from_arrays(_offsets(stops), statements)
        which = pa.array(np.array(numbers, np.int32))
        columns: list[pa.Array] = []
        for field in kind:
            if field.name in ("start", "end"):
                columns.append(_instants(starts if field.name == "start" else ends))
            elif field.name == "assertions":
                columns.append(assertions.take(which))
            else:
                values = pa.array([getattr(cause, field.name) for cause in causes], field.type)
                columns.append(values.take(which))
        structs = pa.StructArray.from_arrays(columns, fields=list(kind))
        return pa.ListArray.from_arrays(_offsets(self._caused), structs)


def _instants(values: Sequence[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.array(values, np.int64)).cast(_schema().field("start").type)


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
