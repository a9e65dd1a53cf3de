"""The cells of tables as the values that records have: what JSON can hold, and exact decimals.

Missing values (None, NaN, NaT, NA) become None. Timestamps become ISO 8601 text, in UTC if they have a zone
and without one if they have none, so that the zone of a mapping applies. A span of time is a number of
seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from obep.formats.input_limits import Refused
from obep.formats.tables.record_blocks import Columns, Instants

if TYPE_CHECKING:
    import pyarrow

DEEPEST = 100
"""The greatest depth of nested objects and arrays."""
_SAME = (str, int, bool, type(None))
_MISSING = ("NAType", "NaTType")
_MICROS = {"s": 1_000_000, "ms": 1000, "us": 1}


def plain_value(value: Any, deep: int = 0) -> Any:
    """A value as records have it; one that is none of theirs stays as it is, for a mapping to refuse.

    >>> plain_value(float("nan")), plain_value(timedelta(minutes=2)), plain_value((1, date(2026, 1, 2)))
    (None, 120, [1, '2026-01-02'])
    """
    kind = type(value)
    if kind in _SAME:
        return value
    if kind is float:
        return None if value != value else value
    if deep > DEEPEST:
        raise Refused("OBEP606", f"values are nested more than {DEEPEST} deep")
    if isinstance(value, dict):
        return {str(key): plain_value(inner, deep + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(inner, deep + 1) for inner in value]
    if kind.__name__ in _MISSING:
        return None
    if kind.__module__.partition(".")[0] == "numpy":
        return _of_numpy(value, deep)
    return _of_library(value)


def _of_numpy(value: Any, deep: int) -> Any:
    """A scalar or an array; datetime64 has more figures than a datetime of Python."""
    code = value.dtype.kind
    if code == "M" and not value.ndim:
        text = str(value)
        return None if text == "NaT" else text
    if code == "m" and not value.ndim:
        return None if str(value) == "NaT" else _seconds(value.astype("timedelta64[us]").item())
    inner = value.item() if not value.ndim else list(value)
    return plain_value(inner, deep + 1) if inner is not value else value


def _of_library(value: Any) -> Any:
    """A value of the standard library, or of a class derived from one of its classes."""
    if isinstance(value, datetime):
        try:
            return (value if value.tzinfo is None else value.astimezone(UTC)).isoformat()
        except (OverflowError, ValueError):
            return str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _seconds(value)
    if isinstance(value, Decimal):
        return value if value.is_finite() else None if value.is_nan() else float(value)
    if isinstance(value, Enum):
        return plain_value(value.value)
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return plain_value(kind(value))
    return str(value) if isinstance(value, UUID) else value


def _seconds(span: timedelta) -> int | float:
    seconds = span.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def plain_column(values: list[Any], *, flat: bool = False) -> list[Any]:
    """The values of a column; `flat` if they are texts, whole numbers and None only."""
    return values if flat else [value if type(value) in _SAME else plain_value(value) for value in values]


def time_column(counts: Iterable[int | None], unit: str, zoned: bool) -> Instants:
    """Timestamps; parts of a microsecond are cut off, as they are in text."""
    if unit == "ns":
        return Instants([None if count is None else count // 1000 for count in counts], zoned)
    scale = _MICROS[unit]
    return Instants([None if count is None else count * scale for count in counts], zoned)


def arrow_columns(batch: pyarrow.RecordBatch) -> Columns:
    """The rows of an Arrow batch as records."""
    return Columns(dict(zip(batch.schema.names, map(_arrow_column, batch.columns), strict=True)))


def _arrow_column(column: pyarrow.Array) -> Sequence[Any]:
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_timestamp(kind):
        return time_column(column.cast(pyarrow.int64()).to_pylist(), kind.unit, kind.tz is not None)
    flat = (
        types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
    )
    return plain_column(column.to_pylist(), flat=flat)
