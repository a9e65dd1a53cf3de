"""What a bucket found, as columns of Arrow: made in stage 2, unwrapped in stage 3.

Rows would cross from Python to Spark one by one; so stage 2 ships whole record batches as bytes, and stage 3
(`mapInArrow`) hands them on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from obep.engine.output import iri, to_line
from obep.engine.rdf import to_rdf
from obep.engine.report import local_name
from obep.engine.why import why
from obep.model import DeadLetter, Occurrence, Part

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
    found: Sequence[Occurrence], rdf: bool = False, forms: Sequence[str] = (), style: str | None = None
) -> bytes:
    """Occurrences as bytes; with `forms` as texts, and as columns only if that is one of them."""
    import pyarrow as pa

    values: dict[str, Any] = {
        "event": [iri(one.event) for one in found],
        "id": [one.id for one in found],
        "start": [one.start for one in found],
        "end": [one.end for one in found],
        "detected": [one.detected for one in found],
        "bounded": [one.bounded for one in found],
    }
    if forms:
        writers = [_WRITERS[form] for form in forms if form != COLUMNS]
        values["texts"] = [[write(one, style) for write in writers] for one in found]
    if not forms or COLUMNS in forms:
        values["bindings"] = _bindings(found, pa)
        values["because"] = _because(found, pa)
        if rdf:
            values["rdf"] = [to_rdf(one, "iso") for one in found]
    return _batch("occurrence", values, len(found))


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


def _bindings(found: Sequence[Occurrence], pa: Any) -> pa.Array:
    names: list[str] = []
    terms: list[str] = []
    rows, ends = [0], [0]
    for one in found:
        for row in one.bindings:
            names.extend(row)
            terms.extend(row.values())
            rows.append(len(names))
        ends.append(len(rows) - 1)
    text = pa.string()
    maps = pa.MapArray.from_arrays(pa.array(rows, pa.int32()), pa.array(names, text), pa.array(terms, text))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), maps)


def _because(found: Sequence[Occurrence], pa: Any) -> pa.Array:
    parts: list[Part] = []
    ends = [0]
    for one in found:
        parts.extend(one.parts or (Part(local_name(one.event), one),))
        ends.append(len(parts))
    occurrences = [part.occurrence for part in parts]
    statements: list[str] = []
    stops = [0]
    for one in occurrences:
        for (s, p, o), _ in one.explanation:
            statements.append(f"{s} {p} {o} .")
        stops.append(len(statements))
    kind = _schema().field("because").type.value_type
    structs = pa.StructArray.from_arrays(
        [
            pa.array([iri(one.event) for one in occurrences], pa.string()),
            pa.array([part.alias for part in parts], pa.string()),
            pa.array([iri(one.individual) for one in occurrences], pa.string()),
            pa.array([one.start for one in occurrences], kind.field("start").type),
            pa.array([one.end for one in occurrences], kind.field("end").type),
            pa.ListArray.from_arrays(pa.array(stops, pa.int32()), pa.array(statements, pa.string())),
            pa.array([part.context for part in parts], pa.bool_()),
            pa.array([one.bounded for one in occurrences], pa.bool_()),
        ],
        fields=list(kind),
    )
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs)


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
