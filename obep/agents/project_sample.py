"""A query of a project and the items of a sample for it: what the tools work on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from obep.agents.sample_records import (
    MOST_RECORDS,
    content,
    format_of,
    inside,
    plain_records,
    too_much,
)
from obep.config.toml_file import Config, load_config
from obep.engine.query import Query
from obep.errors import count, fail
from obep.formats import read_items_of
from obep.formats.likely_mapping import likely_settings, typical
from obep.formats.record_fields import Record
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Notes
from obep.model import DeadLetter, Item
from obep.query.ast import Language
from obep.run.load_query import load
from obep.streams.sources.open_sources import make_reading

FIRST = 200
"""Records that are looked at for a mapping, where the project has none."""
MOST_TEXT = 200_000
BATCH = 500


@dataclass
class Sample:
    """Items in the order in which they are pushed, what was refused, and how records were read."""

    items: list[Item] = field(default_factory=list)
    refused: list[DeadLetter] = field(default_factory=list)
    mappings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The mappings that were guessed, by stream."""
    notes: Notes = field(default_factory=Notes)


@dataclass(frozen=True)
class Budget:
    """The seconds that a tool may take."""

    seconds: float
    begun: float = field(default_factory=time.monotonic)

    def batches(self, items: Sequence[Item]) -> Iterator[Sequence[Item]]:
        """The items in lots, as long as there is time."""
        for start in range(0, len(items), BATCH):
            if time.monotonic() - self.begun > self.seconds:
                raise too_much(f"{start:,} of {count(len(items), 'item')} took {self.seconds:g} s")
            yield items[start : start + BATCH]


@dataclass(frozen=True)
class Project:
    """The folder that tools may read, and one for the cache of compiled ontologies, which is not in it."""

    folder: Path
    cache: Path

    def home(self, path: str) -> Path:
        """The folder beside whose obep.toml a query stands."""
        return inside(path, self.folder).parent if path else self.folder.resolve()

    def config(self, path: str = "") -> Config:
        """The settings that hold for a query; no others than those below the folder."""
        return load_config(None, self.home(path))

    def text(self, query: str, path: str) -> str:
        """The text of a query: as it is given, or of the file."""
        if bool(query) == bool(path):
            raise fail("OBEP885", "one of query and path is needed", remedy="query: the text; path: a file")
        if len(query) > MOST_TEXT:
            raise too_much(f"the query has more than {MOST_TEXT:,} characters")
        return query or content(inside(path, self.folder)).decode("utf-8", "replace")

    def load(self, query: str, path: str, language: Language | None = None, *, lints: bool = False) -> Query:
        """The compiled query; raises all that is wrong with it."""
        text, config = self.text(query, path), self.config(path)
        source: dict[str, Any] = {"path": inside(path, self.folder)} if path else {"text": text}
        return load(
            **source,
            folder=None if path else self.folder,
            dialect=language,
            catalogue=config.catalogue,
            cache_dir=self.cache,
            max_explanations=config.engine.get("max_explanations"),
            max_work=config.engine.get("max_work"),
            ignore=config.ignore,
            lints=lints,
        )

    def lateness(self, path: str) -> timedelta:
        """The lateness that obep.toml sets."""
        return timedelta(microseconds=self.config(path).engine.get("lateness") or 0)

    def sample(
        self,
        query: Query,
        path: str,
        records: Sequence[Record] | Mapping[str, Sequence[Record]] | None,
        files: Mapping[str, str] | None,
        most: int = MOST_RECORDS,
    ) -> Sample:
        """The items of records and files by the names of their streams ('' for the only one)."""
        if not records and not files:
            raise fail("OBEP885", "there is no sample", remedy='records: […], or files: {"STREAM": "FILE"}')
        config = self.config(path).with_lookups(query.bundle.with_rules)
        found = Sample()
        given = {"": records} if isinstance(records, Sequence) else dict(records or {})
        for stream, rows in given.items():
            data = b"\n".join(msgspec.json.encode(row) for row in rows)
            self._read(query, config, stream, (data, "jsonl"), list(rows[:FIRST]), found, most)
        for stream, name in (files or {}).items():
            real = inside(name, self.folder)
            kind = format_of(real)
            plain = plain_records(real, FIRST) if kind in ("jsonl", "json", "csv") else []
            self._read(query, config, stream, (content(real), kind), plain, found, most)
        if len(given) + len(files or {}) > 1:
            found.items.sort(key=lambda one: one.at)
        return found

    def _read(
        self,
        query: Query,
        config: Config,
        stream: str,
        source: tuple[bytes, str],
        first: list[Record],
        found: Sample,
        most: int,
    ) -> None:
        """Adds the items of one source; a mapping is guessed if there is none and the records are plain."""
        streams = query.linked.streams
        if stream and streams and stream not in streams:
            raise fail(
                "OBEP570", f"the query has no stream {stream!r}", reason=f"It reads {', '.join(streams)}."
            )
        alone = streams[0] if len(streams) == 1 else ""
        plain = bool(first) and not any("graph" in one for one in first)
        name = stream or (alone if plain else "")
        if plain and streams and not name:
            raise fail(
                "OBEP885", "which stream are the records of?", reason=f"The query reads {', '.join(streams)}."
            )
        reading = make_reading(name, config.sources.get(name, {}), config, stream=alone, notes=found.notes)
        reading.source = name or "the sample"
        if plain and reading.mapping is None:
            settings = likely_settings(typical(first), query.names, optional=True)
            found.mappings[name] = settings
            reading.mapping = make_mapping(settings, "mapping")
        for one in read_items_of(*source, reading):
            if isinstance(one, DeadLetter):
                found.refused.append(one)
            elif not streams or one.stream in streams:
                found.items.append(one)
            if len(found.items) + len(found.refused) > most:
                raise too_much(f"the sample has more than {most:,} records")
