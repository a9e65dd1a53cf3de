"""The items of bounded sources in memory, to be run over more than once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from obep.config.toml_file import load_config
from obep.engine.query import Query
from obep.errors import fail
from obep.formats.item_checks import checked
from obep.formats.stream_reader import Notes
from obep.lints.item_validation import item_checks
from obep.model import DeadLetter, Item
from obep.run.load_query import load
from obep.run.run_spec import bind
from obep.streams.sources.merge import merged
from obep.streams.sources.open_sources import open_source

MOST = 200_000
"""Items that are kept."""


def replay(
    path: Path, given: Sequence[str], config: Path | None, allowed: tuple[Path, ...]
) -> tuple[Query, list[Item], Notes, list[DeadLetter]]:
    """A query with all items of its sources, and the records that are none."""
    settings = load_config(config, path.parent, allowed)
    query = load(
        path,
        allowed=allowed,
        catalogue=settings.catalogue,
        cache_dir=settings.cache,
        max_explanations=settings.engine.get("max_explanations"),
        max_work=settings.engine.get("max_work"),
    )
    settings = settings.with_lookups(query.bundle.k.once)
    streams = query.linked.streams
    alone, notes = streams[0] if len(streams) == 1 else "", Notes()
    sources = {
        inlet.key: open_source(
            inlet.name, inlet.uri, settings, stream=alone, trusted=inlet.trusted, notes=notes
        )
        for inlet in bind(given, streams, settings)
    }
    items: list[Item] = []
    letters: list[DeadLetter] = []
    checks = item_checks(settings, query.bundle)
    for turn in merged(sources, {}, 1.0):
        records = [*checked(turn.records, checks)] if checks else turn.records
        items += (record for record in records if isinstance(record, Item))
        letters += (record for record in records if isinstance(record, DeadLetter))
        if len(items) > MOST:
            raise fail(
                "OBEP535", f"more than {MOST} items", remedy="give it the part of the input that matters"
            )
    return query, items, notes, letters
