"""The input of a schedule as files, folders, pipes and topics, and how much of it lies there."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from soak_records import Record
from soak_schedule import Schedule
from soak_sources import LogSource, World

from obep.config.toml_file import Config
from obep.run.run_spec import Inlet
from obep.streams.sources.batches import Source
from obep.streams.sources.files import FolderSource, PipeSource
from obep.streams.sources.open_sources import make_reading, open_source


class Input:
    """Where the records of a schedule lie."""

    def __init__(self, schedule: Schedule, folder: Path, world: World) -> None:
        self._schedule = schedule
        self._folder = folder
        self._world = world
        self._seen = 0
        self._rotated = 0
        """How many records were in files that have been replaced."""
        folder.mkdir(parents=True)
        if schedule.kind == "folder":
            (folder / "a").mkdir()

    def inlets(self) -> tuple[Inlet, ...]:
        if self._schedule.kind == "mixed":
            files = [self._file(name) for name in self._schedule.shape.sources]
            return tuple(Inlet("", str(file), trusted=True) for file in files)
        ends = {"folder": "dir:{}/a", "pipe": "-"}
        uri = ends.get(self._schedule.kind, "{}/{}.jsonl")
        return tuple(
            Inlet(name, uri.format(self._folder, name), trusted=True) for name in self._schedule.shape.sources
        )

    def show(self, seen: int, torn: bool) -> None:
        """Let so many records lie there."""
        self._seen = max(seen, self._seen)
        if self._schedule.kind in ("files", "mixed"):
            for name in self._schedule.shape.sources:
                self._file(name).write_bytes(self._bytes_of(name, torn))
        elif self._schedule.kind == "folder":
            self._appear()

    def rotate(self) -> None:
        """Replace files that were read to their end, unless a new one may begin as the old one did."""
        begins = {self._bytes_of(name, False).split(b"\n")[0] for name in self._schedule.shape.sources}
        if not begins & {one.line.rstrip(b"\n") for one in self._schedule.records[self._seen :]}:
            self._rotated = self._seen

    def open(self, name: str, uri: str, config: Config, **given: Any) -> Source:
        """In the place of `open_source`."""
        kind = self._schedule.kind
        if kind in ("files", "mixed"):
            return open_source(name, uri, config, **given)
        reading = make_reading(name, {}, config, live=True, notes=given["notes"])
        reading.source = name
        if kind == "log":
            apart = len(self._schedule.shape.sources) > 1
            return LogSource(name, self._of(name, self._schedule.records), reading, self._world, apart)
        if kind == "pipe":
            raw = BytesIO(b"".join(one.line for one in self._schedule.records))
            return PipeSource(name, uri, reading, raw=raw)
        source = FolderSource(name, self._folder / "a", reading, wait=lambda seconds: self._wait(source))
        return source

    def _of(self, name: str, records: list[Record]) -> list[Record]:
        return [one for one in records if one.source == name]

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"

    def _bytes_of(self, name: str, torn: bool) -> bytes:
        lines = [one.line for one in self._of(name, self._schedule.records[self._rotated : self._seen])]
        rest = self._of(name, self._schedule.records[self._seen :])
        half = rest[0].line[: len(rest[0].line) // 2] if torn and rest else b""
        return b"".join(lines) + half

    def _wait(self, source: FolderSource) -> None:
        """A folder has been read: more comes, or this is all."""
        if self._seen < len(self._schedule.records):
            self._seen += 1
            self._appear()
        else:
            source.stop()

    def _appear(self) -> None:
        """The files of the folder: a few records each, so that the last one may grow."""
        records, at, number = self._schedule.records, 0, 0
        pieces = Random(self._schedule.seed)
        while at < self._seen:
            size = pieces.randint(1, 6)
            path = self._folder / "a" / f"{number:03}.jsonl"
            data = b"".join(one.line for one in records[at : min(at + size, self._seen)])
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)
            at, number = at + size, number + 1
