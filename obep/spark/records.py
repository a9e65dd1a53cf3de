"""Stage 3: what a bucket found, from bytes to the columns of a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from obep.engine.output import iri, statement, to_line
from obep.engine.rdf import to_rdf
from obep.engine.why import why
from obep.model import DeadLetter, Occurrence, Part

if TYPE_CHECKING:
    import pyarrow as pa

BECAUSE = (
    "array<struct<event: string, alias: string, individual: string, start: timestamp, end: timestamp, "
    "assertions: array<string>, context: boolean>>"
)
OCCURRENCE = (
    "event string, id string, start timestamp, end timestamp, detected timestamp, "
    f"bindings array<map<string, string>>, because {BECAUSE}, rdf string"
)
LETTER = "stream string, at timestamp, code string, reason string, raw string"
RECORD = f"kind string, {OCCURRENCE}, {LETTER}, progress string, texts array<string>"

_encoder = msgspec.msgpack.Encoder()


def occurrences_payload(
    found: Sequence[Occurrence], rdf: bool = False, forms: Sequence[str] = (), style: str | None = None
) -> bytes:
    """Occurrences as one binary cell; with `forms` as texts, for sinks that want no columns."""
    if forms:
        writers = [_WRITERS[form] for form in forms]
        return _encoder.encode([_texts(one, writers, style) for one in found])
    return _encoder.encode([_record(one, rdf) for one in found])


_WRITERS: Mapping[str, Callable[[Occurrence, str | None], str]] = {
    "event": lambda one, style: to_line(one, style) + "\n",
    "nquads": lambda one, style: to_rdf(one, style, "nquads"),
    "trig": lambda one, style: to_rdf(one, style, "trig"),
    "why": why,
}


def _texts(one: Occurrence, writers: Sequence[Callable[..., str]], style: str | None) -> tuple[object, ...]:
    texts = [write(one, style) for write in writers]
    return (iri(one.event), one.id, one.start, one.end, one.detected, None, None, None, texts)


def letters_payload(letters: Sequence[DeadLetter]) -> bytes:
    """Dead letters as one binary cell."""
    return _encoder.encode(list(letters))


def progress_payload(progress: dict[str, Any]) -> bytes:
    """Counters as one binary cell."""
    return _encoder.encode(progress)


def _record(one: Occurrence, rdf: bool) -> tuple[object, ...]:
    parts = one.parts or (Part(one.event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1], one),)
    because = [
        (
            iri(part.occurrence.event),
            part.alias,
            iri(part.occurrence.individual),
            part.occurrence.start,
            part.occurrence.end,
            [statement(assertion) for assertion in part.occurrence.explanation],
            part.context,
        )
        for part in parts
    ]
    text = to_rdf(one, "iso") if rdf else None
    return (iri(one.event), one.id, one.start, one.end, one.detected, one.bindings, because, text, None)


def columns(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function that `mapInArrow` runs last: one row an occurrence, a dead letter, a progress."""
    import pyarrow as pa

    schema = _schema(pa)
    for batch in batches:
        for kind, payload in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            content = msgspec.msgpack.decode(payload)
            if kind == "occurrences":
                yield _occurrences(content, schema, pa)
            elif kind == "letters":
                names = ("stream", "at", "code", "reason", "raw")
                rows = zip(*content, strict=True)
                yield _batch("letter", dict(zip(names, rows, strict=True)), len(content), schema, pa)
            else:
                text = msgspec.json.encode(content).decode()
                yield _batch("progress", {"progress": [text]}, 1, schema, pa)


def _occurrences(content: list[Any], schema: pa.Schema, pa: Any) -> pa.RecordBatch:
    event, id_, start, end, detected, bindings, because, rdf, texts = zip(*content, strict=True)
    names = ("event", "alias", "individual", "start", "end", "assertions", "context")
    values = {
        "event": event,
        "id": id_,
        "start": start,
        "end": end,
        "detected": detected,
        "bindings": [rows and [list(row.items()) for row in rows] for rows in bindings],
        "because": [parts and [dict(zip(names, part, strict=True)) for part in parts] for parts in because],
        "rdf": rdf,
        "texts": texts,
    }
    return _batch("occurrence", values, len(content), schema, pa)


def _batch(kind: str, values: dict[str, Any], count: int, schema: pa.Schema, pa: Any) -> pa.RecordBatch:
    arrays = [
        pa.array([kind] * count)
        if field.name == "kind"
        else pa.array(values[field.name], field.type)
        if field.name in values
        else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _schema(pa: Any) -> pa.Schema:
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
