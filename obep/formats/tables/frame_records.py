"""The records of frames: pandas, polars, Arrow, DuckDB, lists and iterators of dicts.

No library is imported that the frame has not brought along, but for pyarrow, which reads Arrow streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from obep.errors import ObepError, fail
from obep.formats.input_limits import Refused
from obep.formats.record_fields import Record
from obep.formats.tables.plain_values import arrow_columns, plain_column, plain_value, time_column
from obep.formats.tables.record_blocks import Columns, lots_of
from obep.model import DeadLetter, Item

BATCH = 4096
"""Rows that are converted at a time."""
Entry = Record | Item | DeadLetter | Refused
Lot = Sequence[Entry]
"""Some records; `Columns` where the frame has columns."""
TAKEN = "a frame of pandas, polars or Arrow, a relation of DuckDB, or dicts"


def frame_lots(frame: Any) -> Iterator[Lot]:
    """The records of a frame, many at a time."""
    lots = _lots(frame)
    return lots_of(_of_entries(frame)) if lots is None else lots


def frame_records(frame: Any) -> Iterator[Entry]:
    """The records of a frame, in its order; items among them stay what they are.

    >>> list(frame_records([{"t": 1, "v": float("nan")}]))
    [{'t': 1, 'v': None}]
    """
    lots = _lots(frame)
    return _of_entries(frame) if lots is None else chain.from_iterable(lots)


def _lots(frame: Any) -> Iterator[Lot] | None:
    """The records of a frame that has columns; `None`: it is an iterable of records."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas" and hasattr(frame, "iloc") and hasattr(frame, "columns"):
        return _of_pandas(frame)
    if library == "polars" and hasattr(frame, "collect_schema"):
        return _of_polars(frame.collect() if hasattr(frame, "collect") else frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return _of_arrow(frame)
    if isinstance(frame, Iterable) and not isinstance(frame, str | bytes | bytearray | Mapping):
        return None
    raise _no_frame(frame)


def _no_frame(frame: Any) -> ObepError:
    remedy = f"obep.detect(query, {TAKEN})"
    if isinstance(frame, Mapping):
        remedy = "[record] for one record, pandas.DataFrame(columns) for columns, {stream: frame} for streams"
    elif hasattr(frame, "__aiter__"):
        remedy = "async for hit in obep.stream(query, source)"
    elif isinstance(frame, str | bytes) or hasattr(frame, "__fspath__"):
        remedy = "read the file first (pandas.read_csv, say), or: obep run query.obep --source FILE"
    return fail(
        "OBEP880", f"{type(frame).__name__} is no frame", reason=f"A frame is {TAKEN}.", remedy=remedy
    )


def _require_names(names: list[str]) -> None:
    """A field has one value: two columns of a name are refused."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise fail("OBEP881", f"two columns of the frame are called {twice[0]}", remedy="rename one of them")


def _of_pandas(frame: Any) -> Iterator[Lot]:
    indices = _index_fields(frame)
    names = [*indices, *(_pandas_name(name) for name in frame.columns)]
    _require_names(names)
    for start in range(0, len(frame), BATCH):
        part = frame.iloc[start : start + BATCH]
        levels = [part.index.get_level_values(level).to_series() for level in indices.values()]
        columns = [*levels, *(part.iloc[:, number] for number in range(part.shape[1]))]
        yield Columns(dict(zip(names, map(_pandas_column, columns), strict=True)))


def _pandas_name(name: Any) -> str:
    return ".".join(str(step) for step in name if step != "") if isinstance(name, tuple) else str(name)


def _index_fields(frame: Any) -> dict[str, int]:
    """The levels of the index that are fields, too: those with a name, and times, which are called `time`."""
    columns = {_pandas_name(name) for name in frame.columns}
    found = {str(name): at for at, name in enumerate(frame.index.names) if name is not None}
    if not found and getattr(frame.index.dtype, "kind", "") == "M":
        found = {"time": 0}
    return {name: at for name, at in found.items() if name not in columns}


def _pandas_column(column: Any) -> Sequence[Any]:
    kind = getattr(column.dtype, "kind", "O")
    if kind == "M" and hasattr(column.dtype, "pyarrow_dtype"):
        return plain_column(column.astype(object).tolist())
    if kind == "M":
        zoned = getattr(column.dtype, "tz", None) is not None
        values = (column.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else column).to_numpy()
        unit = str(values.dtype).partition("[")[2].rstrip("]")
        missing = column.isna().tolist()
        counts = values.astype("int64").tolist()
        there = (None if none else count for count, none in zip(counts, missing, strict=True))
        return time_column(there, unit, zoned)
    own = type(column.dtype).__module__.partition(".")[0] == "numpy"
    values = column.tolist() if own else column.astype(object).tolist()
    return plain_column(values, flat=own and kind in "iub")


def _of_polars(frame: Any) -> Iterator[Lot]:
    kinds = {name: str(kind) for name, kind in frame.schema.items()}
    for part in frame.iter_slices(BATCH):
        yield Columns({name: _polars_column(part[name], kind) for name, kind in kinds.items()})


def _polars_column(column: Any, kind: str) -> Sequence[Any]:
    if kind.startswith("Datetime("):
        unit = column.dtype.time_unit
        return time_column(column.to_physical().to_list(), unit, column.dtype.time_zone is not None)
    return plain_column(column.to_list(), flat=kind in ("String", "Int64", "Int32", "Boolean"))


def _of_arrow(frame: Any) -> Iterator[Lot]:
    """Through the Arrow PyCapsule interface, which tables, readers and relations have."""
    try:
        import pyarrow
    except ImportError:
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        raise fail("OBEP551", f"reading {kind} needs pyarrow", remedy="pip install pyarrow") from None
    try:
        reader = pyarrow.RecordBatchReader.from_stream(frame)
    except pyarrow.ArrowInvalid:  # a series
        raise _no_frame(frame) from None
    _require_names(reader.schema.names)
    for batch in reader:
        for start in range(0, batch.num_rows, BATCH):
            yield arrow_columns(batch.slice(start, BATCH))


def _of_entries(entries: Iterable[Any]) -> Iterator[Entry]:
    for entry in entries:
        yield entry if isinstance(entry, Item | DeadLetter) else record_of(entry)


def record_of(entry: Any) -> Record | Refused:
    """A dict, or any other mapping, as a record."""
    if not isinstance(entry, Mapping):
        raise fail(
            "OBEP880",
            f"a record is a dict, this is {type(entry).__name__}",
            reason=f"A frame is {TAKEN}.",
            remedy='{"time": …, "sensor": …, "celsius": …}',
        )
    try:
        return {str(key): plain_value(value) for key, value in entry.items()}
    except Refused as refused:
        return refused
