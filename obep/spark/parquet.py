"""Parquet as a sink of a run: a folder with one file for each micro-batch that found something.

A file is named after its micro-batch and put in place whole, so a micro-batch that Spark runs once more
replaces what it wrote before: nothing is there twice.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.errors import fail

if TYPE_CHECKING:
    import pyarrow as pa

TIMES = ("start", "end", "detected")
COLUMNS = ("event", "id", *TIMES, "bindings", "because", "bounded", "rdf")
_PART = re.compile(r"part-(\d{8})\.parquet")


class Parts:
    """The files of a folder. Those from the micro-batch `first` on are of a run that is gone."""

    def __init__(self, folder: Path, first: int) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise fail("OBEP554", f"{folder} cannot be written: {error.strerror}") from None
        for path in folder.iterdir():
            found = _PART.fullmatch(path.name)
            if found and int(found[1]) >= first:
                path.unlink()

    def write(self, batch: int, table: pa.Table) -> None:
        """Those of a micro-batch; the first file is there even if it is empty, since it says the columns."""
        import pyarrow.parquet as pq

        if not table.num_rows and any(_PART.fullmatch(path.name) for path in self._folder.iterdir()):
            return
        whole = self._folder / f".part-{batch:08d}.tmp"
        with whole.open("wb") as file:
            pq.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        whole.replace(self._folder / f"part-{batch:08d}.parquet")


def occurrences_of(records: pa.Table) -> pa.Table:
    """The columns of the occurrences among the records of a micro-batch, whose times are microseconds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = records.filter(pc.equal(records["kind"], "occurrence"))
    instant = pa.timestamp("us", tz="UTC")
    columns: dict[str, Any] = {
        name: found[name].cast(instant) if name in TIMES else found[name] for name in COLUMNS
    }
    return pa.table(columns)
