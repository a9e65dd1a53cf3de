"""The records of stage 2: their columns, and batches of them as bytes.

Rows would cross from Python to Spark one by one. So stage 2 ships whole record batches as bytes, and stage 3
(`mapInArrow`) unwraps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from obep.model import DeadLetter

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
LETTER = "stream string, at timestamp, code string, reason string, raw string, line int"
ALERT = "status string, until timestamp, ended string, labels map<string, string>"
"""What an alert has beside the columns of occurrences, and `at`: when it fires."""
ALERT_NAMES = ("at", "status", "until", "ended", "labels")
ROW = "op string, row map<string, string>"
"""What a row of an answer has beside the columns of occurrences, and `at`: when it was decided."""
ROW_NAMES = ("at", "op", "row")
OCCURRENCE_NAMES = ("event", "id", "start", "end", "detected", "bindings", "because", "bounded", "rdf")
COLUMNS = "columns"
"""The form of those who want columns beside texts."""
RECORD = f"kind string, {OCCURRENCE}, {LETTER}, {ALERT}, {ROW}, progress string, texts array<string>"
FOUND_KINDS = ("occurrence", "alert", "answer")
"""The kinds of records that have texts."""
PART = "part"
"""The kind of a part of an answer whose rows several buckets give: the driver joins them."""


def letters_payload(letters: Sequence[DeadLetter]) -> bytes:
    """Dead letters as bytes."""
    columns = zip(*letters, strict=True)
    return batch_of("letter", dict(zip(DeadLetter._fields, columns, strict=True)), len(letters))


def progress_payload(progress: Mapping[str, Any]) -> bytes:
    """Counters as bytes."""
    return batch_of("progress", {"progress": [msgspec.json.encode(progress).decode()]}, 1)


def row_of(kind: str, progress: str) -> pa.RecordBatch:
    """One row of another kind, which has a text."""
    [row] = unwrapped([batch_of(kind, {"progress": [progress]}, 1)])
    return row


def columns(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function that `mapInArrow` runs last: a row an occurrence, alert, letter or progress."""
    for batch in batches:
        yield from unwrapped(batch.column(0))


def occurrence_columns(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same for those who want occurrences alone: nothing else is carried on."""
    for batch in batches:
        for part in unwrapped(batch.column(0)):
            if part.num_rows and part.column("kind")[0].as_py() == "occurrence":
                yield part.select(OCCURRENCE_NAMES)


def unwrapped(payloads: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """The record batches in a column of bytes."""
    import pyarrow as pa

    for payload in payloads:
        data = payload.as_buffer() if hasattr(payload, "as_buffer") else pa.py_buffer(payload)
        yield pa.ipc.read_record_batch(data, schema())


def batch_of(kind: str, values: Mapping[str, Any], count: int) -> bytes:
    """Records of one kind as bytes; columns without values are empty."""
    import pyarrow as pa

    arrays = []
    for field in schema():
        value = values.get(field.name)
        if field.name == "kind":
            arrays.append(pa.array([kind] * count, field.type))
        elif value is None:
            arrays.append(pa.nulls(count, field.type))
        elif isinstance(value, pa.Array):
            arrays.append(value.cast(field.type) if value.type != field.type else value)
        else:
            arrays.append(pa.array(value, field.type))
    data: bytes = pa.RecordBatch.from_arrays(arrays, schema=schema()).serialize().to_pybytes()
    return data


@cache
def schema() -> pa.Schema:
    """Of all records."""
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
            ("line", pa.int32()),
            ("status", text),
            ("until", instant),
            ("ended", text),
            ("labels", pa.map_(text, text)),
            ("op", text),
            ("row", pa.map_(text, text)),
            ("progress", text),
            ("texts", pa.list_(text)),
        ]
    )
