"""Standard input as files, which Spark's workers can read; with a checkpoint it may be sent once more.

As embedded: who goes on from a checkpoint sends the whole input again, and what is known of it is skipped.
What comes beyond that is a file of its own below the checkpoint.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

from obep.errors import fail
from obep.streams.sources.files import ended_early


def keep(source: BinaryIO, folder: Path, ending: str, lines: bool) -> int:
    """All of standard input in the files of a folder, and how many of its records were there before.

    `lines` says that each record is a line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = sorted(folder.glob(f"*{ending}"))
    if there and not lines:
        raise fail(
            "OBEP558",
            "on Spark, standard input in this format cannot go on from a checkpoint",
            reason="Only lines of JSON can be compared with those that the checkpoint has.",
            remedy="a file, a folder (dir:), lines of JSON, or --engine embedded",
        )
    skipped = sum(_records(path) for path in there)
    _skip(source, skipped)
    whole = folder / ".tmp"
    with whole.open("wb") as file:
        shutil.copyfileobj(source, file)
    if whole.stat().st_size or not there:
        whole.rename(folder / f"{len(there):06d}{ending}")
    return skipped


def _skip(source: BinaryIO, records: int) -> None:
    count = 0
    while count < records:
        line = source.readline()
        if not line:
            raise ended_early(count, records)
        count += bool(line.strip())


def _records(path: Path) -> int:
    with path.open("rb") as file:
        return sum(bool(line.strip()) for line in file)
