"""Records of a sample: from files below a folder, no more than a bounded number of them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from obep.errors import ObepError, fail
from obep.formats import ENDINGS
from obep.formats.record_fields import Record
from obep.formats.table_rows import csv_rows

MOST_BYTES = 64_000_000
MOST_RECORDS = 200_000


def inside(path: str | Path, folder: Path) -> Path:
    """The file at a path below the folder, links followed; anything else is OBEP883."""
    try:
        real = (folder / path).resolve()
        there = real.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise fail("OBEP883", f"{path} leads nowhere: {error}") from None
    if not real.is_relative_to(folder.resolve()):
        raise fail(
            "OBEP883",
            f"{path} lies outside the project",
            reason="Only files below the folder of the project are read, links followed.",
            remedy="copy it there, or start in a folder above it",
        )
    if not there:
        raise fail("OBEP883", f"there is no file {path}", remedy="a path that is relative to the project")
    return real


def content(path: Path) -> bytes:
    """The bytes of a file, if there are not too many."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise fail("OBEP883", f"{path.name} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise too_much(f"{path.name} has more than {MOST_BYTES:,} bytes")
    return data


def format_of(path: Path) -> str:
    """The format that the ending of a file stands for."""
    if path.suffix.lower() not in ENDINGS:
        raise fail("OBEP510", f"{path.name}: no format has this ending", remedy=" ".join(ENDINGS))
    return ENDINGS[path.suffix.lower()]


def plain_records(path: Path, most: int = MOST_RECORDS) -> list[Record]:
    """The first records of a file of JSON lines, JSON or CSV; lines that are none are left out."""
    format = format_of(path)
    if format not in ("jsonl", "json", "csv"):
        raise fail("OBEP510", f"{path.name} holds no plain records", remedy=".jsonl .json .csv")
    data = content(path)
    if format == "csv":
        rows = ({name: cell for name, cell in row.items() if cell} for row in csv_rows(io.BytesIO(data)))
        return list(islice(rows, most))
    text = data.decode("utf-8-sig", "replace")
    return list(islice(_json(text) if format == "json" else _lines(text), most))


def too_much(what: str) -> ObepError:
    return fail("OBEP884", what, remedy="use a smaller part of it")


def _lines(text: str) -> Iterator[Record]:
    for line in text.split("\n"):
        found = _decoded(line)
        if isinstance(found, dict):
            yield found


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _json(text: str) -> Iterator[Record]:
    """A list of objects, one object, or a line each."""
    found = _decoded(text)
    if found is None:
        yield from _lines(text)
        return
    yield from (one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict))
