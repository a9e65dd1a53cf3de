"""Parquet as a sink of a stream: a folder with files for each micro-batch that found something.

The executors write them, under names that readers ignore, and report them. The driver moves those of a
micro-batch into place once it has them all, named after the micro-batch: one that Spark runs once more
replaces what it put there before, so nothing is there twice.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import msgspec

from obep.errors import ObepError, fail
from obep.model import DeadLetter
from obep.spark.stages.record_batches import (
    ALERT_NAMES,
    OCCURRENCE_NAMES,
    ROW_NAMES,
    row_of,
    schema,
    unwrapped,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

FOLDER = "folder"
"""The only sink of a stream that writes nothing but Parquet."""
WRITTEN = "written"
"""The kind of the row that says what a task wrote."""
DELIVERED = (
    "kind string, event string, id string, start timestamp, end timestamp, detected timestamp, "
    "stream string, at timestamp, code string, reason string, raw string, line int, status string, "
    "progress string, texts array<string>"
)
_NAMES = tuple(column.split()[0] for column in DELIVERED.split(", "))
SPARKS_LOG = "_spark_metadata"
"""How Spark's own sink marks its files."""
_PART = re.compile(r"part-(\d{8})(-\d{4,})?\.parquet")


def written_names(alerting: bool, as_rows: bool = False) -> tuple[str, ...]:
    """The columns of a folder; `alerting`: alerts are rows of it, too; `as_rows`: and those of answers."""
    more = (*(ALERT_NAMES if alerting else ()), *(ROW_NAMES if as_rows else ()))
    return (*OCCURRENCE_NAMES, *dict.fromkeys(more))


class Place(NamedTuple):
    """A sink, its folder, and the events that it wants; none: all."""

    key: str
    folder: str
    events: tuple[str, ...]


class Written(msgspec.Struct):
    """What a task wrote: files by sink; and the occurrences of each event, if not counted elsewhere."""

    files: dict[str, str]
    found: dict[str, int]


class Writing:
    """The function that `mapInArrow` runs over payloads: it hands on all but what only Parquet wants."""

    def __init__(self, places: Sequence[Place], texts: bool, names: Sequence[str] = OCCURRENCE_NAMES) -> None:
        """`texts`: occurrences are written as texts, too; `names` are the columns."""
        self._places = tuple(places)
        self._names = tuple(names)
        self._texts = texts

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files: dict[str, File] = {}
        found: Counter[str] = Counter()
        try:
            for part in unwrapped(payload for batch in batches for payload in batch.column(0)):
                kind = part.column("kind")[0].as_py() if part.num_rows else ""
                if kind in ("occurrence", "alert", "row"):
                    self._write(part.select(self._names), files)
                    if not self._texts:
                        found.update(part.column("event").to_pylist())
                    if not self._texts or kind == "row":  # the texts of rows are records of their own
                        continue
                yield part.select(_NAMES)
        finally:
            for file in files.values():
                file.close()
        written = Written({key: str(file.path) for key, file in files.items()}, dict(found))
        yield row_of(WRITTEN, msgspec.json.encode(written).decode()).select(_NAMES)

    def _write(self, part: pa.RecordBatch, files: dict[str, File]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        for place in self._places:
            own = part
            if place.events:
                own = part.filter(pc.is_in(part.column("event"), pa.array(place.events, pa.string())))
            if own.num_rows:
                if place.key not in files:
                    files[place.key] = File(Path(place.folder), self._names)
                files[place.key].write(own)


class File:
    """A file of occurrences while it is written; readers of Parquet ignore its name."""

    def __init__(self, folder: Path, names: Sequence[str] = OCCURRENCE_NAMES) -> None:
        import pyarrow.parquet as pq

        self.path = folder / f".part-{uuid4().hex}.tmp"
        try:
            self._file = self.path.open("wb")
        except OSError as error:
            raise _not_shared(
                f"{folder} cannot be written where the executors are: {error.strerror}"
            ) from None
        self._writer: Any = pq.ParquetWriter(self._file, _columns(names))

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Safely on disk when this returns."""
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


class Parts:
    """The files of a folder. Those from the micro-batch `first` on are of a run that is gone."""

    def __init__(self, folder: Path, first: int, names: Sequence[str] = OCCURRENCE_NAMES) -> None:
        self.folder = folder
        self._names = names
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise fail("OBEP554", f"{folder} cannot be written: {error.strerror}") from None
        if (folder / SPARKS_LOG).exists():
            raise fail(
                "OBEP554",
                f"{folder} was written by Spark's own sink",
                reason=f"A reader sees only the files that {SPARKS_LOG} lists.",
                remedy="another folder",
            )
        for path in folder.iterdir():
            found = _PART.fullmatch(path.name)
            if (found and int(found[1]) >= first) or (
                path.name.startswith(".part-") and path.suffix == ".tmp"
            ):
                path.unlink()

    def put(self, batch: int, files: Iterable[str]) -> None:
        """Those of a micro-batch; the first file is there even if it is empty, since it says the columns."""
        for path in self.folder.glob(f"part-{batch:08d}-*.parquet"):
            path.unlink()
        there = list(files)
        if not there and not any(_PART.fullmatch(path.name) for path in self.folder.iterdir()):
            empty = File(self.folder, self._names)
            empty.close()
            there.append(str(empty.path))
        for number, name in enumerate(there):
            try:
                Path(name).replace(self.folder / f"part-{batch:08d}-{number:04d}.parquet")
            except FileNotFoundError:
                unseen = "an executor has written there what the driver cannot see"
                raise _not_shared(f"{self.folder}: {unseen}") from None


class Putting:
    """The function that `foreachBatch` runs over what `Writing` hands on: a micro-batch gets its place.

    The first micro-batch of a start begins the folders anew from there: what a run that is gone put there
    for it, or after it, is replaced.
    """

    def __init__(
        self, folder: Path | str, letters: Path | str | None, names: Sequence[str] = OCCURRENCE_NAMES
    ) -> None:
        """`letters` is the folder of dead letters, `names` are the columns of the other one."""
        self._names = names
        self._folder = _local(folder)
        self._letters = _local(letters) if letters else None
        if self._letters is not None and self._letters.resolve() == self._folder.resolve():
            raise fail(
                "OBEP568",
                f"{self._folder} is the folder of occurrences and of dead letters",
                reason="Each of them replaces what lies there.",
                remedy="another folder for dead letters",
            )
        self._parts: Parts | None = None
        self._refused: Parts | None = None
        self._batch = -1

    def writing(self) -> Writing:
        """The function that `mapInArrow` runs before."""
        return Writing([Place(FOLDER, str(self._folder), ())], False, self._names)

    def __call__(self, delivered: DataFrame, batch: int) -> None:
        if self._parts is None or batch <= self._batch:  # a writer may be started again
            self._parts = Parts(self._folder, batch, self._names)
            if self._letters is not None:
                self._refused = Parts(self._letters, batch, DeadLetter._fields)
        self._batch = batch
        kinds = (WRITTEN, "letter") if self._refused is not None else (WRITTEN,)
        wanted = f"kind IN ({', '.join(map(repr, kinds))})"
        rows = delivered.where(wanted).toArrow()  # here the executors write
        written = rows.filter(_is(rows, WRITTEN)).column("progress").to_pylist()
        files = [msgspec.json.decode(one, type=Written).files for one in written]
        self._parts.put(batch, [one[FOLDER] for one in files if FOLDER in one])
        if self._refused is not None:
            self._refused.put(batch, self._put_letters(rows.filter(_is(rows, "letter"))))

    def _put_letters(self, letters: pa.Table) -> list[str]:
        """The file of the dead letters of a micro-batch, if there are any."""
        assert self._refused is not None
        if not letters.num_rows:
            return []
        file = File(self._refused.folder, DeadLetter._fields)
        letters = letters.select(DeadLetter._fields).cast(_columns(DeadLetter._fields))
        line = letters.column("line")
        known = letters.set_column(letters.num_columns - 1, "line", _null_where_zero(line))
        for part in known.to_batches():
            file.write(part)
        file.close()
        return [str(file.path)]


def _local(folder: Path | str) -> Path:
    """A folder of the file system: not `s3a://…`, which would be one of that name here."""
    if isinstance(folder, str) and re.match(r"[A-Za-z][\w+.-]+:/", folder):
        raise fail(
            "OBEP554",
            f"{folder} is no folder that Python can write",
            reason="The executors write Parquet themselves, without Spark's file systems.",
            remedy="a folder that all machines share, or found.occurrences.writeStream.format('parquet')",
        )
    return Path(folder).absolute()


def _is(rows: pa.Table, kind: str) -> Any:
    import pyarrow.compute as pc

    return pc.equal(rows.column("kind"), kind)


def _null_where_zero(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(numbers, 0), pa.scalar(None, numbers.type), numbers)


def _not_shared(message: str) -> ObepError:
    return fail(
        "OBEP554",
        message,
        reason="Parquet is written by the executors, which may be other machines.",
        remedy="a folder that all of them share",
    )


def _columns(names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([schema().field(name) for name in names])
